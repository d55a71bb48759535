"""Questions to learn the second step from, and the passages that they are asked of.

    python -m benchmarks.second.questions --data ../shared/data/train --out FOLDER

Writes `train.jsonl.xz` and `held.jsonl.xz` (text, keys of the gold passages, what the answers of its steps are, source)
and `pool.jsonl.xz` (passages: key, title, text, side). From these sources, all below `train` of the bench data:

- SQuAD 1.1: its questions as they stand, and questions of two to four steps made of them (`chains`)
- HotpotQA: its questions, with the ten paragraphs that come with each
- what the first sentences of HotpotQA's paragraphs state, asked in many wordings (`relations`); chains of these and of
  the questions above, and which of two is the earlier

An article is kept for judging by a digest of its title, and so are the last questions of HotpotQA. No question of
hotpotqa_train100, 2wikimultihop, squad2 or MuSiQue is among them.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.second.chains import Paragraph, Part, compose, held_back, read
from benchmarks.second.relations import compared, label_of, stated_in

HELD_HOTPOT = 400
SEEDS = {"train": tuple(range(7, 15)), "held": (7,)}
ONE_STEP = {"train": 5000, "held": 150}
MOST = {"train": 9000, "held": 200}
"""Questions of so many steps, by seed and kind of chain."""
HOTPOT, RELATED, COMPARED = 10, 20, 30
"""What is added to the number of steps, by source."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the passages that answer it."""

    text: str
    gold: Sequence[str]
    source: int
    bridges: Sequence[str] = ()
    given: Sequence[str] = field(default=())
    """Passages that come with it."""


def hotpot(path: Path) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The paragraphs by title, and the questions."""
    articles: dict[str, str] = {}
    rows = []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            articles.update({title: "".join(parts) for title, parts in row["context"]})
            rows.append(row)
    return articles, rows


def as_parts(rows: Iterable[dict[str, Any]], keys: dict[str, str]) -> Iterator[Part]:
    """Questions of HotpotQA over a bridge, as something to be put into others."""
    for row in rows:
        gold = tuple(dict.fromkeys(keys[title] for title, _ in row["supporting_facts"] if title in keys))
        if (
            row["type"] == "bridge"
            and len(gold) == 2
            and row["answer"][:1].isupper()
            and len(row["text"].split()) <= 22
        ):
            yield Part(row["text"].strip(), row["answer"], gold)


def _stated(given: tuple[int, list[Paragraph]]) -> list[tuple[int, Part]]:
    return list(stated_in(given[1], random.Random(given[0])))


def made_of(parts: Sequence[Part], source: int, side: str, seen: set[str]) -> Iterator[Asked]:
    """Chains of two to four steps, each text once."""
    for seed in SEEDS[side]:
        for steps in (2, 3, 4):
            for one in compose(parts, steps, MOST[side], seed):
                if one.text not in seen and len(one.gold) >= 2:
                    seen.add(one.text)
                    yield Asked(one.text, one.gold, source + min(6, len(one.gold)), one.bridges)


def side_of(
    data: Path, side: str, keys: dict[str, str], articles: dict[str, str], rows: Sequence[dict[str, Any]]
) -> tuple[list[Paragraph], list[Asked]]:
    """The passages and questions of one side of the split."""
    held = side == "held"
    shuffled = random.Random(7)
    passages, single = read(data / "squad1_train.jsonl.xz", held)
    rows = rows[-HELD_HOTPOT:] if held else rows[:-HELD_HOTPOT]
    beside = {title for row in rows for title, _ in row["context"]}
    own = [Paragraph(keys[title], title, articles[title]) for title in articles if held_back(title) is held]
    labels = [label_of(one.title) for one in own]
    with get_context("fork").Pool() as pool:
        found = [
            one
            for part in pool.map(_stated, [(at, own[at : at + 500]) for at in range(0, len(own), 500)])
            for one in part
        ]
    print(side, len(own), "articles state", len(found), "on", len(set(labels)), "things", flush=True)
    related = [part for _, part in found]
    asked = [
        Asked(
            row["text"],
            list(dict.fromkeys(keys[title] for title, _ in row["supporting_facts"])),
            HOTPOT,
            (),
            [keys[title] for title, _ in row["context"]],
        )
        for row in rows
    ]
    seen: set[str] = set()
    asked += made_of(single, 0, side, seen)
    both = [*related, *single, *as_parts(rows, keys)]
    asked += made_of(both, RELATED, side, seen)
    asked += made_of(related, RELATED, side, seen)
    asked += [
        Asked(one.text, one.gold, COMPARED + len(one.gold), one.bridges)
        for one in compared(found, 120 if held else 4000, shuffled)
    ]
    asked += [Asked(one.text, one.gold, 1) for one in shuffled.sample(single, ONE_STEP[side])]
    asked += [Asked(one.text, one.gold, RELATED + 1) for one in shuffled.sample(related, ONE_STEP[side] // 2)]
    kept = {one.key for one in own} | {keys[title] for title in beside}
    passages += [Paragraph(keys[title], title, text) for title, text in articles.items() if keys[title] in kept]
    return passages, asked


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.second.questions", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    articles, rows = hotpot(given.data / "hotpot_dev.jsonl.xz")
    keys = {title: f"h{number}" for number, title in enumerate(articles)}
    known: dict[str, tuple[Paragraph, str]] = {}
    for side in ("held", "train"):
        passages, asked = side_of(given.data, side, keys, articles, rows)
        for passage in passages:
            known[passage.key] = (passage, "both" if passage.key in known else side)
        with lzma.open(given.out / f"{side}.jsonl.xz", "wt", encoding="utf-8", preset=1) as file:
            for one in asked:
                row = {
                    "text": one.text,
                    "gold": one.gold,
                    "source": one.source,
                    "bridges": one.bridges,
                    "given": one.given,
                }
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        counts = {
            source: sum(one.source == source for one in asked) for source in sorted({one.source for one in asked})
        }
        print(side, len(asked), counts, flush=True)
    with lzma.open(given.out / "pool.jsonl.xz", "wt", encoding="utf-8", preset=6) as file:
        for passage, side in known.values():
            file.write(json.dumps([passage.key, passage.title, passage.text, side], ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
