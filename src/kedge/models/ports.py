"""The model ports: embedders, rerankers, language models. Their docstrings are the contract."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Vectors: TypeAlias = "npt.NDArray[np.float32]"


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors of one length, each of norm 1. Equal input gives equal output."""

    @property
    def name(self) -> str:
        """The name a collection pins, e.g. `minilm`; names the model and its version, not the place it runs."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    @property
    def window(self) -> int:
        """Most tokens of one text that the model sees; what is beyond is ignored."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, in order, shape (len(texts), dimension). An empty text is a valid text.

        Raises ModelError when the model fails; never returns fewer rows.
        """

    async def embed_query(self, text: str) -> Vectors:
        """Like embed for one question, shape (dimension,), with the model's query prefix if it has one."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text by the model's tokenizer, without special tokens and without truncation."""

    async def close(self) -> None:
        """Release memory and connections. Closing twice is fine."""


@runtime_checkable
class Reranker(Protocol):
    """Scores how well each text answers the query."""

    @property
    def name(self) -> str: ...

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score in [0, 1] per text, in order; higher is better. Raises ModelError when the model fails."""

    async def close(self) -> None:
        """Release memory and connections. Closing twice is fine."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model is asked."""

    system: str
    user: str
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one call read and wrote."""

    prompt_tokens: int
    completion_tokens: int
    reported: bool = True
    """By the model; else counted here, which is a careful guess where the tokenizer is elsewhere."""


Finish = Literal["end", "length", "refused"]
"""Why a model stopped: it was done, it reached `max_tokens`, or it declined."""


@dataclass(frozen=True, slots=True)
class WrittenPiece:
    """A part of what a model writes. The last one of a call says why it ended; its text may be empty."""

    text: str
    usage: Usage | None = None
    """What the call cost; in one of the last pieces, if the model tells it at all."""
    finish: Finish | None = None


@runtime_checkable
class LanguageModel(Protocol):
    """Writes text from a prompt, piece by piece."""

    @property
    def name(self) -> str:
        """The name in the settings, without anything secret."""

    @property
    def window(self) -> int:
        """Most tokens of prompt and answer together."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, never fewer than the model counts by more than a few per cent. May block."""

    def stream(self, prompt: Prompt) -> AsyncGenerator[WrittenPiece, None]:
        """Pieces of the answer as they come; exactly the last one has a `finish`.

        Raises ModelError when the model fails or breaks off. Closing the generator, or cancelling the task that
        reads it, ends the work: the request to the server is closed.
        """

    async def close(self) -> None:
        """Release memory and connections. Closing twice is fine."""


@runtime_checkable
class VectorCache(Protocol):
    """Bytes by digest. Losing an entry costs time and nothing else, so it may forget what it likes."""

    async def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """What is kept under each key, in order; None for what is not there."""

    async def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep these; an existing key is replaced."""

    async def close(self) -> None:
        """Release file or connections. Closing twice is fine."""
