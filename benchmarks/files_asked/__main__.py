"""A folder of real files of every format is taken in whole and asked what stands in it.

    python -m benchmarks.files_asked FOLDER [--wrong]

FOLDER is filled by `python -m benchmarks.files_asked.fetch FOLDER`. A question is right where the answer says what it
has to and cites the file it stands in; a citation opens where its words stand in the text of its passage.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
import tomllib
from pathlib import Path

from kedge import Kedge
from kedge.core.values import Answer, Citation

QUESTIONS = Path(__file__).with_name("questions.toml")


def opens(citation: Citation, answer: Answer) -> bool:
    """Whether the cited words stand in the passage where the citation says."""
    passage = next((hit.passage for hit in answer.hits if hit.passage.id == citation.passage_id), None)
    if passage is None:
        return False
    return passage.text[citation.start - passage.start : citation.end - passage.start] == citation.snippet


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wrong", action="store_true", help="show what was said instead")
    asked = parser.parse_args()
    questions = tomllib.loads(QUESTIONS.read_text("utf-8"))["question"]
    right = refused = opened = cited = 0
    with tempfile.TemporaryDirectory() as home, Kedge(home) as kedge:
        began = time.monotonic()
        job = kedge.ingest(asked.folder, collection="files")
        files = len(list(asked.folder.iterdir()))
        print(
            f"{files} files: {job.files_processed} documents, {job.passages_created} passages in "
            f"{time.monotonic() - began:.0f} s, {job.files_failed} failed"
        )
        for error in job.errors:
            print("  failed:", error.url.rpartition("/")[2], error.message)
        for note in job.warnings:
            print("  note:", note)
        for question in questions:
            answer = kedge.ask(question["asks"], collection="files")
            said = answer.answer
            sources = [citation.url for citation in answer.citations]
            there = any(question["file"] in url for url in sources)
            fits = re.search(question["says"], said) is not None
            right += fits and there and not answer.refused
            refused += answer.refused
            for citation in answer.citations:
                cited += 1
                opened += opens(citation, answer)
            if asked.wrong and not (fits and there and not answer.refused):
                state = "refused" if answer.refused else f"said={fits} cited={there}"
                print(f"- {question['file']}: {question['asks']} [{state}]\n    {said[:300]!r}")
                print("    from", [url.rpartition("/")[2] for url in sources][:3])
    total = len(questions)
    print(f"right {right} of {total} ({right / total:.0%}), refused {refused}; citations that open {opened} of {cited}")


if __name__ == "__main__":
    main()
