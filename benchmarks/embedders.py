"""Embedders beside each other: what each finds alone and in the whole order, what it costs, how much it should count.

    python -m benchmarks.embedders [--embedders minilm:int8 granite] [--sets scifact …] [--queries 300]

Each set is held in memory as in `benchmarks.crossval_retrieval`, one passage for each document; the chain reader is
left out. Prints

* by set and embedder: nDCG@10 and recall@5 of vectors alone and of the whole order with the weights that are shipped,
  and CPU milliseconds of one passage and one question, the embedders taking turns (vectors are not kept);
* by embedder: the weight of vectors for each kind of text (`kedge.retrieve.topical.dense_weight`) that is best in the
  mean over all *other* sets, and what it reaches on the set itself, beside weights of 1.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks import crossval_retrieval as memory
from benchmarks.crossval_retrieval import Array, Collection, Question, Ranking
from kedge.core.settings import load_settings
from kedge.evals import metrics
from kedge.models.ports import Embedder
from kedge.models.registry import open_embedder
from kedge.retrieve.channels.pool import GraphResult, Traversal
from kedge.retrieve.fuse import add_bonus, blend
from kedge.retrieve.order import RERANKED, SOFT
from kedge.retrieve.rerank import adaptive, exact_blend, smooth
from kedge.retrieve.second import READ, best_cover
from kedge.retrieve.topical import Kind, by_topic, dense_weight, kind_of

SETS = ("scifact", "cacm", "cranfield", "hotpotqa_train100", "2wikimultihop", "squad2", "clapnq")
KINDS: tuple[Kind, ...] = ("question", "statement", "topic")
GRID = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0)
AT_ONCE, FEW = 100, 6
"""Texts that an embedder takes in one turn; questions of a kind from which on a set has a say."""
Weights = Mapping[Kind, float]


class Embedded(Collection):
    """A set with the vectors of one embedder."""

    def __init__(self, name: str, limit: int, texts: Array, questions: Array) -> None:
        vectors = {"passages": texts, "queries": questions}
        memory._vectors = lambda _name, part, _texts: vectors[part]
        super().__init__(name, limit)
        self.graphs = self.walk(Traversal())
        self.kinds = [self._kind(*pair) for pair in zip(self.questions, self.graphs, strict=True)]

    def _kind(self, question: Question, graph: GraphResult) -> Kind:
        held = [self.weights[row] for row, _ in self._head(question, graph)[:READ]]
        return kind_of(question.asked.text, best_cover(question.asked.idf, held))

    def _head(self, question: Question, graph: GraphResult) -> list[tuple[int, float]]:
        """Rows of the candidates with what the graph adds to each."""
        bonus = {hit.passage_id: hit.bonus for hit in graph.hits}
        fused = add_bonus({**graph.base, **blend(question.dense, question.keyword)}, bonus)
        return [(int(passage), bonus.get(passage, 0.0)) for passage, _ in fused[:RERANKED]]

    def orders(self, weights: Weights) -> list[Ranking]:
        """The whole order for every question, the shares of vectors taken so many times."""
        return [
            self._order(question, graph, kind, weights[kind])
            for question, graph, kind in zip(self.questions, self.graphs, self.kinds, strict=True)
        ]

    def _order(self, question: Question, graph: GraphResult, kind: Kind, weight: float) -> Ranking:
        rows, bonus = zip(*self._head(question, graph), strict=True)
        terms = question.asked.idf
        keyword = [sum(self.weights[row].get(t, 0.0) * value for t, value in terms.items()) for row in rows]
        best = (max(found.values(), default=0.0) for found in (question.dense, question.keyword))
        vectors = self.vectors[list(rows)]
        shares = exact_blend(vectors @ question.asked.vector, np.array(keyword, np.float32), *best, dense=weight)
        scores = shares + np.array(bonus, np.float32) + SOFT * self._soft(question, rows)
        sure = max((hit.bonus for hit in graph.hits), default=0.0)
        scores = by_topic(scores, vectors, sure) if kind == "topic" else smooth(scores, vectors, adaptive(sure))
        return [str(rows[place]) for place in np.argsort(-scores, kind="stable")]

    def ndcg(self, orders: Sequence[Ranking]) -> Array:
        pairs = zip(orders, self.questions, strict=True)
        return np.array([metrics.ndcg(order, question.gold, 10) for order, question in pairs], np.float32)

    def recall(self, orders: Sequence[Ranking]) -> float:
        pairs = zip(orders, self.questions, strict=True)
        return float(np.mean([metrics.recall(order, question.gold, 5) for order, question in pairs]))


async def embedded(
    embedders: Sequence[Embedder], texts: Sequence[str], *, questions: bool
) -> list[tuple[Array, float]]:
    """Vectors and CPU milliseconds of one text, by embedder; they take turns."""
    rows: list[list[Array]] = [[] for _ in embedders]
    spent = [0.0] * len(embedders)
    for start in range(0, len(texts), AT_ONCE):
        part = texts[start : start + AT_ONCE]
        for place, embedder in enumerate(embedders):
            began = time.process_time()
            if questions:
                rows[place].extend([await embedder.embed_query(one) for one in part])
            else:
                rows[place].extend(await embedder.embed(part))
            spent[place] += time.process_time() - began
    return [(np.stack(found), 1000 * cost / len(texts)) for found, cost in zip(rows, spent, strict=True)]


def texts_of(name: str) -> tuple[list[str], list[str]]:
    """The set's passages and questions."""
    path = memory.folder(name)
    passages = [f"{row.get('title') or ''}\n{row['text']}".strip() for row in memory._rows(path / "corpus.jsonl")]
    return passages, [row["text"] for row in memory._rows(path / "queries.jsonl")]


