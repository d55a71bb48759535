"""What a passage must be before anything of it is written (D-39), in the words of the design.

The least size is kept by the chunker, which joins what is smaller, and not refused here: a short document is one
passage, and kinds whose sources are short by nature (questions and answers, rows) make passages of their size.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kedge.core.errors import NotFoundError, UsageError
from kedge.core.values import Json, Passage
from kedge.models.ports import Vectors

LEAST_TOKENS = 100
MOST_TOKENS = 2000


def check_passages(passages: Sequence[Passage], documents: Collection[str]) -> None:
    """UsageError for a passage that is empty or too long; NotFoundError for one whose document is not there."""
    for passage in passages:
        if not passage.text.strip():
            raise UsageError("Chunk content cannot be empty", hint="Leave it out.", details=_place(passage))
        if passage.token_count > MOST_TOKENS:
            raise _size(passage)
        if passage.document_id not in documents:
            raise NotFoundError("Document not found", hint="Begin the document first.", details=_place(passage))


def check_vectors(vectors: Vectors, dimension: int) -> None:
    """UsageError for vectors of another length than the collection's."""
    if len(vectors) and vectors.shape[1] != dimension:
        raise UsageError(
            f"Embedding must be {dimension} dimensions",
            hint="Use the embedder that the collection was made with, or re-index it with another.",
            details={"found": int(vectors.shape[1]), "expected": dimension},
        )


def _size(passage: Passage) -> UsageError:
    details: dict[str, Json] = {**_place(passage), "tokens": passage.token_count}
    return UsageError(
        f"Chunk must be {LEAST_TOKENS}-{MOST_TOKENS} tokens", hint="Cut the text into passages.", details=details
    )


def _place(passage: Passage) -> dict[str, Json]:
    return {"document_id": passage.document_id, "index": passage.index}
