"""Single tensors out of an ONNX file, read without the package `onnx`: what two models share is carried once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kedge.core.errors import ModelError

_GRAPH, _INITIALIZER = 7, 5
"""Fields of the messages Model and Graph."""
_DIMS, _TYPE, _NAME, _RAW = 1, 2, 8, 9
"""Fields of the message Tensor."""
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5
_TYPES = {1: np.float32, 3: np.int8, 6: np.int32, 7: np.int64, 10: np.float16}


def read_tensors(path: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The tensors of these names. ModelError for a file that lacks one."""
    wanted, found = set(names), {}
    for field, graph in _fields(memoryview(path.read_bytes())):
        if field != _GRAPH or isinstance(graph, int):
            continue
        for part, tensor in _fields(graph):
            if part == _INITIALIZER and not isinstance(tensor, int):
                name, values = _tensor(tensor, wanted)
                if values is not None:
                    found[name] = values
    if missing := wanted - found.keys():
        raise ModelError(f"{path} holds no tensor {sorted(missing)[0]!r}.", hint="Reinstall Kedge.")
    return found


def _tensor(raw: memoryview, wanted: set[str]) -> tuple[str, NDArray[Any] | None]:
    name, kind, shape = "", 0, list[int]()
    data: memoryview | None = None
    for field, value in _fields(raw):
        if field == _DIMS:
            shape += [value] if isinstance(value, int) else _packed(value)
        elif field == _TYPE and isinstance(value, int):
            kind = value
        elif field == _NAME and not isinstance(value, int):
            name = bytes(value).decode()
        elif field == _RAW and not isinstance(value, int):
            data = value
    if name not in wanted or data is None or kind not in _TYPES:
        return name, None
    return name, np.frombuffer(data, _TYPES[kind]).reshape(shape).copy()


def _packed(raw: memoryview) -> list[int]:
    at, found = 0, []
    while at < len(raw):
        value, at = _varint(raw, at)
        found.append(value)
    return found


def _fields(raw: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Numbers and values of a message's fields."""
    at = 0
    while at < len(raw):
        key, at = _varint(raw, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(raw, at)
            yield key >> 3, value
            continue
        size = 8 if kind == _EIGHT else 4
        if kind == _BYTES:
            size, at = _varint(raw, at)
        elif kind not in (_EIGHT, _FOUR):
            raise ModelError("The file is no ONNX file.", hint="Reinstall Kedge.")
        yield key >> 3, raw[at : at + size]
        at += size


def _varint(raw: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
