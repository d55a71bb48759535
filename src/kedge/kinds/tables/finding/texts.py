"""The texts of a table: which there are, which words they have, which rows point to them, and their vectors."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

import duckdb
import numpy as np
from numpy.typing import NDArray

from kedge.kinds.tables.feeding.telling import one
from kedge.kinds.tables.finding.index import Floats, Ints, TableIndex
from kedge.kinds.tables.finding.scores import measured, usual_anchors
from kedge.kinds.tables.schema import ROW, Column, Table
from kedge.models.ports import Embedder
from kedge.stores.queries import load_queries
from kedge.text.analyze import terms

QUERIES = load_queries(__package__, "queries.sql")
WORDS = 6000
"""Words of composed texts that the model embeds, those of most texts first; keyword search knows all."""
WHOLE_ROWS = 1000
"""Most combinations of texts that get a vector as a whole when a table is fed; of more, those nearest to a question."""
WORDS_OF_TEXT = 32
"""Different words of one text that are looked at."""
BATCH = 64
CALIBRATED = 200
"""Composed texts that the model embeds too, so that both kinds of similarity can be brought to one scale."""
NEAREST = 10
CHUNK = 20_000
NO_DIRECTION = 1e-3
"""A composed vector that is shorter means nothing: its words cancel each other out."""
DEFAULT_SCALE = (0.15, 0.85)
_SPLIT = re.compile(r"[_/:|\\]+")
_CJK = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"

OnDone = Callable[[float], Awaitable[None]]
"""Told the share that is done."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What is to be embedded and how rows point to it."""

    count: int
    whole: list[tuple[int, str]]
    composed_ids: Ints
    vocabulary: list[tuple[int, str]]
    """Words that get a vector."""
    sample: list[tuple[int, str]]
    """Composed texts for calibration."""
    unit_starts: NDArray[np.int64]
    units: NDArray[np.uint16]
    unknown: Ints
    """By composed text: how many of its words have no vector."""
    posting_starts: NDArray[np.int64]
    postings: Ints
    combinations: Ints
    row_combination: Ints
    row_numbers: NDArray[np.int64]
    rows: list[str]
    """What each combination says as a whole, where there are few of them."""


def readable(value: str) -> str:
    """A cell as the model reads it best: `CHIPS&DIPS/SNACKS` is no shouting."""
    text = _SPLIT.sub(" ", value)
    return text.lower() if text.isupper() else text


def worded(table: Table) -> list[Column]:
    """The columns whose texts are indexed."""
    return [column for column in table.columns if column.type.worded and column.distinct]


def gather(connection: duckdb.DuckDBPyConnection, table: Table, most_whole: int) -> Texts:
    """Make the relations `texts` and `words` beside the rows, and all that needs no model."""
    columns = worded(table)
    _make_texts(connection, table, columns)
    count = int(one(connection, QUERIES["count_texts"])[0])
    _make_words(connection)
    whole = _whole(connection, table, columns, most_whole)
    composed = connection.execute(QUERIES["composed_texts"]).fetchnumpy()["id"]
    vocabulary = _vocabulary(connection)
    units = _units(connection, np.asarray(composed), vocabulary)
    posting_starts, postings = _postings(connection)
    combinations, row_combination, row_numbers = _combinations(connection, table, columns, count)
    few = combinations.shape[1] <= min(WHOLE_ROWS, most_whole - len(whole))
    return Texts(
        count=count,
        whole=whole,
        composed_ids=np.asarray(composed, dtype=np.int32),
        vocabulary=vocabulary,
        sample=_pairs(connection, QUERIES["sample_of_composed_texts"], CALIBRATED),
        unit_starts=units[0],
        units=units[1],
        unknown=units[2],
        posting_starts=posting_starts,
        postings=postings,
        combinations=combinations,
        row_combination=row_combination,
        row_numbers=row_numbers,
        rows=texts_of_rows(connection, columns, combinations) if few else [],
    )


