"""The reader: a small model that reads a question together with a passage and says whether the passage answers it.

Words in common tell what a passage is about; only reading both together tells "who designed the tower" from "when was
the tower designed". It reads English. How it was trained and what it reaches: docs/explanation/refusal.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from tokenizers import Tokenizer

from kedge.config import Settings
from kedge.errors import ModelError
from kedge.models.base import Vectors
from kedge.models.encoder_graph import write_graph
from kedge.models.minilm import CARRIER, VERSION, tokenizer_file
from kedge.models.onnx import FAILURES, open_session
from kedge.models.reader_file import ReaderWeights, read_weights
from kedge.models.sentence import IntArray

QUESTION_TOKENS, TITLE_TOKENS, WINDOW = 64, 16, 320
"""As in training. A longer passage is read in windows that overlap by half."""
NEVER = np.float32(-1e4)
SMALL = (
    *("emb.place", "emb.kind", "emb.norm.w", "emb.norm.b", "span.w", "span.b"),
    *("head.0.w", "head.0.b", "head.1.w", "head.1.b"),
)
"""Tensors that are computed with here; the layers are onnxruntime's."""

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

    def __init__(self, weights: ReaderWeights, tokenizer: Tokenizer, threads: int) -> None:
        self._weights = weights
        self._session = open_session(write_graph(weights, "reader"), threads)
        self._tokenizer = tokenizer
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._open, self._close = (_special(tokenizer, name) for name in ("[CLS]", "[SEP]"))
        self._small = {name: weights.vector(name) for name in SMALL}

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
        ids: IntArray = np.array([window.ids], dtype=np.int64)
        hidden = self._embedded(ids, window.second)
        try:
            rows: Vectors = self._session.run(None, {"hidden": hidden, "mask": np.ones(ids.shape, np.int32)})[0][0]
        except FAILURES as error:
            raise ModelError(f"The reader failed: {error}") from error
        w = self._small
        spans = (rows @ w["span.w"].T + w["span.b"]).T
        inside = np.arange(len(rows))
        spans = np.where((inside >= window.body) & (inside < len(rows) - 1), spans, NEVER)
        likely = _softmax(spans).mean(axis=0)
        both = np.concatenate([rows[0], likely @ rows])
        score = np.tanh(w["head.0.w"] @ both + w["head.0.b"]) @ w["head.1.w"][0] + w["head.1.b"][0]
        return Reading(float(score), *_place(spans, window))

    def _embedded(self, ids: IntArray, second: int) -> Vectors:
        kinds = (np.arange(ids.shape[1]) >= second).astype(np.int64)
        hidden = self._weights.words(ids) + self._small["emb.place"][: ids.shape[1]] + self._small["emb.kind"][kinds]
        hidden -= hidden.mean(axis=-1, keepdims=True)
        hidden /= np.sqrt((hidden * hidden).mean(axis=-1, keepdims=True) + np.float32(self._weights.epsilon))
        out: Vectors = hidden * self._small["emb.norm.w"] + self._small["emb.norm.b"]
        return out.astype(np.float32)


def open_reader(settings: Settings) -> Reader:
    """The carried weights and the tokenizer of the default embedder, loaded once for all engines of a process."""
    return _opened(settings.threads)


@lru_cache(maxsize=2)
def _opened(threads: int) -> Reader:
    return Reader(read_weights(), Tokenizer.from_file(str(tokenizer_file())), threads)


def _special(tokenizer: Tokenizer, name: str) -> int:
    number = tokenizer.token_to_id(name)
    if number is None:
        raise ModelError(f"The tokenizer has no {name}.", hint=f"Reinstall {CARRIER}=={VERSION}.")
    return int(number)


def _softmax(values: Vectors) -> Vectors:
    raised = np.exp(values - values.max(axis=-1, keepdims=True))
    out: Vectors = raised / raised.sum(axis=-1, keepdims=True)
    return out


def _place(spans: Vectors, window: _Window) -> tuple[int, int]:
    """Characters of the likeliest answer; (0, 0) for an empty passage."""
    if not window.offsets:
        return 0, 0
    first = int(spans[0].argmax())
    last = first + int(spans[1][first : first + 30].argmax())
    known = window.offsets
    return known[first - window.body][0], known[min(last - window.body, len(known) - 1)][1]
