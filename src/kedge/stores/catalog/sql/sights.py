"""What an actor sees of a collection as a whole, remembered for as long as it is so.

A collection has a state of its rights: a text that was never there before, written by every transaction that changes
what somebody sees of the collection (readers of documents and collections, restricted documents that come or go, what
the index knows of either). What is known of an actor is kept under that state, read in the same transaction: what was
remembered is used only while it holds, also where another process writes to the same database.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock
from uuid import uuid4

from sqlalchemy import Connection, bindparam, func, select, update

from kedge.core.values import Actor, Narrowed, Scope
from kedge.stores.catalog.sql.schema import collections
from kedge.stores.catalog.sql.schema_rights import audience_readers, audiences, reading_rules, unsettled_documents

MOST = 1_000_000
"""Audiences that are remembered, of all actors and states together."""
_HERE = (collections.c.tenant == bindparam("of_tenant"), collections.c.name == bindparam("of_name"))
_STATE = select(collections.c.rights_state).where(*_HERE)
_RULE = select(reading_rules.c.readers).where(
    reading_rules.c.tenant == bindparam("of_tenant"),
    reading_rules.c.collection == bindparam("of_name"),
    reading_rules.c.label == "",
)
_UNSETTLED = (
    select(unsettled_documents.c.document_id)
    .where(
        unsettled_documents.c.tenant == bindparam("of_tenant"),
        unsettled_documents.c.collection == bindparam("of_name"),
    )
    .order_by(unsettled_documents.c.document_id)
)
_COUNTS = (audiences.c.live_documents, audiences.c.live_passages)
_RESTRICTED = select(*(func.coalesce(func.sum(count), 0) for count in _COUNTS)).where(
    audiences.c.tenant == bindparam("of_tenant"), audiences.c.collection == bindparam("of_name")
)
_OWN = (
    select(audiences.c.id, *_COUNTS)
    .distinct()
    .join(audience_readers, audience_readers.c.audience == audiences.c.id)
    .where(
        audience_readers.c.principal.in_(bindparam("principals", expanding=True)),
        audiences.c.tenant == bindparam("of_tenant"),
        audiences.c.collection == bindparam("of_name"),
    )
)


@dataclass(frozen=True, slots=True)
class ActorSight:
    """What an actor sees of a collection."""

    shut: bool
    """Nothing: it is for others as a whole."""
    named: bool
    """Whether the actor is among those for whom it is as a whole, by a rule of its own."""
    audiences: frozenset[str]
    """To which the actor belongs, of those of its documents."""
    hidden: tuple[int, int]
    """Live documents and passages that are for others."""
    unsettled: tuple[str, ...]
    """Documents whose points may name former readers."""

    def narrowed(self, who: Actor) -> Narrowed | None:
        """What the indexes are asked for; None where that is all of the collection."""
        whole = not self.hidden[0] and not self.unsettled
        return None if whole else Narrowed(who.principals, self.unsettled)


class _RememberedSights:
    """The sights that were asked for last, from several threads."""

    def __init__(self) -> None:
        self._sights: dict[tuple[Actor, Scope, str], ActorSight] = {}
        self._lock = Lock()
        self._held = 0

    def get(self, asked: tuple[Actor, Scope, str]) -> ActorSight | None:
        with self._lock:
            found = self._sights.pop(asked, None)
            if found is not None:
                self._sights[asked] = found  # from now on the last in order
            return found

    def keep(self, asked: tuple[Actor, Scope, str], sight: ActorSight) -> None:
        with self._lock:
            if asked not in self._sights:
                self._sights[asked] = sight
                self._held += 1 + len(sight.audiences)
            while self._held > MOST and len(self._sights) > 1:
                oldest = self._sights.pop(next(iter(self._sights)))
                self._held -= 1 + len(oldest.audiences)


_KNOWN = _RememberedSights()


def sight_of(connection: Connection, who: Actor, scope: Scope, state: str | None = None) -> ActorSight:
    """What the actor sees of the collection; `state`: of its rights, where this transaction has read it already."""
    place = {"of_tenant": scope.tenant, "of_name": scope.collection}
    if state is None:
        state = connection.execute(_STATE, place).scalar() or ""
    known = _KNOWN.get((who, scope, state))
    if known is not None:
        return known
    rule = connection.execute(_RULE, place).scalar()
    own = connection.execute(_OWN, {**place, "principals": list(who.principals)}).all()
    every = connection.execute(_RESTRICTED, place).one()
    admitted = rule is None or who.may_read(tuple(rule))
    found = ActorSight(
        shut=not admitted,
        named=admitted and rule is not None,
        audiences=frozenset(row.id for row in own),
        hidden=(every[0] - sum(row.live_documents for row in own), every[1] - sum(row.live_passages for row in own)),
        unsettled=tuple(connection.execute(_UNSETTLED, place).scalars()),
    )
    if state:  # none where there is no such collection
        _KNOWN.keep((who, scope, state), found)
    return found


def new_state() -> str:
    """A state that no collection's rights were ever in."""
    return uuid4().hex


def changed(connection: Connection, scopes: Iterable[Scope]) -> None:
    """From the end of this transaction on, nothing holds that was remembered of these collections."""
    for scope in dict.fromkeys(scopes):
        place = {"of_tenant": scope.tenant, "of_name": scope.collection}
        connection.execute(update(collections).where(*_HERE).values(rights_state=new_state()), place)
