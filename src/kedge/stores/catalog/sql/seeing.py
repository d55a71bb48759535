"""What the actor in force may see of the catalog, as conditions of its statements (`kedge.core.acting`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, select, true

from kedge.core.acting import actor
from kedge.core.ids import sha256
from kedge.core.values import PUBLIC, Readers, Scope
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


def keeps_from(connection: Connection, scope: Scope) -> bool:
    """Whether a document of the collection is not for the actor in force, be it shown, in work or gone."""
    who = actor()
    if who is None:
        return False
    hidden = documents.c.audience.is_not(None) & ~_among(documents.c.audience, who.principals)
    here = (documents.c.tenant == scope.tenant) & (documents.c.collection == scope.collection)
    return connection.execute(select(documents.c.id).where(here, hidden).limit(1)).first() is not None


def named_collections(connection: Connection, tenant: str) -> set[str]:
    """Names of the tenant's collections that have readers as a whole."""
    own = (reading_rules.c.tenant == tenant) & (reading_rules.c.label == "")
    return set(connection.execute(select(reading_rules.c.collection).where(own)).scalars())


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
