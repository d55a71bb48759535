"""Examples from open sets of questions over prose (`train` under KEDGE_BENCH_DATA; SOURCE.txt has the licences)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.reader.example import Example, cut, load
from benchmarks.reader.spoil import AskedQuestion, spoilt

NEAR = 0.75
"""Share of the negatives that are the nearest other paragraph rather than any."""
TWO = 0.3
"""Share of the windows that hold statements of a second paragraph."""
_WORD = re.compile(r"[a-z0-9]+")
_MOST_COMMON = 0.3
_PEOPLE = 3
"""Of four people, how many must find no answer."""


class Paragraphs:
    """The paragraphs of a set in the form of SQuAD, with what they share."""

    def __init__(self, path: Path) -> None:
        self.rows: list[dict[str, Any]] = list(load(path))
        self.sentences = [cut(row["text"]) for row in self.rows]
        self._bags = [set(_WORD.findall(row["text"].lower())) for row in self.rows]
        self._in_how_many = Counter(word for bag in self._bags for word in bag)
        self.of_article: dict[str, list[int]] = defaultdict(list)
        for place, row in enumerate(self.rows):
            self.of_article[row["title"]].append(place)

    def statements(self, place: int) -> list[str]:
        """Its sentences."""
        return [self.rows[place]["text"][start:end] for start, end in self.sentences[place]]

    def locate(self, place: int, start: int, length: int) -> tuple[int, int, int] | None:
        """An answer's statement, and its place there."""
        for number, (left, right) in enumerate(self.sentences[place]):
            if left <= start < right:
                return number, start - left, min(start - left + length, right - left)
        return None

    def nearest(self, place: int, question: str, answer: str) -> int | None:
        """The paragraph of the same article that shares most rare words with the question, without the answer."""
        words = {
            word for word in _WORD.findall(question.lower()) if self._in_how_many[word] < _MOST_COMMON * len(self.rows)
        }
        best: tuple[float, int] | None = None
        for other in self.of_article[self.rows[place]["title"]]:
            if other == place or answer in self.rows[other]["text"].lower():
                continue
            score = sum(1 / self._in_how_many[word] for word in words if word in self._bags[other])
            if best is None or score > best[0]:
                best = score, other
        return best[1] if best else None


