"""Teach the weights of `kedge.ingest.extract` what sentences state.

    python -m benchmarks.relations.train [--folds]

Read is `judged.txt`; nothing in it is of the texts that recall and precision are measured on. With `--folds` the
weights are taught on five sixths of the documents and tried on the rest, and nothing is written. Else
`data/relations.json` of the package is written.
"""

from __future__ import annotations

import argparse
import json
import lzma
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import folder
from benchmarks.relations.__main__ import HERE, ROOT, parsed
from kedge.core.values import Passage
from kedge.ingest.extract.candidates import RelationCandidate
from kedge.ingest.extract.choosing import ScoredSentence
from kedge.ingest.extract.relations import RelationReader
from kedge.ingest.extract.weights import RelationWeights
from kedge.text.concepts import concept_key, discussed, title_aliases

WEIGHTS = ROOT / "src" / "kedge" / "ingest" / "extract" / "data" / "relations.json"
THRESHOLD = 0.6
L2 = 4.0
ROUNDS = 300
LEAST = 0.03
"""Weights below it are left out."""
FOLDS = 6


Stated = tuple[frozenset[str], str, frozenset[str]]
"""Subjects, predicate and objects of a triple: any of them will do."""


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate that was judged."""

    features: tuple[str, ...]
    right: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence that was judged."""

    document: str
    mode: str
    stated: bool
    """Whether it states a relation."""
    title: str
    """Of its document."""
    text: str
    """Of its passage, as it is read."""
    place: tuple[int, int]
    """Where it stands there."""
    listed: tuple[Stated, ...]
    """What it states, or the one triple that was judged."""
    candidates: tuple[RelationCandidate, ...]
    rights: tuple[bool, ...]

    @property
    def rows(self) -> list[Row]:
        """Its candidates."""
        return [Row(one.features, right) for one, right in zip(self.candidates, self.rights, strict=True)]


def learn(rows: Sequence[Row]) -> dict[str, float]:
    """Logistic weights by AdaGrad, candidate by candidate; features of one row alone are left out."""
    counts = Counter(feature for row in rows for feature in set(row.features))
    places = {feature: place for place, feature in enumerate(sorted(f for f, count in counts.items() if count > 1))}
    columns = [np.array([places[f] for f in set(row.features) if f in places], dtype=int) for row in rows]
    row_of, column_of = np.concatenate([np.full(len(c), i) for i, c in enumerate(columns)]), np.concatenate(columns)
    right = np.array([row.right for row in rows], dtype=float)
    weights, bias = np.zeros(len(places)), 0.0
    squares, bias_square = np.full(len(places), 1e-8), 1e-8
    for _ in range(ROUNDS):
        scores = np.bincount(row_of, weights=weights[column_of], minlength=len(rows)) + bias
        off = 1 / (1 + np.exp(-np.clip(scores, -30, 30))) - right
        slope = np.bincount(column_of, weights=off[row_of], minlength=len(places)) + L2 * weights
        squares += slope * slope
        bias_square += off.sum() ** 2
        weights -= 0.5 * slope / np.sqrt(squares)
        bias -= 0.5 * off.sum() / np.sqrt(bias_square)
    kept = {feature: round(float(weights[place]), 3) for feature, place in places.items()}
    return {"bias": round(float(bias), 3)} | {f: weight for f, weight in kept.items() if abs(weight) >= LEAST}


def judged() -> Iterable[Judged]:
    """The sentences of `judged.txt`."""
    articles = _articles()
    lines = (HERE / "judged.txt").read_text(encoding="utf-8").splitlines()
    for line in (line for line in lines if not line.startswith("#")):
        source, title, sentence, mode, stated = (part.strip() for part in line.split(" | "))
        if source == "squad1":
            article, _, at = title.partition("#")
            passage = passage_of(articles[article][int(at)], article.replace("_", " "))
        else:
            article, passage = title, passage_of(sentence, title)
        yield judged_sentence(f"{source} {article}", passage, sentence, mode, stated)


def judged_sentence(document: str, passage: Passage, sentence: str, mode: str, stated: str) -> Judged:
    """A sentence of a passage with what was said of it."""
    found, text, place = _candidates(passage, sentence)
    triples = () if stated == "-" else tuple(_by_key(parsed(one)) for one in stated.split(";"))
    if mode in ("all", "random"):
        rights = [states(one, triples) for one in found]
    else:
        found = [one for one in found if _is(one, triples[0])][:1]
        rights = [mode == "right"] * len(found)
    return Judged(
        document,
        mode,
        bool(triples),
        passage.title,
        text,
        place,
        triples,
        tuple(found),
        tuple(rights),
    )


