"""The graph channel: from the question's names and the best passages, along shared concepts, to what completes them.

A question that needs two passages is covered by neither alone. So a step from passage to passage is judged by the
*pair*: how much of the question's terms and of its meaning the two cover together, how sure the first passage is, how
specific the concept between them is, and how the second passage speaks of it (`Role`). A passage that suits the
question less than the one it was reached from never outranks it, so a question that one passage answers is not led
astray. Cost is bounded by the neighbourhood of a few seeds, never by the size of the graph.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kedge.core.values import Role, Scope
from kedge.retrieve.parameters import PARAMETERS
from kedge.text.analyze import SparseTerms
from kedge.text.concepts import candidate_keys, link, mentions
from kedge.text.question import asks

Array = NDArray[np.float32]
_GRAPH = PARAMETERS["graph"]
MARGIN = 1e-3
"""By how much the start of a step stays above its end."""


class ConceptNode(Protocol):
    """A concept as a graph read returns it."""

    @property
    def id(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def degree(self) -> int:
        """Number of passages that mention it."""


class ConceptEdge(Protocol):
    """An edge between a passage and a concept, as a graph read returns it."""

    @property
    def passage_id(self) -> str: ...
    @property
    def concept_id(self) -> str: ...
    @property
    def role(self) -> Role: ...


class ConceptGraph(Protocol):
    """What traversal reads from a graph store; each call is one round trip for the whole batch."""

    async def concepts_by_key(self, scope: Scope, keys: Sequence[str]) -> Sequence[ConceptNode]:
        """The concepts with these keys; unknown keys are left out."""

    async def concepts_of(
        self, scope: Scope, passage_ids: Sequence[str]
    ) -> tuple[Sequence[ConceptNode], Sequence[ConceptEdge]]:
        """The concepts that these passages mention, with the edges."""

    async def passages_of(self, scope: Scope, concept_ids: Sequence[str], limit: int) -> Sequence[ConceptEdge]:
        """Edges to passages that mention these concepts, at most `limit` for each."""

    async def about(self, scope: Scope, concept_ids: Sequence[str]) -> Sequence[ConceptEdge]:
        """Edges, in the role `title`, to passages of the documents that are called so."""


@dataclass(frozen=True, slots=True)
class PassageFeatures:
    """What is compared with a question: stored with every passage."""

    vector: Array
    """Unit vector of the passage."""
    terms: Mapping[int, float]
    """`SparseTerms.term_weights` of the passage, at least for the question's terms."""


class FeatureReader(Protocol):
    """Reads stored vectors and term weights by passage id."""

    async def features(self, scope: Scope, passage_ids: Sequence[str]) -> Mapping[str, PassageFeatures]:
        """Features of these passages; those that are not live are left out."""


@dataclass(frozen=True, slots=True)
class TraversalQuestion:
    """The question as traversal needs it."""

    text: str
    vector: Array
    """Unit vector of the question."""
    idf: Mapping[int, float]
    """Weight of each of the question's terms, by term id (`SparseTerms.query_weights` times the store's idf)."""


@dataclass(frozen=True, slots=True)
class Traversal:
    """How far to walk and what counts how much. Passage scores are shares from 0 to 1."""

    seeds: int = _GRAPH["seeds"]
    """Best passages of the other channels to start from, besides those the question names."""
    hops: int = _GRAPH["hops"]
    """Passages in a chain: 2 reads neighbours of the seeds (four round trips), 3 also theirs (six)."""
    beam: int = _GRAPH["beam"]
    """Passages from which a third hop starts."""
    max_degree: int = _GRAPH["max_degree"]
    """A concept that more passages mention is too common to walk along (its titled document is still reached)."""
    named: float = _GRAPH["named"]
    """For a passage whose document or lead the question names."""
    mentioned: float = _GRAPH["mentioned"]
    """For a passage that mentions a concept of the question."""
    from_seed: float = _GRAPH["from_seed"]
    """For a step from a seed, times the fourth power of its score: only seeds close to the best lead on."""
    from_named: float = _GRAPH["from_named"]
    """For a step from a passage that the question names."""
    gain: float = _GRAPH["gain"]
    """For what the pair covers beyond its first passage; given to both."""
    roles: Mapping[Role, float] = field(
        default_factory=lambda: {Role(name): weight for name, weight in _GRAPH["roles"].items()}
    )
    """How sure a step is, by how the passage it leads to speaks of the concept."""
    usual: int = _GRAPH["usual"]
    """Passages under one title from which on it says less about each of them."""
    incoming: float = _GRAPH["incoming"]
    """How sure a step is from a document to a passage that names it, divided by the number of passages that do."""
    statement: float = _GRAPH["statement"]
    """What is left of steps from seeds where the text asks nothing: a claim names what it is about."""
    generic: float = _GRAPH["generic"]
    """Factor for a step that starts at a lower-case mention of a title."""
    open_share: float = _GRAPH["open_share"]
    """A passage that lacks less than this share of the question's words leads on less: it may be the whole answer."""
    least: float = _GRAPH["least"]
    """What is left of a step from a passage that holds all words of the question."""
    crowded: int = _GRAPH["crowded"]
    """A passage that names more concepts than this (a list of links, an index) leads to each less surely."""


