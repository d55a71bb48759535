"""The graph channel: from the question's names and the best passages, along shared concepts, to what completes them.

A question that needs two passages is covered by neither alone. So a step from passage to passage is judged by the
*pair*: how much of the question's terms and of its meaning the two cover together, how sure the first passage is, how
specific the concept between them is, and how the second passage speaks of it (`Role`). A passage that suits the
question less than the one it was reached from never outranks it, so a question that one passage answers is not led
astray. Cost is bounded by the neighbourhood of a few seeds, never by the size of the graph.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kedge.core.values import Role, Scope
from kedge.retrieve.channels.named import NamedConcepts, beyond, hints, passages_of, read_question
from kedge.retrieve.channels.pool import (
    Array,
    ConceptEdge,
    ConceptGraph,
    ConceptNode,
    FeatureReader,
    GraphHit,
    GraphResult,
    PassagePool,
    Traversal,
    TraversalQuestion,
)
from kedge.retrieve.channels.related import Lead
from kedge.text.question import asks

MARGIN = 1e-3
"""By how much the start of a step stays above its end."""


@dataclass(slots=True)
class _Chain:
    """The end of a walk: a passage, what the passages up to it cover together, and how sure the walk is."""

    row: int
    cover: Array
    vector: Array
    value: float
    strength: float
    path: tuple[str, ...]
    origin: int
    """The row it was reached from; its own for a seed."""


@dataclass(slots=True)
class _Step:
    """From the end of a chain along a concept to a passage."""

    row: int
    value: float
    strength: float
    chain: _Chain
    concept: str
    """Its name."""


class _GraphWalk:
    """One question's walk over the graph."""

    def __init__(
        self, graph: ConceptGraph, reader: FeatureReader, scope: Scope, asked: TraversalQuestion, how: Traversal
    ) -> None:
        self.graph, self.reader, self.scope, self.asked, self.how = graph, reader, scope, asked, how
        self.pool = PassagePool(asked)
        self.wants = 1.0 if asks(asked.text) else how.statement
        self.bonus: dict[int, float] = defaultdict(float)
        self.lift: dict[int, float] = defaultdict(float)
        self.origin: dict[int, int] = {}
        self.related: dict[int, float] = {}
        """How surely a relation led to a row."""
        self.paths: dict[int, tuple[str, ...]] = {}

    async def run(self, base: Mapping[str, float], question: NamedConcepts) -> GraphResult:
        best = sorted(base, key=lambda passage: (-base[passage], passage))[: max(self.how.seeds * 2, 16)]
        self.pool.add(question.features)
        await self._read([*best, *(edge.passage_id for edge in question.edges)])
        self.pool.calibrate()
        named = self._name(question.concepts, question.edges)
        await self._relate(question.leads)
        if not base:  # else keyword search has weighed the same words, and alike in every store
            await self._relate(await hints(self.graph, self.scope, self.asked.text, question, self.how))
        frontier = self._seeds(best, named)
        for _ in range(1, self.how.hops):
            if not frontier:
                break
            frontier = await self._step(frontier, question)
        return self._result()

    async def _read(self, passages: Iterable[str]) -> None:
        wanted = [passage for passage in dict.fromkeys(passages) if passage not in self.pool.rows]
        if wanted:
            self.pool.add(await self.reader.features(self.scope, wanted))

    async def _relate(self, leads: Sequence[Lead]) -> None:
        """Credit passages that state a relation of what the question names, and those about its other end (D-22)."""
        await self._read([lead.passage_id for lead in leads])
        best: dict[str, float] = {}
        for lead in leads:
            row = self.pool.rows.get(lead.passage_id)
            if row is None or lead.weight <= best.get(lead.passage_id, 0.0):
                continue
            self.bonus[row] += lead.weight - best.get(lead.passage_id, 0.0)
            best[lead.passage_id] = lead.weight
            if len(lead.path) > 1 or row not in self.paths:
                self.paths[row] = (*lead.path, lead.passage_id)
                self.related[row] = lead.weight

    def _name(self, concepts: Mapping[str, ConceptNode], edges: Sequence[ConceptEdge]) -> dict[int, float]:
        """Credit passages that the question names; returns how surely, by row, those named by title or lead are."""
        scores = self.pool.scores()
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for edge in edges:
            row = self.pool.rows.get(edge.passage_id)
            if row is None:
                continue
            if edge.role in (Role.TITLE, Role.LEAD):
                groups[edge.concept_id, edge.role].append(row)
            if edge.role is not Role.TITLE:
                groups[edge.concept_id, Role.MENTION].append(row)
        named: dict[int, float] = {}
        mentioned: dict[int, float] = {}
        for (concept_id, role), rows in groups.items():
            concept = concepts[concept_id]
            spread = self._spread(len(rows)) if role == Role.TITLE else float(max(concept.degree, 1)) ** 0.5
            if role == Role.LEAD:
                spread *= len(rows) / self.how.roles[Role.LEAD]
            target = mentioned if role == Role.MENTION else named
            for rank, row in enumerate(sorted(rows, key=lambda row: (-scores[row], row)), start=1):
                sure = 1 / (rank * spread)
                if sure > target.get(row, 0.0):
                    target[row] = sure
                    self.paths.setdefault(row, (concept.name, self.pool.ids[row]))
        for weight, found in ((self.how.named, named), (self.how.mentioned, mentioned)):
            for row, sure in found.items():
                self.bonus[row] += weight * sure
        return named

    def _spread(self, passages: int) -> float:
        """By how much less a title says of each of its passages: nothing for a document of usual length."""
        return math.sqrt(max(1.0, passages / self.how.usual))

    def _seeds(self, best: Sequence[str], named: Mapping[int, float]) -> list[_Chain]:
        scores = self.pool.scores()
        likely = sorted((row for row in named if named[row] > 0.3), key=lambda row: (-named[row] * scores[row], row))
        rows = [*likely[: self.how.seeds], *(self.pool.rows[p] for p in best[: self.how.seeds] if p in self.pool.rows)]
        return [self._seed(row, float(scores[row]), named.get(row, 0.0)) for row in dict.fromkeys(rows)]

    def _seed(self, row: int, score: float, sure: float) -> _Chain:
        strength = (self.wants * self.how.from_seed * score**4 + self.how.from_named * sure) * self._need(row)
        path = self.paths[row] if sure else (self.pool.ids[row],)
        return _Chain(row, self.pool.cover[row], self.pool.vectors[row], score, strength, path, row)

    def _need(self, row: int) -> float:
        """How surely the question asks for more than this passage: 1, or less when all its words are here."""
        total = float(self.pool.idf.sum())
        missing = float(self.pool.idf[self.pool.cover[row] <= 0].sum())
        return max(self.how.least, min(1.0, missing / (self.how.open_share * total))) if total else 1.0

    async def _step(self, frontier: Sequence[_Chain], question: NamedConcepts) -> list[_Chain]:
        """Walk from every chain's end to the passages that share a concept with it; returns the best new ends."""
        ends_of = [self.pool.ids[chain.row] for chain in frontier]
        nodes, starts = await beyond(self.graph, self.scope, ends_of, question.ahead)
        concepts = {node.id: node for node in nodes if node.id not in question.concepts}
        common = [node.id for node in concepts.values() if node.degree <= self.how.max_degree]
        edges = await passages_of(self.graph, self.scope, list(concepts), common, self.how)
        await self._read(edge.passage_id for edge in edges)
        targets: dict[str, dict[int, Role]] = defaultdict(dict)
        for edge in edges:
            if edge.passage_id in self.pool.rows:
                targets[edge.concept_id].setdefault(self.pool.rows[edge.passage_id], edge.role)
        chains = {chain.row: chain for chain in frontier}
        leaving: dict[int, list[ConceptEdge]] = defaultdict(list)
        for start in starts:
            if self.pool.rows[start.passage_id] in chains and start.concept_id in concepts:
                leaving[self.pool.rows[start.passage_id]].append(start)
        ends: dict[int, _Step] = {}
        named = Counter(start.passage_id for start in starts)
        for row, own in leaving.items():
            values = self._values(chains[row], list({at: None for start in own for at in targets[start.concept_id]}))
            for start in own:
                sure = min(1.0, self.how.crowded / named[start.passage_id])
                sure *= self.how.generic if start.role is Role.GENERIC else 1.0
                concept, reached = concepts[start.concept_id], targets[start.concept_id]
                self._follow(chains[row], sure, concept, reached, values=values, ends=ends)
        for row, end in ends.items():
            self.bonus[row] += end.strength
            if self.related.get(row, 0.0) < end.strength:
                self.paths[row] = self._path(end)
            self.origin[row] = end.chain.row
        fresh = [end for row, end in ends.items() if row not in chains]
        best = sorted(fresh, key=lambda end: (-end.strength, end.row))[: self.how.beam]
        return [self._chain(end) for end in best]

    def _follow(
        self,
        chain: _Chain,
        start: float,
        concept: ConceptNode,
        targets: Mapping[int, Role],
        *,
        values: Mapping[int, float],
        ends: dict[int, _Step],
    ) -> None:
        """Judge the pairs of `chain` with each passage that `concept` leads to, and keep each passage's best.

        `start` says how surely the chain's end speaks of the concept, `values` what each pair covers.
        """
        how, own = self.how, targets.get(chain.row) is Role.TITLE
        leads = 0
        titled: list[int] = []
        others: list[int] = []
        for row, role in targets.items():
            leads += role is Role.LEAD
            if row != chain.row:
                (titled if role is Role.TITLE else others).append(row)
        degree = float(max(concept.degree, 1))
        specific = start / degree if own else start * degree**-0.5
        lift = self.lift[chain.row]
        for chosen in (others,) if own else (titled, others):
            shared = specific / self._spread(len(chosen)) if chosen is titled else specific
            chosen.sort(key=values.__getitem__, reverse=True)
            for rank, row in enumerate(chosen, start=1):
                value, role = values[row], targets[row]
                weight = how.incoming if own and role is not Role.GENERIC else how.roles[role]
                sure = weight * shared / rank / (leads if role is Role.LEAD else 1)
                gain = how.gain * sure * (value - chain.value)
                lift = max(lift, gain)
                strength = sure * chain.strength + gain
                if strength > 0 and (row not in ends or strength > ends[row].strength):
                    ends[row] = _Step(row, value, strength, chain, concept.name)
        self.lift[chain.row] = lift

    def _values(self, chain: _Chain, rows: Sequence[int]) -> dict[int, float]:
        """What each of these rows covers of the question together with the chain."""
        if not rows:
            return {}
        vectors = self.pool.vectors[rows] + chain.vector
        similarity = vectors @ self.asked.vector / np.linalg.norm(vectors, axis=1)
        cover = np.maximum(self.pool.cover[rows], chain.cover)
        found = self.pool.value(cover, np.asarray(similarity, dtype=np.float32))
        return dict(zip(rows, found.tolist(), strict=True))

    def _chain(self, step: _Step) -> _Chain:
        """The walk up to the end of the step."""
        cover = np.maximum(self.pool.cover[step.row], step.chain.cover)
        vector = self.pool.vectors[step.row] + step.chain.vector
        return _Chain(step.row, cover, vector, step.value, step.strength, self._path(step), step.chain.row)

    def _path(self, step: _Step) -> tuple[str, ...]:
        return (*step.chain.path, step.concept, self.pool.ids[step.row])

    def _keep_order(self) -> None:
        """Lift the start of a step above its end if the start suits the question better by itself."""
        scores = self.pool.scores()
        for row, start in sorted(self.origin.items(), key=lambda step: (-scores[step[0]] - self.bonus[step[0]], step)):
            ahead = float(scores[row]) + self.bonus[row] - float(scores[start]) - self.bonus[start]
            if scores[start] > scores[row] and ahead >= 0:
                self.bonus[start] += ahead + MARGIN

    def _result(self) -> GraphResult:
        for row, gain in self.lift.items():
            self.bonus[row] += gain
        self._keep_order()
        found = sorted((row for row in self.bonus if self.bonus[row] > 0), key=lambda row: (-self.bonus[row], row))
        ids = self.pool.ids
        hits = tuple(GraphHit(ids[row], 2 * self.bonus[row], self.paths.get(row, (ids[row],))) for row in found)
        return GraphResult(hits, {ids[row]: 2 * float(score) for row, score in enumerate(self.pool.scores())})


async def search_graph(
    graph: ConceptGraph,
    reader: FeatureReader,
    scope: Scope,
    asked: TraversalQuestion,
    base: Mapping[str, float],
    *,
    question: NamedConcepts | None = None,
    how: Traversal = Traversal(),  # noqa: B008 (frozen value)
) -> GraphResult:
    """Passages that the graph speaks for, best first, each with the path that led to it.

    `base` holds the blended scores of the dense and the keyword channel (`fuse.blend`), whose best passages are seeds.
    `question` is what `read_question` found, where it ran before.
    """
    known = question or await read_question(graph, scope, asked.text, how)
    return await _GraphWalk(graph, reader, scope, asked, how).run(base, known)
