"""The kinds of knowledge, by name."""

from __future__ import annotations

from kedge.errors import UsageError
from kedge.ingest.kind import Kind


def kind_named(name: str) -> Kind:
    """The kind, or an error that lists those there are."""
    from kedge.kinds.courses.kind import CoursesKind
    from kedge.kinds.documents import DocumentsKind

    every: tuple[Kind, ...] = (DocumentsKind(), CoursesKind())
    kinds = {kind.name: kind for kind in every}
    if name not in kinds:
        raise UsageError(f"There is no kind {name!r}.", hint=f"Known: {', '.join(kinds)}.")
    return kinds[name]
