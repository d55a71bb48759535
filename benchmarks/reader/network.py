"""The network: BERT with heads for the span, for what supports the answer, and for the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader.export import LAYER, layers_of
from benchmarks.reader.needs import need
from benchmarks.reader.teacher import NUMBERS
from benchmarks.reader.weights import save

torch: Any = need("torch")
transformers: Any = need("transformers")

NEVER = -1e4
PLACES = "embeddings.position_embeddings.weight"
WIDTH = 384
SPLIT = 15_000_000
"""Bytes of a part of the written weights: what a machine elsewhere sends back is bounded."""


class ReadingHeads(torch.nn.Module):  # type: ignore[misc]  # torch need not be installed to check the types
    """From the vectors of a window's tokens, for each token scores as first and last of the answer and log-odds of
    support; and four verdicts: about, trick, no, yes."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.span = torch.nn.Linear(width, 2)
        self.support = torch.nn.Linear(width, 1)
        self.pool = torch.nn.Linear(3 * width, width)
        self.out = torch.nn.Linear(width, 4)
        self.drop = torch.nn.Dropout(0.1)

    def read(self, hidden: Any, owner: Any) -> tuple[Any, Any, Any, Any]:
        """First, last, support and verdicts; tokens without an owner are never part of an answer."""
        inside = owner >= 0
        spans = self.span(hidden).float().masked_fill(~inside[:, :, None], NEVER)
        first, last = spans[..., 0], spans[..., 1]
        support = self.support(hidden).float()[..., 0]
        likely = ((first.softmax(1) + last.softmax(1)) / 2).to(hidden.dtype)
        place = torch.einsum("bl,blh->bh", likely, hidden)
        weight = (torch.sigmoid(support) * inside).to(hidden.dtype)
        held = torch.einsum("bl,blh->bh", weight / (weight.sum(1, keepdim=True) + 1e-3), hidden)
        pooled = torch.tanh(self.pool(torch.cat([hidden[:, 0], place, held], -1)))
        return first, last, support, self.out(self.drop(pooled)).float()


class ReaderNetwork(ReadingHeads):
    """BERT with the heads, and with the same heads half way up: what Kedge carries."""

    def __init__(self, base: dict[str, NDArray[np.float32]]) -> None:
        """With the layers of the encoder's tensors, or of a whole reader, heads included."""
        super().__init__(WIDTH)
        config = transformers.BertConfig(
            vocab_size=30522,
            hidden_size=WIDTH,
            num_hidden_layers=layers_of(base),
            num_attention_heads=12,
            intermediate_size=1536,
            max_position_embeddings=len(base[PLACES if PLACES in base else f"bert.{PLACES}"]),
        )
        self.bert = transformers.BertModel(config, add_pooling_layer=False)
        self.early = ReadingHeads(WIDTH)
        whole = "out.weight" in base
        if whole and "early.out.weight" not in base:
            base = base | {f"early.{name}": base[name] for name in self.early.state_dict()}
        _load(self if whole else self.bert, base)

    def forward(self, ids: Any, mask: Any, kinds: Any, owner: Any) -> tuple[Any, Any, Any, Any]:
        """What is read after the last layer."""
        hidden = self.bert(input_ids=ids, attention_mask=mask, token_type_ids=kinds).last_hidden_state
        return self.read(hidden, owner)

    def readings(self, ids: Any, mask: Any, kinds: Any, owner: Any) -> tuple[tuple[Any, Any, Any, Any], ...]:
        """The same, and what is read half way up."""
        after = self.bert(
            input_ids=ids, attention_mask=mask, token_type_ids=kinds, output_hidden_states=True
        ).hidden_states
        return self.read(after[-1], owner), self.early.read(after[len(after) // 2], owner)


class TeacherNetwork(ReadingHeads):
    """MPNet with the same heads, for the tokens of the reader."""

    def __init__(self, base: dict[str, NDArray[np.float32]]) -> None:
        """From what `benchmarks.reader.teacher` packed."""
        config = transformers.MPNetConfig(
            vocab_size=len(base["embeddings.word_embeddings.weight"]),
            max_position_embeddings=len(base[PLACES]),
            layer_norm_eps=1e-5,
        )
        super().__init__(config.hidden_size)
        self.encoder = transformers.MPNetModel(config, add_pooling_layer=False)
        _load(self.encoder, {name: value for name, value in base.items() if name != NUMBERS})
        self.register_buffer("numbers", torch.from_numpy(base[NUMBERS].astype(np.int64)))

    def forward(self, ids: Any, mask: Any, _kinds: Any, owner: Any) -> tuple[Any, Any, Any, Any]:
        """As the reader; it knows no kinds of tokens."""
        hidden = self.encoder(input_ids=self.numbers[ids], attention_mask=mask).last_hidden_state
        return self.read(hidden, owner)

    def readings(self, ids: Any, mask: Any, kinds: Any, owner: Any) -> tuple[tuple[Any, Any, Any, Any], ...]:
        """The one reading there is."""
        return (self(ids, mask, kinds, owner),)


def every_second_layer(state: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
    """The tensors of a reader with half of its layers: the second, the fourth …, whose output the others refine."""
    found: dict[str, NDArray[np.float32]] = {}
    for name, value in state.items():
        match = LAYER.match(name)
        if match is None:
            found[name] = value
        elif int(match[1]) % 2:
            low, high = match.span(1)
            found[f"{name[:low]}{int(match[1]) // 2}{name[high:]}"] = value
    return found


def _load(module: Any, base: Mapping[str, NDArray[np.float32]]) -> None:
    tensors = {name: torch.from_numpy(np.ascontiguousarray(one)) for name, one in base.items()}
    loaded = module.load_state_dict(tensors, strict=False)
    missing = [name for name in loaded.missing_keys if "position_ids" not in name]
    if missing:
        raise ValueError(f"The base model lacks {len(missing)} tensors, first {missing[0]}.")


def per_statement(values: Any, owner: Any, count: int) -> Any:
    """The mean over each statement's tokens."""
    inside = (owner >= 0).float()
    place = owner.clamp(min=0)
    total = torch.zeros(len(values), count, device=values.device).scatter_add_(1, place, values * inside)
    tokens = torch.zeros(len(values), count, device=values.device).scatter_add_(1, place, inside)
    return total / tokens.clamp(min=1)


def write(model: ReaderNetwork, folder: Path) -> None:
    """The weights as `reader.npz` in parts of 15 MB."""
    state = {name: one.float().cpu().numpy() for name, one in model.state_dict().items() if "position_ids" not in name}
    whole = folder / "reader.npz"
    save(state, whole)
    raw = whole.read_bytes()
    for number, at in enumerate(range(0, len(raw), SPLIT)):
        (folder / f"reader.npz.{number}").write_bytes(raw[at : at + SPLIT])
    whole.unlink()
