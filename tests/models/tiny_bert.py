"""A small random BERT in a folder, and the same computed slowly, straight from the formulas."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "query", "passage", ":", "light", "anchor", "boat", "rates"]
WIDTH, HEADS, LAYERS, INNER, PLACES = 16, 2, 2, 24, 40
Tensors = dict[str, np.ndarray]


def tensors(seed: int = 7) -> Tensors:
    """Random weights under the names that BERT's files use."""
    draw = np.random.default_rng(seed)

    def some(*shape: int) -> np.ndarray:
        return draw.normal(0, 0.5, size=shape).astype(np.float32)

    made = {
        "embeddings.word_embeddings.weight": some(len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": some(PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": some(2, WIDTH),
        "embeddings.LayerNorm.weight": some(WIDTH),
        "embeddings.LayerNorm.bias": some(WIDTH),
    }
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        dense = {f"attention.self.{name}": (WIDTH, WIDTH) for name in ("query", "key", "value")}
        dense |= {"attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (INNER, WIDTH)}
        dense |= {"output.dense": (WIDTH, INNER)}
        for name, shape in dense.items():
            made[f"{at}{name}.weight"], made[f"{at}{name}.bias"] = some(*shape), some(shape[0])
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            made[f"{at}{name}.weight"], made[f"{at}{name}.bias"] = some(WIDTH), some(WIDTH)
    return made


def write_folder(folder: Path, weights: Tensors, kind: str = "bert", dtype: str = "F32", prefix: str = "") -> None:
    """config.json, tokenizer.json and model.safetensors."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "model_type": kind,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "pad_token_id": 1,
    }
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, value in weights.items():
        raw = _stored(value, dtype)
        header[prefix + name] = {
            "dtype": dtype,
            "shape": list(value.shape),
            "data_offsets": [len(body), len(body) + len(raw)],
        }
        body += raw
    head = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + body)


def _stored(value: np.ndarray, dtype: str) -> bytes:
    if dtype == "BF16":
        return (value.view(np.uint32) >> 16).astype("<u2").tobytes()
    return value.astype({"F32": "<f4", "F16": "<f2"}[dtype]).tobytes()


def slowly(
    weights: Tensors, ids: list[int], first_place: int = 0, kinds: list[int] | None = None, layers: int = LAYERS
) -> np.ndarray:
    """The last layer's vectors of one text, (tokens, WIDTH), without padding or batches; all of kind 0 unless told.

    With fewer `layers` those of an earlier one."""
    w = {name: value.astype(np.float64) for name, value in weights.items()}
    rows = [
        w["embeddings.word_embeddings.weight"][token]
        + w["embeddings.position_embeddings.weight"][place + first_place]
        + w["embeddings.token_type_embeddings.weight"][kind]
        for place, (token, kind) in enumerate(zip(ids, kinds or [0] * len(ids), strict=True))
    ]
    rows = [_norm(row, w, "embeddings.LayerNorm") for row in rows]
    for layer in range(layers):
        rows = _layer(rows, w, f"encoder.layer.{layer}.")
    return np.array(rows)


def _layer(rows: list[np.ndarray], w: Tensors, at: str) -> list[np.ndarray]:
    query, key, value = (
        [_linear(row, w, f"{at}attention.self.{name}") for row in rows] for name in ("query", "key", "value")
    )
    out = []
    size = WIDTH // HEADS
    for place, row in enumerate(rows):
        heads = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            raw = [math.exp(query[place][part] @ one[part] / math.sqrt(size)) for one in key]
            heads.append(sum(share / sum(raw) * one[part] for share, one in zip(raw, value, strict=True)))
        mixed = _linear(np.concatenate(heads), w, f"{at}attention.output.dense")
        after = _norm(row + mixed, w, f"{at}attention.output.LayerNorm")
        wide = [0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in _linear(after, w, f"{at}intermediate.dense")]
        out.append(_norm(after + _linear(np.array(wide), w, f"{at}output.dense"), w, f"{at}output.LayerNorm"))
    return out


def _linear(row: np.ndarray, w: Tensors, at: str) -> np.ndarray:
    return w[f"{at}.weight"] @ row + w[f"{at}.bias"]


def _norm(row: np.ndarray, w: Tensors, at: str) -> np.ndarray:
    centred = row - row.mean()
    return centred / math.sqrt((centred**2).mean() + 1e-12) * w[f"{at}.weight"] + w[f"{at}.bias"]
