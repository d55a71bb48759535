"""What each way to rerank brings, and what it costs: gain per millisecond over the open sets.

    python -m benchmarks.rerank [--sets scifact squad2] [--queries 150] [--tokens]

Every set is ingested once (embeddings are kept in `.bench-cache/embeddings.db`) and every question goes through the
real engine up to fusion. What fusion found is recorded; each method then puts the same 50 best in another order.
Control: the order of fusion itself. Gains are of recall@5 for squad2 and the multi-hop sets, of nDCG@10 for the others;
`*` marks one whose paired bootstrap interval (95 %) does not hold zero.

Cost is CPU time of the method alone on one core, median over all questions. What it needs from the stores is read once
and timed apart (`points`: vectors and term weights of 50 passages; `texts`: their texts). `--tokens` adds the methods
that need the embedder's output for every token of a passage; they would have to be stored (bytes are printed) or
computed while somebody waits, and make this slow. The same questions are drawn every time.

    python -m benchmarks.rerank --make-table

writes `src/kedge/retrieve/data/tokens.npy` anew: the bundled embedder's output for each token of its vocabulary alone,
centred, on the 32 main axes, normalised, times 200 as int8. No text is used.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

import kedge.retrieve
from benchmarks.data import SETS, folder
from kedge.core.settings import load_settings
from kedge.core.values import IngestRequest, Query
from kedge.engine.engine import Engine
from kedge.evals import metrics
from kedge.evals.dataset import load
from kedge.evals.run import SCOPE
from kedge.models.carried.packages import folder_of
from kedge.models.carried.tokenizer import CARRIER, FOLDER
from kedge.models.embed.minilm import WINDOW
from kedge.models.embed.onnx import encoder
from kedge.retrieve import order, pipeline
from kedge.retrieve.rerank import adaptive, exact_blend, smooth
from kedge.retrieve.soft import open_vectors, soft_match
from kedge.stores.ports import CanReadPoints, StoredPoint
from kedge.text.analyze import term_id, terms
from kedge.text.sentences import sentences

Array = NDArray[np.float32]
CACHE = Path(".bench-cache/embeddings.db")
BY_RECALL = ("squad2", "2wikimultihop", "hotpotqa_train100")
HEAD, RESAMPLES, DIMENSIONS, SCALE = order.RERANKED, 2000, 32, 200
FIRST_WORD = 999
"""Smaller token ids are unused or marks."""


@dataclass(frozen=True)
class Case:
    """One question with the best that fusion found for it, as a reranker sees it."""

    text: str
    gains: Mapping[str, float]
    vector: Array
    weights: Mapping[int, float]
    best: tuple[float, float]
    """Of the dense and of the keyword channel."""
    fused: Array
    bonus: Array
    sure: float
    points: Sequence[StoredPoint]
    texts: Sequence[str]
    documents: Sequence[str]

    def vectors(self) -> Array:
        return np.stack([point.vector for point in self.points])

    def keyword(self, weights: Mapping[int, float]) -> Array:
        return np.array([sum(w * p.terms.get(t, 0.0) for t, w in weights.items()) for p in self.points], np.float32)

    def blended(self, vector: Array | None = None, keyword: Array | None = None) -> Array:
        """Exact scores with the graph's bonus; a changed vector or keyword score is shared out by its own best."""
        cosines = self.vectors() @ (self.vector if vector is None else vector)
        words = self.keyword(self.weights) if keyword is None else keyword
        best = (self.best[0] if vector is None else cosines.max(), self.best[1] if keyword is None else words.max())
        return exact_blend(cosines, words, float(best[0]), float(best[1])) + self.bonus

    def smoothed(self, scores: Array) -> Array:
        return smooth(scores, self.vectors(), adaptive(self.sure))


Method = Callable[[Case], Array]


def soft(case: Case) -> Array:
    vectors = open_vectors()
    return soft_match(vectors, case.text, case.texts) if vectors else np.zeros(len(case.texts), np.float32)


def proximity(case: Case) -> Array:
    """Terms of the question within six words of each other, each pair by the inverse square of its distance."""
    asked = {term_id(term) for term in terms(case.text)}
    total = sum(case.weights.values()) or 1.0
    return np.array([_near(text, asked, case.weights) / total for text in case.texts], np.float32)


