"""Sentence embedders in ONNX form, run on the CPU by onnxruntime: a folder with `model.onnx` and `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as native

from kedge.core.errors import ConfigError, ModelError
from kedge.core.settings import Settings
from kedge.models.embed.folder import read_folder
from kedge.models.embed.sentence import Encode, IntArray, SentenceEmbedder
from kedge.models.ports import Vectors

FAILURES: tuple[type[Exception], ...] = (
    RuntimeError,
    ValueError,
    KeyError,
    *(kind for kind in vars(native).values() if isinstance(kind, type) and issubclass(kind, Exception)),
)
"""What onnxruntime raises (its own exceptions have no base class in common but Exception), and KeyError for an input
that the model wants and nobody gives."""


def open_session(
    model: Path, threads: int, operators: str = "", weights: Mapping[str, NDArray[Any]] | None = None
) -> Any:
    """An onnxruntime session on the CPU for a file.

    `operators` is a library of more operators. `weights` are tensors that the file names but does not hold, by name;
    they are copied. Raises ModelError for a file that it cannot load, or whose tensors are others.
    """
    options = onnxruntime.SessionOptions()
    if operators:
        options.register_custom_ops_library(operators)
    if weights:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in weights.values()]
        options.add_external_initializers(list(weights), values)
    options.intra_op_num_threads = threads
    # Waiting threads sleep instead of spinning, so that the rest of an ingestion gets the cores.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except FAILURES as error:
        raise ModelError(f"{model} cannot be loaded: {error}", hint="Export the model again.") from error


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
