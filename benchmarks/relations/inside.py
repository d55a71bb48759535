"""Teach which words stand inside noun phrases (`data/inside.json` of the package) from tagged text.

    java -cp opennlp-tools.jar:slf4j-api.jar:. benchmarks/relations/Tag.java MODEL texts.txt tags.txt
    python -m benchmarks.relations.inside texts.txt tags.txt

`texts.txt` has a sentence a line, its words (as `chunks` reads them) with blanks between; `tags.txt` their universal
tags.
The carried weights were taught on 55,500 sentences: 24,000 of SQuAD 1.1 and 3,500 each of the descriptions of installed
packages, the manuals of PostgreSQL, SQLite, Python and Boost, and docstrings of networkx, sympy, scikit-learn and
statsmodels. The tagger was Apache OpenNLP 2.5.10 with its model opennlp-models-pos-en 1.3.0 (Apache-2.0), from Maven.
Every twentieth sentence is held back: its agreement with the tags is printed.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.relations.__main__ import ROOT
from kedge.ingest.extract.inside import END, OUTSIDE, START, InsideWeights, class_by_shape, inside_features
from kedge.ingest.extract.word_classes import DETERMINING

WEIGHTS = ROOT / "src" / "kedge" / "ingest" / "extract" / "data" / "inside.json"
HELD_BACK = 20
LEAST_WORD = 6
LEAST_SHAPE, LEAST_FORM = 25, 30
"""How often a feature of classes, and one of a word, must be met."""
KEPT = 0.4
"""Weights below it are left out."""
ROUNDS, BATCH, RATE, L2, L1 = 5, 256, 0.3, 5e-3, 5e-3
BEFORE_GERUND = frozenset(("DET", "ADJ", "NUM"))
BEFORE_PARTICIPLE = BEFORE_GERUND | {"ADP", "CCONJ"}
Sentence = tuple[list[str], list[str]]


def inside(words: Sequence[str], tags: Sequence[str]) -> list[bool]:
    """For each word whether it stands in a noun phrase, by its tag and what follows."""
    found = [False] * len(words)
    following = False
    for place in range(len(words) - 1, -1, -1):
        word, tag = words[place], tags[place]
        before = tags[place - 1] if place else ""
        owned = before == "PRON" and words[place - 1].lower() in DETERMINING
        if tag in ("NOUN", "PROPN", "NUM") or (tag in ("X", "SYM") and word[0].isalnum()):
            found[place] = True
        elif tag == "ADJ":
            found[place] = following
        elif tag == "VERB" and following and word.islower():
            if word.endswith("ing"):
                found[place] = before in BEFORE_GERUND or owned
            elif word.endswith(("ed", "en", "wn", "ght", "ilt")):
                found[place] = before in BEFORE_PARTICIPLE or owned
        following = found[place]
    return found


def word_class(word: str, tags: Counter[str]) -> str:
    """The class of a word by the tags that it has."""
    total = sum(tags.values())
    verb = (tags["VERB"] + tags["AUX"]) / total
    noun = (tags["NOUN"] + tags["PROPN"] + tags["NUM"]) / total
    adjective = tags["ADJ"] / total
    other = sum(tags[one] for one in ("ADV", "ADP", "SCONJ", "PART", "CCONJ")) / total
    if word.endswith("ing") and len(word) > 5:
        return "G" if verb > 0.9 else "N" if noun > 0.9 else "g" if verb > 0.4 else "n"
    if word.endswith("ed") and len(word) > 4:
        return "D" if verb > 0.5 else "N" if noun > 0.9 else "d"
    shares = (("R", other, 0.6), ("V", verb, 0.95), ("N", noun, 0.95), ("J", adjective, 0.9), ("v", verb, 0.5))
    for name, share, least in shares:
        if share > least:
            return name
    if verb > 0.05:
        return "w" if noun >= adjective else "x"
    return "j" if adjective > 0.4 else "m"


def classes_of(sentences: Sequence[Sentence]) -> dict[str, str]:
    """Classes of the words whose shape does not tell them."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for words, tags in sentences:
        for word, tag in zip(words, tags, strict=True):
            if word.islower():
                counts[word][tag] += 1
    found = {
        word: word_class(word, tags)
        for word, tags in counts.items()
        if word not in OUTSIDE and sum(tags.values()) >= LEAST_WORD
    }
    return {word: name for word, name in found.items() if name != class_by_shape(word)}


