"""A table that grows: seconds to feed it, memory, time of a question, and how much of an exact search is found.

python -m benchmarks.tables                             # generated rows, few different texts (a shop's sales)
python -m benchmarks.tables --shape texts               # every row a text of its own, the hard case
python -m benchmarks.tables --shape trade               # company, country, category, product, date, value, quantity
python -m benchmarks.tables --source SALES.csv PRODUCTS.csv   # real files, repeated with changed values
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kedge.core.settings import load_settings
from kedge.core.values import IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from kedge.kinds.tables.finding.index import TableIndex
from kedge.kinds.tables.finding.scores import FIT
from kedge.kinds.tables.generation import Generation
from kedge.retrieve.soft import open_vectors

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
SCOPE = Scope("default", "bench")
QUESTIONS = (
    "snacks for a party", "cleaning supplies for the kitchen", "something for a baby", "garden tools", "frozen fish",
    "office chairs", "music for children", "warm winter clothes", "parts for a bicycle", "fresh fruit and vegetables",
    "medicine against pain", "books about history", "a present for mother", "light for the bathroom", "dog food",
    "camping in the mountains", "coffee and tea", "paint for wood", "water sports", "electric guitar",
)  # fmt: skip
FIGURES = (
    "total amount by brand", "how many rows are there", "average price", "top 5 brands by amount", "highest price",
)  # fmt: skip
TRADE_FIGURES = (
    "total value by country", "how many rows are there", "average value", "top 5 companies by value", "largest value",
)  # fmt: skip


def words() -> list[str]:
    """Some thousand English words: those that the tokenizer of the default model knows whole."""
    tokens = open_vectors()
    assert tokens is not None
    known = sorted(tokens._tokenizer.get_vocab())
    return [word for word in known if word.isalpha() and word.isascii() and word.islower() and 4 <= len(word) <= 9]


def rows(shape: str, count: int) -> Iterator[Sequence[Any]]:
    """Rows of a made-up shop; `texts` gives every row a description of its own."""
    rng = random.Random(7)
    known = words()
    rng.shuffle(known)
    departments = [word.upper() for word in known[:26]]
    categories = [" ".join(rng.sample(known[:3000], 2)).upper() for _ in range(300)]
    types = [" ".join(rng.sample(known[:3000], 3)).upper() for _ in range(2000)]
    brands = [word.title() for word in known[100:150]]
    common = known[:5000]
    for number in range(1, count + 1):
        kind = rng.randrange(2000)
        text = (
            " ".join(rng.choices(common, cum_weights=WEIGHTS, k=6)) + f" {number}" if shape == "texts" else types[kind]
        )
        price = rng.randrange(50, 90_000) / 100
        quantity = rng.randrange(1, 9)
        yield (
            number, f"2024-{1 + number % 12:02d}-{1 + number % 28:02d}", departments[kind % 26], categories[kind % 300],
            text, rng.choice(brands), quantity, price, round(quantity * price, 2),
        )  # fmt: skip


def trades(count: int) -> Iterator[Sequence[Any]]:
    """Rows with the columns of the design's example: 20,000 companies and 50,000 products."""
    rng = random.Random(7)
    known = words()
    rng.shuffle(known)
    companies = [f"{' '.join(rng.sample(known[:4000], 2)).title()} {rng.choice(ENDINGS)}" for _ in range(20_000)]
    categories = [" ".join(rng.sample(known[:1000], 1)).title() for _ in range(40)]
    products = [f"{' '.join(rng.sample(known[:3000], 3))} - Model {number}" for number in range(50_000)]
    for number in range(1, count + 1):
        product = rng.randrange(50_000)
        quantity, price = rng.randrange(1, 900), rng.randrange(100, 90_000) / 100
        yield (
            rng.choice(companies), rng.choice(COUNTRIES), categories[product % 40], products[product],
            f"2024-{1 + number % 12:02d}-{1 + number % 28:02d}", round(quantity * price, 2), quantity,
        )  # fmt: skip


