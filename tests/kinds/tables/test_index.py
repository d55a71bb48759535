"""The index finds exactly what a comparison with every row finds."""

from __future__ import annotations

import asyncio
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge import Kedge
from kedge.kinds.tables.finding.index import FoundRows, RowQuestion, TableIndex
from kedge.kinds.tables.finding.scores import FIT, RowWeights, weights_of
from kedge.kinds.tables.finding.texts import KnownTexts, embedded, gather, stem
from kedge.kinds.tables.schema import Column, ColumnType, Table
from kedge.models.embed.hashed import HashEmbedder

WORDS = "red green blue apple pear plum sweet sour fresh dried".split()
TEXT = st.one_of(st.none(), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join))
ROWS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=30)


def build(rows: list[tuple[str | None, str | None]], most_whole: int, dimension: int = 32) -> tuple[TableIndex, Any]:
    """An index over two text columns."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE rows (row_number BIGINT, c0 VARCHAR, c1 VARCHAR)")
    connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", [(3 * n, *row) for n, row in enumerate(rows, start=1)])
    columns = [
        Column(f"name {place}", f"c{place}", ColumnType.TEXT, len({row[place] for row in rows} - {None}))
        for place in (0, 1)
    ]
    table = Table("t", "rows", columns, len(rows))

    async def quiet(_share: float) -> None:
        """Nobody watches."""

    texts = gather(connection, table, most_whole)
    return asyncio.run(embedded(texts, HashEmbedder(dimension), KnownTexts(), quiet)), connection


@pytest.mark.req("T-04")
@pytest.mark.parametrize("distinct", [200, 1_000_000])
def test_the_index_of_a_million_rows_would_take_less_than_400_mb(distinct: int) -> None:
    """By how it grows, with few different texts and with one in each row; `benchmarks/tables.py` builds all of it."""

    def size(rows: int) -> int:
        texts = [f"{WORDS[n % 10]} {WORDS[n // 10 % 10]} {n % distinct}" for n in range(rows)]
        index, _ = build([(text, WORDS[n % 10]) for n, text in enumerate(texts)], most_whole=300, dimension=384)
        return index.bytes

    small, large = size(2_000), size(4_000)
    assert large + (large - small) / 2_000 * (1_000_000 - 4_000) <= 400e6


WEIGHTS = weights_of("minilm", (), composed=False)


def search(index: TableIndex, asked: RowQuestion, k: int, threshold: float, allowed: Any = None) -> FoundRows:
    """The best rows by their cells."""
    found = index.candidates(asked, WEIGHTS, threshold, allowed=allowed)
    return index.best(found, found.scores, found.best, k, threshold)


@pytest.mark.req("T-04")
def test_rows_with_the_columns_of_the_example_grow_within_400_mb(tmp_path: Any) -> None:
    """Fed as a file and asked, with texts above `table_texts`; `benchmarks.tables --shape trade` does a million."""
    words = [f"{first}{second}" for first in WORDS for second in WORDS]
    lines = ["company,country,category,product,date,value,quantity"]
    for n in range(40_000):
        company, product = f"{words[n % 97]} {words[n % 89]} Corp", f"{words[n % 83]} {words[n % 79]} model {n % 9973}"
        lines.append(
            f"{company},land {n % 12},{words[n % 40]},{product},2024-{1 + n % 12:02d}-15,{n * 7 % 991},{n % 50}"
        )
    path = tmp_path / "trade.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    with Kedge(tmp_path / "home", embedder="hash:384", collection="t") as kedge:
        kedge.ingest(path, kind="table")
        index = kedge.tables.session("t").index
        assert index is not None
        assert index["transaction_count"] == 40_000
        assert int(str(index["bytes"])) / 40_000 * 1_000_000 <= 400e6
        assert kedge.search("redapple greenpear Corp", threshold=0.1).hits
        assert kedge.ask("How many rows are there?").short_answer == "40000"


def naive(
    index: TableIndex, connection: Any, asked: RowQuestion, question: list[str], allowed: set[int]
) -> dict[int, float]:
    """The score of every row that is allowed, by the definition and one at a time."""
    whole = dict(zip(index.whole_ids.tolist(), index.whole_vectors, strict=True))
    composed = {}
    for place, text in enumerate(index.composed_ids.tolist()):
        units = index.units[index.unit_starts[place] : index.unit_starts[place + 1]]
        norm = index.norms[place]
        composed[text] = index.word_vectors[units].sum(axis=0) / norm if norm else None
    ids = dict(connection.execute("SELECT value, id FROM texts").fetchall())
    weights = [weight for _, weight in asked.terms]
    found: dict[int, tuple[float, float, float]] = {}
    for number, *values in connection.execute("SELECT * FROM rows").fetchall():
        if number not in allowed:
            continue
        near = []
        for value in values:
            text = ids.get(value)
            if text in whole:
                near.append(float(np.clip(whole[text] @ asked.vector, 0, 1)))
            elif text in composed and composed[text] is not None and asked.composed is not None:
                cosine = composed[text] @ (asked.composed / (np.linalg.norm(asked.composed) or 1.0))
                near.append(float(np.clip(index.scale[0] + index.scale[1] * cosine, 0, 1)))
            else:
                near.append(0.0)
        best = max(near)
        beside = sum(max(one - FIT, 0) for one in near) - max(best - FIT, 0)
        held = {stem(word) for value in values if value for word in value.split()}
        share = sum(weight for word, weight in zip(question, weights, strict=True) if stem(word) in held)
        share = share / (sum(weights) or 1.0)
        found[number] = (best, beside, share)
    top = max(best for best, _, _ in found.values())
    return {number: _score(WEIGHTS, *one, top) for number, one in found.items()}


def _score(weights: RowWeights, best: float, beside: float, share: float, top: float) -> float:
    one = np.array([best, beside, share], dtype=np.float32)
    return float(weights.of_cells(one[:1], one[1:2], one[2:], top)[0])


def ask(index: TableIndex, connection: Any, question: list[str]) -> RowQuestion:
    model = HashEmbedder(32)
    terms = []
    for number, word in enumerate(question):
        rows = connection.execute("SELECT id FROM words WHERE stem = ?", [stem(word)]).fetchall()
        terms.append((np.array([row[0] for row in rows], dtype=np.int32), 1.0 + number))
    vector = asyncio.run(model.embed_query(" ".join(question)))
    words = asyncio.run(model.embed(question))
    return RowQuestion(vector, (words - index.word_mean).sum(axis=0) if len(index.word_vectors) else None, terms)


@pytest.mark.req("T-05", "T-10")
@settings(max_examples=40)
@given(
    rows=ROWS,
    most_whole=st.sampled_from([0, 5, 100]),
    question=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True),
    k=st.integers(1, 40),
    threshold=st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.9]),
    filtered=st.booleans(),
)
def test_search_is_exact(
    *,
    rows: list[tuple[str | None, str | None]],
    most_whole: int,
    question: list[str],
    k: int,
    threshold: float,
    filtered: bool,
) -> None:
    index, connection = build(rows, most_whole)
    asked = ask(index, connection, question)
    allowed = index.row_numbers[::2] if filtered else None
    found = search(index, asked, k, threshold, allowed)
    everybody = set((index.row_numbers if allowed is None else allowed).tolist())
    scores = naive(index, connection, asked, question, everybody)
    wanted = sorted((score for score in scores.values() if score >= threshold + 1e-5), reverse=True)[:k]
    got = found.scores.tolist()
    assert got == sorted(got, reverse=True)
    assert all(score >= threshold for score in got)
    assert len(set(found.row_numbers.tolist())) == len(got) <= k
    assert got[: len(wanted)] == pytest.approx(wanted, abs=1e-4)
    assert got == pytest.approx([scores[number] for number in found.row_numbers.tolist()], abs=1e-4)


def test_a_saved_index_is_the_same(tmp_path: Any) -> None:
    index, connection = build([("red apple", "sweet"), ("green pear", None), ("red plum", "sour")], 0)
    index.save(tmp_path)
    again = TableIndex.load(tmp_path)
    asked = ask(index, connection, ["red", "sour"])
    assert search(again, asked, 3, 0.0).scores.tolist() == search(index, asked, 3, 0.0).scores.tolist()
    (tmp_path / "row_vectors.npy").unlink()  # as one that was kept from before
    (tmp_path / "anchors.npy").unlink()
    assert (
        search(TableIndex.load(tmp_path), asked, 3, 0.0).scores.tolist() == search(index, asked, 3, 0.0).scores.tolist()
    )
    assert again.bytes == index.bytes


def test_one_column_of_words_has_each_text_once() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE rows AS SELECT range + 1 AS row_number, 'item' AS c0 FROM range(1000)")
    texts = gather(connection, Table("t", "rows", [Column("a", "c0", ColumnType.CATEGORY, 1)], 1000), 100)
    assert (texts.count, len(texts.row_numbers), texts.combinations.shape) == (1, 1000, (1, 1))


def test_each_text_is_embedded_once() -> None:
    seen: list[str] = []

    class Counting(HashEmbedder):
        async def embed(self, texts: Any) -> Any:
            seen.extend(texts)
            return await super().embed(texts)

    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE rows AS SELECT range + 1 AS row_number, 'kind ' || range % 7 AS c0, 'kind ' || range % 5 AS c1 "
        "FROM range(1000)"
    )
    columns = [Column("a", "c0", ColumnType.CATEGORY, 7), Column("b", "c1", ColumnType.CATEGORY, 5)]
    texts = gather(connection, Table("t", "rows", columns, 1000), 100)

    async def quiet(_share: float) -> None:
        """Nobody watches."""

    index = asyncio.run(embedded(texts, Counting(), KnownTexts(), quiet))
    rows = [f"a: kind {first}; b: kind {second}" for first in range(7) for second in range(5)]
    embedded_texts = sorted(text for text in seen if "Company" not in text)  # those bring the model to scale
    assert embedded_texts == sorted([*(f"kind {number}" for number in range(7)), *rows])
    assert (index.texts, index.combinations.shape) == (7, (2, 35))
