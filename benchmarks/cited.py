"""Whether every cited span is in its source, character by character: `python -m benchmarks.cited FOLDER`.

Takes a folder of markdown in, asks what each heading is about, and compares each citation of each answer with the file
itself. Exit 1 if a span is not there.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine

SCOPE = Scope(DEFAULT_TENANT, "cited")
FORMS = ("What is {}?", "How does {} work?", "What is the complexity of {}?", "When is {} used?")
_HEADING = re.compile(r"^#{1,3} +(.{3,80}?) *#*$", re.MULTILINE)


def questions(folder: Path, limit: int) -> list[str]:
    """One question for each heading, in every form in turn."""
    found = {
        re.sub(r"[*_`$\[\]{}\\]|\(.*?\)", "", heading).strip().lower(): None
        for path in sorted(folder.rglob("*.md"))
        for heading in _HEADING.findall(path.read_text("utf-8"))
    }
    names = [name for name in found if name]
    return [FORMS[index % len(FORMS)].format(name) for index, name in enumerate(names[:limit])]


async def measure(folder: Path, limit: int) -> Counter[str]:
    """Answers, refusals, and spans that are and are not in their source."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="kedge-cited-") as home:
        async with Engine.open(load_settings(home=Path(home))) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
            for question in questions(folder, limit):
                answer = await engine.ask(Query(question, SCOPE))
                counts["answered" if answer.citations else "refused"] += 1
                for citation in answer.citations:
                    source = Path(citation.url or "").read_text("utf-8")
                    there = source[citation.start : citation.end] == citation.snippet
                    counts["spans" if there else "missing spans"] += 1
                    if not there:
                        print(f"{question} → {citation.url} {citation.start}:{citation.end}", file=sys.stderr)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=400)
    arguments = parser.parse_args()
    counts = asyncio.run(measure(arguments.folder, arguments.limit))
    print(", ".join(f"{name}: {counts[name]}" for name in ("answered", "refused", "spans", "missing spans")))
    return 1 if counts["missing spans"] or not counts["spans"] else 0


if __name__ == "__main__":
    sys.exit(main())
