"""The chain reader: a small network that reads a question beside the passages found for it, all at once.

A question that takes several steps is answered by passages of which some have hardly a word of it: only who reads them
beside each other sees that one names what the next is about. Each passage is shown by its title and its most telling
sentences (`kedge.text.sketch`), so that a dozen fit into one reading. The words' vectors are those of the reader. It
reads English. How it was trained and what it brings: docs/explanation/retrieval.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kedge.core.errors import ModelError
from kedge.core.settings import Settings
from kedge.models.carried.files import carried
from kedge.models.carried.tensors import read_tensors
from kedge.models.carried.tokenizer import tokenizer_file
from kedge.models.embed.onnx import FAILURES, open_session
from kedge.models.ports import Vectors
from kedge.models.read.reader import FILE as READER
from kedge.models.read.reader import special
from kedge.models.read.window import CHAIN_QUESTION, CHAIN_TITLE, CHAIN_WINDOW
from kedge.text.sketch import Sketch, sketches

FILE = "chain.onnx"
"""Written by `python -m benchmarks.second.export`: six layers of the reader, trained further."""
WORDS = ("emb.word.w", "emb.word.s")
"""Tensors that it shares with the reader."""
OPEN, CLOSE = "[CLS]", "[SEP]"


class ChainReader:
    """Says which of several passages are steps of the answer to a question."""

    def __init__(self, model: Path, words: dict[str, NDArray[Any]], tokenizer: Tokenizer, threads: int) -> None:
        self._session = open_session(model, threads, weights=words)
        self._tokenizer = tokenizer
        tokenizer.no_padding()
        tokenizer.no_truncation()

    def read(self, question: str, passages: Sequence[tuple[str, str]]) -> Vectors:
        """For each passage, its title and its text, the log-odds that it is a step; nothing for no passage.

        What it says of one depends on the others. Raises ModelError.
        """
        if not passages:
            return np.zeros(0, dtype=np.float32)
        ids, second, opens = self._packed(question, sketches(question, passages))
        given: dict[str, NDArray[Any]] = {
            "ids": ids[None],
            "kinds": (np.arange(len(ids)) >= second).astype(np.int64)[None],
            "opens": opens,
        }
        try:
            scores: Vectors = self._session.run(["scores"], given)[0]
        except FAILURES as error:
            raise ModelError(f"The chain reader failed: {error}") from error
        return scores

    def _packed(self, question: str, shown: Sequence[Sketch]) -> tuple[NDArray[np.int64], int, NDArray[np.int64]]:
        """The tokens, where the passages begin, and where each opens. All get the same room."""
        texts = [question, *(text for one in shown for text in (one.title or "-", *one.sentences))]
        tokens = iter([item.ids for item in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)])
        start, end = (special(self._tokenizer, name) for name in (OPEN, CLOSE))
        ids = [start, *next(tokens)[:CHAIN_QUESTION]]
        second, opens = len(ids), []
        room = (CHAIN_WINDOW - 1 - len(ids)) // len(shown) - 1
        for one in shown:
            opens.append(len(ids))
            title = next(tokens)[:CHAIN_TITLE]
            left = room - len(title)
            chosen = []
            for place in one.places:
                part = next(tokens)[: max(0, left)]
                left -= len(part)
                chosen.append((place, part))
            ids += [end, *title[: max(0, room)], *(token for _, part in sorted(chosen) for token in part)]
        return np.array([*ids, end], dtype=np.int64), second, np.array(opens, dtype=np.int64)


def open_chain_reader(settings: Settings) -> ChainReader:
    """The carried weights, loaded once for all engines of a process. ModelError, ConfigError."""
    return _opened(settings.threads)


@lru_cache(maxsize=2)
def _opened(threads: int) -> ChainReader:
    words = read_tensors(carried(READER), WORDS)
    return ChainReader(carried(FILE), words, Tokenizer.from_file(str(tokenizer_file())), threads)
