"""What the reader adds to the weights on documents that neither was taught on.

    python -m benchmarks.relations.judging [--model reader.onnx]

The sentences are those of `judged.txt` that `benchmarks.relations.asked` holds out; the weights are taught on other
documents, fold by fold. Printed are precision and recall at each threshold, by the weights alone and with the reader,
and the numbers by which both make a probability (`kedge.ingest.extract.choosing`), fitted to these sentences.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from benchmarks.relations.asked import is_held
from benchmarks.relations.train import Judged, fold_of, judged, learn_folds, triple_of
from kedge.ingest.extract import choosing
from kedge.ingest.extract.choosing import ScoredSentence
from kedge.ingest.extract.claims import asked_of
from kedge.ingest.extract.judge import read_relations
from kedge.ingest.extract.weights import RelationWeights
from kedge.models.carried.files import carried
from kedge.models.carried.tokenizer import tokenizer_file
from kedge.models.read.reader import FILE, Reader

THRESHOLDS = (0.5, 0.6, 0.68, 0.72, 0.76, 0.8, 0.86, 0.92)


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A held-out sentence with what weights and reader say of it."""

    judged: Judged
    weighed: ScoredSentence
    said: dict[int, float]
    """The reader's log-odds of the candidates that it was asked for, by their places."""

    @property
    def right(self) -> set[tuple[str, str, str]]:
        """What it states, as far as it was proposed."""
        both = zip(self.judged.candidates, self.judged.rights, strict=True)
        return {triple_of(one) for one, right in both if right}


def held_out() -> Iterator[tuple[Judged, ScoredSentence]]:
    """The held-out sentences, weighed by what was taught on other documents."""
    everything = list(judged())
    learnt = [RelationWeights(one, 0.5) for one in learn_folds(everything)]
    for one in everything:
        if one.mode in ("all", "random") and is_held(one.document):
            yield one, ScoredSentence.weighed(one.place, one.candidates, learnt[fold_of(one)])


def read(reader: Reader, one: Judged, weighed: ScoredSentence) -> ReadSentence:
    """Ask the reader about a sentence."""
    places = weighed.asked()
    asked = [asked_of(one.title, one.text, one.place, one.candidates[at]) for at in places]
    said = dict(zip(places, read_relations(reader, asked), strict=True))
    return ReadSentence(one, weighed, said)


def fitted(sentences: Sequence[ReadSentence]) -> tuple[float, float, float]:
    """How the weights' and the reader's log-odds make those of a triple: shift and two factors."""
    rows, right = [], []
    for one in sentences:
        for at, log_odds in one.said.items():
            probability = min(one.weighed.probabilities[at], 0.999)
            rows.append((1.0, np.log(probability / (1 - probability)), log_odds))
            right.append(one.judged.rights[at])
    known, wanted, found = np.array(rows), np.array(right, float), np.zeros(3)
    for _ in range(50):
        guess = 1 / (1 + np.exp(-known @ found))
        bend = (known * (guess * (1 - guess))[:, None]).T @ known + np.eye(3)
        found -= np.linalg.solve(bend, known.T @ (guess - wanted) + found * (0, 1, 1))
    shift, weights, judge = (round(float(one), 3) for one in found)
    return shift, weights, judge


def curve(sentences: Sequence[tuple[ReadSentence, ScoredSentence]], name: str) -> None:
    """Print precision and recall at each threshold."""
    stated = sum(one.judged.stated for one, _ in sentences)
    for threshold in THRESHOLDS:
        taken = right = met = 0
        for one, scored in sentences:
            got = {triple_of(each) for _, each in scored.stated(threshold, one.judged.text)}
            taken, right, met = taken + len(got), right + len(got & one.right), met + bool(got & one.right)
        share = right / max(taken, 1)
        print(f"{name:8} {threshold}: precision {share:.3f} of {taken} triples, recall {met / stated:.3f} of {stated}")


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=carried(FILE))
    given = parser.parse_args()
    reader = Reader(given.model, Tokenizer.from_file(str(tokenizer_file())), 1)
    sentences = [read(reader, *one) for one in held_out()]
    curve([(one, one.weighed) for one in sentences], "weights")
    choosing.SHIFT, choosing.BY_WEIGHTS, choosing.BY_JUDGE = fitted(sentences)
    print("shift and factors", choosing.SHIFT, choosing.BY_WEIGHTS, choosing.BY_JUDGE)
    curve([(one, one.weighed.judged(one.said)) for one in sentences], "reader")


if __name__ == "__main__":
    main()
