"""Two-hop questions whose bridge is often no title and never named: made from pairs of one-hop questions.

    python -m benchmarks.composed            # writes .bench-cache/composed: corpus.jsonl, queries.jsonl, qrels.tsv

Where the answer of one squad2 question is a name in another question about another passage, the name is replaced by the
first question in the form of a noun phrase: "What river does Warsaw straddle?" and "Where is the Jazz Jamboree hosted?"
become "What river does the place where the Jazz Jamboree hosted straddle?". Both passages are gold. The passages of
2wikimultihop and hotpotqa_train100 stand beside them as distractors. The grammar is often broken and the words are
those of the passages, so the set is easier for keywords than questions written by people; it is a proxy that anyone can
make again, not a benchmark of the field.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
PER_BRIDGE = 6
"""At most so many questions over one bridge, so that no name decides the figure."""
DISTRACTORS = ("hotpotqa_train100", "2wikimultihop")
_DATE = re.compile(r"(?:January|February|March|April|May|June|July|August|September|October|November|December)\b|\d")
_BE = "(?:is|was|are|were|did|do|does)"
_PHRASES = (
    (r"(?:who|whom)\s+", "the one who "),
    (r"whose\s+", "the one whose "),
    (rf"where\s+{_BE}\s+(.*)$", r"the place where \1"),
    (rf"when\s+{_BE}\s+(.*)$", r"the time when \1"),
    (r"(in|at|to|from|on|by|of|for)\s+(?:what|which)\s+(\w+)\s+", r"the \2 \1 which "),
    (r"(?:what|which)\s+(?:is|was|are|were)\s+", ""),
    (r"(?:what|which)\s+(?:did|do|does)\s+", "what "),
    (r"(?:what|which)\s+(\w+)\s+", r"the \1 that "),
)


def compose(questions: list[Row], gold: dict[str, str], seed: int = 7) -> list[Row]:
    """The composed questions, each with its `bridge` and its two `gold` passages; the same for the same input."""
    pairs: dict[str, list[tuple[Row, Row]]] = defaultdict(list)
    for first in questions:
        for name in sorted(set(map(str.strip, first["answers"]))):
            if len(name) < 4 or not name[0].isupper() or _DATE.match(name) or name.lower() in first["text"].lower():
                continue
            whole = re.compile(rf"\b{re.escape(name)}\b(?!['’-]?\w)")
            pairs[name] += [(first, second) for second in questions if _fits(first, second, whole, gold)]
    made: list[Row] = []
    used: set[str] = set()
    shuffled = random.Random(seed)
    for name in sorted(pairs):
        shuffled.shuffle(pairs[name])
        fresh = {second["_id"]: (first, second) for first, second in pairs[name] if second["_id"] not in used}
        for first, second in list(fresh.values())[:PER_BRIDGE]:
            used.add(second["_id"])
            text = re.sub(
                rf"\b{re.escape(name)}\b", lambda _, one=first: noun_phrase(one["text"]), second["text"], count=1
            )
            passages = [gold[first["_id"]], gold[second["_id"]]]
            made.append({"_id": f"c{len(made)}", "text": text, "bridge": name, "gold": passages})
    return made


def noun_phrase(question: str) -> str:
    """A question as something that can stand in a sentence.

    >>> noun_phrase("Where is the Jazz Jamboree hosted?")
    'the place where the Jazz Jamboree hosted'
    """
    text = question.strip().rstrip("? ")
    for pattern, phrase in _PHRASES:
        made = re.sub(f"^{pattern}", phrase, text, flags=re.IGNORECASE)
        if made != text:
            return made
    return f"the {text[0].lower()}{text[1:]}"


def write(data: Path, target: Path) -> None:
    """The set as files, from the open sets below `data`."""
    questions = [row for row in _rows(data / "squad2" / "queries.jsonl") if not row["unanswerable"]]
    judged = (data / "squad2" / "qrels.tsv").read_text("utf-8").splitlines()[1:]
    gold = dict(line.split("\t")[:2] for line in reversed(judged))
    made = compose(questions, gold)
    corpus = [{**row, "title": row["title"].replace("_", " ")} for row in _rows(data / "squad2" / "corpus.jsonl")]
    for name in DISTRACTORS:
        corpus += [{**row, "_id": f"{name}-{row['_id']}"} for row in _rows(data / name / "corpus.jsonl")]
    target.mkdir(parents=True, exist_ok=True)
    _write(target / "corpus.jsonl", (json.dumps(row) for row in corpus))
    _write(target / "queries.jsonl", (json.dumps(row) for row in made))
    lines = (f"{row['_id']}\t{passage}\t1" for row in made for passage in row["gold"])
    _write(target / "qrels.tsv", ("query-id\tcorpus-id\tscore", *lines))


def _fits(first: Row, second: Row, name: re.Pattern[str], gold: dict[str, str]) -> bool:
    """Whether the second question holds the name, is about another passage and has more to it than the name."""
    if gold[first["_id"]] == gold[second["_id"]] or not name.search(second["text"]):
        return False
    return len(name.sub("", second["text"]).split()) >= 5


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _write(path: Path, lines: Iterator[str] | tuple[str, ...]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    from benchmarks.data import folder

    print(folder("composed"))
