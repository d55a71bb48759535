"""What installed packages bring to Kedge, and what of it cannot be used: for `kedge doctor`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from kedge.core.errors import MissingExtraError, PluginError
from kedge.core.opening import factory_fault
from kedge.core.plugins import FORMATS, GROUPS, KINDS, MODELS, SOURCES, STORES, Fits, Plugin, everything, found, tried
from kedge.ingest.parse.formats import format_fault
from kedge.kinds import kind_fault

FITS: Mapping[str, Fits] = {
    STORES: factory_fault,
    MODELS: factory_fault,
    FORMATS: format_fault,
    KINDS: kind_fault,
    SOURCES: factory_fault,
}
NOUNS: Mapping[str, str] = {STORES: "store", MODELS: "model", FORMATS: "format", KINDS: "kind", SOURCES: "source"}


@dataclass(frozen=True, slots=True)
class PluginState:
    """A plug-in, and whether it can be used."""

    plugin: Plugin
    fault: str = ""
    """Why it cannot be used, wholly or in part; empty: nothing is known against it."""
    todo: str = ""
    """What to do about the fault."""
    broken: bool = False
    """Whether that is its package's fault; else something is missing that nobody may want."""

    @property
    def what(self) -> str:
        """Its noun with its name: `kind letters`."""
        return f"{NOUNS[self.plugin.group]} {self.plugin.name}"


def own_parts() -> str:
    """How many parts of each group Kedge itself brings; empty where its metadata is not found."""
    counts = Counter(plugin.group for plugin in everything() if plugin.own)
    return ", ".join(f"{counts[group]} {NOUNS[group]}s" for group in GROUPS if counts[group])


def others() -> list[PluginState]:
    """What other packages bring, by group and name. All of it is loaded."""
    return [_state(plugin) for plugin in everything() if not plugin.own]


def _state(plugin: Plugin) -> PluginState:
    first = found(plugin.group)[plugin.name]
    update = f"Update or uninstall {plugin.package}."
    if first != plugin:
        return PluginState(plugin, f"is left out: {first.origin} brings one of the same name", update, broken=True)
    try:
        loaded = plugin.load(FITS[plugin.group])
    except MissingExtraError as error:
        return PluginState(plugin, error.message, error.hint)
    except PluginError as error:
        return PluginState(plugin, error.message, update, broken=True)
    if plugin.group == KINDS:
        for target, wanted in loaded.surfaces.targets():
            _, fault = tried(target, wanted)
            if fault:
                return PluginState(plugin, f"{target} is left out: {fault}", update, broken=True)
    return PluginState(plugin)
