"""Reads an evaluation set: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kedge.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class EvalQuery:
    """One question of the set."""

    id: str
    text: str
    gains: dict[str, float]
    """Relevant documents."""
    unanswerable: bool | None
    """None when the set does not say."""
    answers: tuple[str, ...]
    """Gold strings, if the set has them."""
    judged: bool
    """Counts in the retrieval measures."""


@dataclass(frozen=True, slots=True)
class EvalSet:
    """A corpus with its questions."""

    corpus: Path
    queries: tuple[EvalQuery, ...]
    texts: dict[str, str] = field(repr=False)
    """Document id → text, to verify cited spans against the source itself."""


def load(folder: Path) -> EvalSet:
    """Read the set, or say which file is missing or broken."""
    corpus, queries, qrels = (folder / name for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"))
    for path in (corpus, queries, qrels):
        if not path.is_file():
            raise UsageError(
                f"{path} is not there.", hint="An evaluation folder holds corpus.jsonl, queries.jsonl and qrels.tsv."
            )
    gains = _gains(qrels)
    return EvalSet(
        corpus=corpus,
        queries=tuple(_query(row, gains.get(str(row["_id"]), {})) for row in _rows(queries)),
        texts={str(row["_id"]): str(row.get("text", "")) for row in _rows(corpus)},
    )


def _query(row: dict[str, Any], gains: dict[str, float]) -> EvalQuery:
    unanswerable = row.get("unanswerable")
    answers = row.get("answers", row.get("answer"))
    listed = [answers] if isinstance(answers, str) else list(answers or [])
    return EvalQuery(
        id=str(row["_id"]),
        text=str(row["text"]),
        gains=gains,
        unanswerable=bool(unanswerable) if unanswerable is not None else None,
        answers=tuple(str(answer) for answer in listed),
        judged=bool(gains) and not unanswerable and row.get("qrels_complete", True) is not False,
    )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise UsageError(
                        f"{path}:{number} is not valid JSON: {error}", hint="Write one JSON object on each line."
                    ) from error


def _gains(path: Path) -> dict[str, dict[str, float]]:
    gains: dict[str, dict[str, float]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as lines:
        for number, row in enumerate(csv.reader(lines, delimiter="\t"), 1):
            if number == 1 and row[:1] == ["query-id"]:
                continue
            try:
                query, document, score = row[0], row[1], float(row[2])
            except (IndexError, ValueError) as error:
                raise UsageError(
                    f"{path}:{number} must be query-id, corpus-id, score, tab-separated.",
                    hint="Write for instance q1<TAB>d7<TAB>1.",
                ) from error
            if score > 0:
                gains[query][document] = score
    return gains
