"""The kinds of knowledge: a package each, found by the entry point `kedge.kinds`, Kedge's own like those of others."""

from __future__ import annotations

from functools import cache
from typing import Any

from kedge.core.errors import UsageError
from kedge.core.plugins import KINDS, loaded
from kedge.kinds.ports import Kind, OpenKind, Surfaces, Units

__all__ = ["installed", "kind_fault", "kind_named"]


@cache
def installed() -> dict[str, Kind[OpenKind]]:
    """All kinds that can be used by name, Kedge's own first. What is no kind is told in the log and left out."""
    return loaded(KINDS, kind_fault)


def kind_named(name: str) -> Kind[OpenKind]:
    """The kind. UsageError that lists those there are."""
    kind = installed().get(name)
    if kind is None:
        raise UsageError(f"There is no kind {name!r}.", hint=f"Known: {', '.join(installed())}.")
    return kind


def kind_fault(name: str, found: Any) -> str:
    """What is wrong with what an entry point of that name names; empty: it is a kind."""
    if not isinstance(found, Kind):
        return f"what it names is of the type {type(found).__name__}, no Kind"
    if getattr(found, "name", "") != name:
        return f"the kind calls itself {getattr(found, 'name', '')!r}"
    for attribute, wanted in (("surfaces", Surfaces), ("units", Units)):
        if not isinstance(getattr(found, attribute), wanted):
            return f"its {attribute} are no {wanted.__name__}"
    return ""
