"""What the actor in force may see of the catalog, as conditions of its statements (`kedge.core.acting`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, select, true

from kedge.core.acting import actor
from kedge.core.ids import sha256
from kedge.core.values import PUBLIC, Readers, Scope
from kedge.stores.batches import batches
from kedge.stores.catalog.sql.database import upsert
from kedge.stores.catalog.sql.schema import documents
from kedge.stores.catalog.sql.schema_rights import audience_readers, audiences, reading_rules


def seen() -> ColumnElement[bool]:
    """True for a row of `documents` that the actor in force may read, as may its collection."""
    who = actor()
    if who is None:
        return true()
    own = documents.c.audience.is_(None) | _among(documents.c.audience, who.principals)
    shut = and_(
        reading_rules.c.tenant == documents.c.tenant,
        reading_rules.c.collection == documents.c.collection,
        reading_rules.c.label == "",
        ~_among(reading_rules.c.audience, who.principals),
    )
    return own & ~exists(select(reading_rules.c.label).where(shut))


def of_seen(statement: Select[Any]) -> Select[Any]:
    """The statement over what the actor in force may read; itself where all is read, as making another costs more than
    running it."""
    return statement if actor() is None else statement.where(seen())


def is_shut(connection: Connection, scope: Scope) -> bool:
    """Whether the actor in force may not read the collection at all."""
    who = actor()
    if who is None:
        return False
    here = (reading_rules.c.tenant == scope.tenant) & (reading_rules.c.collection == scope.collection)
    said = connection.execute(select(reading_rules.c.readers).where(here, reading_rules.c.label == "")).scalar()
    return said is not None and not who.may_read(tuple(said))


_MEMBERS: dict[str, Readers] = {}
"""Readers by audience. An audience is called by a digest of its readers, so what is known of it holds for ever."""
_MOST_MEMBERS = 100_000


def readable(connection: Connection, found: Collection[str | None]) -> set[str | None]:
    """Those of the audiences that the actor in force belongs to; None, everybody, is always one."""
    who = actor()
    named = {one for one in found if one is not None}
    if who is None:
        return {None, *named}
    if len(_MEMBERS) > _MOST_MEMBERS:
        _MEMBERS.clear()
    known = {one: _MEMBERS[one] for one in named & _MEMBERS.keys()}
    if unknown := named - known.keys():
        read = _members(connection, sorted(unknown))
        _MEMBERS.update(read)
        known |= read
    return {None, *(one for one, principals in known.items() if who.may_read(principals))}


def _members(connection: Connection, named: Sequence[str]) -> dict[str, Readers]:
    members: dict[str, Readers] = {}
    columns = (audience_readers.c.audience, audience_readers.c.principal)
    for ids in batches(named):
        for row in connection.execute(select(*columns).where(audience_readers.c.audience.in_(ids))):
            members[row.audience] = (*members.get(row.audience, ()), row.principal)
    return members


def shut_collections(tenant: str) -> Select[tuple[str]]:
    """Names of the tenant's collections that the actor in force may not read at all."""
    who = actor()
    principals = () if who is None else who.principals
    return select(reading_rules.c.collection).where(
        reading_rules.c.tenant == tenant,
        reading_rules.c.label == "",
        ~_among(reading_rules.c.audience, principals) if who is not None else ~true(),
    )


def unseen_counts(connection: Connection, tenant: str) -> dict[str, tuple[int, int]]:
    """By collection: how many live documents and passages of it the actor in force may not see."""
    who = actor()
    if who is None:
        return {}
    # One look at all audiences of these principals: asked for each audience by itself, it took most of a search's time.
    mine = audience_readers.c.principal.in_(list(who.principals))
    readable = select(audience_readers.c.audience).where(mine)
    rows = connection.execute(
        select(audiences.c.collection, func.sum(audiences.c.live_documents), func.sum(audiences.c.live_passages))
        .where(audiences.c.tenant == tenant, audiences.c.live_documents > 0)
        .where(audiences.c.id.not_in(readable))
        .group_by(audiences.c.collection)
    )
    return {row[0]: (int(row[1]), int(row[2])) for row in rows}


def audience_of(connection: Connection, scope: Scope, readers: Readers | None) -> str | None:
    """The audience that these readers of a collection are, made if need be; None for everybody."""
    if readers is None or PUBLIC in readers:
        return None
    made = sha256("\x1f".join((scope.tenant, scope.collection, *readers)))[:40]
    row = {"id": made, "tenant": scope.tenant, "collection": scope.collection}
    upsert(connection, audiences, [row], ())
    upsert(connection, audience_readers, [{"audience": made, "principal": one} for one in readers], ())
    return made


def _among(audience: ColumnElement[str], principals: Sequence[str]) -> ColumnElement[bool]:
    """Whether one of the principals belongs to the audience."""
    member = (audience_readers.c.audience == audience) & audience_readers.c.principal.in_(list(principals))
    return exists(select(audience_readers.c.principal).where(member))
