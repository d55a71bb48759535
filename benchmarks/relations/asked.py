"""Pack what sentences may state as questions for the reader.

    python -m benchmarks.relations.asked --out relations.jsonl.xz
    python -m benchmarks.relations.asked --held-out --out relations-held.jsonl.xz

Read is `judged.txt`. A row of type `relation` asks of a sentence whether one thing stands so to another; a row of type
`relations` gives the sentence and all that it may state, and which of it is right. What is wrong is what weights taught
on other documents take for the likeliest, what is right turned round, and phrases of the sentence put together at
random. One document in five is held out.
"""

from __future__ import annotations

import argparse
import json
import lzma
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.relations.train import Judged, Stated, fold_of, judged, learn_folds, named, states
from kedge.core.values import Predicate
from kedge.ingest.extract.candidates import EndKind, RelationCandidate
from kedge.ingest.extract.chunks import Chunker
from kedge.ingest.extract.claims import QUESTIONS, one_line
from kedge.ingest.extract.weights import RelationWeights
from kedge.text.concepts import concept_key
from kedge.text.sentences import sentences

HELD = 5
"""One document of so many is held out."""
WRONG = 3
"""Likely wrong candidates kept for each right one."""
AT_ONCE = 10
"""Most claims on one sentence."""
LEAST = 0.02
"""Least probability of a candidate that is asked for."""
LONGEST = 280
"""Characters of a sentence that are shown as a whole where all claims on it are judged at once."""
STATEMENTS = {
    Predicate.PREREQUISITE: "{} requires {}.",
    Predicate.PART_OF: "{} is a part of {}.",
    Predicate.EXAMPLE_OF: "{} is a kind of {}.",
    Predicate.IMPLEMENTS: "{} implements {}.",
    Predicate.USES: "{} uses {}.",
    Predicate.COMPARED_TO: "{} is compared to {}.",
    Predicate.RELATED_TO: "{} is related to {}.",
}
MUTUAL = (Predicate.RELATED_TO, Predicate.COMPARED_TO)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a sentence may state."""

    subject: str
    predicate: Predicate
    object: str
    right: bool
    probability: float | None
    """By the weights; None for what is no candidate."""
    pointed: bool = False
    """An end stands in the sentence as "it" and the like, or not at all."""

    @property
    def likely(self) -> float:
        """What is asked first: what is right, what is no candidate, what is likely."""
        return 2.0 if self.right else 1.0 if self.probability is None else self.probability

    @property
    def key(self) -> tuple[str, str, str]:
        """Names it, however it is written."""
        return concept_key(self.subject), self.predicate.value, concept_key(self.object)

    def worded(self, *, asked: bool) -> str:
        """As a question or as a statement."""
        return (QUESTIONS if asked else STATEMENTS)[self.predicate].format(self.subject, self.object)


def packed(sentences_judged: Sequence[Judged], *, held_out: bool) -> Iterator[dict[str, Any]]:
    """All rows of the documents that are taught, or of those held out."""
    learnt = [RelationWeights(one, 0.5) for one in learn_folds(sentences_judged)]
    rows: list[tuple[float, dict[str, Any]]] = []
    right = 0
    for number, one in enumerate(sentences_judged):
        if is_held(one.document) != held_out or one.place == (0, 0):
            continue
        claims = list(claims_of(one, learnt[fold_of(one)], Random(number)))
        right += sum(claim.right for claim in claims)
        rows += ((claim.likely, asked(one, claim)) for claim in claims)
        if claims and one.mode in ("all", "random"):
            yield at_once(one, claims)
    rows.sort(key=lambda row: -row[0])
    yield from (row for _, row in rows[: right * (1 + WRONG)])


def is_held(document: str) -> bool:
    """Whether a document is held out."""
    return zlib.crc32(f"held {document}".encode()) % HELD == 0


def claims_of(one: Judged, weights: RelationWeights, random: Random) -> Iterator[Claim]:
    """What is asked of a sentence: candidates, each triple once, what is listed beside them, what is wrong for sure."""
    found: dict[tuple[str, str, str], Claim] = {}
    for candidate, right in zip(one.candidates, one.rights, strict=True):
        claim = _claim(candidate, right, weights.probability(candidate.features))
        held = found.get(claim.key)
        if held is None or claim.likely > held.likely:
            found[claim.key] = claim
    yield from (claim for claim in found.values() if claim.likely >= LEAST)
    if one.mode not in ("all", "random"):
        return
    phrases = _phrases(one)
    unmet = [triple for triple in one.listed if not any(states(each, [triple]) for each in one.candidates)]
    missed = [made for triple in unmet if (made := _missed(triple, phrases)) is not None]
    yield from missed
    for stated in [*found.values(), *missed]:
        if stated.right and stated.predicate not in MUTUAL and random.random() < 0.5:
            yield Claim(stated.object, stated.predicate, stated.subject, False, None, stated.pointed)
    if len(phrases) > 1 and random.random() < 0.5:
        subject, target = random.sample(phrases, 2)
        predicate = random.choice([name for name in QUESTIONS if name not in MUTUAL])
        claim = Claim(subject, predicate, target, False, None)
        if not any(_says(triple, claim) for triple in one.listed):
            yield claim


def _claim(one: RelationCandidate, right: bool, probability: float) -> Claim:
    pointed = {one.subject.kind, one.object.kind} & {EndKind.PRONOUN, EndKind.POINTED, EndKind.TOPIC}
    names = one_line(one.subject.name), one_line(one.object.name)
    return Claim(names[0], one.cue.cue.predicate, names[1], right, round(probability, 3), bool(pointed))


def _phrases(one: Judged) -> list[str]:
    """The noun phrases of a sentence."""
    chunker = Chunker(one.text, [])
    chunker.read(*one.place)
    return list(dict.fromkeys(one_line(chunk.words) for chunk in chunker.chunks(*one.place) if len(chunk.words) > 1))


def _missed(triple: Stated, phrases: Sequence[str]) -> Claim | None:
    """A triple that no candidate is, in phrases of the sentence."""
    ends = [next((phrase for phrase in phrases if named(concept_key(phrase), names)), "") for names in triple[::2]]
    if not all(ends) or ends[0] == ends[1] or triple[1] not in QUESTIONS:
        return None
    return Claim(ends[0], Predicate(triple[1]), ends[1], True, None)


def _says(triple: Stated, claim: Claim) -> bool:
    subject, _, target = claim.key
    ends = (triple[0], triple[2])
    return any(named(subject, one) and named(target, other) for one, other in (ends, ends[::-1]))


def asked(one: Judged, claim: Claim) -> dict[str, Any]:
    """A question for one claim."""
    said = [one_line(one.text[slice(*one.place)])]
    if claim.pointed and (before := _before(one)):
        said.insert(0, before)
    row = _row(one, claim.worded(asked=True), said, "relation")
    row |= {"about": int(claim.right), "yes": 1 if claim.right else -1}
    row["support"] = [len(said) - 1] if claim.right else []
    return row | {"probability": claim.probability}


def at_once(one: Judged, claims: Sequence[Claim]) -> dict[str, Any]:
    """A sentence with the likeliest claims on it."""
    kept = sorted(claims, key=lambda claim: -claim.likely)[:AT_ONCE]
    kept = [claim for claim in claims if claim in kept]
    row = _row(one, clipped(one), [claim.worded(asked=False) for claim in kept], "relations")
    row["support"] = [place for place, claim in enumerate(kept) if claim.right]
    return row | {"about": int(bool(row["support"])), "probability": [claim.probability for claim in kept]}


def _row(one: Judged, question: str, said: list[str], kind: str) -> dict[str, Any]:
    return {
        "question": question,
        "identity": one.title,
        "statements": said,
        "support": [],
        "span": None,
        "yes": -1,
        "about": 0,
        "trick": -1,
        "type": kind,
        "document": one.document,
        "sentence": zlib.crc32(f"{one.document} {one.place} {one.text[slice(*one.place)]}".encode()),
    }


def clipped(one: Judged) -> str:
    """The sentence, of a long one the part from its first candidate's phrase on."""
    start, end = one.place
    places = [side.chunk.start for c in one.candidates for side in (c.subject, c.object) if side.chunk is not None]
    if end - start > LONGEST and places:
        start = max(start, min(*places, end - LONGEST))
    return one_line(one.text[start : min(end, start + LONGEST)])


def _before(one: Judged) -> str:
    """The sentence before it in its passage."""
    found = [place for place in sentences(one.text) if place[1] <= one.place[0]]
    return one_line(one.text[slice(*found[-1])]) if found else ""


def write(rows: Iterable[dict[str, Any]], path: Path) -> int:
    """Write rows to a packed file; how many there were."""
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    with lzma.open(path, "wt", encoding="utf-8") as out:
        out.writelines(lines)
    return len(lines)


def main() -> None:
    """Pack them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--held-out", action="store_true")
    given = parser.parse_args()
    print(write(packed(list(judged()), held_out=given.held_out), given.out), "rows")


if __name__ == "__main__":
    main()