def squad(
    path: Path, random: Random, negatives: float, source: str, *, spoil: float = 0.0, share: tuple[int, int] = (0, 1)
) -> Iterator[Example]:
    """Answers in their paragraph, alone or beside another; the nearest paragraph without it; and trick questions.

    A share `spoil` of the questions is asked again with another name, year, word or condition: tricks that are made.
    The questions come from one `share` (number, count) of the file; shares follow each other: articles stay together.
    """
    held = Paragraphs(path)
    low, high = (len(held.rows) * edge // share[1] for edge in (share[0], share[0] + 1))
    for place, row in enumerate(held.rows[low:high], low):
        identity = row["title"].replace("_", " ")
        for question in row["questions"]:
            if question.get("unanswerable"):
                yield Example(question["text"], identity, held.statements(place), trick=1, source=source)
                continue
            start, text = question["answers"][0][0], question["answers"][0][1]
            span = held.locate(place, start, len(text))
            if span is None:
                continue
            others = held.of_article[row["title"]]
            beside = random.choice(others) if random.random() < TWO else place
            before: list[str] = []
            after: list[str] = []
            if beside != place and text.lower() not in held.rows[beside]["text"].lower():
                part = held.statements(beside)[: random.randint(1, 4)]
                before, after = (part, []) if random.random() < 0.5 else ([], part)
            moved = (span[0] + len(before), span[1], span[2])
            yield Example(
                question["text"],
                identity if random.random() < 0.85 else "",
                [*before, *held.statements(place), *after],
                about=1,
                trick=0,
                span=moved,
                support={moved[0]},
                support_known=True,
                source=source,
            )
            if random.random() < spoil:
                other = held.rows[random.randrange(len(held.rows))]["text"]
                changed = spoilt(random, AskedQuestion(question["text"], row["text"], text), other)
                if changed is not None:
                    yield Example(changed, identity, held.statements(place), trick=1, source=f"{source}-spoilt")
            if random.random() >= negatives:
                continue
            near = (
                held.nearest(place, question["text"], text.lower()) if random.random() < NEAR else random.choice(others)
            )
            if near is not None and near != place and text.lower() not in held.rows[near]["text"].lower():
                yield Example(
                    question["text"],
                    identity,
                    held.statements(near),
                    about=0,
                    support_known=True,
                    source=f"{source}-not",
                )


def hotpot(path: Path, random: Random, *, share: tuple[int, int] = (0, 1)) -> Iterator[Example]:
    """Supporting sentences over one paragraph and over both; paragraphs that only look alike.

    The questions come from one `share` (number, count) of the file, as those of `squad`.
    """
    held = list(load(path))
    low, high = (len(held) * edge // share[1] for edge in (share[0], share[0] + 1))
    for row in held[low:high]:
        wanted: dict[str, set[int]] = defaultdict(set)
        for title, number in row.get("supporting_facts") or row.get("supporting") or []:
            wanted[title].add(number)
        yes = {"yes": 1, "no": 0}.get(row["answer"].lower(), -1)
        gold = [(title, said) for title, said in row["context"] if title in wanted]
        for title, said in gold:
            support = {number for number in wanted[title] if number < len(said)}
            span = _found(said, support, row["answer"]) if yes < 0 else None
            known = 1 if span else -1
            yield Example(row["text"], title, said, known, 0 if span else -1, -1, span, support, True, "hotpot")
        if len(gold) == 2:
            yield _both(row, gold, wanted, yes, random)
        others = [(title, said) for title, said in row["context"] if title not in wanted]
        for title, said in random.sample(others, min(2, len(others))):
            if yes >= 0 or row["answer"].lower() not in " ".join(said).lower():
                yield Example(row["text"], title, said, about=0, support_known=True, source="hotpot-not")


def _found(said: list[str], support: set[int], answer: str) -> tuple[int, int, int] | None:
    for number in sorted(support):
        at = said[number].find(answer)
        if at >= 0:
            return number, at, at + len(answer)
    return None


def _both(
    row: dict[str, Any], gold: list[tuple[str, list[str]]], wanted: dict[str, set[int]], yes: int, random: Random
) -> Example:
    random.shuffle(gold)
    statements: list[str] = []
    support: set[int] = set()
    for title, said in gold:
        for number, text in enumerate(said):
            if number in wanted[title]:
                support.add(len(statements))
            statements.append(f"{title}: {text}" if number == 0 and not text.startswith(title) else text)
    span = _found(statements, support, row["answer"]) if yes < 0 else None
    return Example(row["text"], gold[0][0], statements, 1, 0, yes, span, support, True, "hotpot-both")


def boolq(path: Path, random: Random) -> Iterator[Example]:
    """Yes and no, over the paragraph that says it; and over another one."""
    rows = list(load(path))
    for row in rows:
        title, text = _titled(row["passage"])
        answer = row.get("answer")
        yes = {"true": 1, "yes": 1, "false": 0, "no": 0}.get(str(answer).lower(), -1)
        question = row["question"].rstrip("?") + ("?" if random.random() < 0.5 else "")
        yield Example(question, title, _statements(text), about=1, yes=yes, source="boolq")
        other, foreign = _titled(random.choice(rows)["passage"])
        if random.random() < 0.5 and other != title:
            yield Example(question, other, _statements(foreign), about=0, support_known=True, source="boolq-not")


def _titled(passage: str) -> tuple[str, str]:
    title, found, text = passage.partition(" -- ")
    return (title, text) if found else ("", passage)


def _statements(text: str) -> list[str]:
    return [text[start:end] for start, end in cut(text)]


def pubmed(path: Path) -> Iterator[Example]:
    """Yes and no over abstracts."""
    for row in load(path):
        text = re.sub(r"Context \(\d+\):\s*", "", row["passage"]).replace("\n", " ")
        said = str(row.get("answer") or row.get("label") or "").lower()
        yes = {"yes": 1, "no": 0}.get(said, -1)
        yield Example(row["question"], "", _statements(text), about=1, yes=yes, source="pubmed")


def privacy(path: Path, random: Random, times: int = 3, window: int = 7) -> Iterator[Example]:
    """Users' questions and the sentences of a policy, some of which matter."""
    asked: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for row in load(path):
        asked[row["question"].strip()].append((row["sentence"], row["relevant"]))
    for question, pairs in asked.items():
        for _ in range(times):
            random.shuffle(pairs)
            for at in range(0, len(pairs), window):
                part = pairs[at : at + window]
                support = {number for number, (_, matters) in enumerate(part) if matters}
                said = [sentence for sentence, _ in part]
                yield Example(
                    question, "Privacy policy", said, int(bool(support)), -1, -1, None, support, True, "privacy"
                )


def quac(path: Path, random: Random) -> Iterator[Example]:
    """Follow-ups, mostly behind the question before. The answers of four people run together: the longest beginning
    that stands in the text is one of them."""
    for row in load(path):
        text = row["passage"].replace(" CANNOTANSWER", "").strip()
        spans, statements = cut(text), _statements(text)
        asked = [re.sub(r"^question\d+:\s*", "", one).strip() for one in row["question"].split("\n") if one.strip()]
        said = [one.strip() for one in re.split(r"possible answers for question\d+:\n?", row["answer"]) if one.strip()]
        before = ""
        for question, answers in zip(asked, said, strict=False):
            whole = f"{before} {question}".strip() if before and random.random() < 0.8 else question
            before = question
            if answers.count("CANNOTANSWER") >= _PEOPLE:
                yield Example(whole, "", statements, trick=1, source="quac-none")
            elif "CANNOTANSWER" not in answers:
                found = _beginning(answers, text)
                if found is None:
                    continue
                at, end = found
                support = {number for number, (left, right) in enumerate(spans) if left < end and right > at}
                first = min(support)
                start = at - spans[first][0]
                span = first, start, min(start + end - at, len(statements[first]))
                yield Example(whole, "", statements, 1, 0, -1, span, support, True, "quac")


def _beginning(answers: str, text: str, most: int = 60) -> tuple[int, int] | None:
    words = answers.split(" ")
    for count in range(min(len(words), most), 1, -1):
        wanted = " ".join(words[:count]).rstrip(",")
        at = text.find(wanted)
        if at >= 0 and len(wanted) >= 4:
            return at, at + len(wanted)
    return None
