"""Rows by what they say as a whole: how many relevant ones reach 0.6, and how many others; and the weights behind it.

    python -m benchmarks.row_scores                     # every model over tables that nothing was learned from
    python -m benchmarks.row_scores --learn             # writes src/kedge/kinds/tables/finding/scores.json
    python -m benchmarks.row_scores --learn --models granite    # the others stay as they are there
    python -m benchmarks.row_scores --northwind FOLDER  # products.csv, categories.csv and suppliers.csv too

`row_scores_data/` holds two made-up tables of trade with questions and the rows that are meant, one to learn from and
one to test with, and questions over the products of Northwind. Control: `cells`, the same rows by their nearest cells
alone, and `before`, the nearest cell and the share of the question's words as they were counted before.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from kedge.core.settings import load_settings
from kedge.kinds.tables.finding import scores as weighing
from kedge.kinds.tables.finding.index import RowQuestion, TableIndex
from kedge.kinds.tables.finding.retrieval import _terms
from kedge.kinds.tables.finding.scores import RowWeights, anchors_of
from kedge.kinds.tables.finding.texts import KnownTexts, embedded, gather, texts_of_rows, worded
from kedge.kinds.tables.schema import Column, ColumnType, Table
from kedge.models.ports import Embedder
from kedge.models.registry import open_embedder

DATA = Path(__file__).parent / "row_scores_data"
SHIPPED = Path(weighing.__file__).parent / "scores.json"
MODELS = ("minilm", "granite", "bge-small", "use-multilingual", "e5-multilingual")
PAIRS = 24
"""Questions of the learned table, with the row that is meant, that bring unknown models to scale."""
KINDS = {"embedded": 3000, "composed": 0}
"""How the texts of cells get their vectors, and how many are embedded whole."""
THRESHOLD = 0.6
BETA = 1.5
"""How much more it weighs that a relevant row is found than that no other is."""
Array = np.ndarray[Any, Any]
PLAIN = RowWeights((0.0,) * 6, (0.0,) * 7)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A table with questions and the places of the rows that each means."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    questions: Sequence[tuple[str, frozenset[int]]]


def trade(name: str, *, languages: bool = False) -> Labelled:
    """One of the made-up tables, with its questions in English, or in other `languages` too."""
    lines = (DATA / f"{name}.txt").read_text("utf-8").splitlines()
    columns, rows = ("Company", "Country", "Category", "Product"), [line.split(" | ") for line in lines[1:]]
    keys = [row[0] for row in rows]
    lists = [f"{name}_questions.txt", *([f"{name}_languages.txt"] if languages else [])]
    asked = [line.split("->") for file in lists for line in (DATA / file).read_text("utf-8").splitlines()]
    questions = [(text.strip(), frozenset(keys.index(key) for key in meant.split())) for text, meant in asked]
    return Labelled(name, columns, [row[1:] for row in rows], questions)


def northwind(folder: Path) -> Labelled:
    """Products with the names of their categories and suppliers."""

    def read(name: str) -> list[dict[str, str]]:
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    category = {one["categoryID"]: one["categoryName"] for one in read("categories")}
    supplier = {one["supplierID"]: one for one in read("suppliers")}
    rows = [
        (
            one["productName"],
            one["quantityPerUnit"],
            category[one["categoryID"]],
            supplier[one["supplierID"]]["companyName"],
            supplier[one["supplierID"]]["country"],
        )
        for one in read("products")
    ]
    questions = []
    for line in (DATA / "northwind_questions.txt").read_text("utf-8").splitlines():
        text, _, meant = line.partition("->")
        kind, _, names = meant.strip().partition(":")
        wanted = names.split("|") if names else []
        right = [
            place
            for place, row in enumerate(rows)
            if (row[2] in wanted if kind == "category" else any(row[0].startswith(name) for name in wanted))
        ]
        questions.append((text.strip(), frozenset(right)))
    return Labelled(
        "northwind", ("productName", "quantityPerUnit", "categoryName", "companyName", "country"), rows, questions
    )


async def features(labelled: Labelled, embedder: Embedder, most_whole: int) -> tuple[Array, Array, Array]:
    """By question and row: whole, best, beside, share, and the two gaps; whether it is meant; the question's place."""
    connection = duckdb.connect()
    fields = [f"c{place}" for place in range(len(labelled.columns))]
    connection.execute(f"CREATE TABLE rows (row_number BIGINT, {', '.join(f'{field} VARCHAR' for field in fields)})")
    marks = ", ".join("?" for _ in (0, *fields))
    connection.executemany(f"INSERT INTO rows VALUES ({marks})", [(n, *row) for n, row in enumerate(labelled.rows, 1)])
    table = Table(
        labelled.name,
        "rows",
        tuple(
            Column(name, field, ColumnType.TEXT, len({row[place] for row in labelled.rows}))
            for place, (name, field) in enumerate(zip(labelled.columns, fields, strict=True))
        ),
        len(labelled.rows),
    )

    async def quiet(_share: float) -> None:
        """Nobody watches."""

    index: TableIndex = await embedded(gather(connection, table, most_whole), embedder, KnownTexts(), quiet)
    whole = await embedder.embed(texts_of_rows(connection, worded(table), index.combinations))
    found, meant, at = [], [], []
    for place, (question, right) in enumerate(labelled.questions):
        words, terms = _terms(connection, question, index.texts)
        vectors = [await embedder.embed_query(word) for word in words] if len(index.word_vectors) else []
        composed = (np.stack(vectors) - index.word_mean).sum(axis=0) if vectors else None
        asked = RowQuestion(await embedder.embed_query(question), composed, terms)
        one = index.candidates(asked, PLAIN, 0.0)
        own = np.clip(whole[one.places] @ asked.vector, 0, 1)
        rows = np.stack([own, one.best, one.beside, one.share, own - own.max(), one.best - one.best.max()], axis=1)
        found.append(rows[index.row_combination])
        meant.append(np.isin(np.arange(len(labelled.rows)), list(right)))
        at.append(np.full(len(labelled.rows), place))
    return np.concatenate(found), np.concatenate(meant), np.concatenate(at)


