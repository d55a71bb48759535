"""What every request of a known caller goes through before its route: its rate, its clock, what the log may know."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant

from kedge.core.locks import tell_waits
from kedge.core.stages import note
from kedge.core.urls import is_loopback
from kedge.surfaces.server.deps import Caller, CallerDep, EngineDep, caller_of, engine_of, through_home, writer
from kedge.surfaces.server.traffic import Flight

HASH_CHARS = 16


def flight_of(request: Request) -> Flight:
    """The request as the edge knows it."""
    flight: Flight = request.state.flight
    return flight


async def within_limits(request: Request, caller: CallerDep, engine: EngineDep) -> None:
    """Refuse a caller that sends too much (RateError), and let the clock run for requests that only read."""
    note(tenant=engine.hashed(caller.tenant)[:HASH_CHARS])
    writes = _writes(request)
    flight = flight_of(request)
    spend(request, caller, writes=writes)
    if writes:
        tell_waits(flight.waits)
    else:
        flight.reads()


def spend(request: Request, caller: Caller, *, writes: bool) -> None:
    """Count a request of this caller. RateError."""
    flight = flight_of(request)
    address = request.client.host if request.client else ""
    local = is_loopback(address) or through_home(request)
    if caller.key_id is not None or flight.traffic.settings.rate_local or not local:
        flight.belongs_to(caller.key_id or address)
        flight.traffic.spend(caller.key_id or address, writes=writes)


async def admitted(request: Request) -> None:
    """Before anything of a request's body is read: whose it is. UnauthorizedError, or RateError for one more.

    Until that is known the request takes one of the places of the machine that it came from.
    """
    flight = flight_of(request)
    address = request.client.host if request.client else ""
    strange = not (is_loopback(address) or through_home(request))
    if strange:
        flight.belongs_to(address)
    request.state.caller = caller = await caller_of(request, await engine_of(request))
    if caller.key_id is not None:
        flight.belongs_to(caller.key_id)
    elif not strange:
        flight.forget_caller()


async def user_of(caller: CallerDep) -> str:
    """Who asks, for the analytics tables, which keep a hash of it: the key's id, or `local` without keys."""
    return caller.key_id or "local"


def _writes(request: Request) -> bool:
    """Whether the route wants the right to write."""
    dependant = getattr(request.scope.get("route"), "dependant", None)
    return isinstance(dependant, Dependant) and _wants(dependant, writer)


def _wants(dependant: Dependant, call: object) -> bool:
    return dependant.call is call or any(_wants(one, call) for one in dependant.dependencies)


UserDep = Annotated[str, Depends(user_of)]
"""Who asks."""
