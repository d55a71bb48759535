"""What is measured of a foreign table before anything is asked of it: a sample of its stored vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kedge.core.errors import DimensionMismatchError
from kedge.core.values import Collection
from kedge.models.ports import Embedder
from kedge.stores.ports import ForeignTable
from kedge.stores.vectors.rules import unit

SAMPLE = 20
"""Rows whose vectors are measured."""
EMBEDDED = 5
"""Of these, rows whose text is embedded anew and compared."""
TEXT_CHARS = 2000
"""Of a text, that are embedded for it."""
ALIKE = 0.5
"""Mean cosine from which on the stored vectors may be the model's own: those of other models are near 0."""
_LENGTH_ERROR = 0.01


@dataclass(frozen=True, slots=True)
class Measured:
    """What a sample says of a table."""

    rows: int
    embedded: int
    """Rows that have a vector."""
    unit: bool
    """The vectors are of length 1, so that a dot product is a cosine."""
    likeness: float | None
    """Mean cosine of stored vectors and those that the collection's model makes of the same texts."""

    def notes(self, where: str, model: str) -> list[str]:
        """What whoever uses the table should know."""
        said = [f"{self.embedded:,} rows of {where} are searched where they are; nothing was copied."]
        if self.rows > self.embedded:
            said.append(f"{self.rows - self.embedded:,} rows have no vector and are not found.")
        if not self.unit:
            said.append("The stored vectors are not of length 1: rows are compared by VECTOR_COSINE.")
        if self.likeness is not None and self.likeness < ALIKE:
            said.append(
                f"The stored vectors do not look as if {model!r} made them (mean cosine {self.likeness:.2f} with its "
                "own for the same texts): searches will find little. Name their model with the setting embedder."
            )
        return said


async def measure(table: ForeignTable, collection: Collection, embedder: Embedder) -> Measured:
    """Look at a sample. DimensionMismatchError where a stored vector has not the length that the model gives."""
    rows, embedded = await table.count()
    sample = [row for row in await table.sample(SAMPLE) if row.vector is not None]
    for row in sample:
        if row.vector is not None and len(row.vector) != collection.dimension:
            raise DimensionMismatchError.stored(
                found=len(row.vector),
                expected=collection.dimension,
                collection=collection.scope.collection,
                model=collection.embedder,
                where=table.shown,
            )
    lengths = [float(np.linalg.norm(row.vector)) for row in sample if row.vector is not None]
    some = [row for row in sample if row.text.strip()][:EMBEDDED]
    made = await embedder.embed([row.text[:TEXT_CHARS] for row in some]) if some else ()
    cosines = [
        float(unit(row.vector) @ unit(own)) for row, own in zip(some, made, strict=True) if row.vector is not None
    ]
    return Measured(
        rows,
        embedded,
        unit=all(abs(length - 1.0) < _LENGTH_ERROR for length in lengths),
        likeness=sum(cosines) / len(cosines) if cosines else None,
    )