@dataclass(frozen=True, slots=True)
class GraphHit:
    """A passage that the graph channel speaks for."""

    passage_id: str
    bonus: float
    """To be added to the passage's blended score, which is on the scale 0 to 2."""
    path: tuple[str, ...]
    """What led here: names of concepts and ids of passages in turn, this passage last."""


@dataclass(frozen=True, slots=True)
class GraphResult:
    """The graph channel's answer."""

    hits: tuple[GraphHit, ...]
    """Best first."""
    base: Mapping[str, float]
    """Exact blended score (0 to 2) of every passage that was read, also of those the other channels missed."""


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


class _Pool:
    """The passages read for one question, as rows of arrays."""

    def __init__(self, asked: TraversalQuestion) -> None:
        self.asked = asked
        self.terms = list(asked.idf)
        self.idf: Array = np.array(list(asked.idf.values()), dtype=np.float32)
        self.rows: dict[str, int] = {}
        self.ids: list[str] = []
        self.cover: Array = np.zeros((0, len(self.terms)), dtype=np.float32)
        self.vectors: Array = np.zeros((0, len(asked.vector)), dtype=np.float32)
        self.best_cover = 0.0
        self.best_similarity = 0.0

    def add(self, features: Mapping[str, PassageFeatures]) -> None:
        fresh = [(passage, item) for passage, item in features.items() if passage not in self.rows]
        if not fresh:
            return
        idf = self.asked.idf
        cover = [[item.terms.get(term, 0.0) * idf[term] for term in self.terms] for _, item in fresh]
        self.cover = np.vstack([self.cover, np.array(cover, dtype=np.float32).reshape(len(fresh), len(self.terms))])
        self.vectors = np.vstack([self.vectors, np.stack([item.vector for _, item in fresh]).astype(np.float32)])
        for passage, _ in fresh:
            self.rows[passage] = len(self.ids)
            self.ids.append(passage)

    def calibrate(self) -> None:
        """Fix what counts as full cover and full similarity: the best among the passages read so far."""
        self.best_cover = float(self.cover.sum(axis=1).max(initial=0.0))
        self.best_similarity = float((self.vectors @ self.asked.vector).max(initial=0.0))

    def value(self, cover: Array, similarity: Array) -> Array:
        """Mean of the two shares; one value per row of `cover`."""
        lexical = cover.sum(axis=1) / self.best_cover if self.best_cover > 0 else np.zeros(len(cover), dtype=np.float32)
        dense = similarity / self.best_similarity if self.best_similarity > 0 else np.zeros_like(similarity)
        return np.asarray((lexical + dense) / 2, dtype=np.float32)

    def scores(self) -> Array:
        return self.value(self.cover, self.vectors @ self.asked.vector)


@dataclass(frozen=True, slots=True)
class NamedConcepts:
    """What the question names, as the graph knows it."""

    concepts: Mapping[str, ConceptNode]
    """By id."""
    edges: Sequence[ConceptEdge]
    """To the passages of documents that are called so, and to passages that mention them."""


async def read_question(
    graph: ConceptGraph,
    scope: Scope,
    text: str,
    how: Traversal = Traversal(),  # noqa: B008 (frozen value)
) -> NamedConcepts:
    """The first half of the channel: it needs the question's words alone, so it can run beside the other channels."""
    found = {node.key: node for node in await graph.concepts_by_key(scope, sorted(candidate_keys(text)))}
    linked = [*link(text, lambda wanted: {key for key in wanted if key in found}), *mentions(text)]
    concepts = {found[mention.key].id: found[mention.key] for mention in linked if mention.key in found}
    common = [node.id for node in concepts.values() if node.degree <= how.max_degree]
    return NamedConcepts(concepts, await _passages(graph, scope, list(concepts), common, how))


async def _passages(
    graph: ConceptGraph, scope: Scope, titled: Sequence[str], mentioned: Sequence[str], how: Traversal
) -> list[ConceptEdge]:
    """Edges to the titled documents' passages and to the passages that mention; a title edge hides a mention."""
    if not titled:
        return []
    about, other = await asyncio.gather(graph.about(scope, titled), graph.passages_of(scope, mentioned, how.max_degree))
    titles = {(edge.concept_id, edge.passage_id) for edge in about}
    return [*about, *(edge for edge in other if (edge.concept_id, edge.passage_id) not in titles)]


