"""The questions: one JSON object a line in `written/COLLECTION.jsonl`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

FOLDER = Path(__file__).parent / "written"
HELD_OUT = ("apache", "black", "coverage", "dask", "starlette", "structlog", "tornado")
"""Collections that the reader is not taught with: the judge is calibrated on them, and figures are taken there."""
PARTLY_HELD_OUT = ("guides", "made4", "made5", "papers", "vignettes")
"""Collections of which about a quarter of the documents is held out likewise."""
NONE = "none"
"""The type of a question that its collection does not answer."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Statements of one passage."""

    document: str
    """Path inside the collection."""
    statements: tuple[str, ...]
    """How they begin in the passage, the best first."""


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question with what answers it."""

    collection: str
    text: str
    type: str
    """how, table, number, what, why, who-where-when, yesno, list, compare, summary, or none."""
    short: str | None
    """The few words that answer it, as they stand in the first statement; `yes` or `no`; None where no few words do."""
    evidence: Evidence
    """What answers it; for one that nothing answers, the first statement of the passage that comes nearest."""
    also: tuple[Evidence, ...] = ()
    """Other passages that answer it as well."""
    unlike: tuple[Evidence, ...] = ()
    """Passages that look as if they answered it, each by its first statement."""


def is_held_out(collection: str, document: str) -> bool:
    """Whether questions over a document are kept from the reader's teaching."""
    if collection not in PARTLY_HELD_OUT:
        return collection in HELD_OUT
    return crc32(document.encode()) % 4 == 0


def held_out_questions(collection: str) -> list[WrittenQuestion]:
    """Those of its questions that the reader is not taught with."""
    return [one for one in questions(collection) if is_held_out(collection, one.evidence.document)]


def collections() -> list[str]:
    """The collections that there are questions for, by name."""
    return sorted(path.stem for path in FOLDER.glob("*.jsonl"))


def questions(collection: str) -> list[WrittenQuestion]:
    """The questions over one collection, in the order of its documents."""
    lines = (FOLDER / f"{collection}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_question(collection, json.loads(line)) for line in lines]


def _question(collection: str, row: dict[str, Any]) -> WrittenQuestion:
    return WrittenQuestion(
        collection=collection,
        text=row["question"],
        type=row["type"],
        short=row["short"],
        evidence=_evidence(row["evidence"]),
        also=tuple(map(_evidence, row.get("also", ()))),
        unlike=tuple(map(_evidence, row.get("unlike", ()))),
    )


def _evidence(found: list[Any]) -> Evidence:
    document, *statements = found
    return Evidence(document, tuple(statements))
