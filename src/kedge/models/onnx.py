"""Sentence embedders in ONNX form, run on the CPU by onnxruntime: a folder with `model.onnx` and `tokenizer.json`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kedge.config import Settings
from kedge.errors import ConfigError, ModelError
from kedge.models.base import Vectors

BATCH_TOKENS = 1536
"""Tokens of one run, padding included. Small runs of like length are fastest on a CPU: measured with
`benchmarks/embed_batching.py`."""

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """Where a model is and how it wants its texts."""

    name: str
    model: Path
    tokenizer: Path
    window: int = 256
    query_prefix: str = ""
    text_prefix: str = ""
    dimension: int | None = None
    """Keep only the first so many dimensions (Matryoshka); None keeps all."""


class OnnxEmbedder:
    """Mean-pooled, normalised sentence vectors. Equal texts give equal vectors up to the rounding of padding."""

    def __init__(self, model: OnnxModel, threads: int = 0) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self._spec = model
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(model.model), options, providers=["CPUExecutionProvider"])
        self._inputs = {item.name for item in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(model.tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        full = int(self._run([self._encode([""])[0]]).shape[1])
        if model.dimension is not None and model.dimension > full:
            raise ConfigError(f"{model.name} has {full} dimensions; it cannot be cut to {model.dimension}.")
        self._dimension = model.dimension or full

    @property
    def name(self) -> str:
        return self._spec.name

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def window(self) -> int:
        return self._spec.window

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await asyncio.to_thread(self._embed, [self._spec.text_prefix + text for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        rows = await asyncio.to_thread(self._embed, [self._spec.query_prefix + text])
        first: Vectors = rows[0]
        return first

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(item.ids) for item in encoded]

    async def close(self) -> None:
        """Nothing to release: the session goes with the object."""

    def _embed(self, texts: list[str]) -> Vectors:
        rows = self._encode(texts)
        out = np.empty((len(rows), self._dimension), dtype=np.float32)
        for picked in _batches([len(row) for row in rows]):
            vectors = self._run([rows[index] for index in picked])[:, : self._dimension]
            norms = np.linalg.norm(vectors, axis=1, keepdims=True)
            out[picked] = vectors / np.maximum(norms, 1e-12)
        return out

    def _encode(self, texts: list[str]) -> list[list[int]]:
        encoded = self._tokenizer.encode_batch_fast(texts)
        return [_cut(item.ids, self._spec.window) for item in encoded]

    def _run(self, rows: list[list[int]]) -> Vectors:
        width = max(len(row) for row in rows)
        ids: IntArray = np.zeros((len(rows), width), dtype=np.int64)
        mask: IntArray = np.zeros((len(rows), width), dtype=np.int64)
        for line, row in enumerate(rows):
            ids[line, : len(row)] = row
            mask[line, : len(row)] = 1
        feed: dict[str, Any] = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            hidden = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"The embedding model {self.name} failed: {error}") from error
        weights = mask[..., None].astype(np.float32)
        pooled: Vectors = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        return pooled


def _cut(ids: list[int], window: int) -> list[int]:
    """Truncate to the window but keep the closing special token."""
    return ids if len(ids) <= window else [*ids[: window - 1], ids[-1]]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group positions of like length so that little is padded."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) + 1) * lengths[index] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def find_model(folder: Path) -> Path | None:
    """The model file in the layouts that exporters write."""
    return next((path for path in (folder / "model.onnx", folder / "onnx" / "model.onnx") if path.is_file()), None)


def open_embedder(url: str, settings: Settings) -> OnnxEmbedder:
    """`onnx:/path/to/folder`, optionally `?dim=256`: a folder in the layout that exporters write.

    An optional `kedge.json` in the folder sets window, query_prefix and text_prefix.
    """
    location, _, query = url.removeprefix("onnx:").partition("?")
    folder = Path(location)
    model = find_model(folder)
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        raise ConfigError(
            f"{folder} holds no embedding model.", hint="It needs model.onnx (or onnx/model.onnx) and tokenizer.json."
        )
    extra = _folder_settings(folder / "kedge.json")
    dimension = int(query.removeprefix("dim=")) if query.startswith("dim=") and query[4:].isdigit() else None
    spec = OnnxModel(
        name=url,
        model=model,
        tokenizer=tokenizer,
        window=int(str(extra.get("window", 256))),
        query_prefix=str(extra.get("query_prefix", "")),
        text_prefix=str(extra.get("text_prefix", "")),
        dimension=dimension,
    )
    return OnnxEmbedder(spec, settings.threads)


def _folder_settings(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {}
    try:
        loaded = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} is not valid JSON: {error}") from error
    return dict(loaded) if isinstance(loaded, dict) else {}
