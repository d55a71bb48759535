"""BERT-like encoders (BERT, RoBERTa, XLM-RoBERTa) straight from safetensors, computed with numpy: no torch needed.

Meant for folders that nobody has exported to ONNX yet: multilingual-e5, bge, MiniLM.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kedge.core.errors import ConfigError, ModelError
from kedge.core.settings import Settings
from kedge.models.embed.folder import read_folder, read_json
from kedge.models.embed.sentence import IntArray, SentenceEmbedder
from kedge.models.ports import Vectors

FAMILIES = ("bert", "roberta", "xlm-roberta")
DTYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8"}
MASKED = np.float32(-1e9)


@dataclass(frozen=True, slots=True)
class BertShape:
    """What the forward pass needs of `config.json`."""

    layers: int
    heads: int
    epsilon: float
    first_position: int
    """RoBERTa counts positions from the padding token's id plus one."""


class BertEncoder:
    """Token ids to the last layer's vectors."""

    def __init__(self, tensors: Mapping[str, Vectors], shape: BertShape) -> None:
        self._tensors = tensors
        self._shape = shape

    def __call__(self, ids: IntArray, mask: IntArray) -> Vectors:
        t = self._tensors
        places = np.arange(ids.shape[1]) + self._shape.first_position
        hidden = t["embeddings.word_embeddings.weight"][ids]
        hidden = hidden + t["embeddings.position_embeddings.weight"][places]
        hidden = hidden + t["embeddings.token_type_embeddings.weight"][0]
        hidden = self._normed(hidden, "embeddings.LayerNorm")
        bias = np.where(mask[:, None, None, :] == 1, np.float32(0), MASKED)
        for number in range(self._shape.layers):
            hidden = self._layer(hidden, bias, f"encoder.layer.{number}.")
        return hidden

    def _layer(self, hidden: Vectors, bias: Vectors, at: str) -> Vectors:
        mixed = self._dense(self._attention(hidden, bias, f"{at}attention.self."), f"{at}attention.output.dense")
        hidden = self._normed(hidden + mixed, f"{at}attention.output.LayerNorm")
        wide = _gelu(self._dense(hidden, f"{at}intermediate.dense"))
        return self._normed(hidden + self._dense(wide, f"{at}output.dense"), f"{at}output.LayerNorm")

    def _attention(self, hidden: Vectors, bias: Vectors, at: str) -> Vectors:
        texts, tokens, width = hidden.shape
        heads = self._shape.heads

        def split(name: str) -> Vectors:
            return self._dense(hidden, at + name).reshape(texts, tokens, heads, -1).transpose(0, 2, 1, 3)

        scores = split("query") @ split("key").transpose(0, 1, 3, 2) / np.float32(math.sqrt(width // heads)) + bias
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed: Vectors = (scores @ split("value")).transpose(0, 2, 1, 3).reshape(texts, tokens, width)
        return mixed

    def _dense(self, values: Vectors, at: str) -> Vectors:
        out: Vectors = values @ self._tensors[f"{at}.weight"].T + self._tensors[f"{at}.bias"]
        return out

    def _normed(self, values: Vectors, at: str) -> Vectors:
        centred = values - values.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(self._shape.epsilon))
        out: Vectors = centred / spread * self._tensors[f"{at}.weight"] + self._tensors[f"{at}.bias"]
        return out


def _gelu(values: Vectors) -> Vectors:
    """x·Φ(x), with the error function to 1.5e-7 (Abramowitz and Stegun 7.1.26)."""
    x = np.abs(values) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * x)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.copysign(1 - series * np.exp(-x * x), values)
    out: Vectors = (0.5 * values * (1 + erf)).astype(np.float32)
    return out


def read_safetensors(path: Path) -> dict[str, Vectors]:
    """All tensors of the file as float32, by name without the model's own prefix."""
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    try:
        length = int.from_bytes(raw[:8].tobytes(), "little")
        header = json.loads(raw[8 : 8 + length].tobytes())
        header.pop("__metadata__", None)
        body = raw[8 + length :]
        return {_short(name): _tensor(body, entry) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} is not a whole safetensors file.", hint="Fetch it again.") from error


def _short(name: str) -> str:
    return name.removeprefix("bert.").removeprefix("roberta.").removeprefix("model.")


def _tensor(body: NDArray[np.uint8], entry: Mapping[str, Any]) -> Vectors:
    start, end = entry["data_offsets"]
    values = np.frombuffer(body[start:end].tobytes(), DTYPES[entry["dtype"]]).reshape(entry["shape"])
    if entry["dtype"] == "BF16":  # the upper half of a float32
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32)


def open_embedder(url: str, _settings: Settings) -> SentenceEmbedder:
    """`safetensors:/path/to/folder`, optionally `?dim=256`: config.json, tokenizer.json and model.safetensors."""
    folder, spec = read_folder(url, "safetensors")
    weights = folder / "model.safetensors"
    config = read_json(folder / "config.json")
    if not weights.is_file() or config.get("model_type") not in FAMILIES:
        raise ConfigError(
            f"{folder} holds no BERT-like model in one model.safetensors.",
            hint="For other models use st:/path (pip install 'kedge[torch]'), an ONNX export, or a served endpoint.",
        )
    encoder = BertEncoder(read_safetensors(weights), _shape(config, folder))
    try:
        return SentenceEmbedder(spec, encoder)
    except KeyError as error:
        raise ModelError(f"{weights} lacks the tensor {error}.", hint="Fetch it again.") from error


def _shape(config: Mapping[str, object], folder: Path) -> BertShape:
    def number(name: str) -> int:
        value = config.get(name)
        if not isinstance(value, int):
            raise ConfigError(f"{folder / 'config.json'} lacks {name}.", hint="Fetch the model's folder again.")
        return value

    activation, positions = config.get("hidden_act", "gelu"), config.get("position_embedding_type", "absolute")
    if (activation, positions) != ("gelu", "absolute"):
        raise ConfigError(
            f"{folder} uses {activation} and {positions} positions, which only torch can run here.",
            hint="Install kedge[torch], or choose a model in the ONNX format.",
        )
    return BertShape(
        layers=number("num_hidden_layers"),
        heads=number("num_attention_heads"),
        epsilon=float(str(config.get("layer_norm_eps", 1e-12))),
        first_position=0 if config.get("model_type") == "bert" else number("pad_token_id") + 1,
    )
