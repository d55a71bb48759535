"""The way out of graphs: answers from paths; from the text of nodes where no path says it; or an honest refusal."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kedge.answer.compose.events import events, fallback_of, warnings_of, whole
from kedge.answer.compose.refusal import refusal_of
from kedge.answer.judge.calibrated import confidence
from kedge.answer.write.support import Support
from kedge.answer.write.writer import Shown, Writer
from kedge.answer.write.writer import WrittenAnswer as Told
from kedge.core.ids import new_id
from kedge.core.stages import stage
from kedge.core.values import Answer, Citation, Collection, Json, Query, SearchResult, StreamEvent
from kedge.kinds.graphs.asking.answering import REFUSAL, GraphAnswer, needed, write
from kedge.kinds.graphs.asking.evidence import hits_of
from kedge.kinds.graphs.asking.finding import UnderstoodGraph, understand
from kedge.kinds.graphs.asking.matching import Meanings
from kedge.kinds.graphs.asking.neighbours import Neighbours
from kedge.kinds.graphs.indexing import node_of
from kedge.kinds.graphs.naming import readable
from kedge.kinds.ports import Parts
from kedge.stores.graph.nodes import Node
from kedge.stores.ports import CanKeywordSearch

CANDIDATES = 30
"""Nodes whose names are compared with the question when it names none exactly."""
REMEMBERED = 20_000
"""Phrases whose vectors are kept; relations and question words come again and again."""
_MARK = re.compile(r"\[(\d+)\]")


class GraphsWayOut:
    """Searches nodes like passages, and answers from the graph."""

    def __init__(self, parts: Parts) -> None:
        self._settings = parts.settings
        self._stores = parts.stores
        self._collections = parts.collections
        self._retriever = parts.retriever
        self._answerer = parts.answerer
        self._recorder = parts.recorder
        self._writer = parts.writer
        self._memory: dict[str, dict[str, npt.NDArray[np.float32]]] = {}
        """By embedder: vectors of phrases."""

    async def search(self, query: Query) -> SearchResult:
        return await self._retriever.search(query)

    async def ask(self, query: Query) -> Answer:
        return await whole(self._run(query))

    def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        return events(self._run(query))

    async def _run(self, query: Query) -> AsyncGenerator[Shown | Answer, None]:
        """What is shown, piece by piece, and at last the answer that it makes."""
        started = time.perf_counter()
        collection = await self._collections.get(query.scope)
        with stage("graph"):
            understood = await self._understand(query, collection)
        held = await self._stores.nodes.nodes(query.scope, needed(understood))
        probability = understood.probability
        gone = understood.readings and understood.ranked()[0][0] not in held
        if gone or probability < self._settings.threshold:
            answer = await self._from_texts(query, probability)
            yield Shown(answer.answer, answer.citations)
            yield answer
            return
        written = write(query.scope, understood, held, probability)
        elapsed = 1000 * (time.perf_counter() - started)
        answer = await self._answer(query, written, held, probability, elapsed)
        if self._writer is None:
            yield Shown(answer.answer, answer.citations)
        else:
            async with aclosing(self._generated(query, self._writer, written, held, answer)) as parts:
                async for part in parts:
                    if isinstance(part, Answer):
                        answer = part
                    else:
                        yield part
        elapsed = 1000 * (time.perf_counter() - started)
        timings = {"graph": elapsed, "total": elapsed}
        result = SearchResult(query.text, (), timings, {"graph": len(understood.readings)})
        await self._recorder.record(query, result, answer, elapsed)
        yield answer

    async def _generated(
        self,
        query: Query,
        writer: Writer,
        written: GraphAnswer,
        nodes: Mapping[str, Node],
        answer: Answer,
    ) -> AsyncGenerator[Shown | Answer, None]:
        """The same evidence in a model's words, each sentence checked; the path itself where none of them holds."""
        described = answer.metadata.get("nodes")
        hits = hits_of(written, nodes, described if isinstance(described, list) else [])
        collection = await self._collections.get(query.scope)
        embedder = await self._collections.embedder_of(collection)
        question = await self._answerer.judging.question(query, collection)
        support = await asyncio.to_thread(Support, question, hits, embedder.embed)
        told = Told(writer.model.name, await writer.context(query.text, hits))
        async with aclosing(writer.write(query.text, hits, support, told, written.citations)) as shown:
            async for part in shown:
                yield part
        if told.error is not None and self._settings.llm_failure == "error":
            raise told.error
        fallback = fallback_of(told)
        own = Shown("" if fallback is None else f"\n\n{answer.answer}" if told.text else answer.answer)
        rest = tuple(one for one in written.citations if one not in told.citations)
        yield replace(own, citations=rest)
        metadata: dict[str, Json] = {
            **answer.metadata,
            "generation": {**told.as_json(), "fallback": fallback},
            "warnings": [*warnings_of(told, fallback)],
        }
        yield replace(answer, answer=told.text + own.text, metadata=metadata)

    async def _understand(self, query: Query, collection: Collection) -> UnderstoodGraph:
        memory = self._memory.setdefault(collection.embedder, {})
        if len(memory) > REMEMBERED:
            memory.clear()
        meanings = Meanings(await self._collections.embedder_of(collection), memory)

        async def candidates() -> Mapping[str, Node]:
            return await self._candidates(query, collection)

        return await understand(query.text, self._stores.nodes, query.scope, meanings, candidates)

    async def _candidates(self, query: Query, collection: Collection) -> Mapping[str, Node]:
        vectors = self._stores.vectors
        if not isinstance(vectors, CanKeywordSearch) or not collection.passages:
            return {}
        hits = await vectors.keyword_search(collection.index_name, query.scope.tenant, query.text, CANDIDATES)
        live = await self._stores.catalog.passages.live(query.scope, [hit.id for hit in hits])
        return await self._stores.nodes.nodes(query.scope, [passage.external_id for passage in live.values()])

    async def _answer(
        self, query: Query, written: GraphAnswer, nodes: Mapping[str, Node], probability: float, elapsed: float
    ) -> Answer:
        metadata: dict[str, Json] = {
            "kind": "graph",
            "paths": written.paths,
            "nodes": await self._described(query, written.citations, nodes),
            "latency_ms": round(elapsed, 2),
            "timings_ms": {"total": round(elapsed, 2)},
            "citation_count": len(written.citations),
        }
        return Answer(
            query_id=new_id(),
            answer=written.text,
            citations=written.citations,
            confidence=confidence(probability, self._settings.threshold),
            evidence_probability=probability,
            short_answer=written.short,
            metadata=metadata,
        )

    async def _described(self, query: Query, citations: Sequence[Citation], nodes: Mapping[str, Node]) -> list[Json]:
        """The cited nodes with some of their neighbours: what a page or a language model is told about them."""
        near = Neighbours(self._stores.nodes, query.scope, self._settings.node_neighbours)
        return await near.described(
            [(one.id, nodes[node_of(one.url)]) for one in citations if node_of(one.url) in nodes]
        )

    async def _from_texts(self, query: Query, probability: float) -> Answer:
        """No path says it. The text of nodes may: those nearer to the question than the collection's threshold."""
        found = await self._answerer.ask(query)
        near = {hit.passage.id for hit in found.hits if (hit.vector_score or 0.0) > self._settings.node_threshold}
        # A node that has nothing but a name says nothing, however like the question its name is.
        near &= {one.passage_id for one in found.citations if one.snippet != readable(one.title)}
        metadata: dict[str, Json] = {**found.metadata, "kind": "graph", "paths": [], "nodes": []}
        if found.refused or not near:
            sure = min(found.evidence_probability, self._settings.threshold - 0.01) if not near else 0.0
            best = max(probability, found.evidence_probability if found.refused else sure)
            question = await self._answerer.judging.question(query, await self._collections.get(query.scope))
            told = refusal_of(question, found.hits, best)
            return replace(
                found,
                answer=told.text(REFUSAL),
                citations=(),
                confidence="insufficient",
                evidence_probability=best,
                short_answer=None,
                metadata={**metadata, "citation_count": 0, "refusal": told.as_json()},
            )
        citations = tuple(replace(one, id=_MARK.sub(r"[Node \1]", one.id)) for one in found.citations)
        nodes = await self._stores.nodes.nodes(query.scope, [node_of(one.url) for one in citations])
        metadata["nodes"] = await self._described(query, citations, nodes)
        text = _MARK.sub(r"[Node \1]", found.answer)
        return replace(found, answer=text, citations=citations, metadata=metadata)