def texts_of_rows(connection: duckdb.DuckDBPyConnection, columns: Sequence[Column], combinations: Ints) -> list[str]:
    """What each of these combinations says: `Company: Saigon Foods; Country: Vietnam`, in the table's order."""
    wanted = np.unique(combinations[combinations >= 0]).tolist()
    values = dict(connection.execute(QUERIES["texts_by_id"], [wanted]).fetchall())
    names = [column.name.replace("_", " ") for column in columns]
    return [
        "; ".join(
            f"{name}: {readable(values[text])}" for name, text in zip(names, codes, strict=False) if text in values
        )
        for codes in combinations.T.tolist()
    ]


@dataclass(frozen=True, slots=True)
class KnownTexts:
    """What an earlier index knows, made by the same model."""

    vectors: dict[str, Floats] = field(default_factory=dict)
    """By text."""
    anchors: tuple[float, ...] = ()
    """What `measured` gave; empty where it was not asked."""


async def embedded(texts: Texts, embedder: Embedder, known: KnownTexts, on_done: OnDone) -> TableIndex:
    """Have the model embed what is new and put the index together."""
    calibration = texts.sample if texts.vocabulary else []
    cells = [readable(value) for _, value in (*texts.whole, *texts.vocabulary, *calibration)]
    anchors = known.anchors or (await measured(embedder) if cells else None)
    foreign = anchors[0] if anchors else usual_anchors(embedder.name)[0]
    vectors = await _embed([*cells, *texts.rows], embedder, known.vectors, on_done)
    first, second = len(texts.whole), len(texts.whole) + len(texts.vocabulary)
    index = _join(texts, vectors[:first], vectors[first:second], vectors[second : len(cells)], foreign)
    return replace(
        index, row_vectors=vectors[len(cells) :], anchors=np.array(anchors if anchors else (), dtype=np.float32)
    )


async def _embed(wanted: Sequence[str], embedder: Embedder, known: dict[str, Floats], on_done: OnDone) -> Floats:
    missing = [text for text in dict.fromkeys(wanted) if text not in known]
    for start in range(0, len(missing), BATCH):
        part = missing[start : start + BATCH]
        known.update(zip(part, await embedder.embed(part), strict=True))
        await on_done(min(1.0, (start + BATCH) / len(missing)))
    if not wanted:
        return np.empty((0, embedder.dimension), dtype=np.float32)
    return np.stack([known[text] for text in wanted]).astype(np.float32)


def _join(texts: Texts, whole: Floats, words: Floats, sample: Floats, foreign: float) -> TableIndex:
    mean = words.mean(axis=0) if len(words) else np.zeros(whole.shape[1], dtype=np.float32)
    centred = words - mean
    norms = _norms(texts, centred)
    order = np.argsort(texts.row_combination, kind="stable").astype(np.int32)
    count = texts.combinations.shape[1]
    row_starts = np.searchsorted(texts.row_combination[order], np.arange(count + 1))
    return TableIndex(
        texts=texts.count,
        whole_ids=np.array([text for text, _ in texts.whole], dtype=np.int32),
        whole_vectors=whole,
        word_vectors=centred,
        word_mean=mean,
        word_ids=np.array([word for word, _ in texts.vocabulary], dtype=np.int32),
        unit_starts=texts.unit_starts,
        units=texts.units,
        norms=norms,
        posting_starts=texts.posting_starts,
        postings=texts.postings,
        composed_ids=texts.composed_ids,
        scale=_scale(texts, centred, sample, foreign),
        combinations=texts.combinations,
        row_combination=texts.row_combination,
        row_order=order,
        row_starts=row_starts.astype(np.int64),
        row_numbers=texts.row_numbers,
        row_vectors=np.empty((0, whole.shape[1]), dtype=np.float32),
        anchors=np.empty(0, dtype=np.float32),
    )


def _sums(texts: Texts, places: NDArray[np.int64], centred: Floats) -> Floats:
    """The vectors of some composed texts, by their places among these."""
    sums = np.zeros((len(places), centred.shape[1]), dtype=np.float32)
    for row, place in enumerate(places):
        sums[row] = centred[texts.units[texts.unit_starts[place] : texts.unit_starts[place + 1]]].sum(axis=0)
    return sums


