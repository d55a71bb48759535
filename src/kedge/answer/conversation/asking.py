"""Conversations: a question that leans on the ones before it is completed before anything is looked for."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from kedge.answer.conversation.open_turns import OpenTurns
from kedge.answer.conversation.turns import MOST_TURNS, Key, Turn, Turns, key_of
from kedge.answer.write.prompts import rewrite_prompt
from kedge.core.errors import ModelError
from kedge.core.values import MAX_QUERY_CHARS, Answer, Citation, Json, Query, StreamEvent
from kedge.models.ports import LanguageModel
from kedge.stores.catalog.ports import Catalog
from kedge.text.analyze import terms
from kedge.text.followup import EarlierTurn, follow, main_topics, needs_context
from kedge.text.generic import generic_terms

log = logging.getLogger(__name__)
ANSWER_CHARS = 600
"""So much of an answer is remembered."""


class Way(Protocol):
    """How a collection is asked; `kinds.way.WayOut` is one."""

    async def ask(self, query: Query) -> Answer: ...

    def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]: ...


class Conversation:
    """Completes questions from what their session asked before, and remembers what came of them."""

    def __init__(self, turns: Turns | None, model: LanguageModel | None = None, catalog: Catalog | None = None) -> None:
        """Without `turns` it forgets at once. `catalog` knows what the actor in force may read."""
        self._readable = None if catalog is None else OpenTurns(catalog)
        self._turns = turns
        self._model = model

    async def resolve(self, query: Query) -> Query:
        """The query to be understood alone. The same, if it has no session or leaves nothing out."""
        key = _key(query)
        if self._turns is None or key is None or not needs_context(query.text):
            return query
        turns = await self._turns.last(key)
        if self._readable is not None:
            turns = await self._readable.of_turns(key[0], turns)
        if not turns:
            return query
        text = await self._rewritten(query.text, turns) or _followed(query.text, turns)
        return replace(query, text=text) if 0 < len(text) <= MAX_QUERY_CHARS else query

    async def keep(self, query: Query, answer: str, short: str | None, citations: Sequence[Citation]) -> None:
        """Remember a question (completed) and its answer."""
        key = _key(query)
        if self._turns is None or key is None:
            return
        asked = set(terms(query.text))
        titles = [one.title for one in citations]
        named = [title for title in titles if terms(title) and asked.issuperset(terms(title))]
        near = [title for title in titles if asked.intersection(terms(title))]
        topics = tuple(dict.fromkeys((*named, *main_topics(query.text), *near)))
        names = (short,) if short and short[:1].isupper() else ()
        said = answer if citations else answer.partition("\n\n")[0]  # what a refusal shows beside itself was not said
        documents = tuple(dict.fromkeys(one.document_id for one in citations))
        turn = Turn(query.text, said[:ANSWER_CHARS], names, topics, documents, query.scope.collection)
        await self._turns.add(key, turn)

    async def _rewritten(self, question: str, turns: Sequence[Turn]) -> str:
        """What a model makes of it; nothing where there is none, it fails, or it puts in what nobody said."""
        if self._model is None:
            return ""
        said: list[str] = []
        prompt = rewrite_prompt(question, [(turn.question, turn.answer) for turn in turns[-3:]])
        try:
            async with aclosing(self._model.stream(prompt)) as pieces:
                async for piece in pieces:
                    said.append(piece.text)
        except ModelError as error:
            log.warning("the question could not be rewritten: %s", error)
            return ""
        return valid_rewrite("".join(said), question, turns)


def valid_rewrite(text: str, question: str, turns: Sequence[Turn]) -> str:
    """The rewritten question, if it is one line, keeps what was asked and adds only words of the conversation."""
    line = text.strip().strip('"“”').strip()
    known = set(terms(question)).union(*(terms(f"{turn.question} {turn.answer}") for turn in turns)) | generic_terms()
    kept = {term for term in terms(question) if term not in generic_terms()}
    new = set(terms(line))
    fits = line and "\n" not in line and len(line) <= 300 and line.endswith("?") and new <= known
    return line if fits and len(kept & new) * 3 >= len(kept) * 2 else ""


def resolve_among(question: str, earlier: Sequence[str]) -> str:
    """The question to be understood alone, where the caller brings the questions before it (oldest first) itself.

    What is too long to be a question is none: earlier ones are left out, and the question stays as it is.
    """
    before: EarlierTurn | None = None
    if len(question) > MAX_QUERY_CHARS:
        return question
    for text in (*(one for one in earlier[-MOST_TURNS:] if len(one) <= MAX_QUERY_CHARS), question):
        alone = follow(text, before) if before else text
        alone = alone if len(alone) <= MAX_QUERY_CHARS else text
        before = EarlierTurn(alone, topics=main_topics(alone)) if alone.strip() else before
    return before.question if before and question.strip() else question


def _followed(question: str, turns: Sequence[Turn]) -> str:
    last = turns[-1]
    return follow(question, EarlierTurn(last.question, last.names, last.topics))


def _key(query: Query) -> Key | None:
    return key_of(query.scope.tenant, query.session_id, query.user) if query.session_id else None


async def ask_in(conversation: Conversation, query: Query, way: Way) -> Answer:
    """Ask a way out within the conversation."""
    asked = await conversation.resolve(query)
    answer = await way.ask(asked)
    await conversation.keep(asked, answer.answer, answer.short_answer, answer.citations)
    if asked.text == query.text:
        return answer
    return replace(answer, metadata={"resolved_question": asked.text, **answer.metadata})


async def stream_in(conversation: Conversation, query: Query, way: Way) -> AsyncGenerator[StreamEvent, None]:
    """Like `ask_in`, event by event."""
    asked = await conversation.resolve(query)
    words: list[str] = []
    citations: list[Citation] = []
    async with aclosing(way.stream(asked)) as events:
        async for event in events:
            words.append(event.content or "")
            if event.citation is not None:
                citations.append(event.citation)
            shown = event
            if event.metadata is not None:
                short = event.metadata.get("short_answer")
                await conversation.keep(asked, "".join(words), short if isinstance(short, str) else None, citations)
                if asked.text != query.text:
                    metadata: dict[str, Json] = {"resolved_question": asked.text, **event.metadata}
                    shown = replace(event, metadata=metadata)
            yield shown