def held_out(found: Mapping[str, Mapping[float, Array]], kinds: Mapping[str, Sequence[Kind]]) -> dict[str, Weights]:
    """For each set the weights that are best on all others; each of those counts alike."""
    chosen: dict[str, Weights] = {}
    for name in found:
        weights: dict[Kind, float] = {}
        for kind in KINDS:
            of_kind = {other: np.array([one == kind for one in kinds[other]]) for other in found if other != name}
            others = [other for other, mask in of_kind.items() if mask.sum() >= FEW]
            weights[kind] = max(
                GRID, key=lambda weight: sum(float((found[o][weight] * of_kind[o]).mean()) for o in others)
            )
        chosen[name] = weights
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedders", nargs="+", default=["minilm:int8", "granite"])
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--queries", type=int, default=300, help="at most so many questions of each set")
    options = parser.parse_args()
    models = [open_embedder(name, load_settings(threads=1)) for name in options.embedders]
    found: dict[str, dict[str, dict[float, Array]]] = defaultdict(dict)
    kinds: dict[str, dict[str, list[Kind]]] = defaultdict(dict)
    print("| set | embedder | alone | whole order | ms a passage | ms a question |\n|---|---|---|---|---|---|")
    for name in options.sets:
        passages, questions = (
            asyncio.run(embedded(models, texts, questions=asked)) for asked, texts in enumerate(texts_of(name))
        )
        for model, (texts, cost), (asked, each) in zip(models, passages, questions, strict=True):
            collection = Embedded(name, options.queries, texts, asked)
            alone = [list(question.dense) for question in collection.questions]
            whole = collection.orders({kind: dense_weight(model.name, kind) for kind in KINDS})
            cells = [f"{collection.ndcg(o).mean():.4f} / {collection.recall(o):.4f}" for o in (alone, whole)]
            print(f"| {name} | {model.name} | {' | '.join(cells)} | {cost:.1f} | {each:.1f} |", flush=True)
            kinds[model.name][name] = collection.kinds
            found[model.name][name] = {
                weight: collection.ndcg(collection.orders(dict.fromkeys(KINDS, weight))) for weight in GRID
            }
    for model in models if len(options.sets) > 1 else []:
        print(f"\n| {model.name}: nDCG@10 of | all 1 | chosen elsewhere | weights |\n|---|---|---|---|")
        for name, weights in held_out(found[model.name], kinds[model.name]).items():
            ours = found[model.name][name]
            reached = np.mean([ours[weights[kind]][row] for row, kind in enumerate(kinds[model.name][name])])
            said = ", ".join(f"{kind} {weight}" for kind, weight in weights.items())
            print(f"| {name} | {ours[1.0].mean():.4f} | {reached:.4f} | {said} |")


if __name__ == "__main__":
    main()
