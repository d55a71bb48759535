"""What each part of retrieval brings, and whether its few parameters carry over to sets they were not chosen on.

    python -m benchmarks.crossval_retrieval [--queries N] [--sets NAME ...]

Reads the open sets (see `benchmarks/data.py`), keeps vectors under `.bench-cache/`, and runs the library's own
functions over arrays in memory, one passage for each document, so that a setting costs seconds. Prints two tables:

* ablations: each channel alone, reciprocal rank fusion, the blend, and the blend with reranking, graph and both;
* leave one set out: for every set, the setting of GRID that is best on all *other* sets, what it reaches on this set
  with a 95 % bootstrap interval, and the best any setting of GRID reaches here (in-sample). A set and its variant
  without titles are left out together.

Figures: recall@5 for multi-hop sets, nDCG@10 for the others. `NAME*` is the set without its titles,
`composed` is made by `benchmarks/composed.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import SETS, folder
from kedge.core.settings import load_settings
from kedge.core.values import Concept, Role, Scope
from kedge.models.registry import open_embedder
from kedge.retrieve.channels.graph import search_graph
from kedge.retrieve.channels.pool import GraphResult, PassageFeatures, Traversal, TraversalQuestion, weigh_question
from kedge.retrieve.fuse import add_bonus, blend, rrf
from kedge.retrieve.order import SOFT
from kedge.retrieve.rerank import Smoothing, adaptive, exact_blend, smooth
from kedge.retrieve.soft import open_vectors, soft_match
from kedge.text.analyze import SparseTerms
from kedge.text.concepts import discussed, title_aliases

Array = NDArray[np.float32]
CACHE = Path(__file__).parents[1] / ".bench-cache" / "crossval"
SCOPE = Scope("default", "crossval")
MULTI_HOP = ("2wikimultihop", "hotpotqa_train100", "composed")
VARIANTS = (*SETS, "2wikimultihop*", "hotpotqa_train100*", "composed")
DEPTH, RERANKED, RESAMPLES = 100, 50, 1000
SPARSE = SparseTerms()
Ranking = list[str]


@dataclass(frozen=True)
class Setting:
    """One point of the grid."""

    mention: float = Traversal().roles[Role.MENTION]
    from_seed: float = Traversal().from_seed
    smoothing: float = Smoothing().weight

    @property
    def traversal(self) -> Traversal:
        roles = {**Traversal().roles, Role.MENTION: self.mention, Role.SUBJECT: self.mention}
        return Traversal(from_seed=self.from_seed, roles=roles)


GRID = [Setting(*point) for point in itertools.product((0.05, 0.15, 0.3), (0.5, 1.0), (0.0, 0.3))]


@dataclass(frozen=True)
class Node:
    id: str
    key: str
    name: str
    degree: int


@dataclass(frozen=True)
class Edge:
    passage_id: str
    concept_id: str
    role: Role


@dataclass(frozen=True)
class Question:
    asked: TraversalQuestion
    gold: Mapping[str, float]
    dense: Mapping[str, float]
    keyword: Mapping[str, float]


class Collection:
    """One set in memory: vectors, keyword index and graph, behind the ports that traversal reads."""

    def __init__(self, name: str, limit: int) -> None:
        self.name, path = name, folder(name.rstrip("*"))
        documents = _rows(path / "corpus.jsonl")
        self.titles = ["" if name.endswith("*") else row.get("title") or "" for row in documents]
        self.bodies = [row["text"] for row in documents]
        texts = [f"{title}\n{body}".strip() for title, body in zip(self.titles, self.bodies, strict=True)]
        self.vectors = _vectors(name.replace("*", "-untitled"), "passages", texts)
        self.weights = [SPARSE.term_weights(text) for text in texts]
        self._index()
        self._link()
        self.questions = self._ask(path, documents, limit)

    def _index(self) -> None:
        postings: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for row, weights in enumerate(self.weights):
            for term, weight in weights.items():
                postings[term].append((row, weight))
        count = len(self.weights)
        self.idf = {t: math.log(1 + (count - len(found) + 0.5) / (len(found) + 0.5)) for t, found in postings.items()}
        self.postings = {
            term: (np.array([row for row, _ in found]), np.array([weight for _, weight in found], np.float32))
            for term, found in postings.items()
        }

    def _link(self) -> None:
        self.titled: dict[str, list[str]] = defaultdict(list)
        for row, title in enumerate(self.titles):
            for key in title_aliases(title):
                self.titled[key].append(str(row))
        known = self.titled.keys()
        self.concepts: list[dict[str, Role]] = []
        self.mentions: dict[str, list[Edge]] = defaultdict(list)
        for row, body in enumerate(self.bodies):
            found = discussed(body, lambda keys: {key for key in keys if key in known})
            self.concepts.append({key: item.role for key, item in found.items()})
            for key, item in found.items():
                self.mentions[key].append(Edge(str(row), key, item.role))

    def _ask(self, path: Path, documents: Sequence[Mapping[str, Any]], limit: int) -> list[Question]:
        place = {row["_id"]: str(i) for i, row in enumerate(documents)}
        gold: dict[str, dict[str, float]] = defaultdict(dict)
        for line in (path / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            query, document, grade = line.split("\t")
            if float(grade) > 0 and document in place:
                gold[query][place[document]] = float(grade)
        rows = _rows(path / "queries.jsonl")
        vectors = _vectors(self.name.rstrip("*"), "queries", [row["text"] for row in rows])
        usable = [
            i
            for i, row in enumerate(rows)
            if gold.get(row["_id"]) and not row.get("unanswerable") and row.get("qrels_complete") is not False
        ]
        chosen = np.random.default_rng(0).permutation(usable)[:limit]
        return [self._question(rows[i]["text"], vectors[i], gold[rows[i]["_id"]]) for i in chosen]

    def _question(self, text: str, vector: Array, gold: Mapping[str, float]) -> Question:
        asked = TraversalQuestion(text, vector, weigh_question(text, SPARSE, self.idf))
        return Question(asked, gold, _best(self.vectors @ vector), _best(self._keyword(asked.idf)))

    def _keyword(self, weights: Mapping[int, float]) -> Array:
        scores = np.zeros(len(self.weights), np.float32)
        for term, weight in weights.items():
            rows, stored = self.postings[term]
            scores[rows] += stored * weight
        return scores

    def node(self, key: str) -> Node:
        return Node(key, key, key, len(self.mentions.get(key, ())))

    async def concepts_by_key(self, _scope: Scope, keys: Sequence[str]) -> list[Node]:
        return [self.node(key) for key in keys if key in self.mentions or key in self.titled]

    async def concepts_of(self, _scope: Scope, passage_ids: Sequence[str]) -> tuple[list[Node], list[Edge]]:
        edges = [Edge(p, key, role) for p in passage_ids for key, role in self.concepts[int(p)].items()]
        return [self.node(key) for key in dict.fromkeys(edge.concept_id for edge in edges)], edges

    async def passages_of(self, _scope: Scope, concept_ids: Sequence[str], limit: int) -> list[Edge]:
        return [edge for key in concept_ids for edge in self.mentions.get(key, ())[:limit]]

    async def search_concepts(self, scope: Scope, text: str, limit: int) -> list[Concept]:  # noqa: ARG002
        return []

    async def about(self, _scope: Scope, concept_ids: Sequence[str]) -> list[Edge]:
        return [Edge(p, key, Role.TITLE) for key in concept_ids for p in self.titled.get(key, ())[:40]]

    async def features(self, _scope: Scope, passage_ids: Sequence[str]) -> dict[str, PassageFeatures]:
        return {p: PassageFeatures(self.vectors[int(p)], self.weights[int(p)]) for p in passage_ids}

    def walk(self, how: Traversal) -> list[GraphResult]:
        """The graph's answer to every question."""

        async def all_questions() -> list[GraphResult]:
            bases = [blend(q.dense, q.keyword) for q in self.questions]
            steps = zip(self.questions, bases, strict=True)
            return [await search_graph(self, self, SCOPE, q.asked, base, how=how) for q, base in steps]

        return asyncio.run(all_questions())

    def rank(self, question: Question, graph: GraphResult | None, smoothing: float, *, light: bool = True) -> Ranking:
        """The default way out: with or without graph, the light rerank stage, and smoothing in it."""
        base = blend(question.dense, question.keyword)
        bonus = {hit.passage_id: hit.bonus for hit in graph.hits} if graph else {}
        head = add_bonus({**graph.base, **base} if graph else base, bonus)[:RERANKED]
        scores = np.array([score for _, score in head], np.float32)
        rows = [int(passage) for passage, _ in head]
        if light:
            added = np.array([bonus.get(passage, 0.0) for passage, _ in head], np.float32)
            scores = self._exact(question, rows) + added + SOFT * self._soft(question, rows)
            how = adaptive(max(bonus.values(), default=0.0), replace(Smoothing(), weight=smoothing))
            scores = smooth(scores, self.vectors[rows], how)
        return [head[i][0] for i in np.argsort(-scores, kind="stable")]

    def _exact(self, question: Question, rows: Sequence[int]) -> Array:
        weights = question.asked.idf
        keyword = [sum(self.weights[row].get(t, 0.0) * weight for t, weight in weights.items()) for row in rows]
        best = (max(found.values(), default=0.0) for found in (question.dense, question.keyword))
        return exact_blend(self.vectors[rows] @ question.asked.vector, np.array(keyword, np.float32), *best)

    def _soft(self, question: Question, rows: Sequence[int]) -> Array:
        vectors = open_vectors()
        if vectors is None or not rows:
            return np.zeros(len(rows), np.float32)
        shares = soft_match(vectors, question.asked.text, [f"{self.titles[row]}\n{self.bodies[row]}" for row in rows])
        return np.asarray(shares - shares.min(), np.float32)

    def figures(self, rankings: Iterable[Ranking]) -> Array:
        """One figure for each question."""
        measure = _recall if self.name.rstrip("*") in MULTI_HOP else _ndcg
        pairs = zip(rankings, self.questions, strict=True)
        return np.array([measure(ranking, question.gold) for ranking, question in pairs], np.float32)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _vectors(name: str, part: str, texts: list[str]) -> Array:
    file = CACHE / name / f"{part}.npy"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        embedder = open_embedder("minilm", load_settings())
        np.save(file, asyncio.run(embedder.embed(texts)))
    stored: Array = np.load(file).astype(np.float32)
    return stored


