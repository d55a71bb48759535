"""The reader: a small model that reads a question together with a passage and says whether the passage answers it.

Words in common tell what a passage is about; only reading both together tells "who designed the tower" from "when was
the tower designed". It reads English. How it was trained and what it reaches: docs/explanation/refusal.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kedge.core.errors import ModelError
from kedge.core.settings import Settings
from kedge.models.carried.files import carried
from kedge.models.carried.tokenizer import CARRIER, VERSION, tokenizer_file
from kedge.models.embed.onnx import FAILURES, open_session
from kedge.models.ports import Vectors

FILE = "reader.onnx"
"""Written by `python -m benchmarks.reader`: ms-marco-MiniLM-L-12-v2 (Apache-2.0), trained further."""
QUESTION_TOKENS, TITLE_TOKENS, WINDOW = 64, 16, 320
"""As in training. A longer passage is read in windows that overlap by half."""

Text: TypeAlias = tuple[str, str]
"""Title and text of a passage."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader thinks of one passage."""

    score: float
    """Log-odds that the passage answers the question."""
    start: int
    """Where in the passage's text the answer most likely begins."""
    end: int
    """And where it ends."""


@dataclass(frozen=True, slots=True)
class _Window:
    passage: int
    ids: list[int]
    second: int
    """Where the passage begins, title first."""
    body: int
    """Where its text begins."""
    offsets: list[tuple[int, int]]
    """Place in the passage's text of each token of the body."""


class Reader:
    """Reads pairs. The same pair gets the same score alone and among others."""

    def __init__(self, model: Path, tokenizer: Tokenizer, threads: int) -> None:
        self._session = open_session(model, threads)
        self._tokenizer = tokenizer
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._open, self._close = (_special(tokenizer, name) for name in ("[CLS]", "[SEP]"))

    def read(self, question: str, passages: Sequence[Text]) -> list[Reading]:
        """One reading for each passage; of a long one, that of the window that answers best."""
        best: dict[int, Reading] = {}
        for window in self._windows(question, passages):  # one by one: padding costs more than a batch saves here
            reading = self._read(window)
            if window.passage not in best or reading.score > best[window.passage].score:
                best[window.passage] = reading
        return [best[index] for index in range(len(passages))]

    def _windows(self, question: str, passages: Sequence[Text]) -> Iterator[_Window]:
        texts = [question, *(part for pair in passages for part in pair)]
        tokens = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        head = [self._open, *tokens[0].ids[:QUESTION_TOKENS], self._close]
        for index in range(len(passages)):
            title, text = tokens[1 + 2 * index], tokens[2 + 2 * index]
            start = [*head, *title.ids[:TITLE_TOKENS], self._close]
            room = WINDOW - len(start) - 1
            for at in range(0, max(1, len(text.ids) - room // 2), room // 2 if len(text.ids) > room else room):
                ids, offsets = text.ids[at : at + room], text.offsets[at : at + room]
                yield _Window(index, [*start, *ids, self._close], len(head), len(start), offsets)

    def _read(self, window: _Window) -> Reading:
        count = len(window.ids)
        place = np.arange(count)
        given: dict[str, NDArray[Any]] = {
            "ids": np.array(window.ids, dtype=np.int64),
            "kinds": (place >= window.second).astype(np.int64),
            "mask": np.ones(count, np.int32),
            "inside": (place >= window.body) & (place < count - 1),
        }
        try:
            spans, odds = self._session.run(["spans", "odds"], {name: value[None] for name, value in given.items()})
        except FAILURES as error:
            raise ModelError(f"The reader failed: {error}") from error
        return Reading(float(odds[0]), *_place(spans[0], window))


def open_reader(settings: Settings) -> Reader:
    """The carried weights and the tokenizer of the default embedder, loaded once for all engines of a process."""
    return _opened(settings.threads)


@lru_cache(maxsize=2)
def _opened(threads: int) -> Reader:
    return Reader(carried(FILE), Tokenizer.from_file(str(tokenizer_file())), threads)


def _special(tokenizer: Tokenizer, name: str) -> int:
    number = tokenizer.token_to_id(name)
    if number is None:
        raise ModelError(f"The tokenizer has no {name}.", hint=f"Reinstall {CARRIER}=={VERSION}.")
    return int(number)


def _place(spans: Vectors, window: _Window) -> tuple[int, int]:
    """Characters of the likeliest answer; (0, 0) for an empty passage."""
    if not window.offsets:
        return 0, 0
    first = int(spans[0].argmax())
    last = first + int(spans[1][first : first + 30].argmax())
    known = window.offsets
    return known[first - window.body][0], known[min(last - window.body, len(known) - 1)][1]
