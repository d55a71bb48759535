"""`kedge key create|list|revoke`. These open the catalog alone, so they also work beside a running server."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from kedge.core.errors import NotFoundError
from kedge.core.outside import to_json
from kedge.core.values import DEFAULT_TENANT, ApiKey, NewKey, Right
from kedge.engine.access.keys import make_key
from kedge.stores.catalog.ports import Keys
from kedge.surfaces.cli.cataloged import with_catalog
from kedge.surfaces.cli.common import CommandRun, command
from kedge.surfaces.cli.tables import plain_table

app = typer.Typer(no_args_is_help=True)


@command(app, "create")
def create(
    run: CommandRun,
    *,
    name: Annotated[str, typer.Argument(help="Who or what uses it.")],
    right: Annotated[Right, typer.Option(help="What it allows; each holds those before it.")] = Right.READ,
    tenant: Annotated[str, typer.Option(help="Whose data it opens.")] = DEFAULT_TENANT,
    days: Annotated[
        int | None, typer.Option(min=1, max=36_500, help="Days until it expires; never if not given.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(help="Whom it acts for: reads what user:NAME may. Without: what everybody may.")
    ] = None,
    groups: Annotated[list[str] | None, typer.Option("--group", help="A group of the user; repeatable.")] = None,
) -> None:
    """Make a key for the HTTP API and show it once. From the first key on, every request needs one."""
    token, key = make_key(tenant, name, right, days, user=user, groups=groups or ())
    with_catalog(run.settings(), lambda catalog: catalog.keys.put(key))
    if run.json:
        run.emit(to_json(NewKey(key, token)))
        return
    run.out.print(token, markup=False, highlight=False)
    run.note(f"Keep it now: it is not shown again. It lets {key.name} {key.right.value} as tenant {key.tenant}.")


@command(app, "list")
def list_(run: CommandRun) -> None:
    """List keys, never their secrets."""
    found = with_catalog(run.settings(), lambda catalog: catalog.keys.all())
    if run.json:
        run.emit([to_json(key) for key in found])
        return
    table = plain_table("id", "name", "tenant", "user", "groups", "right", "state", "created", "expires")
    for key in found:
        expires = key.expires_at.isoformat(" ", "minutes") if key.expires_at else "-"
        created = key.created_at.isoformat(" ", "minutes")
        who = (key.tenant, key.user or "-", ", ".join(key.groups) or "-")
        table.add_row(key.id, key.name, *who, key.right.value, key.state, created, expires)
    run.out.print(table)


@command(app, "revoke")
def revoke(run: CommandRun, key_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the key.")]) -> None:
    """Revoke a key, at once and for good."""

    async def work(keys: Keys) -> ApiKey:
        key = await keys.get(key_id)
        if key is None:
            raise NotFoundError(f"There is no key {key_id}.", hint="`kedge key list` shows all.")
        revoked = replace(key, revoked_at=key.revoked_at or datetime.now(UTC))
        await keys.put(revoked)
        return revoked

    key = with_catalog(run.settings(), lambda catalog: work(catalog.keys))
    if run.json:
        run.emit(to_json(key))
    else:
        run.out.print(f"revoked {key.id} ({key.name})", markup=False)