def _best(scores: Array) -> dict[str, float]:
    order = np.argsort(-scores, kind="stable")[:DEPTH]
    return {str(row): float(scores[row]) for row in order if scores[row] > 0}


def _recall(ranking: Ranking, gold: Mapping[str, float]) -> float:
    return sum(passage in gold for passage in ranking[:5]) / len(gold)


def _ndcg(ranking: Ranking, gold: Mapping[str, float]) -> float:
    ideal = sorted(gold.values(), reverse=True)[:10]
    gains = [gold.get(passage, 0.0) for passage in ranking[:10]]
    discount = [1 / math.log2(place + 2) for place in range(10)]
    return float(np.dot(gains, discount[: len(gains)]) / np.dot(ideal, discount[: len(ideal)]))


def ablations(collection: Collection) -> dict[str, float]:
    """Each method's figure on one set."""
    graphs = collection.walk(Traversal())
    asked = list(zip(collection.questions, graphs, strict=True))
    weight = Smoothing().weight
    rankings: dict[str, list[Ranking]] = {
        "dense": [list(q.dense) for q, _ in asked],
        "BM25": [list(q.keyword) for q, _ in asked],
        "RRF of both": [[p for p, _ in rrf([list(q.dense), list(q.keyword)])] for q, _ in asked],
        "RRF with graph": [
            [p for p, _ in rrf([list(q.dense), list(q.keyword), [hit.passage_id for hit in g.hits]])] for q, g in asked
        ],
        "blend": [collection.rank(q, None, 0.0, light=False) for q, _ in asked],
        "blend, rerank": [collection.rank(q, None, weight) for q, _ in asked],
        "blend, graph": [collection.rank(q, g, 0.0, light=False) for q, g in asked],
        "default (all)": [collection.rank(q, g, weight) for q, g in asked],
    }
    return {name: float(collection.figures(found).mean()) for name, found in rankings.items()}


