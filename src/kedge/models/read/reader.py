"""The reader: a small network that reads a question together with the statements of a passage, once.

Words in common tell what a passage is about; only reading both together tells "who designed the tower" from "when was
the tower designed". One reading gives all that the rest needs: whether the passage answers, which statements carry the
answer, where its few words stand, and whether it is yes or no. It reads English. How it was trained and what it
reaches: docs/explanation/refusal.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from kedge.core.errors import ModelError
from kedge.core.settings import Settings
from kedge.models.carried.files import carried
from kedge.models.carried.tokenizer import CARRIER, VERSION, tokenizer_file
from kedge.models.embed.onnx import FAILURES, open_session
from kedge.models.ports import Vectors
from kedge.models.read.window import IDENTITY_TOKENS, LONGEST_SPAN, QUESTION_TOKENS, WINDOW

FILE = "reader.onnx"
"""Written by `python -m benchmarks.reader.export`: ms-marco-MiniLM-L-12-v2 (Apache-2.0), trained further."""
NOT_READ = -20.0
"""Log-odds of what no window had room for."""
LEAST = -1.0
"""Log-odds that a passage answers, as read half way up: with less, the other layers are not computed."""
_STARTS = 8
"""Likeliest first tokens that are looked at for the best span."""
_BESIDE = 4
"""Tokens before the likeliest first one that may be the first as well."""


@dataclass(frozen=True, slots=True)
class Readable:
    """A passage as the reader gets it."""

    identity: str
    """What its document calls itself, and its section."""
    statements: Sequence[str]
    """What is read of each of its statements, in order."""
    slots: Sequence[Sequence[tuple[int, int]]] = ()
    """For each statement stretches of it that could be the answer as a whole, such as the cells of a row."""


@dataclass(frozen=True, slots=True)
class ShortSpan:
    """Where a short answer stands."""

    start: int
    """Offset of its first character in what is read of the statement."""
    end: int
    """Offset behind its last character."""
    score: float
    """Logarithm of its probability, given that there is an answer in the window."""


@dataclass(frozen=True, slots=True)
class StatementReading:
    """What the reader thinks of one statement."""

    support: float
    """Log-odds that it carries the answer."""
    span: ShortSpan | None
    """The likeliest short answer in it; None for one that was not read."""
    slots: tuple[float, ...] = ()
    """For each of its slots the logarithm of the probability that it is the answer."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader thinks of one passage. Scores are log-odds."""

    about: float
    """That the passage answers the question, rather than being about something else."""
    trick: float
    """That it speaks of all that is asked and still does not say it."""
    yes: float
    """That the answer is yes, rather than no: for questions that ask for one of both."""
    statements: tuple[StatementReading, ...]
    """One for each statement, in order."""


@dataclass(frozen=True, slots=True)
class _Window:
    first: int
    """Number of its first statement."""
    last: int
    ids: list[int]
    second: int
    """Where the identity begins."""
    owner: NDArray[np.int64]
    """For each token the number of its statement; -1 for what no answer may hold."""
    offsets: NDArray[np.int64]
    """For each token its place in what is read of its statement: start and end."""


