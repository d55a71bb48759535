"""What routes need from the app and the request. The tenant is decided here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request

from kedge.config import Settings
from kedge.engine import Engine
from kedge.errors import ForbiddenError, UnauthorizedError, UsageError
from kedge.keys import key_of
from kedge.telemetry import Metrics
from kedge.types import DEFAULT_TENANT, Right


def engine_of(request: Request) -> Engine:
    """The engine that the app's lifespan opened."""
    engine: Engine = request.app.state.engine
    return engine


def settings_of(request: Request) -> Settings:
    """The app's settings."""
    settings: Settings = request.app.state.settings
    return settings


def metrics_of(request: Request) -> Metrics:
    """The app's metrics."""
    metrics: Metrics = request.app.state.metrics
    return metrics


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, by the credential alone."""

    tenant: str
    right: Right
    key_id: str | None = None
    """None: the local user of a server without keys."""


async def caller_of(request: Request, engine: Annotated[Engine, Depends(engine_of)]) -> Caller:
    """The caller. Once a key was made every request needs one; before, the server is the local user's own."""
    keys = engine.stores.catalog.keys
    if not await keys.exist():
        return Caller(DEFAULT_TENANT, Right.ADMIN)
    token = _token(request)
    if token is None:
        raise UnauthorizedError("This server wants a key.", hint="Send it as: Authorization: Bearer kdg_…")
    key = await key_of(token, keys)
    return Caller(key.tenant, key.right, key.id)


def _token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return request.headers.get("x-api-key")


CallerDep = Annotated[Caller, Depends(caller_of)]


def reader(caller: CallerDep) -> str:
    """The tenant of a caller who may read: bound to the credential, never to a field of the request."""
    return _allowed(caller, Right.READ)


def writer(caller: CallerDep) -> str:
    """The tenant of a caller who may write."""
    return _allowed(caller, Right.WRITE)


def _allowed(caller: Caller, wanted: Right) -> str:
    if not caller.right.allows(wanted):
        raise ForbiddenError(
            f"This key may only {caller.right.value}.", hint=f"Use a key with the right to {wanted.value}."
        )
    return caller.tenant


def own_origin(request: Request) -> None:
    """Refuse what another site's page sends through the user's browser: it could write into a local server."""
    origin = request.headers.get("origin")
    if origin in settings_of(request).cors_origins:
        return
    if origin and urlsplit(origin).netloc != request.headers.get("host"):
        raise UsageError(
            f"Requests from pages of {origin[:200]} are not accepted.",
            hint="Call the API from your own server, or add the origin to the setting cors_origins.",
        )


def local_paths_allowed(request: Request, settings: Settings, caller: Caller) -> bool:
    """May this request name files of the server's machine? Only an administrator on the machine itself may."""
    if not caller.right.allows(Right.ADMIN):
        return False
    client = request.client.host if request.client else ""
    named = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    return all(map(is_loopback, (settings.host, client, named)))


def is_loopback(host: str) -> bool:
    """Is this a name or address of the machine itself?"""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


EngineDep = Annotated[Engine, Depends(engine_of)]
SettingsDep = Annotated[Settings, Depends(settings_of)]
MetricsDep = Annotated[Metrics, Depends(metrics_of)]
TenantDep = Annotated[str, Depends(reader)]
"""Whose data a reading request is about."""
WriterDep = Annotated[str, Depends(writer)]
"""Whose data a changing request is about."""
