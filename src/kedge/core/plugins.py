"""Plug-ins: what installed packages bring to Kedge by entry point: stores, models, file formats and kinds.

Kedge's own parts come through the same door: pyproject.toml declares them in the same four groups. Nothing is imported
before it is needed, and what cannot be loaded is named and left out: it is never the end of the program.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distributions, metadata, requires
from pkgutil import resolve_name
from typing import Any

from kedge.core.errors import MissingExtraError, PluginError

log = logging.getLogger(__name__)

STORES = "kedge.stores"
"""`catalog.NAME`, `vectors.NAME`, `graph.NAME`, `nodes.NAME`, `cache.NAME`: a function (url, settings) → the store."""
MODELS = "kedge.models"
"""`embed.NAME`, `rerank.NAME`, `write.NAME`: a function (name, settings) → the model."""
FORMATS = "kedge.formats"
"""`NAME`: a `FileFormat`."""
KINDS = "kedge.kinds"
"""`NAME`: a `Kind`."""
SOURCES = "kedge.sources"
"""`SCHEME` of an address: a function (place, settings) → the connector."""
GROUPS = (STORES, MODELS, FORMATS, KINDS, SOURCES)
OWN = "kedge"
"""The package whose parts come first where two bring the same."""
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)")
_EXTRA = re.compile(r"""\bextra\s*==\s*['"](?P<extra>[\w.-]+)""")
_VALUE = re.compile(r"(?P<target>[^\s\[]*)\s*(?:\[\s*(?P<extra>[^\],\s]+))?")

Fits = Callable[[str, Any], str]
"""Says what is wrong with (name of the entry point, what it names); empty: nothing."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point of an installed package."""

    group: str
    name: str
    """Unique in its group."""
    target: str
    """`module:attribute`."""
    package: str
    """The distribution that brings it."""
    version: str
    """Of that distribution."""
    extra: str = ""
    """Extra of that package which brings the driver; empty when nothing more is needed."""

    @property
    def own(self) -> bool:
        """Whether it is a part of Kedge itself."""
        return self.package == OWN

    @property
    def origin(self) -> str:
        """Package and version, for people."""
        return f"{self.package} {self.version}".rstrip()

    def load(self, fits: Fits, what: str = "") -> Any:
        """What it names, called `what` in messages.

        MissingExtraError when its driver is not installed, PluginError when it cannot be loaded or does not fit.
        """
        try:
            found = resolve_name(self.target)
        except ImportError as error:
            if self.extra and (error.name or "").partition(".")[0] != self._module:
                raise MissingExtraError(what or repr(self.name), self.extra, self.package) from error
            raise self.broken(f"cannot be loaded: {_said(error)}") from error
        except (Exception, SystemExit) as error:  # a stranger's module may do anything while it is imported
            raise self.broken(f"cannot be loaded: {_said(error)}") from error
        if fault := fits(self.name, found):
            raise self.broken(f"cannot be used: {fault}")
        return found

    def broken(self, why: str) -> PluginError:
        """The error that names the plug-in and its package, and says `why` in words that follow its name."""
        todo = "Install Kedge again" if self.own else f"Update or uninstall {self.package}"
        return PluginError(
            f"The plug-in {self.name!r} of {self.origin} {why}.",
            hint=f"{todo}; `kedge doctor` lists what was found.",
            details={"plugin": self.name, "group": self.group, "package": self.package},
        )

    @property
    def _module(self) -> str:
        return self.target.partition(":")[0].partition(".")[0]


@cache
def found(group: str) -> dict[str, Plugin]:
    """All of a group by name, Kedge's own first. Of two with one name the first counts; the log tells of the other."""
    by_name: dict[str, Plugin] = {}
    for plugin in everything():
        if plugin.group == group and by_name.setdefault(plugin.name, plugin) != plugin:
            first = by_name[plugin.name].origin
            log.warning("the plug-in %r of %s is left out: %s brings one too", plugin.name, plugin.origin, first)
    return by_name


def named(group: str, name: str) -> Plugin | None:
    """One of them, if it is there."""
    return found(group).get(name)


def loaded(group: str, fits: Fits) -> dict[str, Any]:
    """All of a group that can be loaded and fit, by name, Kedge's own first; the others are told in the log."""
    usable: dict[str, Any] = {}
    for plugin in found(group).values():
        try:
            usable[plugin.name] = plugin.load(fits)
        except (MissingExtraError, PluginError) as error:
            log.warning("%s", error)
    return usable


@cache
def everything() -> tuple[Plugin, ...]:
    """All that was found, also what another one hides: Kedge's own first, then by group, name and package."""
    return tuple(sorted(_scanned(), key=lambda one: (not one.own, GROUPS.index(one.group), one.name, one.package)))


def needed_packages() -> dict[str, str | None]:
    """Version of every package that those who bring plug-ins ask for, also by the extras of plug-ins; None: not here.

    By name, in the order in which the packages that bring plug-ins ask for them, Kedge first.
    """
    extras: dict[str, set[str]] = {}
    for plugin in everything():
        extras.setdefault(plugin.package, {""}).add(plugin.extra)
    asked = {name: None for package, wanted in extras.items() for name in _asked_for(package, wanted)}
    return dict(_named_version(name) for name in asked)


def _asked_for(package: str, extras: set[str]) -> Iterator[str]:
    """Names of the packages that it asks for by itself ("") and with these extras."""
    for line in _required_by(package):
        asked, extra = _REQUIREMENT.match(line), _EXTRA.search(line)
        if asked is not None and (extra["extra"] if extra else "") in extras:
            yield asked["name"]


def _required_by(package: str) -> list[str]:
    try:
        return requires(package) or []
    except PackageNotFoundError:  # its metadata has no name to be found by
        return []


def _named_version(name: str) -> tuple[str, str | None]:
    """Under the name by which it is asked for, with the capitals that the package gives itself."""
    try:
        described = metadata(name)
    except PackageNotFoundError:
        return name, None
    own = str(described["Name"])
    return own if own.lower() == name.lower() else name, str(described["Version"])


def resolved(target: str, wanted: str = "") -> Any | None:
    """What a kind names as `module` or `module:attribute` for a surface; None, told in the log, when it is broken.

    `wanted` is the name of the class that it has to be an object of; empty: of any.
    """
    found, fault = tried(target, wanted)
    if fault:
        log.warning("%s is left out: %s", target, fault)
    return found


def tried(target: str, wanted: str = "") -> tuple[Any | None, str]:
    """The same, or None and what is wrong with it."""
    try:
        found = resolve_name(target)
    except (Exception, SystemExit) as error:  # noqa: BLE001 (a stranger's module may do anything while it is imported)
        return None, _said(error)
    if wanted and wanted not in (base.__name__ for base in type(found).__mro__):
        return None, f"it is of the type {type(found).__name__}, no {wanted}"
    return found, ""


def _scanned() -> Iterator[Plugin]:
    """One look at all installed packages. Of two copies of one package the first on the path counts, as for imports."""
    seen: set[str] = set()
    for package in distributions():
        if "[kedge." not in (package.read_text("entry_points.txt") or ""):
            continue  # nearly all of them: not worth taking apart
        try:
            brought = _brought(package)
        except Exception as error:  # noqa: BLE001 (what stands in a stranger's metadata can be anything)
            log.warning("the entry points of a package cannot be read: %s", _said(error))
            continue
        if brought and brought[0].package not in seen:
            seen.add(brought[0].package)
            yield from brought


def _brought(package: Distribution) -> list[Plugin]:
    described = package.metadata
    name, version = str(described["Name"]), str(described["Version"])
    plugins = []
    for entry in package.entry_points:
        value = _VALUE.match(entry.value)
        assert value is not None  # every part of the pattern may be empty
        if entry.group in GROUPS:
            plugins.append(Plugin(entry.group, entry.name, value["target"], name, version, value["extra"] or ""))
    return plugins


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ").rstrip(".")
