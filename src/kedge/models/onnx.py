"""Sentence embedders in ONNX form, run on the CPU by onnxruntime: a folder with `model.onnx` and `tokenizer.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as native

from kedge.config import Settings
from kedge.errors import ConfigError, ModelError
from kedge.models.base import Vectors
from kedge.models.folder import read_folder
from kedge.models.sentence import Encode, IntArray, SentenceEmbedder

FAILURES: tuple[type[Exception], ...] = (
    RuntimeError,
    ValueError,
    KeyError,
    *(kind for kind in vars(native).values() if isinstance(kind, type) and issubclass(kind, Exception)),
)
"""What onnxruntime raises (its own exceptions have no base class in common but Exception), and KeyError for an input
that the model wants and nobody gives."""


def open_session(model: Path | bytes, threads: int, operators: str = "") -> Any:
    """An onnxruntime session on the CPU for a file or its content; `operators` is a library of more operators.

    Raises ModelError for one that it cannot load.
    """
    options = onnxruntime.SessionOptions()
    if operators:
        options.register_custom_ops_library(operators)
    options.intra_op_num_threads = threads
    # Waiting threads sleep instead of spinning, so that the rest of an ingestion gets the cores.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        source = model if isinstance(model, bytes) else str(model)
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except FAILURES as error:
        name = "The model" if isinstance(model, bytes) else str(model)
        raise ModelError(f"{name} cannot be loaded: {error}", hint="Export the model again.") from error


def encoder(model: Path, threads: int) -> Encode:
    """The model as a function. Of its outputs the first is used: a vector per token, or per text."""
    session = open_session(model, threads)
    wanted = {item.name for item in session.get_inputs()}

    def encode(ids: IntArray, mask: IntArray) -> Vectors:
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            hidden: Vectors = session.run(None, {name: feed[name] for name in wanted})[0]
        except FAILURES as error:
            raise ModelError(f"The embedding model {model} failed: {error}") from error
        return hidden

    return encode


def find_model(folder: Path) -> Path | None:
    """The model file in the layouts that exporters write."""
    return next((path for path in (folder / "model.onnx", folder / "onnx" / "model.onnx") if path.is_file()), None)


def open_embedder(url: str, settings: Settings) -> SentenceEmbedder:
    """`onnx:/path/to/folder`, optionally `?dim=256`: a folder in the layout that exporters write."""
    folder, spec = read_folder(url, "onnx")
    model = find_model(folder)
    if model is None:
        raise ConfigError(
            f"{folder} holds no embedding model.", hint="It needs model.onnx (or onnx/model.onnx) and tokenizer.json."
        )
    return SentenceEmbedder(spec, encoder(model, settings.threads))
