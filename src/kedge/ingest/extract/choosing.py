"""Which candidates a sentence states: by learned weights, and by a judge that reads what they do not rule out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import exp, log

from kedge.ingest.extract.candidates import RelationCandidate, RelationEnd, listed_between
from kedge.ingest.extract.claims import RelationJudge, asked_of
from kedge.ingest.extract.weights import RelationWeights

LISTED_LEAST = 0.15
"""Least probability of what stands in a list with something that is stated."""
AS_LISTED = 0.9
"""How sure it is, as a share of what it is listed with."""
ASKED_LEAST = 0.4
"""Least probability by the weights of what a judge is asked."""
UNASKED_LEAST = 0.5
"""The same of what stands in a list with it, which no judge is asked."""
JUDGED = 0.72
"""Least probability of what is stated, after a judge has read it."""
SHIFT, BY_WEIGHTS, BY_JUDGE = 0.245, 0.365, 0.643
"""How both make a probability: fitted by `python -m benchmarks.relations.judging`."""
_SURE = 0.999


class ScoredSentence:
    """A sentence with how likely it is to state each of its candidates."""

    def __init__(
        self, place: tuple[int, int], candidates: Sequence[RelationCandidate], probabilities: Sequence[float]
    ) -> None:
        self.place = place
        self.candidates = candidates
        self.probabilities = list(probabilities)

    @classmethod
    def weighed(
        cls, place: tuple[int, int], candidates: Sequence[RelationCandidate], weights: RelationWeights
    ) -> ScoredSentence:
        """By the weights."""
        return cls(place, candidates, [weights.probability(one.features) for one in candidates])

    def asked(self) -> list[int]:
        """The places of what a judge is asked: the likeliest candidate of each cue, unless the weights rule it out."""
        best: dict[tuple[int, int], int] = {}
        for at, one in enumerate(self.candidates):
            other = best.setdefault(_cue(one), at)
            if self.probabilities[at] > self.probabilities[other]:
                best[_cue(one)] = at
        return [at for at in best.values() if self.probabilities[at] >= ASKED_LEAST]

    def judged(self, said: Mapping[int, float]) -> ScoredSentence:
        """The same with the log-odds that a judge gave for candidates, by their places.

        Others of the same cue are less likely than that one; of cues that it was not asked about nothing is stated.
        """
        found = {at: together(self.probabilities[at], log_odds) for at, log_odds in said.items()}
        most = {_cue(self.candidates[at]): AS_LISTED * probability for at, probability in found.items()}
        probabilities = [
            min(probability, most.get(_cue(one), 0.0)) if probability >= UNASKED_LEAST else 0.0
            for one, probability in zip(self.candidates, self.probabilities, strict=True)
        ]
        for at, probability in found.items():
            probabilities[at] = probability
        return ScoredSentence(self.place, self.candidates, probabilities)

    def stated(self, threshold: float, text: str) -> Iterator[tuple[float, RelationCandidate]]:
        """For each cue the likeliest candidate, if it is likely enough, and those whose ends are listed with it."""
        by_cue: dict[tuple[int, int, str], list[tuple[float, RelationCandidate]]] = {}
        for probability, one in zip(self.probabilities, self.candidates, strict=True):
            if probability >= LISTED_LEAST:
                cue = (one.cue.start, one.cue.end, one.cue.cue.side.value)
                by_cue.setdefault(cue, []).append((probability, one))
        for found in by_cue.values():
            best = max(found, key=lambda item: item[0])
            if best[0] >= threshold:
                yield best
                yield from _listed_with(best, found, text)


def together(probability: float, log_odds: float) -> float:
    """What the weights say and what a judge says, as one probability."""
    least = max(1 - _SURE, min(_SURE, probability))
    total = SHIFT + BY_WEIGHTS * log(least / (1 - least)) + BY_JUDGE * log_odds
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


def judge_all(sentences: Sequence[ScoredSentence], judge: RelationJudge, title: str, text: str) -> list[ScoredSentence]:
    """Ask a judge for all sentences of a passage at once."""
    asked = [one.asked() for one in sentences]
    read = [
        asked_of(title, text, one.place, one.candidates[at])
        for one, places in zip(sentences, asked, strict=True)
        for at in places
    ]
    given = iter(judge(read) if read else ())
    return [one.judged({at: next(given) for at in places}) for one, places in zip(sentences, asked, strict=True)]


def _cue(one: RelationCandidate) -> tuple[int, int]:
    return one.cue.start, one.cue.end


def _listed_with(
    best: tuple[float, RelationCandidate], found: Sequence[tuple[float, RelationCandidate]], text: str
) -> Iterator[tuple[float, RelationCandidate]]:
    subjects, objects = [best[1].subject], [best[1].object]
    for probability, one in sorted(found, key=lambda item: _apart(best[1], item[1])):
        if one is best[1] or one.cue.cue.predicate is not best[1].cue.cue.predicate:
            continue
        if _listed(one.subject, subjects, text) and _listed(one.object, objects, text):
            subjects.append(one.subject)
            objects.append(one.object)
            yield max(probability, AS_LISTED * best[0]), one


def _apart(one: RelationCandidate, other: RelationCandidate) -> int:
    ends = ((one.subject.chunk, other.subject.chunk), (one.object.chunk, other.object.chunk))
    return sum(abs(a.start - b.start) for a, b in ends if a is not None and b is not None)


def _listed(end: RelationEnd, others: Sequence[RelationEnd], text: str) -> bool:
    """Whether an end is one of the others, or stands in a list with one of them."""
    for other in others:
        if end.chunk is other.chunk or end.chunk == other.chunk:
            return True
        if end.chunk is not None and other.chunk is not None:
            first, second = sorted((end.chunk, other.chunk), key=lambda chunk: chunk.start)
            if listed_between(text[first.end : second.start]):
                return True
    return False
