"""Writes a small cross-encoder as an ONNX file, by hand, so that no exporter is needed.

Its logit is the number of the text's tokens that are also in the query, minus three (one of them is the separator).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

FLOAT, INT64 = 1, 7
BERT_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def _varint(value: int) -> bytes:
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def _number(tag: int, value: int) -> bytes:
    return _varint(tag << 3) + _varint(value)


def _bytes(tag: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(tag << 3 | 2) + _varint(len(raw)) + raw


def _node(op: str, inputs: Sequence[str], output: str, **attributes: int | list[int]) -> bytes:
    raw = b"".join(_bytes(1, name) for name in inputs) + _bytes(2, output) + _bytes(4, op)
    for name, value in attributes.items():
        if isinstance(value, list):  # attribute kind 7: integers
            body = _bytes(1, name) + b"".join(_number(8, one) for one in value) + _number(20, 7)
        else:
            body = _bytes(1, name) + _number(3, value) + _number(20, 2)
        raw += _bytes(5, body)
    return _bytes(1, raw)


def _value(tag: int, name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    sizes = b"".join(_bytes(1, _number(1, one) if isinstance(one, int) else _bytes(2, one)) for one in shape)
    return _bytes(tag, _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, sizes))))


def _constant(name: str, value: float) -> bytes:
    return _bytes(5, _number(1, 1) + _number(2, FLOAT) + _bytes(8, name) + _bytes(9, struct.pack("<f", value)))


def write_cross_encoder(path: Path, outputs: int = 1) -> None:
    """With two outputs, the logit is the second one's lead over the first; with more it is no reranker."""
    ids, mask, kinds = BERT_INPUTS
    nodes = [
        _node("Cast", [mask], "mask", to=FLOAT),
        _node("Cast", [kinds], "kinds", to=FLOAT),
        _node("Mul", ["mask", "kinds"], "text"),
        _node("Sub", ["mask", "text"], "query"),
        _node("Unsqueeze", [ids], "rows", axes=[2]),
        _node("Unsqueeze", [ids], "columns", axes=[1]),
        _node("Equal", ["rows", "columns"], "same"),
        _node("Cast", ["same"], "same_f", to=FLOAT),
        _node("Unsqueeze", ["query"], "query_column", axes=[2]),
        _node("MatMul", ["same_f", "query_column"], "hits_column"),
        _node("Squeeze", ["hits_column"], "hits", axes=[2]),
        _node("Min", ["hits", "one"], "hit"),
        _node("Mul", ["hit", "text"], "counted"),
        _node("ReduceSum", ["counted"], "sum", axes=[1], keepdims=1),
        _node("Sub", ["sum", "three"], "lead"),
    ]
    if outputs == 1:
        nodes.append(_node("Identity", ["lead"], "logits"))
    else:
        nodes.append(_node("Sub", ["lead", "lead"], "zero"))
        nodes.append(_node("Concat", ["zero"] * (outputs - 1) + ["lead"], "logits", axis=1))
    graph = (
        b"".join(nodes)
        + _bytes(2, "overlap")
        + _constant("one", 1.0)
        + _constant("three", 3.0)
        + b"".join(_value(11, name, INT64, ("batch", "tokens")) for name in BERT_INPUTS)
        + _value(12, "logits", FLOAT, ("batch", outputs))
    )
    path.write_bytes(_number(1, 7) + _bytes(7, graph) + _bytes(8, _number(2, 12)))