def rows(sentences: Sequence[Sentence], weights: InsideWeights) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The features of each word that is not told by itself, and whether it stands inside."""
    for words, tags in sentences:
        stands = inside(words, tags)
        classes = [START, START, *map(weights.class_of, words), END, END]
        for place, word in enumerate(words):
            if classes[place + 2] not in OUTSIDE and word[0].isalnum():
                before = place > 0 and stands[place - 1]
                yield inside_features(word.lower(), classes, place + 2, before=before), stands[place]


def matrix(found: Sequence[tuple[str, ...]], places: dict[str, int]) -> NDArray[np.int64]:
    """The features as numbers; what is not in `places` gets the last."""
    return np.array([[places.get(one, len(places)) for one in features] for features in found])


def learn(features: NDArray[np.int64], right: NDArray[np.float64], size: int) -> tuple[NDArray[np.float64], float]:
    """Logistic weights by AdaGrad."""
    weights, squares, bias = np.zeros(size + 1), np.full(size + 1, 1e-6), 0.0
    order = np.random.default_rng(0)
    for _ in range(ROUNDS):
        shuffled = order.permutation(len(right))
        for start in range(0, len(right), BATCH):
            chosen = shuffled[start : start + BATCH]
            met = features[chosen]
            off = 1 / (1 + np.exp(-(weights[met].sum(1) + bias))) - right[chosen]
            slopes = np.bincount(met.ravel(), weights=np.repeat(off, met.shape[1]), minlength=size + 1)
            which = np.unique(met)
            slope = slopes[which] + L2 * weights[which] + L1 * np.sign(weights[which])
            squares[which] += slope * slope
            weights[which] -= RATE * slope / np.sqrt(squares[which])
            weights[size] = 0
            bias -= 0.001 * float(off.sum())
    return np.where(np.abs(weights) >= KEPT, weights, 0.0), bias


def main() -> None:
    """Teach and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("tags", type=Path)
    args = parser.parse_args()
    lines = zip(args.texts.read_text("utf-8").splitlines(), args.tags.read_text("utf-8").splitlines(), strict=True)
    sentences = [(words.split(), tags.split()) for words, tags in lines if len(words.split()) == len(tags.split())]
    taught = [one for place, one in enumerate(sentences) if place % HELD_BACK]
    classes = classes_of(taught)
    untaught = InsideWeights(0.0, classes, {})
    found = list(rows(taught, untaught))
    counts = Counter(one for features, _ in found for one in features)
    kept = [one for one, count in counts.items() if count >= (LEAST_FORM if one[0] == "=" else LEAST_SHAPE)]
    places = {one: place for place, one in enumerate(kept)}
    right = np.array([stands for _, stands in found], dtype=float)
    weights, bias = learn(matrix([features for features, _ in found], places), right, len(places))
    tried = list(rows(sentences[::HELD_BACK], untaught))
    sums = weights[matrix([features for features, _ in tried], places)].sum(1) + bias
    agreed = ((sums > 0) == np.array([stands for _, stands in tried])).mean()
    print(f"{len(classes)} words, {np.count_nonzero(weights)} weights, agreement {agreed:.3f}")
    by_class: defaultdict[str, list[str]] = defaultdict(list)
    for word, name in sorted(classes.items()):
        by_class[name].append(word)
    written = {
        "bias": round(bias, 2),
        "classes": {name: " ".join(words) for name, words in sorted(by_class.items())},
        "weights": {one: round(float(weights[at]), 1) for one, at in sorted(places.items()) if weights[at]},
    }
    WEIGHTS.write_text(
        json.dumps(written, ensure_ascii=False, indent=0, separators=(",", ":")) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