def _norms(texts: Texts, centred: Floats) -> Floats:
    """Lengths of all composed vectors, in chunks so that memory stays bounded.

    A word without a vector counts as one that is near to nothing.
    """
    norms = np.zeros(len(texts.composed_ids), dtype=np.float32)
    if not len(centred):
        return norms
    usual = float(np.einsum("ij,ij->", centred, centred)) / len(centred)
    for start in range(0, len(norms), CHUNK):
        starts = texts.unit_starts[start : start + CHUNK + 1]
        filled = np.diff(starts) > 0
        if not filled.any():
            continue
        sums = np.add.reduceat(centred[texts.units[starts[0] : starts[-1]]], (starts[:-1] - starts[0])[filled], axis=0)
        own = np.einsum("ij,ij->i", sums, sums)
        norms[start : start + CHUNK][filled] = np.sqrt(own + usual * texts.unknown[start : start + CHUNK][filled])
    norms[norms < NO_DIRECTION] = 0
    return norms


def _scale(texts: Texts, centred: Floats, sample: Floats, foreign: float) -> Floats:
    """How composed similarities are brought to the model's scale: by pairs of near texts that have both.

    A composed similarity of 0 becomes at most that of a question to a `foreign` row: texts of one table are nearer.
    """
    default = np.array(DEFAULT_SCALE, dtype=np.float32)
    if len(sample) < 3 * NEAREST:
        return default
    places = np.searchsorted(texts.composed_ids, [text for text, _ in texts.sample])
    sums = _sums(texts, places, centred)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    composed = sums / np.maximum(lengths, 1e-6)
    mine, models = composed @ composed.T, sample @ sample.T
    np.fill_diagonal(mine, -1)
    near = np.argpartition(-mine, NEAREST, axis=1)[:, :NEAREST]
    x, y = np.take_along_axis(mine, near, axis=1).ravel(), np.take_along_axis(models, near, axis=1).ravel()
    if float(x.std()) < 1e-3:
        return default
    slope, intercept = np.polyfit(x, y, 1)
    if intercept > foreign:
        intercept, slope = foreign, float((x * (y - foreign)).sum() / (x * x).sum())
    slope = float(np.clip(slope, 0.3, 1.0))
    return np.array([min(float(intercept), 1 - slope), slope], dtype=np.float32)


# ---------------------------------------------------------------- in DuckDB


def _make_texts(connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[Column]) -> None:
    parts = " UNION ".join(f"SELECT DISTINCT {column.field} AS value FROM {table.relation}" for column in columns)  # noqa: S608
    source = f"({parts})" if columns else "(SELECT NULL::VARCHAR AS value)"
    connection.execute(
        "CREATE OR REPLACE TABLE texts AS SELECT (row_number() OVER (ORDER BY value) - 1)::INTEGER AS id, value, "  # noqa: S608
        f"false AS whole FROM {source} WHERE value IS NOT NULL"
    )