class Reader:
    """Reads passages for a question. The same passage is read the same way alone and among others.

    Each window is read by one thread: two that share a window cost a tenth more than one, and wait for each other. So
    many are read at a time, for all questions together, and the others wait.
    """

    def __init__(self, model: Path, tokenizer: Tokenizer, threads: int, least: float = LEAST) -> None:
        """`threads`: windows at a time, 0 for as many as there are processors; `least`: the log-odds from which on a
        passage is read to the end."""
        self._session = open_session(model, 1)
        self._threads = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="kedge-read")
        self._least = np.array(least, np.float32)
        self._tokenizer = tokenizer
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._open, self._close = (special(tokenizer, name) for name in ("[CLS]", "[SEP]"))

    def read(self, question: str, passages: Sequence[Readable], least: float | None = None) -> list[Reading]:
        """One reading for each passage, in order. Of several windows the one that answers best gives the verdict.

        `least` in place of the reader's own.
        """
        enough = self._least if least is None else np.array(least, np.float32)
        texts = [question, *(text for one in passages for text in (one.identity, *one.statements))]
        tokens = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        head = [self._open, *tokens[0].ids[:QUESTION_TOKENS], self._close]
        begun: list[list[Future[Reading]]] = []
        at = 1
        for passage in passages:
            own = tokens[at + 1 : at + 1 + len(passage.statements)]
            start = [*head, *tokens[at].ids[:IDENTITY_TOKENS], self._close]
            windows = self._windows(start, len(head), own)
            begun.append([self._threads.submit(self._read, window, passage.slots, enough) for window in windows])
            at += 1 + len(passage.statements)
        return [_together([window.result() for window in windows]) for windows in begun]

    def knows(self, word: str) -> bool:
        """Whether the language has a word, in small letters, as far as the reader learned it as a whole."""
        return self._tokenizer.token_to_id(word) is not None

    def _windows(self, start: list[int], second: int, statements: Sequence[Encoding]) -> Iterator[_Window]:
        place = 0
        while place < len(statements):
            first = place
            ids, owner, offsets = list(start), [-1] * len(start), [(0, 0)] * len(start)
            while place < len(statements):
                one, room = statements[place], WINDOW - 1 - len(ids)
                if place > first and len(one.ids) > room:
                    break
                ids += one.ids[:room]
                owner += [place] * len(one.ids[:room])
                offsets += one.offsets[:room]
                place += 1
            yield _Window(
                first,
                place - 1,
                [*ids, self._close],
                second,
                np.array([*owner, -1]),
                np.array([*offsets, (0, 0)], dtype=np.int64),
            )

    def _read(self, window: _Window, slots: Sequence[Sequence[tuple[int, int]]], least: NDArray[np.float32]) -> Reading:
        count = len(window.ids)
        given: dict[str, NDArray[Any]] = {
            "ids": np.array(window.ids, dtype=np.int64),
            "kinds": (np.arange(count) >= window.second).astype(np.int64),
            "mask": np.ones(count, np.int32),
            "inside": window.owner >= 0,
        }
        rows = {name: value[None] for name, value in given.items()}
        try:
            spans, support, heads = self._session.run(["spans", "support", "heads"], {**rows, "least": least})
        except FAILURES as error:
            raise ModelError(f"The reader failed: {error}") from error
        scores = _Scores(window, support[0], *(_log_softmax(row) for row in spans[0]))
        about, trick, no, yes = (float(value) for value in heads[0])
        numbers = range(window.first, window.last + 1)
        each = [scores.of(number, slots[number] if slots else ()) for number in numbers]
        return Reading(about, trick, yes - no, tuple(each))


@dataclass(frozen=True, slots=True)
class _Scores:
    """What came out for each token of a window."""

    window: _Window
    support: Vectors
    first: Vectors
    last: Vectors

    def of(self, number: int, slots: Sequence[tuple[int, int]]) -> StatementReading:
        """For one statement."""
        places = np.flatnonzero(self.window.owner == number)
        if not len(places):
            return StatementReading(NOT_READ, None, tuple(NOT_READ for _ in slots))
        own = slice(int(places[0]), int(places[-1]) + 1)
        offsets, first, last = self.window.offsets[own], self.first[own], self.last[own]
        answers = tuple(_slot(offsets, first, last, slot) for slot in slots)
        return StatementReading(float(self.support[own].mean()), _span(offsets, first, last), answers)


def _span(offsets: NDArray[np.int64], first: Vectors, last: Vectors) -> ShortSpan:
    """The likeliest stretch of a statement's tokens.

    Where several beginnings beside each other share what is likely ("an anchor bend", "anchor bend", "bend"), it begins
    where it is as likely to have begun as not.
    """
    best = (-np.inf, 0, 0)
    for start in np.argsort(-first)[:_STARTS].tolist():
        ends = last[start : start + LONGEST_SPAN]
        length = int(ends.argmax())
        best = max(best, (float(first[start] + ends[length]), start, start + length))
    score, start, end = best
    low = max(0, start - _BESIDE)
    likely = np.cumsum(np.exp(first[low : end + 1]))
    start = low + int(np.searchsorted(likely, likely[-1] / 2))
    return ShortSpan(int(offsets[start, 0]), int(offsets[end, 1]), score)


def _slot(offsets: NDArray[np.int64], first: Vectors, last: Vectors, slot: tuple[int, int]) -> float:
    start, end = slot
    held = np.flatnonzero((offsets[:, 1] > start) & (offsets[:, 0] < end))
    return float(first[held].max() + last[held].max()) if len(held) else NOT_READ


def _together(windows: Sequence[Reading]) -> Reading:
    if not windows:
        return Reading(NOT_READ, 0.0, 0.0, ())
    best = max(windows, key=lambda one: one.about)
    return Reading(best.about, best.trick, best.yes, tuple(each for one in windows for each in one.statements))


def _log_softmax(row: Vectors) -> Vectors:
    shifted: Vectors = row - row.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()), np.float32)


def open_reader(settings: Settings) -> Reader:
    """The carried weights and the tokenizer of all-MiniLM-L6-v2, loaded once for all engines of a process."""
    return _opened(settings.threads)


@lru_cache(maxsize=2)
def _opened(threads: int) -> Reader:
    return Reader(carried(FILE), Tokenizer.from_file(str(tokenizer_file())), threads)


def special(tokenizer: Tokenizer, name: str) -> int:
    """Number of a token that is no word. ModelError where the tokenizer lacks it."""
    number = tokenizer.token_to_id(name)
    if number is None:
        raise ModelError(f"The tokenizer has no {name}.", hint=f"Reinstall {CARRIER}=={VERSION}.")
    return int(number)
