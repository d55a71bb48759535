"""Who may do what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from kedge.core.errors import UsageError
from kedge.core.outside import outside
from kedge.core.values.base import Scope

PUBLIC = "public"
"""The principal that everybody of the tenant is."""
MAX_READERS = 200
"""Principals of one document."""
MAX_GROUPS = 500
"""Groups of one actor."""
Readers: TypeAlias = tuple[str, ...]
"""Principals that may read something, in the order of their characters; none: only the owner of the home may."""
_PRINCIPAL = re.compile(r"(?:user|group):[^\x00-\x1f\x7f,\s](?:[^\x00-\x1f\x7f,]{0,198}[^\x00-\x1f\x7f,\s])?")


def checked_readers(principals: Sequence[str]) -> Readers:
    """The principals as they are kept: each once, in order; `public` alone where it is among them. UsageError.

    >>> checked_readers(["user:ann", "group:board", "user:ann"])
    ('group:board', 'user:ann')
    >>> checked_readers(["group:board", "public"])
    ('public',)
    """
    said = {one.strip() for one in principals}
    for one in sorted(said):
        if one != PUBLIC and not _PRINCIPAL.fullmatch(one):
            raise UsageError(
                f"{one[:100]!r} is no principal.", hint="Write user:NAME, group:NAME or public; names have no comma."
            )
    if len(said) > MAX_READERS:
        raise UsageError(f"{len(said)} readers are too many.", hint=f"At most {MAX_READERS}: make a group of them.")
    return (PUBLIC,) if PUBLIC in said else tuple(sorted(said))


def parse_readers(text: str) -> Readers:
    """Readers as the command line and an environment have them: joined by commas. UsageError where none is named."""
    named = [one for one in text.split(",") if one.strip()]
    if not named:
        raise UsageError("No reader is named.", hint="For instance: user:ann,group:board, or public.")
    return checked_readers(named)


@dataclass(frozen=True, slots=True)
class Actor:
    """For whom something is done: what the credential says of them, and nothing else."""

    user: str | None = None
    """Name of the user, without `user:`."""
    groups: frozenset[str] = field(default_factory=frozenset)
    """Names of their groups, without `group:`."""

    @property
    def principals(self) -> Readers:
        """All that they are, `public` too, in order."""
        own = [f"group:{name}" for name in self.groups]
        own += [f"user:{self.user}"] if self.user is not None else []
        return tuple(sorted([*own, PUBLIC]))

    def may_read(self, readers: Readers | None) -> bool:
        """Whether what has these readers may be read; None: nobody was ever named, so everybody may."""
        return readers is None or not set(readers).isdisjoint(self.principals)


@dataclass(frozen=True, slots=True)
class Narrowed:
    """That an actor sees a part of a collection: what the stores of its indexes are asked for then."""

    principals: Readers
    """All that the actor is."""
    unsettled: tuple[str, ...]
    """Documents whose points may name former readers: the catalog alone decides on these."""


@outside()
@dataclass(frozen=True, slots=True)
class LabelReaders:
    """Who may read the nodes of a type in a graph."""

    label: str
    readers: tuple[str, ...]


@outside()
@dataclass(frozen=True, slots=True)
class CollectionReaders:
    """Who may read a collection, and what is in it by its type."""

    collection: str
    readers: tuple[str, ...] | None
    """Of the whole; None: everybody of the tenant."""
    labels: tuple[LabelReaders, ...] = ()

    @classmethod
    def of(cls, collection: str, rules: Mapping[str, Readers]) -> CollectionReaders:
        """From the rules as the catalog has them: that of the whole under the empty label."""
        labels = tuple(LabelReaders(label, readers) for label, readers in sorted(rules.items()) if label)
        return cls(collection, rules.get(""), labels)


@outside({"collection": "scope.collection"})
@dataclass(frozen=True, slots=True)
class Hold:
    """A legal hold: a document that is neither deleted nor replaced before it is released."""

    document_id: str
    scope: Scope
    reason: str
    held_by: str
    since: datetime


@outside()
@dataclass(frozen=True, slots=True)
class Released:
    """A document whose hold ended."""

    released: str
    """Its id."""


@outside()
@dataclass(frozen=True, slots=True)
class AccessChecked:
    """Whether somebody may read a document, and why."""

    document_id: str
    title: str
    principals: tuple[str, ...]
    """All that the asked-about user is, as far as it was said."""
    allowed: bool
    why: str
    """In one sentence."""
    readers: tuple[str, ...] | None
    """Of the document; None: nobody was ever named, so everybody may read it."""
    collection_readers: tuple[str, ...] | None
    """Of its collection; None: everybody."""
    hold: str | None = None
    """The reason for which it is held."""


@outside()
@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One question or search: who asked it, and which documents were cited or shown."""

    id: str
    tenant: str
    at: datetime
    who: str
    """`user:NAME` where the credential names one, else the key."""
    action: str
    """ask or search."""
    collection: str
    query_id: str | None
    words_hash: str
    """Stands for the words, the same for the same words."""
    documents: tuple[str, ...]
    """Ids of the documents that were cited (ask) or found (search)."""
    words: str | None = None
    """Where the setting `audit_words` keeps them."""