def _near(text: str, asked: set[int], weights: Mapping[int, float]) -> float:
    found = [(place, term) for place, term in enumerate(map(term_id, terms(text))) if term in asked]
    pull: dict[int, float] = defaultdict(float)
    for at, (place, term) in enumerate(found):
        for before, other in found[max(0, at - 6) : at]:
            if other != term and place - before <= 6:
                pull[term] += 1 / (place - before) ** 2
                pull[other] += 1 / (place - before) ** 2
    return sum(weights.get(term, 0.0) * 2.2 * value / (value + 1.2) for term, value in pull.items())


def coverage(case: Case) -> Array:
    """Share of the question's words, by rarity, in the best two neighbouring sentences."""
    total = sum(case.weights.values()) or 1.0
    return np.array([_covered(text, case.weights) / total for text in case.texts], np.float32)


def _covered(text: str, weights: Mapping[int, float]) -> float:
    held = [{term_id(term) for term in terms(text[a:b])} & weights.keys() for a, b in sentences(text)]
    pairs = [first | second for first, second in zip(held, [*held[1:], set()], strict=True)]
    return max((sum(weights[term] for term in pair) for pair in pairs), default=0.0)


def rocchio(case: Case) -> Array:
    """The question's vector moved towards the three best passages."""
    best = np.argsort(-case.blended())[:3]
    moved = case.vector + 0.3 * case.vectors()[best].mean(axis=0)
    return case.blended(vector=moved / np.linalg.norm(moved))


def expansion(case: Case) -> Array:
    """RM3: a fifth of the keyword weight goes to the twenty strongest terms of the three best passages.

    Rarity of terms that the question lacks is not known here and counts as 1.
    """
    mixed: dict[int, float] = defaultdict(float)
    for row in np.argsort(-case.blended())[:3]:
        for term, weight in case.points[row].terms.items():
            mixed[term] += weight
    strongest = dict(sorted(mixed.items(), key=lambda item: (-item[1], item[0]))[:20])
    scale = 0.2 * sum(case.weights.values()) / (sum(strongest.values()) or 1.0)
    weights = {term: 0.8 * weight for term, weight in case.weights.items()}
    for term, weight in strongest.items():
        weights[term] = weights.get(term, 0.0) + scale * weight
    return case.blended(keyword=case.keyword(weights))


def second_passage(case: Case) -> Array:
    """A document counts by its best passage and a tenth of its second."""
    scores = case.blended()
    out = scores.copy()
    rows: dict[str, list[int]] = {}
    for row in np.argsort(-scores):
        rows.setdefault(case.documents[row], []).append(int(row))
    for found in rows.values():
        if len(found) > 1:
            out[found[0]] += 0.1 * (scores[found[1]] - scores.min())
    return out


METHODS: dict[str, Method] = {
    "order of fusion (control)": lambda case: case.fused,
    "smoothing": lambda case: case.smoothed(case.fused),
    "exact scores, smoothing": lambda case: case.smoothed(case.blended()),
    "**exact scores, soft match, smoothing (default)**": lambda case: case.smoothed(case.blended() + 0.5 * soft(case)),
    "exact scores, soft match": lambda case: case.blended() + 0.5 * soft(case),
    "exact scores, proximity, smoothing": lambda case: case.smoothed(case.blended() + 0.25 * proximity(case)),
    "exact scores, sentence coverage, smoothing": lambda case: case.smoothed(case.blended() + 0.25 * coverage(case)),
    "exact scores, Rocchio, smoothing": lambda case: case.smoothed(rocchio(case)),
    "exact scores, RM3, smoothing": lambda case: case.smoothed(expansion(case)),
    "exact scores, second passage, smoothing": lambda case: case.smoothed(second_passage(case)),
}


