"""Writes a small cross-encoder as an ONNX file, so that no exporter is needed.

Its logit is the number of the text's tokens that are also in the query, minus three (one of them is the separator).
Without `pairs` it knows no token types: it counts the tokens that stand twice, minus three.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kedge.models.onnx_write import FLOAT, INT64, Graph

BERT_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write_cross_encoder(path: Path, outputs: int = 1, *, pairs: bool = True) -> None:
    """With two outputs, the logit is the second one's lead over the first; with more it is no reranker."""
    g = Graph("overlap")
    ids, mask, kinds = (g.given(name, INT64, ("batch", "tokens")) for name in BERT_INPUTS)
    one, three = (g.tensor(f"{value}", np.array([value], dtype=np.float32)) for value in (1, 3))
    first, last = (g.tensor(f"axis_{axis}", np.array([axis], dtype=np.int64)) for axis in (1, 2))
    seen = g.node("Cast", mask, to=FLOAT)
    text = g.node("Mul", seen, g.node("Cast", kinds, to=FLOAT))
    query = g.node("Sub", seen, text) if pairs else seen
    same = g.node("Equal", g.node("Unsqueeze", ids, last), g.node("Unsqueeze", ids, first))
    hits = g.node("MatMul", g.node("Cast", same, to=FLOAT), g.node("Unsqueeze", query, last))
    hits = g.node("Squeeze", hits, last)
    hit = g.node("Min", hits, one) if pairs else g.node("Sub", hits, one)
    counted = g.node("Mul", hit, text if pairs else seen)
    lead = g.node("Sub", g.node("ReduceSum", counted, first, keepdims=1), three)
    if outputs == 1:
        logits = g.node("Identity", lead)
    else:
        logits = g.node("Concat", *[g.node("Sub", lead, lead)] * (outputs - 1), lead, axis=1)
    g.result(logits, FLOAT, ("batch", outputs))
    path.write_bytes(g.to_bytes())