def _candidates(
    passage: Passage, sentence: str, titles: frozenset[str] | None = None
) -> tuple[list[RelationCandidate], str, tuple[int, int]]:
    """What the sentence may state, the text of its passage as it is read, and where the sentence stands there."""
    known = titles if titles is not None else frozenset(title_aliases(passage.title))
    mentions = discussed(passage.text, lambda keys: {key for key in keys if key in known})
    reader = RelationReader(passage, [place for one in mentions.values() for place in one.places])
    wanted = " ".join(sentence.split())
    found: list[RelationCandidate] = []
    place = (0, 0)
    for start, end in reader.sentences():
        here = reader.candidates(start, end)
        if not found and " ".join(passage.text[start:end].split()).startswith(wanted[:60]):
            found, place = here, (start, end)
    return found, reader.text, place


def _by_key(stated: Stated) -> Stated:
    subjects, predicate, objects = stated
    return frozenset(map(concept_key, subjects)), predicate, frozenset(map(concept_key, objects))


def states(one: RelationCandidate, triples: Sequence[Stated]) -> bool:
    """Whether a candidate is one of the triples."""
    for subjects, predicate, objects in triples:
        if one.cue.cue.predicate != predicate:
            continue
        ends = (one.subject.key, one.object.key)
        turned = (ends,) if predicate not in ("RELATED_TO", "COMPARED_TO") else (ends, ends[::-1])
        if any(named(first, subjects) and named(second, objects) for first, second in turned):
            return True
    return False


def _is(one: RelationCandidate, triple: Stated) -> bool:
    return one.subject.key in triple[0] and one.cue.cue.predicate == triple[1] and one.object.key in triple[2]


def named(key: str, names: frozenset[str]) -> bool:
    """Whether a key is one of the names, give or take a word in front."""
    words = key.split()
    for name in names:
        others = concept_key(name).split()
        short = min(len(words), len(others))
        if short and words[-short:] == others[-short:] and (short > 1 or abs(len(words) - len(others)) < 2):
            return True
    return False


def passage_of(text: str, title: str) -> Passage:
    """A text as a passage of a document so called."""
    return Passage(
        id=title, document_id=title, version_id="", index=0, text=text, start=0, end=len(text), content_hash="",
        token_count=0, title=title, url=title, external_id="",
    )  # fmt: skip


def _articles() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with lzma.open(Path(folder("train")) / "squad1_train.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            paragraph: dict[str, Any] = json.loads(line)
            found.setdefault(paragraph["title"], []).append(paragraph["text"])
    return found


def fold_of(one: Judged) -> int:
    """The fold of a sentence; a fold holds whole documents."""
    return zlib.crc32(one.document.encode()) % FOLDS


def learn_folds(sentences: Sequence[Judged]) -> list[dict[str, float]]:
    """For each fold the weights that are taught without it."""
    return [learn([row for one in sentences if fold_of(one) != fold for row in one.rows]) for fold in range(FOLDS)]


def try_folds(sentences: Sequence[Judged]) -> None:
    """Print how many triples are right and how many sentences that state one give a right one, out of fold.

    Triples are taken as an ingest takes them.
    """
    folds, learnt = [fold_of(one) for one in sentences], learn_folds(sentences)
    for threshold in (0.4, 0.5, 0.6, 0.7, 0.8):
        counts = {"all": Counter[str](), "random": Counter[str]()}
        for one, fold in zip(sentences, folds, strict=True):
            if one.mode not in counts:
                continue
            scored = ScoredSentence.weighed(one.place, one.candidates, RelationWeights(learnt[fold], threshold))
            taken = scored.stated(threshold, one.text)
            right = {triple_of(c) for c, states in zip(one.candidates, one.rights, strict=True) if states}
            got = {triple_of(c) for _, c in taken}
            both = ["all", "random"] if one.mode == "random" else ["all"]
            for which in both:
                counts[which].update(
                    taken=len(got), right=len(got & right), stated=one.stated, met=one.stated and bool(got & right)
                )
        for which, count in counts.items():
            print(
                f"{threshold} {which:6} precision {count['right'] / count['taken']:.2f} of {count['taken']} triples, "
                f"recall {count['met'] / count['stated']:.2f} of {count['stated']} sentences"
            )


def triple_of(one: RelationCandidate) -> tuple[str, str, str]:
    """What it would state."""
    return one.subject.key, one.cue.cue.predicate.value, one.object.key


def main() -> None:
    """Run the training."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", action="store_true", help="try the weights on what they did not see")
    args = parser.parse_args()
    sentences = list(judged())
    print(f"{len(sentences)} sentences, {sum(len(one.candidates) for one in sentences)} candidates")
    if args.folds:
        try_folds(sentences)
        return
    rows = [row for one in sentences for row in one.rows]
    weights = dict(sorted(learn(rows).items()))
    text = json.dumps({"threshold": THRESHOLD, "weights": weights}, ensure_ascii=False, indent=0)
    WEIGHTS.write_text(text + "\n", encoding="utf-8")
    print(f"{len(weights)} weights written to {WEIGHTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