class TokenOutputs:
    """The bundled embedder's unit vectors for the tokens of a text, and for its sentences, pooled from those tokens."""

    def __init__(self) -> None:
        self._tokenizer, self._encode = _model()
        self._known: dict[str, tuple[Array, Array]] = {}
        self.milliseconds: list[float] = []

    def __call__(self, text: str) -> tuple[Array, Array]:
        if text not in self._known:
            started = time.process_time()
            encoded = self._tokenizer.encode(text)
            ids = np.array([encoded.ids[:WINDOW]], dtype=np.int64)
            hidden = self._encode(ids, np.ones_like(ids))[0]
            self.milliseconds.append(1000 * (time.process_time() - started))
            ends = [end for _, end in sentences(text)]
            places = [int(np.searchsorted(ends, start, side="right")) for start, _ in encoded.offsets[:WINDOW]]
            pooled = np.zeros((max(places) + 1, hidden.shape[1]), np.float32)
            np.add.at(pooled, places, hidden)
            self._known[text] = _unit(hidden), _unit(pooled)
        return self._known[text]

    def methods(self) -> dict[str, Method]:
        return {
            "exact scores, nearest sentence, smoothing": lambda case: case.smoothed(self._sentence(case)),
            "exact scores, MaxSim, smoothing": lambda case: case.smoothed(case.blended() + 0.5 * self._maxsim(case)),
        }

    def _sentence(self, case: Case) -> Array:
        """Half the passage's vector, half the best of its sentences, which are pooled from the passage's tokens."""
        cosines = case.vectors() @ case.vector
        nearest = np.array([(self(text)[1] @ case.vector).max() for text in case.texts], np.float32)
        mixed = (cosines + nearest) / 2
        return exact_blend(mixed, case.keyword(case.weights), float(mixed.max()), case.best[1]) + case.bonus

    def _maxsim(self, case: Case) -> Array:
        asked = self(case.text)[0][1:-1]
        return np.array([(asked @ self(text)[0].T).max(axis=1).mean() for text in case.texts], np.float32)


def _model() -> tuple[Tokenizer, Callable[[Any, Any], Any]]:
    place = folder_of(CARRIER, FOLDER)
    if place is None:
        raise SystemExit(f"{CARRIER} is not installed.")
    tokenizer = Tokenizer.from_file(str(place / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer, encoder(place / "onnx/model.onnx", 1)


async def record(name: str, limit: int, spent: dict[str, list[float]]) -> list[Case]:
    """What fusion finds for the set's questions; `spent` collects the milliseconds of reading."""
    dataset = load(folder(name))
    judged = [query for query in dataset.queries if query.judged]
    chosen = [judged[i] for i in sorted(np.random.default_rng(0).permutation(len(judged))[:limit])]
    cases: list[Case] = []

    class Recording(order.Ordering):
        async def ranked(self, run: Any, fused: Any) -> Any:
            cases.append(await self._case(run, fused[:HEAD], query.gains))
            return list(fused)

        async def _case(self, run: Any, head: Any, gains: Mapping[str, float]) -> Case:
            ids = [item.passage_id for item in head]
            store = self._stores.vectors
            assert isinstance(store, CanReadPoints)
            started = time.perf_counter()
            points = await store.read(run.collection.index_name, SCOPE.tenant, ids)
            middle = time.perf_counter()
            passages = await self._stores.catalog.passages.live(SCOPE, ids)
            spent["points"].append(1000 * (middle - started))
            spent["texts"].append(1000 * (time.perf_counter() - middle))
            bonus = {hit.passage_id: hit.bonus for hit in run.graph.hits}
            tops = [max((hit.score for hit in hits), default=0.0) for hits in (run.dense, run.keyword)]
            return Case(
                text=run.query.text,
                gains=gains,
                vector=run.vector,
                weights=run.weights,
                best=(tops[0], tops[1]),
                fused=np.array([item.score for item in head], np.float32),
                bonus=np.array([bonus.get(key, 0.0) for key in ids], np.float32),
                sure=max(bonus.values(), default=0.0),
                points=[points[key] for key in ids],
                texts=[passages[key].embed_text for key in ids],
                documents=[passages[key].external_id for key in ids],
            )

    with tempfile.TemporaryDirectory() as home:
        settings = load_settings(home=Path(home), embed_cache=CACHE)
        async with Engine.open(settings) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(dataset.corpus),)))
            retriever = engine._parts.retriever
            recording = pipeline.Retriever(settings, retriever.stores, retriever._collections)
            recording._ordering = Recording(settings, retriever.stores, recording._live)
            for query in chosen:
                await recording.rank(Query(query.text, SCOPE), 10)
    return cases


