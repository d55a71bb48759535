"""Writes ONNX graphs without the `onnx` package: the few protobuf messages that a feed-forward graph needs."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
KINDS = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "int32": INT32, "int64": INT64}
OPERATORS, OWN = "", "com.microsoft"
VERSIONS = {OPERATORS: 18, OWN: 1}
"""Sets of operators: the standard's and onnxruntime's own."""
FORMAT = 8
"""Version of the file format that goes with these."""


class Graph:
    """Operators in the order in which they run."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._tensors: list[bytes] = []
        self._values: list[bytes] = []

    def given(self, name: str, kind: int, shape: Sequence[str | int]) -> str:
        """An input. A size that is a name may differ from run to run."""
        self._values.append(_block(11, _value(name, kind, shape)))
        return name

    def result(self, name: str, kind: int, shape: Sequence[str | int]) -> None:
        """An output: a name that `node` returned."""
        self._values.append(_block(12, _value(name, kind, shape)))

    def tensor(self, name: str, values: NDArray[Any]) -> str:
        """A constant."""
        sizes = b"".join(_number(1, size) for size in values.shape)
        raw = values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes()
        head = sizes + _number(2, KINDS[values.dtype.name]) + _block(8, name)
        self._tensors.append(_block(5, head + _block(9, raw)))
        return name

    def node(self, operator: str, *inputs: str, domain: str = OPERATORS, **attributes: float) -> str:
        """An operator with one output, whose name is returned. An empty input leaves an optional one out."""
        output = f"{operator}_{len(self._nodes)}"
        body = b"".join(_block(1, name) for name in inputs) + _block(2, output) + _block(4, operator)
        body += b"".join(_block(5, _attribute(name, value)) for name, value in attributes.items())
        self._nodes.append(_block(1, body + _block(7, domain)))
        return output

    def to_bytes(self) -> bytes:
        """The model file."""
        graph = b"".join([*self._nodes, _block(2, self._name), *self._tensors, *self._values])
        sets = [_block(8, _block(1, domain) + _number(2, version)) for domain, version in VERSIONS.items()]
        return b"".join([_number(1, FORMAT), _block(7, graph), *sets])


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _block(1, name) + _number(3, value) + _number(20, 2)
    return _block(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    sizes = b"".join(_block(1, _number(1, size) if isinstance(size, int) else _block(2, size)) for size in shape)
    return _block(1, name) + _block(2, _block(1, _number(1, kind) + _block(2, sizes)))


def _number(tag: int, value: int) -> bytes:
    return _varint(tag << 3) + _varint(value)


def _block(tag: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(tag << 3 | 2) + _varint(len(raw)) + raw


def _varint(value: int) -> bytes:
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)
