"""An agent uses the server: the official client over HTTP, with and without keys; and over stdio beside it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from kedge.core.settings import load_settings
from kedge.core.values import Right
from kedge.surfaces.mcp.shown import MOST_BYTES
from tests.support.serving import put_key, served
from tests.support.surfaces import EMBEDDER, QUESTION, follow, http_client, write_corpus
from tests.surfaces.server.serving import process


def with_server(url: str, key: str | None, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def connected() -> Any:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            return await work(client)

    return asyncio.run(connected())


async def ask(client: Client, **more: Any) -> Any:
    return await client.call_tool("ask", {"question": QUESTION, **more})


def test_an_agent_of_each_tenant_sees_its_own(tmp_path: Path) -> None:
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER)
    own = put_key(settings, "acme", Right.WRITE)
    other = put_key(settings, "else", Right.READ)
    corpus = write_corpus(tmp_path / "corpus")
    with served(settings) as url:
        with http_client(url, headers={"authorization": f"Bearer {own}"}) as client:
            files = [("file", (path.name, path.read_bytes(), "text/markdown")) for path in corpus.iterdir()]
            follow(client, client.post("/api/ingest", files=files).raise_for_status().json()["job_id"])

        async def owner(client: Client) -> None:
            answer = await ask(client)
            assert "anchor bend" in answer.structured_content["answer"]
            assert len(answer.content[0].text.encode()) <= MOST_BYTES
            assert len((await client.list_resources()).resources) == 3
            refused = await client.call_tool("ingest", {"sources": [str(corpus)]})
            assert refused.is_error
            assert "does not read files of its own machine" in refused.content[0].text

        async def stranger(client: Client) -> None:
            assert (await ask(client)).is_error, "there is no collection of that name here"
            assert (await client.list_resources()).resources == []
            refused = await client.call_tool("ingest", {"sources": ["https://example.org/"]})
            assert refused.is_error
            assert "This needs the right write" in refused.content[0].text

        with_server(url, own, owner)
        with_server(url, other, stranger)
        with pytest.raises((MCPError, ExceptionGroup)):
            with_server(url, None, ask)


def _message(method: str, id: object = 1, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def _called(name: str, **arguments: object) -> str:
    return _message("tools/call", name=name, arguments=arguments)


HOSTILE = (
    "",
    "{",
    "null",
    f"[{', '.join([_message('tools/list')] * 100)}]",
    _message("../../etc/passwd"),
    _message("tools/list", id={"a": 1}),
    f'{{"jsonrpc": "2.0", "id": {"9" * 5000}, "method": "tools/list"}}',
    _called("ask", question="[" * 1000, filter={"a": {"b": {"c": 1}}}),
    f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"[" * 5000}{"]" * 5000}}}',
    _called("ask", question="a\0b"),
    _called("ask", question="a" * 100_000),
    _called("ask", question="a", collection="../../x"),
    _called("ask", question="a", top_k=10**30),
    _called("ask", question="a", session_id="x" * 5000),
    _called("x" * 10_000),
    _called("documents", offset=10**30),
    _called("read", document_id="x", start=10**30),
    _message("resources/list", cursor="9" * 5000 + ":0"),
    _message("resources/list", cursor="0:" + "9" * 30),
    _message("resources/list", cursor="0:²"),
    _message("resources/read", uri="file:///etc/passwd"),
    _message("resources/read", uri="kedge://documents/%00"),
)


def test_hostile_messages_are_refused_in_the_protocols_shape(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER)
    accepted = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    with served(settings) as url, http_client(url, headers=accepted) as client:
        for sent in HOSTILE:
            answer = client.post("/mcp", content=sent.encode())
            assert answer.status_code < 500, (sent[:100], answer.text)
            assert "result" not in answer.text or '"isError":true' in answer.text, (sent[:100], answer.text)
            assert not {"SQLite", "Traceback", "set_int_max_str_digits"} & set(answer.text.split()), answer.text
        assert client.post("/mcp", content=_message("tools/list").encode()).status_code == 200
    assert [one.message for one in caplog.records if one.exc_info] == []


def test_an_agent_acts_for_the_user_of_its_key(tmp_path: Path) -> None:
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER)
    ann, bob = (put_key(settings, "default", Right.WRITE, user=name) for name in ("ann", "bob"))
    corpus = write_corpus(tmp_path / "corpus")
    with served(settings) as url:
        with http_client(url, headers={"authorization": f"Bearer {ann}"}) as client:
            files = [("file", (path.name, path.read_bytes(), "text/markdown")) for path in corpus.iterdir()]
            sent = client.post("/api/ingest", files=files, data={"readers": "user:ann"}).raise_for_status()
            follow(client, sent.json()["job_id"])
            document = client.get("/api/documents").json()["documents"][0]["document_id"]

        async def sees(client: Client) -> tuple[int, bool, bool]:
            listed = (await client.list_resources()).resources
            answer = await ask(client)
            read = await client.call_tool("read", {"document_id": document})
            return len(listed), "anchor bend" in answer.content[0].text, read.is_error

        for _ in range(2):  # in turn: nothing of one caller stays for the next
            assert with_server(url, ann, sees) == (3, True, False)
            assert with_server(url, bob, sees) == (0, False, True)


def test_an_agent_works_beside_a_running_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    corpus = write_corpus(tmp_path / "corpus")
    command = ["-m", "kedge.surfaces.cli.main", "--home", str(home), "mcp"]

    async def local(client: Client) -> Any:
        taken = await client.call_tool("ingest", {"sources": [str(corpus)]})
        assert not taken.is_error, taken.content[0].text
        (resource, *_) = (await client.list_resources()).resources
        (text,) = (await client.read_resource(resource.uri)).contents
        assert text.text
        return await ask(client)

    async def over_stdio() -> Any:
        async with Client(StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))) as client:
            return await local(client)

    with process(home) as (_, url):
        answer = asyncio.run(over_stdio())
        assert "anchor bend" in answer.structured_content["answer"]
        again = with_server(url, None, ask)
        assert json.loads(again.content[0].text)["answer"] == answer.structured_content["answer"]
