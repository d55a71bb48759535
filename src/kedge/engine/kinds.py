"""The kinds of one engine, opened: found by name, asked in turn, and never named here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pkgutil import resolve_name
from typing import TypeVar

from kedge.core.errors import KedgeError, PluginError, UsageError
from kedge.core.plugins import KINDS, named
from kedge.core.settings import Settings
from kedge.core.values import Collection
from kedge.kinds import installed, kind_named
from kedge.kinds.ports import Kind, KindFiles, OpenKind, Parts

log = logging.getLogger(__name__)
O = TypeVar("O", bound=OpenKind)  # noqa: E741


class OpenKinds:
    """By name. A kind is opened when it is first asked for; `start` opens those that have something to start.

    One of another package that cannot be opened is told in the log and left out: the others work on.
    """

    def __init__(self, settings: Settings, parts: Callable[[], Parts]) -> None:
        """`parts` is called when the first kind is opened."""
        self._settings = settings
        self._parts = parts
        self._open: dict[str, OpenKind] = {}
        self._broken: dict[str, PluginError] = {}

    def named(self, name: str) -> OpenKind:
        """The kind of that name. UsageError that lists those there are, PluginError for one that is broken."""
        if name in self._broken:
            raise self._broken[name]
        if name not in self._open:
            with self._naming(name):
                self._open[name] = kind_named(name).open(self._parts())
        return self._open[name]

    def opened(self, kind: Kind[O]) -> O:
        """The same, typed: what `kind` itself opens."""
        found = self.named(kind.name)
        assert found.kind is kind, f"two kinds are called {kind.name}"
        return found  # type: ignore[return-value]  # `named` opened it with `kind.open`

    def of(self, collection: Collection) -> OpenKind:
        """The kind of a collection. UsageError where the package that brings it is not installed."""
        if collection.kind not in installed():
            raise UsageError(
                f"Collection {collection.scope.collection!r} holds {collection.kind}, which nothing installed knows.",
                hint="Install the package that brings this kind; `kedge doctor` lists what was found.",
            )
        return self.named(collection.kind)

    def find(self, name: str) -> OpenKind | None:
        """The kind of that name, or None where the package that brings it is broken or not installed."""
        return self.named(name) if name in installed() and name not in self._broken else None

    def open_all(self) -> None:
        """Open every kind now rather than when it is first asked for. A broken one is told of when it is."""
        for name in installed():
            with suppress(PluginError):
                self.named(name)

    async def start(self) -> None:
        """The engine has been opened."""
        for name, kind in installed().items():
            if not kind.starts(self._settings):
                continue
            with suppress(PluginError), self._naming(name):
                await self.named(name).start()

    async def close(self) -> None:
        """The engine is being closed."""
        for name, kind in self._open.items():
            with suppress(PluginError), self._naming(name):
                await kind.close()

    @contextmanager
    def _naming(self, name: str) -> Iterator[None]:
        """Whatever a kind of another package raises, but an error of Kedge, becomes a PluginError that names it."""
        plugin = named(KINDS, name)
        try:
            yield
        except KedgeError:
            raise
        except Exception as error:
            if plugin is None or plugin.own:
                raise
            self._broken[name] = plugin.broken(f"cannot be opened: {type(error).__name__}: {error}")
            log.warning("%s", self._broken[name])
            log.debug("where it failed", exc_info=error)
            raise self._broken[name] from error


@cache
def kind_files() -> dict[str, KindFiles]:
    """By kind: what looks after its files in a home."""
    return {name: resolve_name(kind.files) for name, kind in installed().items() if kind.files}
