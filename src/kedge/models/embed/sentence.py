"""Sentence vectors from any local encoder: tokens in runs of like length, pooled, cut if asked for, normalised."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from kedge.core.errors import ConfigError
from kedge.models.ports import Vectors

BATCH_TOKENS = 1536
"""Tokens of one run, padding included. Small runs of like length are fastest on a CPU."""

TEXTS, QUESTIONS = 0, 1
"""Rows of a file of centres."""
IntArray: TypeAlias = npt.NDArray[np.int64]
Encode: TypeAlias = Callable[[IntArray, IntArray], Vectors]
"""Token ids and mask, both (texts, tokens), to one vector per token, or per text if the model pools by itself."""
Pooling: TypeAlias = Literal["mean", "cls", "last"]


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """What a model is called and how it wants its texts."""

    name: str
    tokenizer: Path | str
    """A file, or what such a file holds."""
    window: int = 256
    query_prefix: str = ""
    text_prefix: str = ""
    dimension: int | None = None
    """Keep only the first so many dimensions (Matryoshka); None keeps all."""
    pooling: Pooling = "mean"
    run_tokens: int = BATCH_TOKENS
    """Tokens of one run, padding included; with 1 every text runs alone."""
    padded: bool = True
    """Whether a run may hold texts of different lengths; else nothing is padded."""
    side_by_side: int = 1
    """Runs at the same time, each in a thread of its own."""
    centres: Path | None = None
    """A file with the mean vectors of texts and of questions, which are taken away before use.

    For models whose vectors all point the same way: unrelated texts then get cosines around 0, as elsewhere.
    """


class SentenceEmbedder:
    """Normalised sentence vectors. Equal texts give equal vectors up to the rounding of padding."""

    def __init__(self, model: SentenceModel, encode: Encode) -> None:
        self._spec = model
        self._encoder = encode
        given = model.tokenizer
        self._tokenizer = Tokenizer.from_str(given) if isinstance(given, str) else Tokenizer.from_file(str(given))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        full = int(self._run(self._tokens([""])).shape[1])
        if model.dimension is not None and model.dimension > full:
            raise ConfigError(
                f"{model.name} has {full} dimensions; it cannot be cut to {model.dimension}.",
                hint="Leave dim= out, or lower it.",
            )
        self._dimension = model.dimension or full
        self._centres: Vectors | None = None if model.centres is None else np.load(model.centres)
        self._window = model.window - sum(self.count_tokens([model.text_prefix.rstrip()]))
        self._threads = ThreadPoolExecutor(model.side_by_side, thread_name_prefix="kedge-embed")

    @property
    def name(self) -> str:
        return self._spec.name

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def window(self) -> int:
        return self._window

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await asyncio.to_thread(self._embed, [self._spec.text_prefix + text for text in texts], TEXTS)

    async def embed_query(self, text: str) -> Vectors:
        rows = await asyncio.to_thread(self._embed, [self._spec.query_prefix + text], QUESTIONS)
        first: Vectors = rows[0]
        return first

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(item.ids) for item in encoded]

    async def close(self) -> None:
        """End the threads; the model goes with the object."""
        self._threads.shutdown(wait=False)

    def _embed(self, texts: list[str], kind: int) -> Vectors:
        rows = self._tokens(texts)
        out = np.empty((len(rows), self._dimension), dtype=np.float32)

        def run(picked: list[int]) -> None:
            vectors = self._run([rows[index] for index in picked])[:, : self._dimension]
            out[picked] = _unit(vectors)

        runs = list(_batches([len(row) for row in rows], self._spec.run_tokens, padded=self._spec.padded))
        if len(runs) == 1 or self._spec.side_by_side == 1:
            for picked in runs:
                run(picked)
        else:
            list(self._threads.map(run, reversed(runs)))  # the longest first, so that all end at about the same time
        return out if self._centres is None else _unit(out - self._centres[kind, : self._dimension])

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        encoded = self._tokenizer.encode_batch_fast(texts)
        return [_cut(item.ids, self._spec.window) for item in encoded]

    def _run(self, rows: list[list[int]]) -> Vectors:
        width = max(1, *(len(row) for row in rows))
        ids: IntArray = np.zeros((len(rows), width), dtype=np.int64)
        mask: IntArray = np.zeros((len(rows), width), dtype=np.int64)
        for line, row in enumerate(rows):
            ids[line, : len(row)] = row
            mask[line, : len(row)] = 1
        hidden = self._encoder(ids, mask)
        return hidden if hidden.ndim == 2 else _pooled(hidden, mask, self._spec.pooling)


def _unit(vectors: Vectors) -> Vectors:
    out: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return out


def _pooled(hidden: Vectors, mask: IntArray, how: Pooling) -> Vectors:
    if how == "cls":
        pooled: Vectors = hidden[:, 0]
    elif how == "last":
        pooled = hidden[np.arange(len(mask)), mask.sum(axis=1) - 1]
    else:
        weights = mask[..., None].astype(np.float32)
        pooled = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    return pooled


def _cut(ids: list[int], window: int) -> list[int]:
    """Truncate to the window but keep the closing special token."""
    return ids if len(ids) <= window else [*ids[: window - 1], ids[-1]]


def _batches(lengths: Sequence[int], most: int, *, padded: bool = True) -> Iterator[list[int]]:
    """Group positions of like length so that little is padded, or of one length."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    batch: list[int] = []
    for index in order:
        longer = not padded and batch and lengths[index] > lengths[batch[-1]]
        if longer or (batch and (len(batch) + 1) * lengths[index] > most):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
