"""Stores and models are opened by URL or name: its scheme says which plug-in makes it. Drivers load on first use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kedge.core.errors import ConfigError, KedgeError
from kedge.core.plugins import Plugin, found, named
from kedge.core.settings import Settings
from kedge.core.urls import mask_url

P = TypeVar("P")
NOT_INSTALLED = "Kedge's own parts are not there: install it again, in a checkout with `pip install -e .`"


@dataclass(frozen=True, slots=True)
class Opener(Generic[P]):
    """Opens what is registered as `PART.SCHEME` in a group of plug-ins."""

    group: str
    part: str
    """First half of the plug-ins' names."""
    what: str
    """What messages call it."""
    port: Any
    """The protocol that it keeps, `P` itself."""

    def open(self, name: str, settings: Settings) -> P:
        """What the plug-in makes of (name, settings).

        ConfigError that lists the known ones, MissingExtraError that names the extra, PluginError for a broken one.
        """
        scheme = scheme_of(name)
        plugin = named(self.group, f"{self.part}.{scheme}")
        if plugin is None:
            hint = f"Known: {', '.join(self.schemes())}." if self._installed() else NOT_INSTALLED
            raise ConfigError(f"There is no {self.what} named {mask_url(scheme)!r}.", hint=hint)
        make = plugin.load(factory_fault, f"The {self.what} {scheme!r}")
        made: P = make(name, settings) if plugin.own else self._checked(plugin, make, name, settings)
        return made

    def schemes(self) -> list[str]:
        """Those there are, sorted."""
        return sorted(name.partition(".")[2] for name in found(self.group) if name.startswith(f"{self.part}."))

    def faults(self, setting: str, value: str, also: Sequence[str] = ()) -> list[str]:
        """The fault of a setting that names what nobody knows, with those that are known: for `load_settings`."""
        scheme, known = scheme_of(value), (*also, *self.schemes())
        if not value or scheme in known:
            return []
        if not self._installed():
            return [f"{setting}: {NOT_INSTALLED}"]
        return [f"{setting}: there is no {mask_url(scheme)!r}, known are {', '.join(known)}"]

    def _installed(self) -> bool:
        return any(plugin.own for plugin in found(self.group).values())

    def _checked(self, plugin: Plugin, make: Any, name: str, settings: Settings) -> Any:
        """What a stranger's function makes, if it is what it should be."""
        try:
            made = make(name, settings)
        except KedgeError:
            raise
        except Exception as error:
            raise plugin.broken(f"cannot be opened: {type(error).__name__}: {mask_url(str(error))}") from error
        if not isinstance(made, self.port):
            kind, wanted = type(made).__name__, self.port.__name__
            raise plugin.broken(f"cannot be used: what it made is of the type {kind}, no {wanted}")
        return made


def scheme_of(name: str) -> str:
    """The part of a URL or name that says what it is: `postgresql` of `postgresql+psycopg://…`, `hash` of `hash:64`."""
    return name.partition(":")[0].partition("+")[0].partition("?")[0]


def factory_fault(_name: str, factory: Any) -> str:
    """What is wrong with what a store or model names: it has to be a function."""
    return "" if callable(factory) else f"what it names is of the type {type(factory).__name__}, no function"