def over_grid(collection: Collection) -> dict[Setting, Array]:
    """Every setting's figures; settings that differ only in smoothing share their walks."""
    found: dict[Setting, Array] = {}
    for (mention, seed), settings in itertools.groupby(GRID, key=lambda s: (s.mention, s.from_seed)):
        graphs = collection.walk(Setting(mention, seed).traversal)
        for setting in settings:
            pairs = zip(collection.questions, graphs, strict=True)
            found[setting] = collection.figures(collection.rank(q, g, setting.smoothing) for q, g in pairs)
    return found


def interval(figures: Array) -> str:
    """95 % bootstrap interval of the mean."""
    picks = np.random.default_rng(0).integers(0, len(figures), (RESAMPLES, len(figures)))
    low, high = np.percentile(figures[picks].mean(axis=1), [2.5, 97.5])
    return f"{low:.3f}–{high:.3f}"


def held_out(results: Mapping[str, Mapping[Setting, Array]]) -> Iterable[tuple[str, ...]]:
    """A row for each set: in-sample best, held-out choice with its interval, the default."""
    for name, here in results.items():
        others = [found for other, found in results.items() if other.rstrip("*") != name.rstrip("*")]
        chosen = max(GRID, key=lambda setting: float(np.mean([found[setting].mean() for found in others])))
        best = max(float(figures.mean()) for figures in here.values())
        yield (
            name, f"{best:.3f}", f"{here[chosen].mean():.3f}", interval(here[chosen]),
            f"{here[Setting()].mean():.3f}" if Setting() in here else "–",
            f"mention {chosen.mention}, from_seed {chosen.from_seed}, smoothing {chosen.smoothing}",
        )  # fmt: skip


def table(rows: Iterable[Sequence[str]]) -> str:
    lines = [list(row) for row in rows]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=300, help="at most so many questions of each set")
    parser.add_argument("--sets", nargs="+", default=list(VARIANTS), help="sets; NAME* is without titles")
    arguments = parser.parse_args()
    parts: dict[str, dict[str, float]] = {}
    results: dict[str, dict[Setting, Array]] = {}
    for name in arguments.sets:
        collection = Collection(name, arguments.queries)
        parts[name], results[name] = ablations(collection), over_grid(collection)
        print(f"{name}: {len(collection.questions)} questions, {len(collection.bodies)} passages", flush=True)
    methods = next(iter(parts.values()))
    print("\n" + table([["method", *parts], *([m, *(f"{p[m]:.3f}" for p in parts.values())] for m in methods)]))
    if len({name.rstrip("*") for name in results}) > 1:
        print("\n" + table([["set", "in-sample", "held out", "95 %", "default", "chosen"], *held_out(results)]))
        print("\nchosen most often:", Counter(row[-1] for row in held_out(results)).most_common(2))


if __name__ == "__main__":
    main()