@outside()
@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries of the audit log, newest first."""

    entries: tuple[AuditEntry, ...]
    limit: int


@outside()
@dataclass(frozen=True, slots=True)
class DocumentTraces:
    """What is kept of the use of one document, beside the document itself."""

    document_id: str
    audit_entries: int
    """Entries of the audit log that name it."""
    queries: int
    """Questions of the analytics whose answers cited it."""
    conversation_turns: int
    """Answers in kept conversations that quote it."""
    hold: str | None = None
    erased: bool = False
    """Whether these are gone now."""


@outside()
@dataclass(frozen=True, slots=True)
class AccessReport:
    """What is kept, for how long, and what is held back from being deleted."""

    audit_days: float
    """Days for which the audit log is kept; 0: nothing is written."""
    audit_entries: int
    audit_words: bool
    """Whether questions are kept in words."""
    analytics_days: float
    conversation_days: float
    restricted_documents: int
    """Documents that not everybody may read."""
    restricted_collections: tuple[str, ...]
    """Collections that not everybody may read."""
    holds: tuple[Hold, ...]
    document: DocumentTraces | None = None
    """Of the document that was asked about."""


def parse_actor(text: str) -> Actor:
    """`user:ann,group:board` as an actor. UsageError for anything else."""
    named = [one for one in parse_readers(text) if one != PUBLIC]
    users = [one.partition(":")[2] for one in named if one.startswith("user:")]
    if len(users) > 1:
        raise UsageError("Only one user can act at a time.", hint="For instance: user:ann,group:board.")
    groups = frozenset(one.partition(":")[2] for one in named if one.startswith("group:"))
    return Actor(users[0] if users else None, groups)


class Right(StrEnum):
    """What a key allows; each holds those before it."""

    READ = "read"
    """Ask, search, look, rate answers."""
    WRITE = "write"
    """Take in, change and delete knowledge."""
    ADMIN = "admin"
    """Name files of the server's machine, and see the figures of the whole server: for who runs it. For the tenant
    `default`, also fetch backups of everything."""

    def allows(self, wanted: Right) -> bool:
        """Whether this right is enough."""
        rights = list(Right)
        return rights.index(self) >= rights.index(wanted)


@outside({"state": "state"}, hidden=("digest",))
@dataclass(frozen=True, slots=True)
class ApiKey:
    """A credential as the catalog knows it: never the secret itself."""

    id: str
    tenant: str
    """Whose data it opens."""
    name: str
    """For people: who or what uses it."""
    right: Right
    digest: str
    """SHA-256 of the secret, which is random and long."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    user: str | None = None
    """For whom it acts; None: for nobody in particular, who reads what everybody may."""
    groups: tuple[str, ...] = ()
    """Groups that its user is in."""

    @property
    def actor(self) -> Actor:
        """Who asks with it."""
        return Actor(self.user, frozenset(self.groups))

    def valid(self, now: datetime) -> bool:
        """Whether it still opens anything."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def state(self) -> Literal["valid", "expired", "revoked"]:
        """What becomes of a request with it, now."""
        if self.revoked_at is not None:
            return "revoked"
        return "valid" if self.valid(datetime.now(UTC)) else "expired"


@outside(spread="made")
@dataclass(frozen=True, slots=True)
class NewKey:
    """A key at the moment it is made: the only one at which its secret is known."""

    made: ApiKey
    key: str
    """What callers send. It is not kept, and not shown again."""
