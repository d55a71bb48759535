"""Changes that leave the answer where it is: the question asked a little differently, the passage changed elsewhere."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from benchmarks.reader.example import Example, Span
from benchmarks.reader.language import STOP, WORD, name_texts, names, put, sentences
from benchmarks.reader.lexicon import Lexicon

SMALL = frozenset("the a an did was were is of in".split())


def kept(random: Random, example: Example, other: str) -> Example:
    """A change that does not matter, or the example itself; `other` is a text to take names from."""
    span = example.span
    if span is None:
        raise ValueError("Only an example with an answer can be kept.")
    chance = random.random()
    if chance < 0.35:
        return _fewer_sentences(random, example, span)
    if chance < 0.6:
        return _renamed(random, example, span, other)
    if chance < 0.8:
        return example.asked(_without_small_word(random, example.question))
    return example.asked(example.question.lower())


def paraphrased(random: Random, lexicon: Lexicon, example: Example, chance: float = 0.35) -> Example:
    """Some words of the question give way to synonyms."""
    question = example.question
    words = [
        match
        for match in WORD.finditer(question)
        if match.group().islower() and match.group() not in STOP and len(match.group()) > 3
    ]
    for match in reversed(words):
        if random.random() < chance:
            synonyms = lexicon.variants(match.group(), "synonyms")
            if synonyms:
                question = put(question, match.span(), random.choice(synonyms))
    return example.asked(question)


def _fewer_sentences(random: Random, example: Example, span: Span) -> Example:
    """A quarter of the sentences goes, never the answer's."""
    text, parts = example.text, sentences(example.text)
    home = next((at for at, (start, end) in enumerate(parts) if start <= span[0] < end and span[1] <= end), None)
    if home is None or len(parts) < 2:
        return example
    left = ""
    begin = 0
    for at, (start, end) in enumerate(parts):
        if at != home and random.random() >= 0.75:
            continue
        left += " " if left else ""
        if at == home:
            begin = len(left) + span[0] - start
        left += text[start:end]
    return replace(example, text=left, span=(begin, begin + span[1] - span[0]))


def _renamed(random: Random, example: Example, span: Span, other: str) -> Example:
    """The same new name in question and passage."""
    question, text, answer = example.question, example.text, example.answer
    asked = [question[start:end] for start, end in names(question)]
    asked = [name for name in asked if name in text and name not in answer and answer not in name]
    pool = name_texts(other)
    if not asked or not pool:
        return example
    old, new = random.choice(asked), random.choice(pool)
    before, behind = text[: span[0]].replace(old, new), text[span[1] :].replace(old, new)
    return replace(
        example,
        question=question.replace(old, new),
        text=before + answer + behind,
        span=(len(before), len(before) + len(answer)),
    )


def _without_small_word(random: Random, question: str) -> str:
    words = [match for match in WORD.finditer(question) if match.group().lower() in SMALL]
    if not words:
        return question
    return put(question, random.choice(words).span(), "").replace("  ", " ").strip()