def _make_words(connection: duckdb.DuckDBPyConnection) -> None:
    """All words of all texts: `held(text, word)` for now, `words(id, word, stem, texts)` to stay."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE held AS SELECT id AS text, unnest(list_slice(list_distinct("  # noqa: S608
        f"{split_sql('value')}), 1, {WORDS_OF_TEXT})) AS word FROM texts"
    )
    connection.execute(QUERIES["make_words"])
    stems = np.array([stem(word) for _, word in _pairs(connection, QUERIES["words"])], dtype=object)
    connection.execute(QUERIES["add_stems"])
    if len(stems):
        made = {"id": np.arange(len(stems), dtype=np.int32), "stem": stems}
        connection.register("made", made)
        connection.execute(QUERIES["fill_stems"])
        connection.unregister("made")


def split_sql(value: str) -> str:
    """SQL for the words of a text: letters and digits, without accents, each sign of Chinese for itself."""
    spaced = rf"regexp_replace({value}, '({_CJK})', ' \1 ', 'g')"
    return rf"regexp_extract_all(lower(strip_accents({spaced})), '[\p{{L}}\p{{M}}\p{{N}}]+')"


def stem(word: str) -> str:
    """What keyword search compares; empty for function words."""
    found = terms(word, "english")
    return found[0] if found else ""


def _whole(
    connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[Column], most: int
) -> list[tuple[int, str]]:
    """Texts that get a vector of their own: those of the columns with the fewest, as far as the budget reaches."""
    left = most
    for column in sorted(columns, key=lambda one: one.distinct):
        if column.distinct > left:
            break
        left -= column.distinct
        connection.execute(
            f"UPDATE texts SET whole = true WHERE value IN (SELECT {column.field} FROM {table.relation})"  # noqa: S608
        )
    return _pairs(connection, QUERIES["whole_texts"])


def _vocabulary(connection: duckdb.DuckDBPyConnection) -> list[tuple[int, str]]:
    return _pairs(connection, QUERIES["vocabulary"], WORDS)


def _pairs(connection: duckdb.DuckDBPyConnection, statement: str, *values: int) -> list[tuple[int, str]]:
    return [(int(key), str(value)) for key, value in connection.execute(statement, values).fetchall()]


def _postings(connection: duckdb.DuckDBPyConnection) -> tuple[NDArray[np.int64], Ints]:
    """For every word the texts that hold it."""
    found = connection.execute(QUERIES["texts_of_words"]).fetchnumpy()
    count = int(one(connection, QUERIES["count_words"])[0])
    starts = np.searchsorted(np.asarray(found["id"]), np.arange(count + 1))
    return starts.astype(np.int64), np.asarray(found["text"], dtype=np.int32)


def _units(
    connection: duckdb.DuckDBPyConnection, composed: NDArray[np.int32], vocabulary: Sequence[tuple[int, str]]
) -> tuple[NDArray[np.int64], NDArray[np.uint16], Ints]:
    """For every composed text the places of its words among those with a vector, and how many have none."""
    found = connection.execute(QUERIES["words_of_composed_texts"]).fetchnumpy()
    texts, words = np.asarray(found["text"]), np.asarray(found["id"])
    place_of = np.full(int(words.max(initial=-1)) + 1, -1, dtype=np.int32)
    known = [(word, place) for place, (word, _) in enumerate(vocabulary) if word < len(place_of)]
    place_of[[word for word, _ in known]] = [place for _, place in known]
    places = place_of[words]
    vectored = places >= 0
    starts = np.searchsorted(texts[vectored], composed)
    starts = np.append(starts, int(vectored.sum())).astype(np.int64)
    bare = np.searchsorted(texts[~vectored], np.append(composed, np.iinfo(np.int32).max))
    return starts, places[vectored].astype(np.uint16), np.diff(bare).astype(np.int32)


def _combinations(
    connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[Column], count: int
) -> tuple[Ints, Ints, NDArray[np.int64]]:
    """Which texts stand together in a row: each combination once, and each row's combination."""
    joins = " ".join(
        f"LEFT JOIN texts t{place} ON t{place}.value = r.{column.field}" for place, column in enumerate(columns)
    )
    codes = ", ".join(f"coalesce(t{place}.id, -1) AS k{place}" for place in range(len(columns)))
    found = connection.execute(
        f"SELECT r.{ROW} AS n{', ' if codes else ''}{codes} FROM {table.relation} r {joins} ORDER BY n"  # noqa: S608
    ).fetchnumpy()
    row_numbers = np.asarray(found["n"], dtype=np.int64)
    combined = np.zeros(len(row_numbers), dtype=np.int64)
    columns_of = [np.asarray(found[f"k{place}"], dtype=np.int32) for place in range(len(columns))]
    first = np.zeros(0, dtype=np.int64)
    for codes_of in columns_of or [np.full(len(row_numbers), -1, dtype=np.int32)]:
        _, first, combined = np.unique(combined * (count + 1) + codes_of + 1, return_index=True, return_inverse=True)
    picked = [codes_of[first] for codes_of in columns_of] or [np.full(len(first), -1, dtype=np.int32)]
    return np.stack(picked), combined.astype(np.int32), row_numbers
