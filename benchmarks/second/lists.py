"""Lists to learn from: a question, passages that were found for it, and which of them are steps of its answer.

    python -m benchmarks.second.lists --data ../shared/data/train --tokenizer tokenizer.json --out FOLDER

Writes `train.npz` and `held.npz`: sentences as tokens, each once, and for each list its question and its passages as
numbers of sentences (`kedge.text.sketch`). From three sources, all below `train` of the bench data:

- questions of two to four steps made of SQuAD 1.1 (`chains`), three of four articles; passages are what BM25 finds
- HotpotQA, with the ten paragraphs that come with each question
- SQuAD 1.1 as it stands: questions of one step, so that the reader learns to leave those alone

Nothing of hotpotqa_train100, 2wikimultihop or squad2 is in them.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks.second.chains import Paragraph, Part, compose, read
from kedge.text.analyze import terms
from kedge.text.sketch import KEPT, Sketch, sketches

FOUND = 16
"""Passages of a list."""
LONGEST = 60
"""Tokens that are kept of a sentence."""
QUESTION, TITLE = 80, 10
"""Tokens that are kept of a question and of a title."""
SEEDS = (7, 8, 9)
HELD_HOTPOT = 400
ONE_STEP = 5000


@dataclass(frozen=True, slots=True)
class Listed:
    """A question with passages, some of which are gold."""

    question: str
    passages: Sequence[tuple[str, str]]
    gold: Sequence[bool]
    source: int
    """How many steps it takes; 10 for HotpotQA."""


class WordIndex:
    """BM25 over paragraphs, in memory."""

    def __init__(self, passages: Sequence[Paragraph]) -> None:
        self.passages = passages
        self.known = {one.key: one for one in passages}
        counts = [Counter(terms(f"{one.title} {one.text}", "english")) for one in passages]
        lengths = np.array([sum(count.values()) for count in counts], dtype=np.float32)
        norm = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
        found: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for row, count in enumerate(counts):
            for term, n in count.items():
                found[term].append((row, n * 2.2 / (n + float(norm[row]))))
        total = len(passages)
        self.rows: dict[str, NDArray[np.int64]] = {}
        self.weights: dict[str, NDArray[np.float32]] = {}
        for term, pairs in found.items():
            idf = np.log(1 + (total - len(pairs) + 0.5) / (len(pairs) + 0.5))
            self.rows[term] = np.array([row for row, _ in pairs])
            self.weights[term] = np.array([weight * idf for _, weight in pairs], dtype=np.float32)

    def best(self, text: str, limit: int) -> list[int]:
        scores = np.zeros(len(self.passages), dtype=np.float32)
        for term in terms(text, "english"):
            if term in self.rows:
                scores[self.rows[term]] += self.weights[term]
        best = np.argpartition(-scores, limit)[:limit]
        return [int(row) for row in best[np.argsort(-scores[best], kind="stable")]]


def listed(index: WordIndex, part: Part, steps: int, shuffled: random.Random) -> Listed:
    """What BM25 finds for a question, and for each of its bridges by the bridge; gold is put in where it is not."""
    keys = [index.passages[row].key for row in index.best(part.text, FOUND)]
    for number, bridge in enumerate(part.bridges, 1):
        end = FOUND - 2 * (number - 1)
        keys[end - 2 : end] = [index.passages[row].key for row in index.best(bridge, 2)]
    keys = list(dict.fromkeys(keys))
    missing = [key for key in part.gold if key not in keys]
    while len(keys) + len(missing) > FOUND:
        keys.pop(max(place for place, key in enumerate(keys) if key not in part.gold))
    keys += missing
    shuffled.shuffle(keys)
    found = [index.known[key] for key in keys]
    return Listed(part.text, [(one.title, one.text) for one in found], [key in part.gold for key in keys], steps)


def hotpot(path: Path) -> Iterable[Listed]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            gold = {title for title, _ in row["supporting_facts"]}
            yield Listed(
                row["text"],
                [(title, "".join(parts)) for title, parts in row["context"]],
                [title in gold for title, _ in row["context"]],
                10,
            )


_INDEX: list[WordIndex] = []
"""What the processes that make lists search."""


def _made(given: tuple[int, Part | Listed, int]) -> tuple[Listed, list[Sketch]]:
    number, one, steps = given
    if isinstance(one, Part):
        one = listed(_INDEX[-1], one, steps, random.Random(number))
    return one, sketches(one.question, one.passages[:FOUND])


def write(made: Sequence[tuple[Listed, list[Sketch]]], tokenizer: Tokenizer, path: Path) -> None:
    """As arrays; number 0 is no sentence."""
    numbers: dict[str, int] = {"": 0}
    questions: list[int] = []
    rows, golds = np.zeros((len(made), FOUND, KEPT + 1), np.int32), np.zeros((len(made), FOUND), bool)
    places = np.zeros((len(made), FOUND, KEPT), np.int8)
    for at, (one, shown) in enumerate(made):
        questions.append(numbers.setdefault(one.question, len(numbers)))
        for place, sketch in enumerate(shown):
            rows[at, place, 0] = numbers.setdefault(sketch.title or "-", len(numbers))
            for n, (number, text) in enumerate(zip(sketch.places, sketch.sentences, strict=True)):
                rows[at, place, n + 1] = numbers.setdefault(text, len(numbers))
                places[at, place, n] = number
            golds[at, place] = one.gold[place]
    asked = set(questions)
    encoded = tokenizer.encode_batch_fast(list(numbers), add_special_tokens=False)
    ids = [item.ids[: QUESTION if at in asked else LONGEST] for at, item in enumerate(encoded)]
    np.savez_compressed(
        path,
        ends=np.cumsum([len(one) for one in ids]).astype(np.int64),
        tokens=np.array([token for one in ids for token in one], dtype=np.uint16),
        questions=np.array(questions, dtype=np.int32),
        rows=rows,
        places=places,
        gold=golds,
        source=np.array([one.source for one, _ in made], dtype=np.int8),
    )


def prepare(data: Path, tokenizer: Tokenizer, out: Path, seeds: Sequence[int] = SEEDS, most: int = 100_000) -> None:
    """Write `held.npz` and `train.npz` below `out`, in as many processes as there are cores."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    shuffled = random.Random(7)
    found = list(hotpot(data / "hotpot_dev.jsonl.xz"))
    sides = {"held": found[-HELD_HOTPOT:], "train": found[:-HELD_HOTPOT][:most]}
    for side, first in sides.items():
        lists: list[tuple[int, Part | Listed, int]] = [(0, one, 10) for one in first]
        passages, parts = read(data / "squad1_train.jsonl.xz", side == "held")
        _INDEX.append(WordIndex(passages))
        seen: set[str] = set()
        for seed in seeds if side == "train" else seeds[:1]:
            for steps in (2, 3, 4):
                made = compose(parts, steps, most if side == "train" else min(most, 150), seed)
                fresh = [one for one in made if one.text not in seen]
                seen.update(one.text for one in fresh)
                lists += [(len(lists) + number, one, steps) for number, one in enumerate(fresh)]
                print(side, seed, steps, len(fresh), flush=True)
        alone = shuffled.sample(list(parts), min(most, ONE_STEP if side == "train" else 150))
        lists += [(len(lists) + number, one, 1) for number, one in enumerate(alone)]
        with get_context("fork").Pool() as pool:
            write(pool.map(_made, lists, chunksize=64), tokenizer, out / f"{side}.npz")
        print(side, len(lists), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.second.lists", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    prepare(given.data, Tokenizer.from_file(str(given.tokenizer)), given.out)


if __name__ == "__main__":
    main()
