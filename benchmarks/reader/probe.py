"""What an answer could be made of: `python -m benchmarks.reader.probe --home HOME [--model reader.onnx]`.

Finds the first passages for every real question (`python -m benchmarks.real_questions` fills the home), cuts them into
statements, reads them, and says how often the right expression stands in the passages at all, in the best statement and
in the best three, and how well answerable questions are told from the others. Nothing is refused or composed here.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from tokenizers import Tokenizer

from benchmarks.data import folder
from benchmarks.real_questions import program
from kedge import Kedge
from kedge.answer.evidence import cut, readable
from kedge.evals.metrics import auroc
from kedge.models.carried.files import FOLDER
from kedge.models.carried.tokenizer import tokenizer_file
from kedge.models.read.reader import FILE, NOT_READ, Reader, Reading
from kedge.text.statements.statement import Statement

FIRST = (1, 3, 5, 8)
CERTAIN = 4.0
"""Log-odds beyond which a passage is no better for being surer."""


def figures(
    read: list[tuple[dict[str, Any], list[tuple[Reading, tuple[Statement, ...]]]]], count: int, score: ModuleType
) -> str:
    """Over the first `count` passages of every question."""
    held = best = three = 0
    scores: list[float] = []
    labels: list[bool] = []
    for question, passages in read:
        seen = passages[:count]
        scores.append(max((reading.about for reading, _ in seen), default=NOT_READ))
        labels.append(not question["unanswerable"])
        if question["unanswerable"]:
            continue
        ranked = sorted(
            (
                (each.support + min(reading.about, CERTAIN), one.read)
                for reading, made in seen
                for each, one in zip(reading.statements, made, strict=True)
            ),
            reverse=True,
        )
        held += score.is_right(question, "\n".join(one.read for _, made in seen for one in made))
        best += score.is_right(question, "\n".join(text for _, text in ranked[:1]))
        three += score.is_right(question, "\n".join(text for _, text in ranked[:3]))
    total, area = sum(labels), auroc(scores, labels)
    return (
        f"first {count}: there {held / total:.3f}, in the best statement {best / total:.3f}, in the best three "
        f"{three / total:.3f}; AUROC {area or 0:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader.probe", description=__doc__)
    parser.add_argument("--home", type=Path, default=Path(".bench-cache/real_questions/home"))
    parser.add_argument("--model", type=Path, default=FOLDER / FILE, help="default: the one that Kedge carries")
    given = parser.parse_args()
    asked = folder("real_questions")
    score = program(asked / "score.py")
    reader = Reader(given.model, Tokenizer.from_file(str(tokenizer_file())), 2)
    read = []
    with Kedge(given.home) as kedge:
        for line in (asked / "questions.jsonl").read_text("utf-8").splitlines():
            question = json.loads(line)
            found = kedge.search(question["question"], collection=question["collection"], top_k=max(FIRST))
            parts = [cut(hit.passage) for hit in found.hits]
            said = [readable(hit.passage, part) for hit, part in zip(found.hits, parts, strict=True)]
            read.append((question, list(zip(reader.read(question["question"], said), parts, strict=True))))
    for count in FIRST:
        print(figures(read, count, score))


if __name__ == "__main__":
    main()
