"""Calls about sources that collections stay in step with."""

from __future__ import annotations

from collections.abc import Mapping

from kedge.core.outside import from_json
from kedge.core.values import Accepted, ConnectedSource, Json, SourceList
from kedge.surfaces.client.endpoints import calls, nothing, reads
from kedge.surfaces.client.wire import ClientCall, at

ONE = "/api/sources/{name}"


@calls("GET /api/sources")
def sources() -> ClientCall[list[ConnectedSource]]:
    """All sources by name, with their last runs."""
    return ClientCall("GET", "/api/sources", lambda found: list(from_json(SourceList, found).sources))


@calls("POST /api/sources")
def add_source(
    url: str,
    *,
    collection: str | None = None,
    name: str = "",
    every: str = "0",
    options: Mapping[str, Json] | None = None,
    secrets: Mapping[str, str] | None = None,
) -> ClientCall[ConnectedSource]:
    """Connect a source. `every`: `15m`, `6h`; `secrets`: references such as `{"password": "env:NAME"}`."""
    body = {
        "url": url,
        "collection": collection,
        "name": name,
        "every": every,
        "options": dict(options or {}),
        "secrets": dict(secrets or {}),
    }
    return ClientCall("POST", "/api/sources", reads(ConnectedSource), body=body)


@calls("GET /api/sources/{name}")
def source(name: str) -> ClientCall[ConnectedSource]:
    """One source with its last run. NotFoundError."""
    return ClientCall("GET", at(ONE, name=name), reads(ConnectedSource))


@calls("POST /api/sources/{name}/sync")
def sync_source(name: str, *, confirm: bool = False) -> ClientCall[Accepted]:
    """Queue a run; `wait` for the job. `confirm`: what is gone may be taken out, however much it is."""
    return ClientCall("POST", at(f"{ONE}/sync", name=name), reads(Accepted), {"confirm": confirm})


@calls("DELETE /api/sources/{name}")
def remove_source(name: str, *, documents: bool = False) -> ClientCall[None]:
    """Forget a source; with `documents`, take out what came from it alone."""
    return ClientCall("DELETE", at(ONE, name=name), nothing, {"documents": documents})
