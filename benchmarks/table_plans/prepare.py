"""Every question enumerated once, as arrays that training reads again and again."""

from __future__ import annotations

import json
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from multiprocessing import Pool

import numpy as np
from numpy.typing import NDArray

from benchmarks.table_plans.questions import QuestionedTable
from kedge.answer.sheets.candidates import Candidate
from kedge.answer.sheets.cells import canonical
from kedge.answer.sheets.choice import told_by
from kedge.answer.sheets.enumerate import enumerate_readings
from kedge.answer.sheets.lines import Wordings, identity_of
from kedge.answer.sheets.rowsets import Feature
from kedge.answer.sheets.sheet import Sheet, build_sheet
from kedge.answer.sheets.telling import answer_texts
from kedge.answer.sheets.weigher import Weighable, gram_numbers, weighable
from kedge.answer.sheets.words import folded, tokens

OFTEN = 40
"""A word that is in so many questions is a common one."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question ready for training."""

    id: str
    text: str
    path: str
    length: int
    grams: frozenset[str]
    arrays: Weighable | None
    """None without any candidate."""
    ops: tuple[str, ...]
    right: NDArray[np.bool_]
    """Of each different answer."""
    told: NDArray[np.float32]
    """What each feature tells the second weighing: (feature, place in TOLD, value) a line."""
    ms: float
    """Processor time of the enumeration, so that other work on the machine does not count."""
    identity: str
    """What the reader is told of the table."""
    worded: bytes
    """The line of each candidate for the reader, packed."""

    @property
    def reachable(self) -> bool:
        return bool(self.right.any())

    def lines(self) -> list[str]:
        """How the reader sees each candidate, in order."""
        return list(json.loads(zlib.decompress(self.worded)))


def common_words(tables: Iterable[QuestionedTable]) -> frozenset[str]:
    """Words that many questions have."""
    counts = Counter(
        word for table in tables for question in table.questions for word in tokens(folded(question.text).lower())
    )
    return frozenset(word for word, count in counts.items() if count >= OFTEN)


def prepare(tables: list[QuestionedTable], common: frozenset[str], processes: int) -> list[Prepared]:
    """All questions of all tables."""
    jobs = [(table, common) for table in tables]
    with Pool(processes) as pool:
        return [one for many in pool.imap(_prepared, jobs, chunksize=4) for one in many]


def _prepared(job: tuple[QuestionedTable, frozenset[str]]) -> list[Prepared]:
    table, common = job
    sheet = build_sheet(table.names, table.rows)
    out = []
    for question in table.questions:
        started = time.process_time()
        made = enumerate_readings(question.text, sheet, common)
        spent = 1000 * (time.process_time() - started)
        gold = tuple(sorted({canonical(part) for part in question.answer}))
        answers = list(dict.fromkeys(one.answers for one in made.candidates))
        out.append(
            Prepared(
                question.id,
                question.text,
                table.path,
                len(made.asked.linked.words),
                frozenset(made.grams),
                weighable(made, {}) if made.candidates else None,
                tuple(one.op for one in made.candidates),
                np.array([answer == gold for answer in answers], dtype=np.bool_),
                _told(made.features),
                spent,
                identity_of(sheet),
                _worded(made.candidates, sheet),
            )
        )
    return out


def _worded(candidates: Sequence[Candidate], sheet: Sheet) -> bytes:
    wordings = Wordings(sheet)
    lines = [wordings.line(one, answer_texts(one, sheet)) for one in candidates]
    return zlib.compress(json.dumps(lines, ensure_ascii=False).encode(), 3)


def _told(features: Sequence[Feature]) -> NDArray[np.float32]:
    lines = [(number, place, value) for number, feature in enumerate(features) for place, value in told_by(feature)]
    return np.array(lines, dtype=np.float32).reshape(-1, 3)


def with_grams(questions: Iterable[Prepared], vocabulary: dict[str, int]) -> list[Prepared]:
    """The questions with their words numbered."""
    return [
        replace(one, arrays=replace(one.arrays, grams=gram_numbers(one.grams, vocabulary))) if one.arrays else one
        for one in questions
    ]