def figures(name: str, cases: Sequence[Case], method: Method, spent: list[float]) -> Array:
    out = []
    for case in cases:
        started = time.thread_time()
        scores = method(case)
        spent.append(1000 * (time.thread_time() - started))
        ranked = list(dict.fromkeys(case.documents[row] for row in np.argsort(-scores, kind="stable")))
        by_recall = name in BY_RECALL
        out.append(metrics.recall(ranked, case.gains, 5) if by_recall else metrics.ndcg(ranked, case.gains, 10))
    return np.array(out, np.float32)


def cell(gain: Array) -> str:
    picks = np.random.default_rng(0).integers(0, len(gain), (RESAMPLES, len(gain)))
    low, high = np.percentile(gain[picks].mean(axis=1), [2.5, 97.5])
    return f"{gain.mean():+.4f}{'*' if low > 0 or high < 0 else ''}"


def make_table(path: Path) -> None:
    """The table of `retrieve/soft.py`."""
    tokenizer, encode = _model()
    rows = []
    for start in range(0, tokenizer.get_vocab_size(), 512):
        ids = np.arange(start, min(start + 512, tokenizer.get_vocab_size()), dtype=np.int64)
        marks = [np.full_like(ids, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
        batch = np.stack([marks[0], ids, marks[1]], axis=1)
        rows.append(encode(batch, np.ones_like(batch))[:, 1])
    vectors = np.vstack(rows).astype(np.float64)
    vectors = _unit(vectors - vectors[FIRST_WORD:].mean(axis=0))
    axes = np.linalg.eigh(vectors[FIRST_WORD:].T @ vectors[FIRST_WORD:])[1][:, ::-1][:, :DIMENSIONS]
    table = np.clip(np.round(SCALE * _unit(vectors @ axes)), -127, 127).astype(np.int8)
    np.save(path, table)


def _unit(vectors: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--queries", type=int, default=150, help="at most so many questions of each set")
    parser.add_argument("--tokens", action="store_true", help="also what needs the embedder's output for every token")
    parser.add_argument("--make-table", action="store_true", help="only write the table of soft word match anew")
    options = parser.parse_args()
    if options.make_table:
        make_table(Path(kedge.retrieve.__file__).parent / "data" / "tokens.npy")
        return
    outputs = TokenOutputs() if options.tokens else None
    methods = METHODS | (outputs.methods() if outputs else {})
    reading: dict[str, list[float]] = {"points": [], "texts": []}
    spent: dict[str, list[float]] = {name: [] for name in methods}
    found: dict[str, dict[str, Array]] = {}
    for name in options.sets:
        cases = asyncio.run(record(name, options.queries, reading))
        if outputs:
            for case in cases:  # so that no method's time holds the model's
                _ = [outputs(text) for text in (case.text, *case.texts)]
        found[name] = {label: figures(name, cases, method, spent[label]) for label, method in methods.items()}
        print(f"{name}: {len(cases)} questions", flush=True)
    control = next(iter(methods))
    print("\n| method | " + " | ".join(found) + " | mean gain | CPU ms | gain per ms |")
    print("|---" * (len(found) + 4) + "|")
    print(f"| {control} | " + " | ".join(f"{each[control].mean():.4f}" for each in found.values()) + " | | | |")
    for label in list(methods)[1:]:
        gains = [each[label] - each[control] for each in found.values()]
        mean, cost = float(np.mean([gain.mean() for gain in gains])), float(np.median(spent[label]))
        cells = " | ".join(cell(gain) for gain in gains)
        print(f"| {label} | {cells} | {mean:+.4f} | {cost:.1f} | {mean / cost:+.4f} |")
    print("\nread: " + ", ".join(f"{part} {np.median(times):.1f} ms" for part, times in reading.items()))
    if outputs:
        print(f"token outputs of one passage: {np.median(outputs.milliseconds):.1f} ms of CPU")


if __name__ == "__main__":
    main()
