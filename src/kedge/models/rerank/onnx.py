"""Cross-encoders in ONNX form, run on the CPU by onnxruntime: a folder with `model.onnx` and `tokenizer.json`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from kedge.core.errors import ConfigError, ModelError
from kedge.core.settings import Settings
from kedge.models.embed.onnx import FAILURES, find_model, open_session
from kedge.models.http import number, options

WINDOW = 512
"""Tokens of query and text together; the text is cut first."""
BATCH = 16
PLACES = re.compile(r"\{(query|passage)\}")


class OnnxReranker:
    """Reads query and text together. One logit becomes a probability by the logistic function, two by softmax.

    They are given to the model as a pair, or, with a template such as `Query: {query} Text: {passage}`, as one text.
    """

    def __init__(
        self, name: str, model: Path, tokenizer: Path, *, window: int = WINDOW, threads: int = 0, template: str = ""
    ) -> None:
        self._name = name
        self._window = window
        self._template = template
        self._session = open_session(model, threads)
        self._inputs = {item.name for item in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(window, strategy="longest_first" if template else "only_second")
        self._query_tokenizer = Tokenizer.from_file(str(tokenizer))
        self._query_tokenizer.no_padding()
        self._query_tokenizer.enable_truncation(window // 2)

    @property
    def name(self) -> str:
        return self._name

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        return await asyncio.to_thread(self._rerank, query, list(texts))

    async def close(self) -> None:
        """Nothing to release: the session goes with the object."""

    def _rerank(self, query: str, texts: list[str]) -> list[float]:
        short = self._shortened(query)
        pairs = self._filled(short, texts) if self._template else self._paired(short, texts)
        order = sorted(range(len(pairs)), key=lambda index: len(pairs[index].ids))
        scores = [0.0] * len(pairs)
        for start in range(0, len(order), BATCH):
            picked = order[start : start + BATCH]
            for index, score in zip(picked, self._run([pairs[index] for index in picked]), strict=True):
                scores[index] = score
        return scores

    def _paired(self, query: str, texts: list[str]) -> list[Encoding]:
        return list(self._tokenizer.encode_batch([(query, text) for text in texts]))

    def _filled(self, query: str, texts: list[str]) -> list[Encoding]:
        """The template with query and text in their places; the text is cut so that the rest of it fits too."""
        room = max(0, self._window - len(self._tokenizer.encode(_fill(self._template, query, "")).ids))
        whole = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        cut = [
            text[: item.offsets[room - 1][1] if room else 0] if len(item.ids) > room else text
            for text, item in zip(texts, whole, strict=True)
        ]
        return list(self._tokenizer.encode_batch([_fill(self._template, query, text) for text in cut]))

    def _shortened(self, query: str) -> str:
        """A query of at most half the window, so that the text keeps the other half."""
        ends = [end for _, end in self._query_tokenizer.encode(query).offsets]
        return query[: max(ends)] if ends and max(ends) > 0 else query

    def _run(self, pairs: list[Encoding]) -> list[float]:
        shape = (len(pairs), max(len(pair.ids) for pair in pairs))
        feed: dict[str, NDArray[np.int64]] = {
            name: np.zeros(shape, dtype=np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")
        }
        for line, pair in enumerate(pairs):
            feed["input_ids"][line, : len(pair.ids)] = pair.ids
            feed["attention_mask"][line, : len(pair.ids)] = 1
            feed["token_type_ids"][line, : len(pair.ids)] = pair.type_ids
        try:
            logits = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
        except FAILURES as error:
            raise ModelError(f"The reranker {self._name} failed: {error}") from error
        return self._probabilities(np.asarray(logits, dtype=np.float64))

    def _probabilities(self, logits: NDArray[np.float64]) -> list[float]:
        if logits.ndim == 2 and logits.shape[1] == 2:
            margins = logits[:, 1] - logits[:, 0]
        elif logits.ndim == 1 or (logits.ndim == 2 and logits.shape[1] == 1):
            margins = logits.reshape(-1)
        else:
            raise ModelError(
                f"The model of {self._name} gives {logits.shape[1:]} values for each text.",
                hint="A reranker gives one or two logits; this is another kind of model.",
            )
        return [float(value) for value in 0.5 * (1.0 + np.tanh(0.5 * margins))]


def _fill(template: str, query: str, passage: str) -> str:
    """Both at once, so that braces in one of them stay what they are."""
    return PLACES.sub(lambda place: query if place[1] == "query" else passage, template)


def open_reranker(url: str, settings: Settings) -> OnnxReranker:
    """`onnx-rerank:/path/to/folder`, optionally `?window=256`: a cross-encoder in the layout that exporters write."""
    location, _, query = url.removeprefix("onnx-rerank:").partition("?")
    given = options(query, ("window", "template"), "An onnx-rerank: reranker")
    template = given.get("template", "")
    if template and sorted(PLACES.findall(template)) != ["passage", "query"]:
        raise ConfigError(
            f"template={template!r} must hold {{query}} and {{passage}}, once each.",
            hint="Leave template out for models that take a pair.",
        )
    folder = Path(location)
    model, tokenizer = find_model(folder), folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        raise ConfigError(
            f"{folder} holds no reranker.", hint="It needs model.onnx (or onnx/model.onnx) and tokenizer.json."
        )
    window = number(given, "window", WINDOW)
    return OnnxReranker(url, model, tokenizer, window=window, threads=settings.threads, template=template)
