"""What routes need from the app and the request. The tenant is decided here and nowhere else.

All are `async`, though they wait for nothing: FastAPI would send plain functions to a thread, each of them, each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request

from kedge.core.acting import AS, act_as
from kedge.core.errors import ForbiddenError, UnauthorizedError, UsageError
from kedge.core.ids import sha256
from kedge.core.settings import Settings
from kedge.core.telemetry import Metrics
from kedge.core.urls import is_loopback
from kedge.core.values import DEFAULT_TENANT, Actor, Right, parse_actor
from kedge.engine.access.keys import PREFIX, key_of
from kedge.engine.engine import Engine

FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
"""What a proxy adds: the request began on another machine, though it comes from this one."""


async def engine_of(request: Request) -> Engine:
    """The engine that the app's lifespan opened."""
    engine: Engine = request.app.state.engine
    return engine


async def settings_of(request: Request) -> Settings:
    """The app's settings."""
    settings: Settings = request.app.state.settings
    return settings


async def metrics_of(request: Request) -> Metrics:
    """The app's metrics."""
    metrics: Metrics = request.app.state.metrics
    return metrics


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, by the credential alone."""

    tenant: str
    right: Right
    key_id: str | None = None
    """Of the key, or made from the user of the token; None: the local user of a server without keys."""
    actor: Actor | None = None
    """For whom, as the credential says; None: the owner of the home, who reads all."""


def through_home(request: Request) -> bool:
    """Did it come through the socket in the home, which only the user that owns the home can open?"""
    path, port = request.scope.get("server") or ("", 0)
    return port is None and path == request.app.state.socket


async def caller_of(request: Request, engine: Annotated[Engine, Depends(engine_of)]) -> Caller:
    """The caller. Once a key was made or an issuer is set, every request needs a credential; before, the server is the
    local user's own. Who owns the home needs none, as commands of theirs on the home itself do not."""
    known = getattr(request.state, "caller", None)  # since before the body was read
    caller = known if isinstance(known, Caller) else await _caller(request, engine)
    act_as(caller.actor)
    return caller


async def _caller(request: Request, engine: Engine) -> Caller:
    if through_home(request):
        said = request.headers.get(AS)
        return Caller(DEFAULT_TENANT, Right.ADMIN, actor=None if said is None else parse_actor(said))
    keys, tokens, sent = engine.stores.catalog.keys, request.app.state.tokens, _token(request)
    if tokens is None and not await keys.exist():
        return _local_user(request)
    if sent is None:
        what = "a key" if tokens is None else "a key or a token"
        raise UnauthorizedError(f"This server wants {what}.", hint="Send it as: Authorization: Bearer kdg_…")
    if tokens is not None and not sent.startswith(PREFIX):
        who = await tokens.identity(sent)
        id = f"user-{sha256(f'{who.tenant} {who.subject}')[:16]}"
        return Caller(who.tenant, who.right, id, who.actor)
    key = await key_of(sent, keys)
    return Caller(key.tenant, key.right, key.id, key.actor)


def _local_user(request: Request) -> Caller:
    """Whoever reaches a server without keys by a name of its own machine. Another name may belong to a page elsewhere
    that had its own name lead here, so that the browser takes the server for a part of that page."""
    settings: Settings = request.app.state.settings
    if not settings.open_access and not is_loopback(_named_host(request)):
        raise UnauthorizedError(
            "Without keys, this server is for its own machine alone.",
            hint="Call it as http://127.0.0.1, or make a key with `kedge key create NAME`.",
        )
    return Caller(DEFAULT_TENANT, Right.ADMIN)


def _named_host(request: Request) -> str:
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    except ValueError:
        return ""


def _token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return request.headers.get("x-api-key")


CallerDep = Annotated[Caller, Depends(caller_of)]


async def reader(caller: CallerDep) -> str:
    """The tenant of a caller who may read: bound to the credential, never to a field of the request."""
    return allowed(caller, Right.READ)


async def writer(caller: CallerDep) -> str:
    """The tenant of a caller who may write."""
    return allowed(caller, Right.WRITE)


async def administrator(caller: CallerDep) -> str:
    """The tenant of a caller who also looks after the server itself."""
    return allowed(caller, Right.ADMIN)


def allowed(caller: Caller, wanted: Right) -> str:
    """The tenant of a caller who has this right. ForbiddenError."""
    if not caller.right.allows(wanted):
        raise ForbiddenError(
            f"This needs the right {wanted.value}; yours is {caller.right.value}.",
            hint="Use a key or a token with more rights.",
        )
    return caller.tenant


async def own_origin(request: Request) -> None:
    """Refuse what another site's page sends through the user's browser: it could write into a local server."""
    origin = request.headers.get("origin")
    if origin in request.app.state.settings.cors_origins:
        return
    if origin and _site(origin) != request.headers.get("host"):
        raise UsageError(
            f"Requests from pages of {origin[:200]} are not accepted.",
            hint="Call the API from your own server, or add the origin to the setting cors_origins.",
        )


def _site(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # no address at all
        return ""


def local_paths_allowed(request: Request, settings: Settings, caller: Caller) -> bool:
    """May this request name files of the server's machine? Only an administrator on the machine itself may."""
    if not caller.right.allows(Right.ADMIN):
        return False
    if through_home(request):
        return True
    client = request.client.host if request.client else ""
    forwarded = any(name in request.headers for name in FORWARDED)
    return not forwarded and all(map(is_loopback, (settings.host, client, _named_host(request))))


EngineDep = Annotated[Engine, Depends(engine_of)]
SettingsDep = Annotated[Settings, Depends(settings_of)]
MetricsDep = Annotated[Metrics, Depends(metrics_of)]
TenantDep = Annotated[str, Depends(reader)]
"""Whose data a reading request is about."""
WriterDep = Annotated[str, Depends(writer)]
"""Whose data a changing request is about."""
AdminDep = Annotated[str, Depends(administrator)]
"""The tenant of who may also see figures of the whole server."""
