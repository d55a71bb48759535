"""Connectors are opened by address: its scheme says which plug-in reads it. Drivers load on first use."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from kedge.core.errors import KedgeError, UsageError
from kedge.core.opening import factory_fault, scheme_of
from kedge.core.plugins import SOURCES, found, named
from kedge.core.settings import Settings
from kedge.core.untrusted import fault_in_line
from kedge.core.urls import mask_url
from kedge.ingest.connectors.ports import YES, Connector, SourceAddress

FOLDER, ARCHIVE, SITE = "file", "zip", "https"
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:")
_LOCAL = (FOLDER, ARCHIVE, "git+file")
MAX_ADDRESS = 2000
_OWN_SECRETS = {"s3": ("key",), "gs": ("token",), "az": ("key", "sas_token", "connection_string")}
"""By scheme: secrets without which the vendor's driver looks for some of the machine's own."""


def schemes() -> list[str]:
    """Those that something installed reads, sorted."""
    return sorted(found(SOURCES))


def address(given: str) -> str:
    """The address of a source as it is kept: a path becomes absolute. UsageError for one that holds a secret, or that
    nothing reads."""
    given = given.strip()
    if not given or len(given) > MAX_ADDRESS or fault_in_line(given):
        raise UsageError("The address of a source is one line of text.", hint="Give a folder or an address.")
    if not _ADDRESS.match(given) or (len(given) > 1 and given[1] == ":"):
        return Path(given).expanduser().resolve().as_posix()
    scheme, _, rest = given.partition(":")
    given = f"{scheme.lower()}:{rest}"  # what it may lead to is told by it
    try:
        parts = urlsplit(given)
        _ = parts.port
    except ValueError as error:
        raise UsageError(f"{mask_url(given)} is no address.", hint="Check its spelling.") from error
    if "@" in parts.netloc or mask_url(given) != given:
        raise UsageError(
            f"{mask_url(given)} carries a user or a secret, and addresses are shown.",
            hint="Leave it out, and give --option user=NAME and --secret password=env:NAME.",
        )
    if parts.scheme == FOLDER and parts.netloc in ("", "localhost"):
        return Path(parts.path).as_posix()
    if named(SOURCES, scheme_of(given)) is None:
        raise UsageError(
            f"Nothing reads {scheme_of(given)!r} addresses as a source.", hint=f"Known: {', '.join(schemes())}."
        )
    return given


def is_local(url: str) -> bool:
    """Whether the address of a source leads into this machine's own files."""
    return not _ADDRESS.match(url) or url.lower().startswith(tuple(f"{scheme}:" for scheme in _LOCAL))


def signs_in_as_machine(place: SourceAddress) -> bool:
    """Whether the driver would sign in as the machine it runs on does: by profiles, roles and keys of its user."""
    scheme = _scheme(place.url)
    if scheme == "git":
        return place.url.startswith("git+ssh:") and "private_key" not in place.secrets
    enough = _OWN_SECRETS.get(scheme)
    anonymous = place.text("anonymous").lower() in YES
    return enough is not None and not anonymous and place.secrets.keys().isdisjoint(enough)


def open_connector(place: SourceAddress, settings: Settings) -> Connector:
    """The connector for an address. It connects to nothing before it is asked to list.

    UsageError for an address, an option or a secret that it does not know, MissingExtraError that names the extra,
    PluginError for one that is broken.
    """
    scheme = _scheme(place.url)
    plugin = named(SOURCES, scheme)
    if plugin is None:
        raise UsageError(f"Nothing reads {scheme!r} addresses as a source.", hint=f"Known: {', '.join(schemes())}.")
    make = plugin.load(factory_fault, f"The source {scheme!r}")
    try:
        made = make(place, settings)
    except KedgeError:
        raise
    except Exception as error:
        if plugin.own:
            raise
        raise plugin.broken(f"cannot be opened: {type(error).__name__}") from error
    if not isinstance(made, Connector):
        raise plugin.broken(f"cannot be used: what it made is of the type {type(made).__name__}, no Connector")
    return made


def _scheme(url: str) -> str:
    if not _ADDRESS.match(url):
        return ARCHIVE if url.lower().endswith(".zip") else FOLDER
    return scheme_of(url)
