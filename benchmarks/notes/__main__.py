"""A small folder, as a team has one: 20 short notes, 60 plain questions that they answer and 12 that they do not.

Takes the notes in, in a home of its own, asks everything, and prints right, wrong and refused by type of question.
`--out` keeps the answers, `--wrong` names what was missed. Notes and questions were written without asking Kedge: look
at what fails, but change neither to make it pass.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.notes.scoring import FILES, questions, report, verdict
from benchmarks.real_questions import answered
from kedge import Kedge


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.notes", description=__doc__)
    parser.add_argument("--out", type=Path, help="write the answers as JSONL")
    parser.add_argument("--short", action="store_true", help="judge the short answer alone")
    parser.add_argument("--wrong", action="store_true", help="name the questions not got right")
    given = parser.parse_args()
    asked = questions()
    answers = []
    with tempfile.TemporaryDirectory() as home, Kedge(home) as kedge:
        job = kedge.ingest(FILES, collection="notes")
        print(f"{job.files_processed} documents, {job.passages_created} passages", file=sys.stderr)
        for number, question in enumerate(asked, 1):
            answers.append(answered(kedge, {**question, "collection": "notes"}))
            print(f"\r{number} of {len(asked)} asked", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if given.out:
        given.out.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in answers), "utf-8")
    judged = [(one, verdict(one, answer, short=given.short)) for one, answer in zip(asked, answers, strict=True)]
    print(report(judged))
    if given.wrong:
        print("\n".join(f"{one['id']} {said}: {one['question']}" for one, said in judged if said != "right"))


if __name__ == "__main__":
    main()
