"""A stream speaks at once and goes on speaking while its words are made."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from kedge.core.stages import stage
from kedge.core.values import StreamEvent
from kedge.surfaces.client import KedgeClient
from kedge.surfaces.server.lively import LifeSign, comment, is_comment, is_sign, lively, sign_line
from kedge.surfaces.server.sse import encode
from tests.support.surfaces import QUESTION, all_events_of
from tests.surfaces.server.conftest import base_url, client, corpus, filled, settings

__all__ = ["base_url", "client", "corpus", "filled", "settings"]

WORD = StreamEvent("token", content="A")


def collected(events: AsyncIterator[StreamEvent], every: float = 60.0) -> list[StreamEvent | LifeSign]:
    async def collect() -> list[StreamEvent | LifeSign]:
        return [one async for one in lively(events, every)]

    return asyncio.run(collect())


@pytest.mark.req("D-14")
def test_what_is_done_comes_before_the_words(client: httpx.Client, filled: str) -> None:
    text = client.post("/api/query/stream", json={"query": QUESTION, "collection": filled}).text
    assert text.startswith("event: stage\n")
    events = [json.loads(data) for _, data in all_events_of(text)]
    done = [one["type"] for one in events].index("token")
    assert [one["stage"] for one in events[:done]] == ["searching", "reading", "writing"]
    assert all(one["type"] != "stage" for one in events[done:])


def test_our_client_hands_on_the_answer_alone(base_url: str, filled: str) -> None:
    with KedgeClient(base_url) as ours:
        names = {event.type for event in ours.stream(QUESTION, collection=filled)}
    assert names == {"token", "citation", "metadata", "done"}


def test_chat_clients_get_stages_as_comments(client: httpx.Client, filled: str) -> None:
    body = {"model": f"kedge/{filled}", "messages": [{"role": "user", "content": QUESTION}], "stream": True}
    text = client.post("/v1/chat/completions", json=body).text
    assert text.startswith("data: ")
    assert "\n: searching\n" in text
    assert "event:" not in text


def test_a_silent_model_is_told_to_be_at_work_until_it_speaks() -> None:
    async def listen() -> list[StreamEvent | LifeSign]:
        heard_twice = asyncio.Event()

        async def slow() -> AsyncIterator[StreamEvent]:
            await heard_twice.wait()
            yield WORD

        said: list[StreamEvent | LifeSign] = []
        async for one in lively(slow(), every=0.001):
            said.append(one)
            if len(said) == 2:
                heard_twice.set()
        return said

    *signs, word = asyncio.run(listen())
    assert word == WORD
    assert set(signs) == {LifeSign()}


def test_stages_are_told_once_and_forwards() -> None:
    async def events() -> AsyncIterator[StreamEvent]:
        for name in ("llm", "embed", "vectors", "read", "embed", "fuse", "judge", "llm"):
            with stage(name):
                await asyncio.sleep(0)
        yield WORD

    assert collected(events()) == [LifeSign("searching"), LifeSign("reading"), LifeSign("writing"), WORD]


def test_a_stage_in_a_thread_is_heard() -> None:
    def embed() -> None:
        with stage("embed"):
            pass

    async def events() -> AsyncIterator[StreamEvent]:
        await asyncio.to_thread(embed)
        yield WORD

    assert collected(events()) == [LifeSign("searching"), WORD]


def test_an_error_before_any_sign_is_raised_and_the_work_is_closed_when_the_listener_leaves() -> None:
    async def refused() -> AsyncIterator[StreamEvent]:
        raise ValueError("not so")
        yield WORD

    with pytest.raises(ValueError, match="not so"):
        collected(refused())

    async def leave() -> None:
        closed = asyncio.Event()

        async def endless() -> AsyncIterator[StreamEvent]:
            try:
                yield WORD
                await asyncio.Event().wait()
            finally:
                closed.set()

        said = lively(endless(), every=0.001)
        assert await anext(said) == WORD
        assert await anext(said) == LifeSign()
        await said.aclose()
        assert closed.is_set()

    asyncio.run(leave())


def test_signs_are_told_apart_from_the_answer() -> None:
    assert sign_line(LifeSign("reading")) == 'event: stage\ndata: {"type": "stage", "stage": "reading"}\n\n'
    assert sign_line(LifeSign()) == comment(LifeSign())
    assert is_comment(comment(LifeSign("reading")).encode())
    assert is_sign(sign_line(LifeSign("reading")).encode())
    assert not is_sign(encode(WORD).encode())
