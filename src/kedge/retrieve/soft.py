"""Soft word match: how well the words of a question are met in a passage, near words counting in part.

Keyword search sees equal words, a passage's one vector sees its gist. Between them lies what a late-interaction model
measures: for every word of the question the nearest word of the passage. Here a word's vector does not depend on its
context (`data/tokens.npy`: what the bundled embedder says of each token of its vocabulary alone, 32 dimensions), so
nothing is stored with a passage and no model runs when somebody asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kedge.models.carried import folder_of
from kedge.models.minilm import CARRIER, FOLDER
from kedge.text.analyze import fold, terms

Array = NDArray[np.float32]
TABLE = "tokens.npy"
REMEMBERED = 50_000
"""Words whose tokens are kept in memory."""
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")


class TokenVectors:
    """Words to tokens and tokens to unit vectors. A word is cut into tokens once and remembered."""

    def __init__(self, tokenizer: Tokenizer, table: NDArray[np.int8]) -> None:
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        norms = np.linalg.norm(table.astype(np.float32), axis=1, keepdims=True)
        self.vectors: Array = np.asarray(table / np.maximum(norms, 1.0), dtype=np.float32)
        self._known: dict[str, list[int]] = {}

    def tokens(self, texts: Sequence[Sequence[str]]) -> list[list[int]]:
        """The different tokens of each text's words, in order of appearance."""
        if len(self._known) > REMEMBERED:
            self._known = {}
        known = self._known
        fresh = list(dict.fromkeys(word for words in texts for word in words if word not in known))
        if fresh:
            encoded = self._tokenizer.encode_batch_fast(fresh, add_special_tokens=False)
            known.update((word, item.ids) for word, item in zip(fresh, encoded, strict=True))
        return [list(dict.fromkeys(token for word in words for token in known[word])) for words in texts]


def soft_match(vectors: TokenVectors, question: str, texts: Sequence[str]) -> Array:
    """A share for each text: the mean, over the question's tokens, of the similarity of the text's nearest token.

    A text that holds every word has 1. Function words of the question do not count; without any other word all have 0.
    """
    asked = [word for word in _words(question) if terms(word, "english")]
    wanted, *found = vectors.tokens([asked, *(_words(text) for text in texts)])
    if not wanted:
        return np.zeros(len(texts), dtype=np.float32)
    vocabulary = {token: place for place, token in enumerate(dict.fromkeys(t for tokens in found for t in tokens))}
    similarity = vectors.vectors[wanted] @ vectors.vectors[list(vocabulary)].T
    shares = [
        similarity[:, [vocabulary[token] for token in tokens]].max(axis=1).mean() if tokens else 0.0 for tokens in found
    ]
    return np.maximum(np.array(shares, dtype=np.float32), 0.0)


@cache
def open_vectors() -> TokenVectors | None:
    """The bundled table, or None where the package with its tokenizer is not installed."""
    folder = folder_of(CARRIER, FOLDER)
    if folder is None:
        return None
    with (files("kedge.retrieve") / "data" / TABLE).open("rb") as file:
        table: NDArray[np.int8] = np.load(file)
    return TokenVectors(Tokenizer.from_file(str(folder / "tokenizer.json")), table)


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(_WORD.findall(fold(text))))
