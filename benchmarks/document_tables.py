"""Computed questions over tables inside documents: `python -m benchmarks.document_tables`.

37 questions that need two cells or more of one table (most, least, sum, difference, share, count, comparison) over
filings in PDF, papers, lessons and articles, and 7 that no table answers. The files are those of
`python -m benchmarks.real_questions`, whose home is used; the figures were looked up and computed by hand. The short
answer is judged, or the beginning of the answer where there is none. Prints right, wrong and refused.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path

from benchmarks.data import folder
from benchmarks.real_questions import take_in
from kedge import Kedge
from kedge.core.values import Answer

DATA = Path(__file__).parent / "document_tables_data" / "questions.jsonl"


FIRST = 80
"""Characters of an answer without a short one that are judged."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.document_tables", description=__doc__)
    parser.add_argument("--work", type=Path, default=Path(".bench-cache/real_questions"), help="folder for files")
    parser.add_argument("--home", type=Path, help="a home that holds the collections already, or will")
    given = parser.parse_args()
    questions = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    told: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    with Kedge(given.home or given.work / "home") as kedge:
        take_in(kedge, folder("real_questions"), given.work, sorted({one["collection"] for one in questions}))
        for one in questions:
            answer = kedge.ask(one["question"], collection=one["collection"])
            verdict = _verdict(answer, one["gold"])
            told[bool(one["gold"])][verdict] += 1
            print(
                f"{one['id']} {verdict:8} {'computed' if answer.metadata.get('plan') else 'read':8} {one['question']}"
            )
            print(f"     wanted {one['answer']} · said {_said(answer)[:160]!r} at {answer.evidence_probability:.2f}")
    print("answerable:", dict(told[True]))
    print("not answerable:", dict(told[False]))


def _said(answer: Answer) -> str:
    return answer.short_answer or answer.answer.split("\n")[0][:FIRST]


def _verdict(answer: Answer, gold: str) -> str:
    if answer.refused:
        return "refused"
    return "right" if gold and re.search(gold, _said(answer)) else "wrong"


if __name__ == "__main__":
    main()
