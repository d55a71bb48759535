"""How well the check of generated sentences tells what the evidence says from what it does not.

Sentences of the set's passages are claims: as they stand, with their halves exchanged, and spoiled in one place (a
number, a name, a denial), against their own passage among four others; and sentences of passages that are not there.

python -m benchmarks.support [--set squad2] [--claims 150] [--embedder NAME]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator

from benchmarks.data import folder
from kedge.answer.write.support import Support
from kedge.core.settings import Settings, load_settings
from kedge.core.values import Passage, SearchHit
from kedge.models.registry import open_embedder
from kedge.text.evidence import quotable_spans
from kedge.text.question import is_negated, parse_question

_NUMBER = re.compile(r"\b\d{2,4}\b")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_VERB = re.compile(r"\b(?:is|was|are|were|has|had|can|could|will|would)\b")


def hit(place: int, title: str, text: str) -> SearchHit:
    passage = Passage(str(place), str(place), "v", 0, text, 0, len(text), "", 0, title, f"{place}.txt", str(place))
    return SearchHit(place + 1, passage, 1.0 / (place + 1))


def variants(claim: str, names: list[str], random_: random.Random) -> Iterator[tuple[str, str]]:
    """(kind, claim): the first two kinds are supported, the others are not."""
    yield "verbatim", claim
    before, comma, behind = claim.rstrip(".").partition(", ")
    if comma and len(before.split()) > 3 and len(behind.split()) > 3:
        yield "halves exchanged", f"{behind}, {before}."
    number = _NUMBER.search(claim)
    if number:
        yield "number", claim[: number.start()] + str(int(number.group()) + 1) + claim[number.end() :]
    name = _NAME.search(claim)
    other = random_.choice(names)
    if name and other not in claim:
        yield "name", claim[: name.start()] + other + claim[name.end() :]
    verb = _VERB.search(claim)
    if verb and not is_negated(claim):
        yield "denial", f"{claim[: verb.end()]} not{claim[verb.end() :]}"


async def measure(name: str, wanted: int, model: str) -> dict[str, tuple[int, int]]:
    random_ = random.Random(7)
    rows = [json.loads(line) for line in (folder(name) / "corpus.jsonl").read_text("utf-8").splitlines()]
    random_.shuffle(rows)
    names = sorted({match for row in rows[:200] for match in _NAME.findall(row["text"])})
    embedder = open_embedder(model, load_settings(environ={}))
    found: dict[str, list[bool]] = defaultdict(list)
    for place, row in enumerate(rows[:wanted]):
        spans = [row["text"][start:end] for start, end in quotable_spans(row["text"]) if 40 < end - start < 300]
        if not spans:
            continue
        beside = rows[place + 1 : place + 5]
        hits = [hit(at, one["title"], one["text"]) for at, one in enumerate([row, *beside])]
        question = parse_question(f"What is said about {row['title']}?", lambda _: 1.0)
        support = Support(question, hits, embedder.embed, embedder.name)
        for kind, claim in variants(random_.choice(spans), names, random_):
            found[kind].append((await support.check(claim)).supported)
        far = rows[-1 - place]
        foreign = [far["text"][start:end] for start, end in quotable_spans(far["text"]) if 40 < end - start < 300]
        if foreign and far["title"] != row["title"]:
            found["foreign"].append((await support.check(random_.choice(foreign))).supported)
    return {kind: (sum(values), len(values)) for kind, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="squad2")
    parser.add_argument("--claims", type=int, default=150)
    parser.add_argument("--embedder", default=Settings().embedder)
    given = parser.parse_args()
    print("| claim | shown as supported | of |\n|---|---|---|")
    for kind, (shown, total) in asyncio.run(measure(given.set, given.claims, given.embedder)).items():
        print(f"| {kind} | {shown} | {total} |")


if __name__ == "__main__":
    main()
