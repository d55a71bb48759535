"""`kedge key create|list|revoke`. These open the catalog alone, so they also work beside a running server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, TypeVar

import typer

from kedge import registry
from kedge.cli.common import Session, command
from kedge.cli.tables import plain_table
from kedge.config import Settings
from kedge.errors import NotFoundError
from kedge.keys import make_key
from kedge.stores.catalog.base import Keys
from kedge.types import DEFAULT_TENANT, ApiKey, Json, Right

T = TypeVar("T")
app = typer.Typer(no_args_is_help=True)


@command(app, "create")
def create(
    session: Session,
    name: Annotated[str, typer.Argument(help="Who or what uses it.")],
    right: Annotated[Right, typer.Option(help="What it allows; each holds those before it.")] = Right.READ,
    tenant: Annotated[str, typer.Option(help="Whose data it opens.")] = DEFAULT_TENANT,
    days: Annotated[
        int | None, typer.Option(min=1, max=36_500, help="Days until it expires; never if not given.")
    ] = None,
) -> None:
    """Make a key for the HTTP API and show it once. From the first key on, every request needs one."""
    token, key = make_key(tenant, name, right, days)
    _with_keys(session.settings(), lambda keys: keys.put(key))
    if session.json:
        session.emit({**_json(key), "key": token})
        return
    session.out.print(token, markup=False, highlight=False)
    session.note(f"Keep it now: it is not shown again. It lets {key.name} {key.right.value} as tenant {key.tenant}.")


@command(app, "list")
def list_(session: Session) -> None:
    """List keys, never their secrets."""
    found = _with_keys(session.settings(), lambda keys: keys.all())
    if session.json:
        session.emit([_json(key) for key in found])
        return
    table = plain_table("id", "name", "tenant", "right", "state", "created", "expires")
    for key in found:
        expires = key.expires_at.isoformat(" ", "minutes") if key.expires_at else "-"
        created = key.created_at.isoformat(" ", "minutes")
        table.add_row(key.id, key.name, key.tenant, key.right.value, _state(key), created, expires)
    session.out.print(table)


@command(app, "revoke")
def revoke(session: Session, key_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the key.")]) -> None:
    """Revoke a key, at once and for good."""

    async def work(keys: Keys) -> ApiKey:
        key = await keys.get(key_id)
        if key is None:
            raise NotFoundError(f"There is no key {key_id}.", hint="`kedge key list` shows all.")
        revoked = replace(key, revoked_at=key.revoked_at or datetime.now(UTC))
        await keys.put(revoked)
        return revoked

    key = _with_keys(session.settings(), work)
    if session.json:
        session.emit(_json(key))
    else:
        session.out.print(f"revoked {key.id} ({key.name})", markup=False)


def _with_keys(settings: Settings, work: Callable[[Keys], Awaitable[T]]) -> T:
    async def opened() -> T:
        catalog = registry.open_catalog(settings)
        try:
            return await work(catalog.keys)
        finally:
            await catalog.close()

    return asyncio.run(opened())


def _state(key: ApiKey) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "valid" if key.valid(datetime.now(UTC)) else "expired"


def _json(key: ApiKey) -> dict[str, Json]:
    return {
        "id": key.id,
        "name": key.name,
        "tenant": key.tenant,
        "right": key.right.value,
        "state": _state(key),
        "created_at": key.created_at.isoformat(),
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
        "revoked_at": key.revoked_at.isoformat() if key.revoked_at else None,
    }
