"""Kedge answers questions over your own knowledge and anchors every answer to its sources.

The public names load on first use: `import kedge` alone loads nothing, and the clients load no engine.

Modules that have moved keep their former names (`_FORMER`): `import kedge.client` gives `kedge.surfaces.client` itself,
the same module object, so that classes, `isinstance` and pickles are the same under both names.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

from kedge._version import __version__

if TYPE_CHECKING:
    from types import ModuleType

    from kedge.engine.blocking import Kedge as Kedge
    from kedge.surfaces.client import AsyncKedgeClient as AsyncKedgeClient
    from kedge.surfaces.client import KedgeClient as KedgeClient

__all__ = ["AsyncKedgeClient", "Kedge", "KedgeClient", "__version__"]

_PLACES = {
    "Kedge": "kedge.engine.blocking",
    "KedgeClient": "kedge.surfaces.client",
    "AsyncKedgeClient": "kedge.surfaces.client",
}
"""Where each public name is defined."""
_FORMER = {"kedge.client": "kedge.surfaces.client", "kedge.integrations": "kedge.surfaces.integrations"}
"""Former name of a package → its name now. Their modules follow: `kedge.integrations.langchain`."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module("kedge.surfaces.notebook")  # values are shown by it
    value: object = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})


class _FormerNames:
    """Finds and loads modules under their former names. It comes first in `sys.meta_path`: the folder of a package that
    has two names would be searched under both, and its modules loaded twice."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        former = ".".join(name.split(".")[:2])
        return ModuleSpec(name, self) if former in _FORMER else None  # type: ignore[arg-type]  # it is a loader

    def create_module(self, spec: ModuleSpec) -> None:
        """An empty one, which gives way."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module that is meant into its place: that is what the import returns."""
        former = ".".join(module.__name__.split(".")[:2])
        sys.modules[module.__name__] = import_module(_FORMER[former] + module.__name__.removeprefix(former))


sys.meta_path.insert(0, _FormerNames())
