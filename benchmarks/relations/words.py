"""Count off raw text which words seldom end a noun phrase.

    python -m benchmarks.relations.words

Writes `adjectives.txt` in `data` of `kedge.ingest.extract`, from the texts of `train` (SQuAD 1.1, HotpotQA, BoolQ). No
label is used: a word counts as a verb behind "can", "which" or "it" and before an article, as a noun behind an article
or a preposition. The list that is carried was counted so by a first form of this, and differs in rare words.
"""

from __future__ import annotations

import json
import lzma
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from benchmarks.data import folder
from benchmarks.relations.__main__ import ROOT

LISTS = ROOT / "src" / "kedge" / "ingest" / "extract" / "data"
ARTICLES = frozenset("the a an this these those its their our his her some several many each every any another".split())
PREPOSITIONS = frozenset("of in on at for from by with as about into over under between through".split())
BEFORE_VERBS = frozenset(
    "can could may might must should will would which who it they we you he she not also often usually typically "
    "generally sometimes always never then".split()
)
BEFORE_ADJECTIVES = frozenset("is are was were be very more most too quite less so become becomes remain".split())
ENDS = ARTICLES | PREPOSITIONS | frozenset("and or but is are was were has have had that which who when to not".split())
SURE = 0.8
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*|[A-Z]\w*|\d+")


def clauses() -> Iterator[list[str]]:
    """The words of each clause."""
    for name in ("squad1_train", "hotpot_dev", "boolq"):
        with lzma.open(Path(folder("train")) / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            for line in lines:
                found = json.loads(line)
                text = found.get("text") or found.get("passage") or json.dumps(found, ensure_ascii=False)
                yield from map(_WORD.findall, re.split(r"[.!?;:,()\"]", text))


def main() -> None:
    """Count and write."""
    verb, noun, said, ends, within = Counter[str](), Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for words in clauses():
        for place, word in enumerate(words):
            if not word.islower() or len(word) < 3:
                continue
            before = words[place - 1].lower() if place else ""
            after = words[place + 1].lower() if place + 1 < len(words) else ""
            last = not after or after in ENDS
            verbal = before in BEFORE_VERBS or (after in ARTICLES and before not in ARTICLES | PREPOSITIONS)
            verb[word] += verbal
            noun[word] += not verbal and before in ARTICLES | PREPOSITIONS
            said[word] += before in BEFORE_ADJECTIVES and last
            ends[word] += before in ARTICLES | {"of", "and", "in", "with"} and last
            within[word] += before in ARTICLES | {"of"} and not last
    share = {word: verb[word] / (verb[word] + noun[word]) for word in verb if verb[word] > 3}
    plain = {word: one for word, one in share.items() if not word.endswith(("ed", "ly", "ing"))}
    verbs = {word for word, one in plain.items() if one >= SURE}
    adjectives = {
        word
        for word in said
        if said[word] > 2
        and ends[word] < (ends[word] + within[word] + said[word]) / 4
        and word not in verbs
        and not word.endswith(("ed", "ly", "ing"))
    }
    _write("adjectives.txt", "Words that seldom end a noun phrase though they stand in many", adjectives)


def _write(name: str, what: str, words: Collection[str]) -> None:
    lines = textwrap.wrap(" ".join(sorted(words)), 118)
    (LISTS / name).write_text(
        "\n".join((f"# {what}, counted by benchmarks/relations/words.py.", *lines, "")), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
