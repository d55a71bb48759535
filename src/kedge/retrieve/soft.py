"""Soft word match: how well the words of a question are met in a passage, near words counting in part.

Keyword search sees equal words, a passage's one vector sees its gist. Between them lies what a late-interaction model
measures: for every word of the question the nearest word of the passage. Here a word's vector does not depend on its
context (`data/tokens.npy`: what the bundled embedder says of each token of its vocabulary alone, 32 dimensions), so
nothing is stored with a passage and no model runs when somebody asks.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kedge.models.carried.tokenizer import unchecked_tokenizer
from kedge.text.analyze import fold, terms

Array = NDArray[np.float32]
TABLE = "tokens.npy"
REMEMBERED = 50_000
"""Words whose tokens are kept in memory."""
REMEMBERED_TEXTS = 4096
"""Texts whose tokens are."""
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
        self._texts: OrderedDict[str, NDArray[np.int64]] = OrderedDict()
        """Tokens of the texts that were compared last: the same passages are candidates again and again."""

    def tokens_of(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """The different tokens of each text."""
        kept = self._texts
        fresh = [text for text in dict.fromkeys(texts) if text not in kept]
        for text, tokens in zip(fresh, self.tokens([_words(text) for text in fresh]), strict=True):
            kept[text] = np.array(tokens, dtype=np.int64)
        found = [kept[text] for text in texts]
        for text in texts:
            kept.move_to_end(text)
        while len(kept) > REMEMBERED_TEXTS:
            kept.popitem(last=False)
        return found

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
    (wanted,) = vectors.tokens([asked])
    found = vectors.tokens_of(texts)
    shares = np.zeros(len(texts), dtype=np.float32)
    held = [place for place, tokens in enumerate(found) if len(tokens)]
    if not wanted or not held:
        return shares
    vocabulary, places = np.unique(np.concatenate([found[place] for place in held]), return_inverse=True)
    similarity = vectors.vectors[wanted] @ vectors.vectors[vocabulary].T
    starts = np.cumsum([0, *(len(found[place]) for place in held[:-1])])
    nearest = np.maximum.reduceat(similarity[:, places], starts, axis=1)
    shares[held] = np.ascontiguousarray(nearest.T).mean(axis=1)
    return np.maximum(shares, 0.0)


@cache
def open_vectors() -> TokenVectors | None:
    """The bundled table, or None where the package with its tokenizer is not installed."""
    tokenizer = unchecked_tokenizer()
    if tokenizer is None:
        return None
    with (files("kedge.retrieve") / "data" / TABLE).open("rb") as file:
        table: NDArray[np.int8] = np.load(file)
    return TokenVectors(Tokenizer.from_file(str(tokenizer)), table)


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(_WORD.findall(fold(text))))
