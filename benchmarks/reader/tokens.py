"""Examples as the model reads them: `[CLS] question [SEP] title [SEP] text [SEP]`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks.reader.example import Example
from kedge.models.carried.tokenizer import tokenizer_file
from kedge.models.read.reader import QUESTION_TOKENS, TITLE_TOKENS, WINDOW

NOWHERE = -1
"""Place of an answer that the window does not hold."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """One example in tokens."""

    ids: NDArray[np.int32]
    second: int
    """Where the passage begins, title first."""
    body: int
    """Where its text begins."""
    answer: tuple[int, int]
    """First and last token of the answer."""
    answerable: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """Some examples side by side, filled up with zeros."""

    places: list[int]
    """Which examples they are."""
    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    kinds: NDArray[np.int64]
    inside: NDArray[np.bool_]
    """Tokens that an answer may hold."""
    answers: NDArray[np.int64]
    answerable: NDArray[np.float32]


def open_tokenizer() -> Tokenizer:
    """The tokenizer of Kedge's default embedder, which has the vocabulary of the base model."""
    tokenizer = Tokenizer.from_file(str(tokenizer_file()))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def encode(tokenizer: Tokenizer, examples: Sequence[Example]) -> list[Encoded]:
    """All examples in tokens; of a long text, a window that holds the answer where that is known."""
    open_, close = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    questions, titles, texts = (
        tokenizer.encode_batch(part, add_special_tokens=False)
        for part in (
            [example.question for example in examples],
            [example.title for example in examples],
            [example.text for example in examples],
        )
    )
    found: list[Encoded] = []
    for example, question, title, text in zip(examples, questions, titles, texts, strict=True):
        head = [open_, *question.ids[:QUESTION_TOKENS], close]
        start = [*head, *title.ids[:TITLE_TOKENS], close]
        room = WINDOW - len(start) - 1
        first, last, low = _window(example, text.offsets, room)
        inside = first != NOWHERE and last - low < room
        answer = (len(start) + first - low, len(start) + last - low) if inside else (NOWHERE, NOWHERE)
        ids = np.array([*start, *text.ids[low : low + room], close], np.int32)
        found.append(Encoded(ids, len(head), len(start), answer, example.answerable))
    return found


def _window(example: Example, offsets: Sequence[tuple[int, int]], room: int) -> tuple[int, int, int]:
    """First and last token of the answer, and the first token of the window."""
    if example.span is None:
        return NOWHERE, NOWHERE, 0
    start, end = example.span
    held = [at for at, (left, right) in enumerate(offsets) if right > start and left < end]
    if not held:
        return NOWHERE, NOWHERE, 0
    first, last = held[0], held[-1]
    low = max(0, min(first - room // 2, len(offsets) - room)) if last >= room else 0
    return first, last, low


def batches(encoded: Sequence[Encoded], size: int, random: Random | None = None) -> Iterator[Batch]:
    """All examples in batches of like length, shuffled if a source of chance is given."""
    order = list(range(len(encoded)))

    def length(at: int) -> int:
        return len(encoded[at].ids)

    if random is None:
        order.sort(key=length)
        groups = [order[at : at + size] for at in range(0, len(order), size)]
    else:
        random.shuffle(order)
        chunks = [sorted(order[at : at + 20 * size], key=length) for at in range(0, len(order), 20 * size)]
        groups = [chunk[at : at + size] for chunk in chunks for at in range(0, len(chunk), size)]
        random.shuffle(groups)
    for group in groups:
        yield _batch(encoded, group)


def _batch(encoded: Sequence[Encoded], places: list[int]) -> Batch:
    longest = max(len(encoded[at].ids) for at in places)
    shape = (len(places), (longest + 7) // 8 * 8)
    ids, mask, kinds = (np.zeros(shape, np.int64) for _ in range(3))
    inside = np.zeros(shape, np.bool_)
    for row, at in enumerate(places):
        one = encoded[at]
        end = len(one.ids)
        ids[row, :end] = one.ids
        mask[row, :end] = 1
        kinds[row, one.second : end] = 1
        inside[row, one.body : end - 1] = True
    answers = np.array([encoded[at].answer for at in places], np.int64)
    answerable = np.array([encoded[at].answerable for at in places], np.float32)
    return Batch(places, ids, mask, kinds, inside, answers, answerable)