ENDINGS = ("Corp", "GmbH", "Ltd", "Export Co", "Trading", "Foods")
COUNTRIES = (
    "Vietnam", "Germany", "France", "China", "Japan", "India", "Brazil", "Kenya", "Sweden", "Italy", "Spain", "Mexico",
)  # fmt: skip
TRADE = ("company", "country", "category", "product", "date", "value", "quantity")
WEIGHTS = list(np.cumsum(1 / np.arange(10, 5010)))
HEADER = ("order_id", "date", "department", "category", "description", "brand", "quantity", "price", "amount")


def make(folder: Path, shape: str, count: int, sources: Sequence[Path]) -> list[Path]:
    """The files to feed."""
    if not sources:
        path = folder / "sales.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(TRADE if shape == "trade" else HEADER)
            writer.writerows(trades(count) if shape == "trade" else rows(shape, count))
        return [path]
    path = folder / sources[0].name
    with sources[0].open(encoding="utf-8", newline="") as file, path.open("w", encoding="utf-8", newline="") as target:
        reader, writer = csv.reader(file), csv.writer(target)
        writer.writerow(next(reader))
        lines = list(reader)
        for number in range(count):
            line = list(lines[number % len(lines)])
            if number >= len(lines):  # a repeated row has another first id and another amount
                line[0] = str(int(line[0]) + 10_000 * (number // len(lines))) if line[0].isdigit() else line[0]
                line[5] = f"{float(line[5]) + number // len(lines) / 100:.2f}"
            writer.writerow(line)
    return [path, *sources[1:]]


async def measure(shape: str, count: int, sources: Sequence[Path], embedder: str) -> dict[str, Any]:
    """One size, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="kedge-bench-") as place:
        folder = Path(place)
        files = make(folder, shape, count, sources)
        settings = load_settings(environ={}, home=folder / "home", embedder=embedder)
        async with Engine.open(settings) as engine:
            await engine.warm_up()
            before = _resident()
            started, cpu = time.perf_counter(), time.process_time()
            job = await engine.ingest(IngestRequest(SCOPE, tuple(map(str, files)), kind="table"))
            seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
            session = await engine.kinds.named("table").sessions.get(SCOPE)
            index: Any = session.index
            assert job.files_processed == len(files), job
            assert index is not None
            fed = _peak()
            figures = TRADE_FIGURES if shape == "trade" else FIGURES
            for question in (*QUESTIONS, *figures):
                await engine.ask(Query(question, SCOPE, top_k=100))
            held = _resident()
            search = [
                await _timed(engine.search(Query(f"{question} please", SCOPE, top_k=100))) for question in QUESTIONS
            ]
            exact = [await _timed(engine.ask(Query(question, SCOPE))) for question in figures * 4]
            recall = await recall_at_100(engine)
            return {
                "rows": session.rows,
                "texts": index["texts"],
                "embedded": index["embedded_whole"] + index["embedded_words"],
                "feed_s": round(seconds, 1),
                "feed_cpu_s": round(cpu, 1),
                "rows_per_s": round(session.rows / seconds),
                "index_mb": round(index["bytes"] / 1e6, 1),
                "resident_mb": round(held / 1e6),
                "grown_mb": round((held - before) / 1e6),
                "peak_mb": round(fed / 1e6),
                "search_ms_p50": _median(search, 0),
                "search_ms_p95": _p95(search),
                "search_cpu_ms": _median(search, 1),
                "figure_ms_p50": _median(exact, 0),
                "figure_ms_p95": _p95(exact),
                "recall_at_100": round(recall, 4),
                "disk_mb": round(_bytes(folder / "home/tables") / 1e6),
            }


async def recall_at_100(engine: Engine) -> float:
    """Share of the 100 best rows by their cells of a search without any index: every text as a full vector."""
    async with engine.kinds.named("table").open_sessions.reading(SCOPE) as generation:
        index = generation.index()
        dense = _dense(index)
        embedder = await engine._keeper.embedder(engine.settings.embedder)
        shares = []
        for question in QUESTIONS[:10]:
            best, asked = await _brute(generation, index, dense, embedder, question)
            candidates = index.candidates(asked, index.weights(embedder.name), 0.0)
            found = index.best(candidates, candidates.scores, candidates.best, 100, 0.0)
            cut = np.sort(best)[-min(100, len(best))]
            places = np.searchsorted(index.row_numbers, found.row_numbers)
            shares.append(float((best[places] >= cut - 1e-4).mean()))
    return statistics.mean(shares)


def _dense(index: TableIndex) -> np.ndarray[Any, Any]:
    """A vector of length one for every text, composed or whole, as an ordinary vector store would hold it."""
    dense = np.zeros((index.texts, index.whole_vectors.shape[1]), dtype=np.float32)
    for place, text in enumerate(index.composed_ids.tolist()):
        held = index.units[index.unit_starts[place] : index.unit_starts[place + 1]]
        if index.norms[place] > 0:
            dense[text] = index.word_vectors[held].sum(axis=0) / index.norms[place]
    return dense


async def _brute(generation: Generation, index: TableIndex, dense: Any, embedder: Any, question: str) -> Any:
    """The score of every row by its cells, by the definition, and the question as the index takes it."""
    from kedge.kinds.tables.finding.retrieval import _asked, _terms

    cursor = generation.cursor()
    asked_words, terms = _terms(cursor, question, index.texts)
    asked = await _asked(index, embedder, question, asked_words, terms)
    near = np.zeros(index.texts + 1)
    if asked.composed is not None:
        cosines = dense @ (asked.composed / (np.linalg.norm(asked.composed) or 1.0))
        usable = np.zeros(index.texts, dtype=bool)
        usable[index.composed_ids[index.norms > 0]] = True
        near[:-1] = np.where(usable, index.scale[0] + index.scale[1] * cosines, 0)
    near[index.whole_ids] = index.whole_vectors @ asked.vector
    near = np.clip(near, 0, 1)
    held = np.zeros((len(terms), index.texts + 1), dtype=bool)
    for place, (ids, _) in enumerate(terms):
        for word in ids:
            held[place, index.postings[index.posting_starts[word] : index.posting_starts[word + 1]]] = True
    codes = index.combinations[:, index.row_combination]
    per_column = near[codes]
    best = per_column.max(axis=0)
    others = np.maximum(per_column - FIT, 0).sum(axis=0) - np.maximum(best - FIT, 0)
    weights = np.array([weight for _, weight in terms])
    share = sum(weights[place] * held[place][codes].any(axis=0) for place in range(len(terms))) / (weights.sum() or 1)
    return index.weights(embedder.name).of_cells(best, others, np.asarray(share), float(best.max())), asked


async def _timed(work: Any) -> tuple[float, float]:
    """Milliseconds by the clock, and of CPU."""
    started, cpu = time.perf_counter(), time.process_time()
    await work
    return 1000 * (time.perf_counter() - started), 1000 * (time.process_time() - cpu)


def _median(times: Sequence[tuple[float, float]], place: int) -> float:
    return round(statistics.median(one[place] for one in times), 1)


def _p95(times: Sequence[tuple[float, float]]) -> float:
    return round(sorted(one[0] for one in times)[int(len(times) * 0.95)], 1)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=("sales", "texts", "trade"), default="sales")
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES)
    parser.add_argument("--source", type=Path, nargs="+", default=())
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(asyncio.run(measure(given.shape, given.rows[0], given.source, given.embedder))))
        return
    for number, count in enumerate(given.rows):
        command = [sys.executable, "-m", "benchmarks.tables", "--one", "--rows", str(count), "--shape", given.shape]
        command += ["--embedder", given.embedder, *(["--source", *map(str, given.source)] if given.source else [])]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise SystemExit(ran.stderr)
        result = json.loads(ran.stdout.splitlines()[-1])
        if not number:
            print("| " + " | ".join(result) + " |\n|" + "---|" * len(result))
        print(
            "| "
            + " | ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in result.values())
            + " |",
            flush=True,
        )


if __name__ == "__main__":
    main()
