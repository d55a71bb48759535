"""The kinds of knowledge, by name."""

from __future__ import annotations

from kedge.errors import UsageError
from kedge.ingest.kind import Kind


def kind_named(name: str) -> Kind:
    """The kind, or an error that lists those there are."""
    from kedge.kinds.documents import DocumentsKind
    from kedge.kinds.graphs import GraphKind

    kinds: dict[str, Kind] = {kind.name: kind for kind in (DocumentsKind(), GraphKind())}
    if name not in kinds:
        raise UsageError(f"There is no kind {name!r}.", hint=f"Known: {', '.join(kinds)}.")
    return kinds[name]