class _GraphWalk:
    """One question's walk over the graph."""

    def __init__(
        self, graph: ConceptGraph, reader: FeatureReader, scope: Scope, asked: TraversalQuestion, how: Traversal
    ) -> None:
        self.graph, self.reader, self.scope, self.asked, self.how = graph, reader, scope, asked, how
        self.pool = _Pool(asked)
        self.wants = 1.0 if asks(asked.text) else how.statement
        self.bonus: dict[int, float] = defaultdict(float)
        self.lift: dict[int, float] = defaultdict(float)
        self.origin: dict[int, int] = {}
        self.paths: dict[int, tuple[str, ...]] = {}

    async def run(self, base: Mapping[str, float], question: NamedConcepts) -> GraphResult:
        best = sorted(base, key=lambda passage: (-base[passage], passage))[: max(self.how.seeds * 2, 16)]
        await self._read([*best, *(edge.passage_id for edge in question.edges)])
        self.pool.calibrate()
        named = self._name(question.concepts, question.edges)
        frontier = self._seeds(best, named)
        for _ in range(1, self.how.hops):
            if not frontier:
                break
            frontier = await self._step(frontier, set(question.concepts))
        return self._result()

    async def _read(self, passages: Iterable[str]) -> None:
        wanted = [passage for passage in dict.fromkeys(passages) if passage not in self.pool.rows]
        if wanted:
            self.pool.add(await self.reader.features(self.scope, wanted))

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

    async def _step(self, frontier: Sequence[_Chain], asked: set[str]) -> list[_Chain]:
        """Walk from every chain's end to the passages that share a concept with it; returns the best new ends."""
        nodes, starts = await self.graph.concepts_of(self.scope, [self.pool.ids[chain.row] for chain in frontier])
        concepts = {node.id: node for node in nodes if node.id not in asked}
        common = [node.id for node in concepts.values() if node.degree <= self.how.max_degree]
        edges = await _passages(self.graph, self.scope, list(concepts), common, self.how)
        await self._read(edge.passage_id for edge in edges)
        targets: dict[str, dict[int, Role]] = defaultdict(dict)
        for edge in edges:
            if edge.passage_id in self.pool.rows:
                targets[edge.concept_id].setdefault(self.pool.rows[edge.passage_id], edge.role)
        chains = {chain.row: chain for chain in frontier}
        ends: dict[int, _Chain] = {}
        named = Counter(start.passage_id for start in starts)
        for start in starts:
            chain = chains.get(self.pool.rows[start.passage_id])
            if chain is not None and start.concept_id in concepts:
                sure = min(1.0, self.how.crowded / named[start.passage_id])
                sure *= self.how.generic if start.role is Role.GENERIC else 1.0
                self._follow(chain, sure, concepts[start.concept_id], targets[start.concept_id], ends)
        for row, end in ends.items():
            self.bonus[row] += end.strength
            self.paths[row] = end.path
            self.origin[row] = end.origin
        fresh = [end for row, end in ends.items() if row not in chains]
        return sorted(fresh, key=lambda end: (-end.strength, end.row))[: self.how.beam]

    def _follow(
        self, chain: _Chain, start: float, concept: ConceptNode, targets: Mapping[int, Role], ends: dict[int, _Chain]
    ) -> None:
        """Judge the pairs of `chain` with each passage that `concept` leads to, and keep each passage's best.

        `start` says how surely the chain's end speaks of the concept.
        """
        own = targets.get(chain.row) is Role.TITLE
        for titled in (False,) if own else (True, False):
            chosen = [row for row, role in targets.items() if row != chain.row and (role is Role.TITLE) == titled]
            rows = np.array(chosen, dtype=np.intp)
            if not chosen:
                continue
            cover = np.maximum(self.pool.cover[rows], chain.cover)
            vectors = self.pool.vectors[rows] + chain.vector
            similarity = vectors @ self.asked.vector / np.linalg.norm(vectors, axis=1)
            values = self.pool.value(cover, np.asarray(similarity, dtype=np.float32))
            leads = sum(role is Role.LEAD for role in targets.values())
            degree = float(max(concept.degree, 1))
            specific = start / degree if own else start * degree**-0.5
            specific /= self._spread(len(chosen)) if titled else 1.0
            for rank, at in enumerate(np.argsort(-values, kind="stable"), start=1):
                row, value = int(rows[at]), float(values[at])
                role = targets[row]
                weight = self.how.incoming if own and role is not Role.GENERIC else self.how.roles[role]
                sure = weight * specific / rank / (leads if role is Role.LEAD else 1)
                gain = self.how.gain * sure * (value - chain.value)
                self.lift[chain.row] = max(self.lift[chain.row], gain)
                strength = sure * chain.strength + gain
                if strength > 0 and (row not in ends or strength > ends[row].strength):
                    path = (*chain.path, concept.name, self.pool.ids[row])
                    ends[row] = _Chain(row, cover[at], vectors[at], value, strength, path, chain.row)

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


def weigh_question(text: str, sparse: SparseTerms, idf: Mapping[int, float]) -> dict[int, float]:
    """`TraversalQuestion.idf`: each known term's weight in the question times its idf in the collection."""
    return {term: weight * idf[term] for term, weight in sparse.query_weights(text).items() if idf.get(term)}
