"""Teach the weights of `kedge.ingest.extract` what sentences state.

    python -m benchmarks.relations.train [--folds]

Read are `judged.txt` and the sentences of `gold.txt` and `fresh.txt`, whose figures say little since.
With `--folds` the weights are taught on five sixths and tried on the rest, and nothing is written. Else
`data/relations.json` of the package is written.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import folder
from benchmarks.relations.__main__ import HERE, PLACES, ROOT, Corpus, Gold, parsed, quoted, read_gold
from kedge.core.values import Passage
from kedge.ingest.extract.candidates import RelationCandidate
from kedge.ingest.extract.relations import RelationReader
from kedge.ingest.extract.weights import RelationWeights
from kedge.text.concepts import concept_key, discussed, title_aliases

WEIGHTS = ROOT / "src" / "kedge" / "ingest" / "extract" / "data" / "relations.json"
THRESHOLD = 0.6
L2 = 5.0
ROUNDS = 300
LEAST = 0.03
"""Weights below it are left out."""
FOLDS = 6


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate that was judged."""

    sentence: int
    cue: tuple[int, int, str]
    """Place and side of its words: of the candidates of one cue mostly one is right, or none."""
    features: tuple[str, ...]
    right: bool


def learn(rows: Sequence[Row]) -> dict[str, float]:
    """Weights by AdaGrad; features of one row alone are left out.

    The candidates of a cue share one unit of probability with "nothing is stated", so that it does not count how many
    wrong pairs a long sentence has.
    """
    counts = Counter(feature for row in rows for feature in set(row.features))
    places = {feature: place for place, feature in enumerate(sorted(f for f, count in counts.items() if count > 1))}
    columns = [np.array([places[f] for f in set(row.features) if f in places], dtype=int) for row in rows]
    row_of, column_of = np.concatenate([np.full(len(c), i) for i, c in enumerate(columns)]), np.concatenate(columns)
    cues: dict[tuple[int, tuple[int, int, str]], int] = {}
    cue_of = np.array([cues.setdefault((row.sentence, row.cue), len(cues)) for row in rows])
    right = np.array([row.right for row in rows], dtype=float)
    nothing = np.bincount(cue_of, weights=right) == 0
    weights, bias = np.zeros(len(places)), 0.0
    squares, bias_square = np.full(len(places), 1e-8), 1e-8
    for _ in range(ROUNDS):
        scores = np.bincount(row_of, weights=weights[column_of], minlength=len(rows)) + bias
        odds = np.exp(np.clip(scores, -30, 30))
        every = 1 + np.bincount(cue_of, weights=odds)
        stated = np.where(nothing, 1, np.bincount(cue_of, weights=odds * right))
        off = odds / every[cue_of] - right * odds / stated[cue_of]
        slope = np.bincount(column_of, weights=off[row_of], minlength=len(places)) + L2 * weights
        squares += slope * slope
        bias_square += off.sum() ** 2
        weights -= 0.5 * slope / np.sqrt(squares)
        bias -= 0.5 * off.sum() / np.sqrt(bias_square)
    kept = {feature: round(float(weights[place]), 3) for feature, place in places.items()}
    return {"bias": round(float(bias), 3)} | {f: weight for f, weight in kept.items() if abs(weight) >= LEAST}


def judged() -> Iterable[Row]:
    """The rows of `judged.txt`."""
    articles = _articles()
    lines = (HERE / "judged.txt").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(line for line in lines if not line.startswith("#")):
        source, title, sentence, mode, stated = (part.strip() for part in line.split(" | "))
        if source == "squad1":
            article, _, at = title.partition("#")
            passage = _passage(articles[article][int(at)], article.replace("_", " "))
        else:
            passage = _passage(sentence, title)
        found = _candidates(passage, sentence)
        triples = () if stated == "-" else tuple(parsed(one) for one in stated.split(";"))
        if mode == "all":
            yield from (Row(number, _cue(one), one.features, _states(one, triples)) for one in found)
        else:
            exact = [one for one in found if _is(one, triples[0])]
            yield from (Row(number, _cue(one), one.features, mode == "right") for one in exact[:1])


