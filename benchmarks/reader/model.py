"""The reader as it is trained. `kedge.models.read.reader` computes the same from the exported weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader.needs import need

torch: Any = need("torch")
transformers: Any = need("transformers")

NEVER = -1e4
SHAPE = {
    "vocab_size": 30522, "hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 1536, "max_position_embeddings": 512, "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
}  # fmt: skip


class Reader(torch.nn.Module):  # type: ignore[misc]  # torch need not be installed to check the types
    """BERT with two heads: where the answer stands, and whether the passage answers at all."""

    def __init__(self, base: dict[str, NDArray[np.float32]]) -> None:
        super().__init__()
        config = transformers.BertConfig(**SHAPE)
        self.bert = transformers.BertModel(config, add_pooling_layer=False)
        loaded = self.bert.load_state_dict(
            {name: torch.from_numpy(value) for name, value in base.items()}, strict=False
        )
        missing = [name for name in loaded.missing_keys if "position_ids" not in name]
        if missing:
            raise ValueError(f"The base model lacks {len(missing)} tensors, first {missing[0]}.")
        width = config.hidden_size
        self.span = torch.nn.Linear(width, 2)
        self.cls = torch.nn.Sequential(
            torch.nn.Linear(2 * width, width), torch.nn.Tanh(), torch.nn.Dropout(0.1), torch.nn.Linear(width, 1)
        )

    def forward(self, ids: Any, mask: Any, kinds: Any, inside: Any) -> tuple[Any, Any, Any]:
        """Scores of each token as the answer's first and as its last, and the log-odds that there is an answer."""
        rows = self.bert(input_ids=ids, attention_mask=mask, token_type_ids=kinds).last_hidden_state
        spans = self.span(rows).float().masked_fill(~inside[:, :, None], NEVER)
        first, last = spans[..., 0], spans[..., 1]
        likely = (first.softmax(1) + last.softmax(1)) / 2
        place = torch.einsum("bl,blh->bh", likely.to(rows.dtype), rows)
        odds = self.cls(torch.cat([rows[:, 0], place], -1))[:, 0].float()
        return first, last, odds
