"""The way out of graphs: answers from paths; from the text of nodes where no path says it; or an honest refusal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from kedge.answer.compose.events import events, fallback_of, warnings_of, weighed, whole, with_times
from kedge.answer.compose.evidence_graph import evidence_json
from kedge.answer.compose.refusal import refusal_of
from kedge.answer.judge.calibrated import confidence
from kedge.answer.pipeline import POSSIBLE
from kedge.answer.write.support import Support
from kedge.answer.write.writer import Shown, Writer
from kedge.answer.write.writer import WrittenAnswer as Told
from kedge.core.ids import new_id
from kedge.core.stages import stage
from kedge.core.values import Answer, Citation, Collection, Json, Query, SearchHit, SearchResult, StreamEvent
from kedge.core.values.filters import Eq, In, all_of
from kedge.kinds.graphs.asking.answering import REFUSAL, needed, write
from kedge.kinds.graphs.asking.evidence import cited_node, edges_of, hits_of, prose, typed, with_edges
from kedge.kinds.graphs.asking.expected import says
from kedge.kinds.graphs.asking.finding import UnderstoodGraph, understand
from kedge.kinds.graphs.asking.matching import Meanings
from kedge.kinds.graphs.asking.neighbours import Neighbours
from kedge.kinds.graphs.asking.texts import TextAnswer, quoted, speaks, told
from kedge.kinds.graphs.asking.threshold import node_threshold
from kedge.kinds.graphs.indexing import node_of
from kedge.kinds.ports import Parts
from kedge.stores.graph.nodes import Node
from kedge.stores.narrowing import narrowing
from kedge.stores.ports import CanKeywordSearch

CANDIDATES = 30
"""Nodes whose names are compared with the question when it names none exactly."""
NEAREST = 5
"""Nodes whose text is read (G-04)."""
ITSELF = 0.95
"""Probability that a node's own text answers the question what it is, where the name is the node's."""
REMEMBERED = 20_000
"""Phrases whose vectors are kept; relations and question words come again and again."""


@dataclass(slots=True)
class _Draft:
    """An answer before a language model is asked."""

    answer: Answer
    hits: Sequence[SearchHit] = ()
    """What a model may read; none: it is not asked."""
    known: tuple[Citation, ...] = ()
    """One citation for each of them."""
    result: SearchResult = field(default_factory=lambda: SearchResult("", (), {}))
    """What was searched for it."""


@dataclass(slots=True)
class _StepTimes:
    timings: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            with stage(name):
                yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + 1000 * (time.perf_counter() - started)


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
        self._thresholds: dict[str, float] = {}
        """By embedder: how near a node must be."""

    async def search(self, query: Query) -> SearchResult:
        """Nodes, each once: by the piece of its text that was found first."""
        return await self._nearest(query, query.top_k, self._settings.node_threshold)

    async def ask(self, query: Query) -> Answer:
        return await whole(self._run(query))

    def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        return events(self._run(query))

    async def _run(self, query: Query) -> AsyncGenerator[Shown | Answer, None]:
        """What is shown, piece by piece, and at last the answer that it makes, recorded as it was shown."""
        started = time.perf_counter()
        clock = _StepTimes()
        collection = await self._collections.get(query.scope)
        draft = await self._draft(query, collection, clock)
        answer = draft.answer
        if self._writer is None or not draft.hits:
            yield Shown(answer.answer, answer.citations)
        else:
            with clock.timed("generate"):
                async with aclosing(self._generated(query, self._writer, draft)) as parts:
                    async for part in parts:
                        if isinstance(part, Answer):
                            answer = part
                        else:
                            yield part
        elapsed = 1000 * (time.perf_counter() - started)
        found = draft.result
        search = {} if "vector" not in found.timings_ms else {"search": found.timings_ms["vector"]}
        timings = {**found.timings_ms, **search, **clock.timings, "total": elapsed}
        result = replace(found, query=query.text, timings_ms=timings)
        answer = with_times(answer, result, elapsed)
        if answer.refused:
            answer = replace(answer, metadata={**answer.metadata, "evidence": evidence_json(query.text, (), ())})
        await self._recorder.record(query, result, answer, elapsed)
        yield answer

    async def _draft(self, query: Query, collection: Collection, clock: _StepTimes) -> _Draft:
        """From the node itself, from a path, or from texts: the first that is sure enough."""
        with clock.timed("graph"):
            understood = await self._understand(query, collection)
        if understood.itself:
            draft = await self._itself(query, understood, clock)
            if draft is not None:
                return draft
        with clock.timed("fetch"):
            held = await self._stores.nodes.nodes(query.scope, needed(understood))
        gone = understood.readings and understood.ranked()[0][0] not in held
        if gone or understood.probability < self._settings.threshold:
            return await self._from_texts(query, collection, understood.probability, clock)
        return await self._from_path(query, understood, held, clock)

    async def _generated(self, query: Query, writer: Writer, draft: _Draft) -> AsyncGenerator[Shown | Answer, None]:
        """The same evidence in a model's words, each sentence checked; the draft itself where none of them holds."""
        collection = await self._collections.get(query.scope)
        embedder = await self._collections.embedder_of(collection)
        question = await self._answerer.judging.question(query, collection)
        support = await asyncio.to_thread(Support, question, draft.hits, embedder.embed, embedder.name)
        written = Told(writer.model.name, await writer.context(query.text, draft.hits))
        async with aclosing(writer.write(query.text, draft.hits, support, written, draft.known)) as shown:
            async for part in shown:
                yield part
        if written.error is not None and self._settings.llm_failure == "error":
            raise written.error
        fallback, answer = fallback_of(written), draft.answer
        own = Shown("" if fallback is None else f"\n\n{answer.answer}" if written.text else answer.answer)
        given = answer.citations if answer.citations or fallback is not None else tuple(written.citations)
        rest = tuple(one for one in given if one not in written.citations)
        yield replace(own, citations=rest)
        metadata: dict[str, Json] = {
            **answer.metadata,
            "generation": {**written.as_json(), "fallback": fallback},
            "warnings": [*warnings_of(written, fallback)],
        }
        if fallback is None and answer.refused:  # the evidence was thought possible, and the model's sentences hold
            sure = max(answer.evidence_probability, self._settings.threshold)
            level = confidence(sure, self._settings.threshold)
            answer = replace(answer, confidence=level, evidence_probability=sure)
            metadata.pop("refusal", None)
        yield replace(answer, answer=written.text + own.text, citations=given, metadata=metadata)

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
        where = await narrowing(self._stores.catalog, query.scope)
        hits = await vectors.keyword_search(collection.index_name, query.scope.tenant, query.text, CANDIDATES, where)
        live = await self._stores.catalog.passages.live(query.scope, [hit.id for hit in hits])
        return await self._stores.nodes.nodes(query.scope, [passage.external_id for passage in live.values()])

    async def _from_path(
        self, query: Query, understood: UnderstoodGraph, held: Mapping[str, Node], clock: _StepTimes
    ) -> _Draft:
        probability = understood.probability
        embedder = await self._collections.embedder_of(await self._collections.get(query.scope))
        written = write(query.scope, understood, held, probability, embedder)
        with clock.timed("fetch"):
            described = await self._described(query, [(one.id, node_of(one.url)) for one in written.citations], held)
        hits = hits_of(written.citations, held, edges_of(held, described, written.paths))
        metadata: dict[str, Json] = {
            "kind": "graph",
            "paths": written.paths,
            "nodes": described,
            "evidence": evidence_json(query.text, hits, written.citations),
        }
        text = TextAnswer(written.text, written.short, written.citations)
        result = SearchResult(query.text, (), {}, {"graph": len(understood.readings)}, strategy="graph_only")
        return _Draft(self._answer(text, probability, metadata), hits, written.citations, result)

    def _answer(self, made: TextAnswer, probability: float, metadata: dict[str, Json]) -> Answer:
        return Answer(
            query_id=new_id(),
            answer=made.text,
            citations=made.citations,
            confidence=confidence(probability, self._settings.threshold),
            evidence_probability=probability,
            short_answer=made.short,
            metadata=metadata,
        )

    async def _described(self, query: Query, cited: Sequence[tuple[str, str]], nodes: Mapping[str, Node]) -> list[Json]:
        """The cited nodes with some of their neighbours: what a page or a language model is told about them."""
        near = Neighbours(self._stores.nodes, query.scope, self._settings.node_neighbours)
        return await near.described([(mark, nodes[node]) for mark, node in cited if node in nodes])

    async def _itself(self, query: Query, understood: UnderstoodGraph, clock: _StepTimes) -> _Draft | None:
        """What a node is, from its own text and its edges; None where the graph has nothing of it but the name."""
        with clock.timed("fetch"):
            nodes = await self._stores.nodes.nodes(query.scope, understood.itself)
            where = all_of(In("node_id", tuple(nodes)), Eq("chunk_index", 0))  # a text begins with what the node is
            result = await self._retriever.search(replace(query, where=where, top_k=NEAREST)) if nodes else None
            hits, owned, described = await self._read(query, result.hits if result else (), nodes)
        known = [speaks(hit, own) for hit, own in zip(hits, owned, strict=True)]
        if any(known):
            hits = [hit for hit, said in zip(hits, known, strict=True) if said]
            owned = [own for own, said in zip(owned, known, strict=True) if said]
        made = told(hits, owned)
        if result is None or not made.citations:
            return None
        sure = ITSELF * understood.mentions[0].likeness
        metadata: dict[str, Json] = {"kind": "graph", "paths": [], "nodes": _marked(described, made.citations)}
        answer = replace(self._answer(made, sure, metadata), hits=weighed(hits, sure, self._settings.threshold))
        return _Draft(answer, hits, tuple(_known(hits, owned)), result)

    async def _nearest(self, query: Query, limit: int, near: float | None = None) -> SearchResult:
        """The best `limit` nodes; a long one is found by each of its pieces and told once."""
        wanted = limit
        while True:
            found = await self._retriever.rank(query, wanted, near=near)
            nodes: dict[str, SearchHit] = {}
            for hit in found.hits:
                nodes.setdefault(hit.passage.external_id, hit)
            if len(nodes) >= limit or len(found.hits) < wanted:
                break
            wanted *= 4
        hits = [replace(hit, rank=rank) for rank, hit in enumerate(list(nodes.values())[:limit], start=1)]
        return replace(found, hits=tuple(hits))

    async def _from_texts(self, query: Query, collection: Collection, probability: float, clock: _StepTimes) -> _Draft:
        """No path says it. The text of nodes may: of the five nearest, those above the threshold are read."""
        least = await self._least(collection)
        result = await self._nearest(query, max(query.top_k, NEAREST), least)
        near = [hit for hit in result.hits if (hit.vector_score or 0.0) > least][:NEAREST]
        with clock.timed("fetch"):
            ids = [hit.passage.external_id for hit in near]
            nodes = await self._stores.nodes.nodes(query.scope, ids)
            hits, owned, described = await self._read(query, near, nodes)
        with clock.timed("judge"):
            texts = [typed(prose(hit), nodes) for hit in near if hit.passage.external_id in nodes]
            verdict = await self._answerer.judging.verdict(query, collection, texts)
        made = quoted(verdict, texts, query.top_k)
        sure = verdict.probability if made.citations else 0.0
        if not any(says(one.snippet, query.text) for one in made.citations):
            sure = min(sure, POSSIBLE * self._settings.threshold)
        threshold = self._settings.threshold
        metadata: dict[str, Json] = {"kind": "graph", "paths": [], "nodes": _marked(described, made.citations)}
        possible = hits if sure >= POSSIBLE * threshold else []
        if sure < threshold or not made.citations:
            best = min(max(probability, sure), threshold - 0.01)
            why = refusal_of(verdict.question, result.hits, best, read=verdict.read)
            metadata |= {"refusal": why.as_json(), "nodes": []}
            made = TextAnswer(why.text(REFUSAL), None, ())
            answer = self._answer(made, best, metadata)
        else:
            answer = self._answer(made, sure, metadata)
        answer = replace(answer, hits=weighed(result.hits, sure, threshold))
        return _Draft(answer, possible, tuple(_known(possible, owned)), result)

    async def _least(self, collection: Collection) -> float:
        """The threshold of the settings, or that of the collection's model."""
        if self._settings.node_threshold is not None:
            return self._settings.node_threshold
        if collection.embedder not in self._thresholds:
            self._thresholds[collection.embedder] = await node_threshold(
                await self._collections.embedder_of(collection)
            )
        return self._thresholds[collection.embedder]

    async def _read(
        self, query: Query, hits: Sequence[SearchHit], nodes: Mapping[str, Node]
    ) -> tuple[list[SearchHit], list[str], list[Json]]:
        """The hits as they are read, the text that the index has of each, and their nodes with their neighbours."""
        found = [hit for hit in hits if hit.passage.external_id in nodes]
        described = await self._described(query, [("", hit.passage.external_id) for hit in found], nodes)
        edges = edges_of(nodes, described)
        return [with_edges(hit, nodes, edges) for hit in found], [hit.passage.text for hit in found], described


def _known(hits: Sequence[SearchHit], owned: Sequence[str]) -> Iterator[Citation]:
    for number, (hit, own) in enumerate(zip(hits, owned, strict=False), start=1):
        yield cited_node(f"[Node {number}]", hit, own)


def _marked(described: Sequence[Json], citations: Sequence[Citation]) -> list[Json]:
    """The nodes that are cited, in the order of their marks."""
    by_id = {str(one["node_id"]): one for one in described if isinstance(one, dict)}
    marks = {node_of(one.url): one.id for one in reversed(citations)}
    return [{**by_id[node_of(one.url)], "id": one.id} for one in citations if marks[node_of(one.url)] == one.id]
