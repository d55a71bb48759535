"""Reading with the exported file: one reading for each passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from benchmarks.statement_reader.encode import IDENTITY_TOKENS, QUESTION_TOKENS, WINDOW
from kedge.core.errors import ModelError
from kedge.models.embed.onnx import FAILURES, open_session

LONGEST_SPAN = 30
"""Tokens of a short answer."""
_STARTS = 8
"""Likeliest first tokens that are looked at for the best span."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Readable:
    """A passage as the reader gets it."""

    identity: str
    """What its document calls itself, and its section."""
    statements: Sequence[str]
    """What is read of each of its statements, in order."""


@dataclass(frozen=True, slots=True)
class ShortSpan:
    """Where a short answer stands."""

    statement: int
    """Which statement of the passage."""
    start: int
    """Offset of its first character in what is read of the statement."""
    end: int
    """Offset behind its last character."""
    score: float
    """Logarithm of its probability, given that there is an answer in the window."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader thinks of one passage. Scores are log-odds."""

    about: float
    """That the passage answers the question, rather than being about something else."""
    trick: float
    """That it speaks of all that is asked and still does not say it."""
    yes: float
    """That the answer is yes, rather than no: for questions that ask for one of both."""
    support: tuple[float, ...]
    """For each statement, that it carries the answer."""
    span: ShortSpan | None
    """The likeliest short answer; None for a passage without statements."""


@dataclass(frozen=True, slots=True)
class _Window:
    first: int
    """Number of its first statement."""
    ids: list[int]
    second: int
    """Where the identity begins."""
    owner: NDArray[np.int64]
    """For each token the number of its statement; -1 for what no answer may hold."""
    offsets: list[tuple[int, int]]
    """For each token its place in what is read of its statement."""


class Reader:
    """Reads passages for a question. The same passage is read the same way alone and among others."""

    def __init__(self, model: Path, tokenizer: Tokenizer, threads: int) -> None:
        self._session = open_session(model, threads)
        self._tokenizer = tokenizer
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._open, self._close = (_special(tokenizer, name) for name in ("[CLS]", "[SEP]"))

    def read(self, question: str, passages: Sequence[Readable]) -> list[Reading]:
        """One reading for each passage, in order. Of several windows the one that answers best gives the verdict."""
        texts = [question, *(text for one in passages for text in (one.identity, *one.statements))]
        tokens = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        head = [self._open, *tokens[0].ids[:QUESTION_TOKENS], self._close]
        found: list[Reading] = []
        at = 1
        for passage in passages:
            own = tokens[at + 1 : at + 1 + len(passage.statements)]
            start = [*head, *tokens[at].ids[:IDENTITY_TOKENS], self._close]
            windows = [self._read(window) for window in self._windows(start, len(head), own)]
            found.append(_together(windows))
            at += 1 + len(passage.statements)
        return found

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
            yield _Window(first, [*ids, self._close], second, np.array([*owner, -1]), [*offsets, (0, 0)])

    def _read(self, window: _Window) -> Reading:
        count = len(window.ids)
        given: dict[str, NDArray[Any]] = {
            "ids": np.array(window.ids, dtype=np.int64),
            "kinds": (np.arange(count) >= window.second).astype(np.int64),
            "mask": np.ones(count, np.int32),
            "inside": window.owner >= 0,
        }
        try:
            spans, support, heads = self._session.run(
                ["spans", "support", "heads"], {name: value[None] for name, value in given.items()}
            )
        except FAILURES as error:
            raise ModelError(f"The reader failed: {error}") from error
        last = int(window.owner.max(initial=window.first - 1))
        means = tuple(
            float(support[0][window.owner == number].mean()) if (window.owner == number).any() else -20.0
            for number in range(window.first, last + 1)
        )
        about, trick, no, yes = (float(value) for value in heads[0])
        return Reading(about, trick, yes - no, means, _span(spans[0], window))


def _together(windows: Sequence[Reading]) -> Reading:
    if not windows:
        return Reading(-20.0, 0.0, 0.0, (), None)
    best = max(windows, key=lambda one: one.about)
    support = tuple(value for one in windows for value in one.support)
    return Reading(best.about, best.trick, best.yes, support, best.span)


def _span(scores: Floats, window: _Window) -> ShortSpan | None:
    """The likeliest stretch of tokens within one statement."""
    first, last = (_log_softmax(row) for row in scores)
    best: ShortSpan | None = None
    for start in np.argsort(-first)[:_STARTS].tolist():
        owner = window.owner[start]
        if owner < 0:
            continue
        stop = start
        while stop < len(window.owner) and window.owner[stop] == owner and stop - start < LONGEST_SPAN:
            stop += 1
        end = start + int(last[start:stop].argmax())
        score = float(first[start] + last[end])
        if best is None or score > best.score:
            best = ShortSpan(int(owner), window.offsets[start][0], window.offsets[end][1], score)
    return best


def _log_softmax(row: Floats) -> Floats:
    shifted = row - row.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()), dtype=np.float32)


def _special(tokenizer: Tokenizer, name: str) -> int:
    number = tokenizer.token_to_id(name)
    if number is None:
        raise ModelError(f"The tokenizer has no {name}.", hint="Take the tokenizer of the default embedder.")
    return int(number)
