"""Embedders behind an OpenAI-compatible endpoint: OpenAI, vLLM, text-embeddings-inference, Ollama, llama.cpp.

`openai:MODEL`, with options as in a URL: `openai:Qwen/Qwen3-Embedding-8B?dim=1536&url=http://host:8000/v1`.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kedge.core.errors import ConfigError, ModelError
from kedge.core.settings import Settings
from kedge.models import tokens
from kedge.models.http import Backoff, Endpoint, base_url, gather, number, options, refused
from kedge.models.known import KnownModel, find
from kedge.models.ports import Vectors

OPENAI = "https://api.openai.com/v1"
KEY = "KEDGE_EMBED_KEY"
OPTIONS = ("dim", "url", "window", "query_prefix", "text_prefix", "batch", "tokenizer")
BATCH = 32
"""Texts of one request: what a text-embeddings-inference server takes unless told otherwise."""
WINDOW = 512
"""Tokens taken for granted of a model that is not in the table."""
SPECIAL_TOKENS = 2


@dataclass(frozen=True, slots=True)
class ServedEmbedder:
    """A model on a server and how it wants its texts."""

    name: str
    """What a collection pins."""
    model: str
    """What the server calls it."""
    window: int = WINDOW
    query_prefix: str = ""
    text_prefix: str = ""
    native: int | None = None
    """Dimensions of the whole vector, if known."""
    dimension: int | None = None
    """Dimensions asked for; None: all."""
    batch: int = BATCH


class OpenAIEmbedder:
    """Vectors from `POST {base}/embeddings`, checked for number and length, cut if asked for, and normalised.

    A vector length that nobody told is asked of the server once, when the embedder is made.
    """

    def __init__(self, model: ServedEmbedder, endpoint: Endpoint, count: tokens.CountTokens = tokens.estimate) -> None:
        self._spec = model
        self._endpoint = endpoint
        self._count = count
        self._ask_cut = model.dimension is not None and model.dimension != model.native
        self._dimension = model.dimension or model.native or self._probe()

    @property
    def name(self) -> str:
        return self._spec.name

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def window(self) -> int:
        return self._spec.window

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, self._spec.text_prefix)

    async def embed_query(self, text: str) -> Vectors:
        row: Vectors = (await self._embed([text], self._spec.query_prefix))[0]
        return row

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._count(texts)

    async def close(self) -> None:
        await self._endpoint.close()

    async def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        if not texts:
            return np.empty((0, self._dimension), dtype=np.float32)
        ready = await asyncio.to_thread(self._fit, texts, prefix)
        batches = [ready[start : start + self._spec.batch] for start in range(0, len(ready), self._spec.batch)]
        return np.concatenate(await gather([self._batch(batch) for batch in batches]))

    async def _batch(self, texts: list[str]) -> Vectors:
        asked = self._ask_cut
        try:
            reply = await self._endpoint.ask("/embeddings", self._body(texts, asked))
        except ModelError as error:
            if not (asked and refused(error)):
                raise
            # vLLM refuses `dimensions` for models it does not know as Matryoshka ones: cut here from now on.
            reply = await self._endpoint.ask("/embeddings", self._body(texts, False))
            self._ask_cut = False
        return self._unit(self._rows(reply, len(texts)))

    def _body(self, texts: list[str], cut: bool) -> dict[str, object]:
        body: dict[str, object] = {"model": self._spec.model, "input": texts, "encoding_format": "float"}
        return {**body, "dimensions": self._spec.dimension} if cut else body

    def _fit(self, texts: Sequence[str], prefix: str) -> list[str]:
        """The texts with their prefix, cut to the window, and never empty: servers refuse empty texts."""
        room = max(1, self._spec.window - SPECIAL_TOKENS - tokens.estimate([prefix])[0])
        ready = list(texts)
        long = [index for index, guess in enumerate(tokens.estimate(ready)) if guess > room]
        for index, count in zip(long, self._count([ready[index] for index in long]) if long else [], strict=True):
            if count > room:
                ready[index] = tokens.cut(ready[index], self._count, room)
        return [prefix + text or " " for text in ready]

    def _rows(self, reply: object, expected: int) -> Vectors:
        """The vectors in the order of the texts, whatever the order of the reply."""
        data = reply.get("data") if isinstance(reply, dict) else None
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            raise self._bad("gave no list of vectors", "Is this the address of an OpenAI-compatible server?")
        if len(data) != expected:
            raise self._bad(f"gave {len(data)} vectors for {expected} texts")
        order = [item.get("index", position) for position, item in enumerate(data)]
        if sorted(order, key=repr) != sorted(range(expected), key=repr):
            raise self._bad("numbered its vectors wrongly")
        rows = [self._row(item.get("embedding")) for item in data]
        if len({len(row) for row in rows}) != 1:
            raise self._bad("gave vectors of different lengths in one reply")
        return np.stack([rows[order.index(position)] for position in range(expected)])

    def _row(self, value: object) -> Vectors:
        try:
            if isinstance(value, str):
                row = np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").astype(np.float32)
            else:
                row = np.array(value, dtype=np.float32)
        except (ValueError, TypeError, binascii.Error) as error:
            raise self._bad("gave a vector that cannot be read") from error
        if row.ndim != 1 or not row.any() or not np.isfinite(row).all():
            raise self._bad("gave a vector that is empty, zero or not finite")
        return row

    def _unit(self, rows: Vectors) -> Vectors:
        """Of the promised length and of norm 1."""
        width, promised = int(rows.shape[1]), self._dimension
        if width > promised and self._spec.dimension is not None and width == (self._spec.native or width):
            rows = rows[:, :promised]
        elif width != promised:
            raise ModelError(
                f"The model {self._spec.model!r} gave vectors of {width} dimensions instead of {promised}.",
                hint="Another model is served there now, or dim= in the embedder's name is wrong for it.",
                details={"found": width, "expected": promised},
            )
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Vectors = rows / np.maximum(norms, np.float32(1e-12))
        return unit

    def _probe(self) -> int:
        reply = self._endpoint.ask_blocking("/embeddings", self._body(["dimension"], False))
        return int(self._rows(reply, 1).shape[1])

    def _bad(self, what: str, hint: str = "See the server's log.") -> ModelError:
        return ModelError(f"The server of the embedding model {self._spec.model!r} {what}.", hint=hint)


def open_embedder(url: str, settings: Settings, backoff: Backoff = Backoff()) -> OpenAIEmbedder:  # noqa: B008 (frozen)
    """`openai:MODEL?dim=…&url=…&window=…&query_prefix=…&text_prefix=…&batch=…&tokenizer=tei|PATH`."""
    model, _, query = url.removeprefix("openai:").partition("?")
    if not model:
        raise ConfigError("The embedder `openai:` needs a model.", hint="For example openai:text-embedding-3-small.")
    given = options(query, OPTIONS, "An openai: embedder")
    base = base_url(given.get("url") or settings.embed_url or OPENAI, "an openai: embedder")
    if base == OPENAI and settings.embed_key is None:
        raise ConfigError(
            "OpenAI wants a key and none is set.",
            hint=f"Set {KEY}, or name another server with url= in the embedder's name or in KEDGE_EMBED_URL.",
        )
    endpoint = Endpoint(base, settings.embed_key, KEY, settings.model_timeout, backoff)
    spec = _spec(url, model, given)
    return OpenAIEmbedder(spec, endpoint, _counter(given.get("tokenizer", ""), endpoint, spec.batch))


def _spec(url: str, model: str, given: dict[str, str]) -> ServedEmbedder:
    known = find(model) or KnownModel((), 0, WINDOW)
    dimension = number(given, "dim", 0, 65_536) or None
    if known.dimension and dimension and dimension != known.dimension:
        _check_cut(model, known, dimension)
    return ServedEmbedder(
        name=url,
        model=model,
        window=number(given, "window", known.window),
        query_prefix=given.get("query_prefix", known.query_prefix),
        text_prefix=given.get("text_prefix", known.text_prefix),
        native=known.dimension or None,
        dimension=dimension,
        batch=number(given, "batch", BATCH, 2048),
    )


def _check_cut(model: str, known: KnownModel, dimension: int) -> None:
    if dimension > known.dimension:
        raise ConfigError(
            f"{model} has {known.dimension} dimensions; it cannot give {dimension}.",
            hint="Leave dim= out, or lower it.",
        )
    if not known.cuttable:
        raise ConfigError(
            f"{model} was not trained to be cut to {dimension} dimensions.",
            hint=f"Leave dim= out (it has {known.dimension}), or choose a Matryoshka model.",
        )


def _counter(tokenizer: str, endpoint: Endpoint, batch: int) -> tokens.CountTokens:
    if tokenizer == "tei":
        return tokens.from_server(endpoint, batch)
    return tokens.from_file(tokenizer) if tokenizer else tokens.estimate