def inputs(found: Array, *, whole: bool) -> Array:
    """What the weights are applied to, in their order."""
    own, best, beside, share, gap, cell_gap = found.T
    if whole:
        return np.stack([np.ones_like(own), own, best, beside, share, share**2, gap], axis=1)
    return np.stack([np.ones_like(own), best, beside, share, share**2, cell_gap], axis=1)


def learn(found: Array, meant: Array, *, whole: bool, ridge: float = 1e-2) -> list[float]:
    """A logistic regression whose bias is moved so that 0.6 is where relevant rows are told best from others."""
    x = inputs(found, whole=whole)
    weights = np.zeros(x.shape[1])
    kept = ridge * len(x) / 100
    for _ in range(60):
        chance = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (chance - meant) + kept * np.r_[0, weights[1:]]
        weights -= np.linalg.solve((x * (chance * (1 - chance))[:, None]).T @ x + kept * np.eye(len(weights)), slope)
    shifts = np.linspace(-3, 6, 361)
    values = [_f(scored(found, [weights[0] + shift, *weights[1:]], whole=whole), meant) for shift in shifts]
    weights[0] += shifts[int(np.argmax(values))]
    return [round(float(one), 3) for one in weights]


def scored(found: Array, weights: Sequence[float], *, whole: bool) -> Array:
    """The score of every row."""
    z = inputs(found, whole=whole) @ np.asarray(weights)
    return weighing.mixed(1 / (1 + np.exp(-z)), found[:, 3])


def before(found: Array) -> Array:
    """As rows were scored when only their cells were compared."""
    near = np.minimum(found[:, 1] + 0.15 * found[:, 2], 1)
    return 1 - (1 - near) * (1 - 0.9 * found[:, 3])


def _f(scores: Array, meant: Array) -> float:
    kept = scores >= THRESHOLD
    both = float((kept & meant).sum())
    precision, recall = both / max(1, kept.sum()), both / max(1, meant.sum())
    return (1 + BETA**2) * precision * recall / max(1e-9, BETA**2 * precision + recall)


def report(scores: Array, meant: Array, at: Array) -> dict[str, str]:
    """Rows that reach the threshold, and questions by what they got."""
    kept = scores >= THRESHOLD
    both = int((kept & meant).sum())
    groups = [np.flatnonzero(at == place) for place in np.unique(at)]
    answerable = [group for group in groups if meant[group].any()]
    others = [group for group in groups if not meant[group].any()]
    return {
        "precision": f"{both / max(1, kept.sum()):.2f}",
        "recall": f"{both / meant.sum():.2f}",
        "first is right": f"{sum(bool(meant[one[np.argmax(scores[one])]]) for one in answerable)}/{len(answerable)}",
        "some found": f"{sum(bool((kept & meant)[group].any()) for group in answerable)}/{len(answerable)}",
        "rightly nothing": f"{sum(not kept[group].any() for group in others)}/{len(others)}",
    }


async def run(models: Sequence[str], folder: Path | None, *, learning: bool) -> None:
    """Learn and write, or measure and print."""
    learned = trade("trade_learn")
    tables = [trade("trade_test"), *([northwind(folder)] if folder else [])]
    made: dict[str, Any] = json.loads(SHIPPED.read_text("utf-8"))
    if learning:
        texts = ["; ".join(f"{c}: {v}" for c, v in zip(learned.columns, row, strict=True)) for row in learned.rows]
        single = [(text, texts[min(right)]) for text, right in learned.questions if len(right) == 1]
        made["pairs"] = single[:: max(1, len(single) // PAIRS)][:PAIRS]
        SHIPPED.write_text(json.dumps(made), "utf-8")
        weighing._data.cache_clear()
    for name in models:
        embedder = open_embedder(name, load_settings(environ={}))
        if learning:
            made["anchors"][name] = [round(one, 4) for one in await anchors_of(embedder)]
            SHIPPED.write_text(json.dumps(made), "utf-8")  # what is composed is brought to scale by them
            weighing._data.cache_clear()
            made["weights"][name] = {}
            for kind, most_whole in KINDS.items():
                spoken = trade("trade_learn", languages=name.endswith("multilingual"))
                found, meant, _ = await features(spoken, embedder, most_whole)
                ways = {"cells": learn(found, meant, whole=False), "whole": learn(found, meant, whole=True)}
                made["weights"][name][kind] = ways
            continue
        for table in tables:
            for kind, most_whole in KINDS.items():
                weights = weighing.shipped(composed=kind == "composed")[name]
                found, meant, at = await features(table, embedder, most_whole)
                ways = {
                    "whole row": scored(found, weights.whole, whole=True),
                    "cells": scored(found, weights.cells, whole=False),
                    "before": before(found),
                }
                for way, scores in ways.items():
                    told = report(scores, meant, at)
                    print(f"| {name} | {table.name} | {kind} | {way} | " + " | ".join(told.values()) + " |", flush=True)
    if learning:
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(made[key], ensure_ascii=False)}" for key in made)
        text = re.sub(r"([\]}],) (?=[\[\"])", r"\1\n    ", "{\n" + lines + "\n}\n")
        SHIPPED.write_text(text, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learn", action="store_true")
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--northwind", type=Path)
    given = parser.parse_args()
    asyncio.run(run(given.models, given.northwind, learning=given.learn))


if __name__ == "__main__":
    main()
