"""The kinds of knowledge, by name."""

from __future__ import annotations

from kedge.errors import UsageError
from kedge.ingest.kind import AnyKind


def kind_named(name: str) -> AnyKind:
    """The kind, or an error that lists those there are."""
    from kedge.kinds.courses.kind import CoursesKind
    from kedge.kinds.documents import DocumentsKind
    from kedge.kinds.graphs import GraphKind
    from kedge.kinds.tables import TableKind

    known: tuple[AnyKind, ...] = (DocumentsKind(), CoursesKind(), TableKind(), GraphKind())
    kinds = {kind.name: kind for kind in known}
    if name not in kinds:
        raise UsageError(f"There is no kind {name!r}.", hint=f"Known: {', '.join(kinds)}.")
    return kinds[name]
