"""Mixes of examples for the two stages of training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.reader.cloze import cloze
from benchmarks.reader.example import Example, Text
from benchmarks.reader.keep import kept, paraphrased
from benchmarks.reader.lexicon import Lexicon
from benchmarks.reader.sources import Questions
from benchmarks.reader.spoil import spoilt
from benchmarks.reader.statements import ask

CHANGED = 4.0
"""Changed examples for each answerable question, every epoch."""
NEAR = 12
"""So many of a question's neighbours serve as passages without the answer."""
TRIES = 1000


def made(random: Random, lexicon: Lexicon, texts: Sequence[Text], wanted: int) -> list[Example]:
    """So many examples made of plain texts, about half of them spoilt. Raises ValueError where nothing can be made."""
    found: list[Example] = []
    idle = 0
    while len(found) < wanted:
        example = _made(random, lexicon, texts)
        idle = 0 if example else idle + 1
        if example:
            found.append(example)
        elif idle > TRIES:
            raise ValueError(f"No question could be made of {len(texts)} texts in {TRIES} tries.")
    return found


def _made(random: Random, lexicon: Lexicon, texts: Sequence[Text]) -> Example | None:
    text = random.choice(texts)
    if random.random() < 0.6:
        example = ask(random, lexicon, text.title, text.text)
    else:
        example = cloze(random, text.title, text.text)
    if example is None:
        return None
    other = random.choice(texts).text
    if random.random() < 0.5:
        example = paraphrased(random, lexicon, example)
    if random.random() < 0.5:
        return kept(random, example, other) if random.random() < 0.3 else example
    worse = spoilt(random, lexicon, example, other)
    if worse is None and random.random() < 0.2:
        return example.unanswered(text=other)
    return worse


@dataclass(frozen=True, slots=True)
class Asked:
    """The real questions with all that examples are made from."""

    lexicon: Lexicon
    texts: Sequence[Text]
    questions: Questions
    neighbours: Sequence[Sequence[int]]

    def epoch(self, random: Random, train: Sequence[Example], changed: float = CHANGED) -> list[Example]:
        """The questions as they are, changed ones, made ones on the same passages, and some on neighbours."""
        found = [*train, *self._changed(random, train, changed)]
        own = [Text(title, text) for title, text in dict.fromkeys((one.title, one.text) for one in train)]
        found += made(random, self.lexicon, own, int(len(train) * changed * 0.25))
        articles = {example.article for example in train}
        for example in random.sample(list(train), len(train) // 2):
            near = self._near(random, example, articles)
            if near:
                found.append(near)
        return found

    def _changed(self, random: Random, train: Sequence[Example], changed: float) -> list[Example]:
        answerable = [example for example in train if example.answerable]
        by_article: dict[str, list[Example]] = defaultdict(list)
        for example in train:
            by_article[example.article].append(example)
        found: list[Example] = []
        for _ in range(int(changed * len(answerable))):
            example = random.choice(answerable)
            other = random.choice(train).text if random.random() < 0.6 else random.choice(self.texts).text
            new = self._change(random, example, other, by_article[example.article])
            if new:
                found.append(new)
        return found

    def _change(self, random: Random, example: Example, other: str, article: Sequence[Example]) -> Example | None:
        chance = random.random()
        if chance < 0.25:
            return kept(random, example, other)
        if chance < 0.45:
            return paraphrased(random, self.lexicon, example)
        if chance < 0.52:
            text = random.choice(article).text
            return example.unanswered(text=text) if text != example.text else None
        if random.random() < 0.3:
            example = paraphrased(random, self.lexicon, example, 0.2)
        return spoilt(random, self.lexicon, example, other)

    def _near(self, random: Random, example: Example, articles: set[str]) -> Example | None:
        """The question on another passage that search finds for it, of these articles and without the answer."""
        own = self.questions.gold[example.place]
        near = [
            self.questions.passages[index]
            for index in self.neighbours[example.place][:NEAR]
            if index != own and self.questions.passages[index].article in articles
        ]
        if not near:
            return None
        passage = random.choice(near)
        if example.answerable and example.answer.lower() in passage.text.lower():
            return None
        return example.unanswered(text=passage.text, title=passage.title)