async def developed() -> list[Row]:
    """What `gold.txt` and `fresh.txt` say about the candidates of the cues that state it."""
    rows: list[Row] = []
    corpora: dict[str, Corpus] = {}
    for number, one in enumerate((*read_gold("gold.txt"), *read_gold("fresh.txt")), 1_000_000):
        corpus = corpora.get(one.place)
        if corpus is None:
            packaged = one.place.startswith("package")
            corpus = await (quoted(one) if packaged else Corpus.read(PLACES.get(one.place) or folder(one.place)))
            corpora[one.place] = corpus
        found = corpus.sentence("" if one.place.startswith("package") else one.file, one.begins)
        if found is not None:
            rows += _of(number, one, _candidates(found[0], found[1], corpus.titles))
    return rows


def _of(number: int, gold: Gold, found: Sequence[RelationCandidate]) -> list[Row]:
    right = [gold.states(one.subject.key, one.cue.cue.predicate.value, one.object.key) for one in found]
    cues = {one.cue.start for one, states in zip(found, right, strict=True) if states}
    return [
        Row(number, _cue(one), one.features, s) for one, s in zip(found, right, strict=True) if one.cue.start in cues
    ]


def _cue(one: RelationCandidate) -> tuple[int, int, str]:
    return one.cue.start, one.cue.end, one.cue.cue.side.value


def _candidates(passage: Passage, sentence: str, titles: frozenset[str] | None = None) -> list[RelationCandidate]:
    known = titles if titles is not None else frozenset(title_aliases(passage.title))
    mentions = discussed(passage.text, lambda keys: {key for key in keys if key in known})
    reader = RelationReader(passage, [place for one in mentions.values() for place in one.places])
    wanted = " ".join(sentence.split())
    found: list[RelationCandidate] = []
    for start, end in reader.sentences():
        here = reader.candidates(start, end)
        if not found and " ".join(passage.text[start:end].split()).startswith(wanted[:60]):
            found = here
    return found


Stated = tuple[frozenset[str], str, frozenset[str]]


def _states(one: RelationCandidate, triples: Sequence[Stated]) -> bool:
    for subjects, predicate, objects in triples:
        if one.cue.cue.predicate != predicate:
            continue
        ends = (one.subject.key, one.object.key)
        turned = (ends,) if predicate not in ("RELATED_TO", "COMPARED_TO") else (ends, ends[::-1])
        if any(_named(first, subjects) and _named(second, objects) for first, second in turned):
            return True
    return False


def _is(one: RelationCandidate, triple: Stated) -> bool:
    return one.subject.key in triple[0] and one.cue.cue.predicate == triple[1] and one.object.key in triple[2]


def _named(key: str, names: frozenset[str]) -> bool:
    """Whether a key is one of the names, give or take a word in front."""
    words = key.split()
    for name in names:
        others = concept_key(name).split()
        short = min(len(words), len(others))
        if short and words[-short:] == others[-short:] and (short > 1 or abs(len(words) - len(others)) < 2):
            return True
    return False


def _passage(text: str, title: str) -> Passage:
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


def try_folds(rows: Sequence[Row]) -> None:
    """Print precision and recall over the judged candidates at some thresholds, each tried on what it did not see."""
    by_threshold: dict[float, Counter[str]] = {}
    for fold in range(FOLDS):
        learnt = learn([row for row in rows if row.sentence % FOLDS != fold])
        for row in (row for row in rows if row.sentence % FOLDS == fold):
            for threshold in (0.4, 0.5, 0.6, 0.7, 0.8):
                count = by_threshold.setdefault(threshold, Counter())
                taken = RelationWeights(learnt, threshold).probability(row.features) >= threshold
                count.update(taken=taken, right=row.right, met=taken and row.right)
    for threshold, count in by_threshold.items():
        print(f"{threshold}: precision {count['met'] / count['taken']:.2f}, recall {count['met'] / count['right']:.2f}")


def main() -> None:
    """Run the training."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", action="store_true", help="try the weights on what they did not see")
    args = parser.parse_args()
    rows = [*judged(), *asyncio.run(developed())]
    print(f"{len(rows)} candidates, {sum(row.right for row in rows)} of them right")
    if args.folds:
        try_folds(rows)
        return
    weights = dict(sorted(learn(rows).items()))
    text = json.dumps({"threshold": THRESHOLD, "weights": weights}, ensure_ascii=False, indent=0)
    WEIGHTS.write_text(text + "\n", encoding="utf-8")
    print(f"{len(weights)} weights written to {WEIGHTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
