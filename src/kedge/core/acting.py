"""Who acts: put into the context of the work where it enters, asked for by the stores wherever they read.

A surface knows the credential and says once for whom it works; the catalog, which is asked at the end of every way out,
gives nothing that this actor may not read. It travels into tasks and threads, so that no part, and no kind of another
package, has to hand it on or can forget to. Nobody is named in the work of the local owner and of Kedge itself
(jobs, checks, backups): those see all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kedge.core.values.access import Actor

AS = "x-kedge-as"
"""Header by which the owner of a home, on the socket in it, asks as somebody else. Nobody else's is looked at."""
_ACTOR: ContextVar[Actor | None] = ContextVar("kedge_actor", default=None)


def actor() -> Actor | None:
    """For whom the work at hand is done; None: for the owner, or for Kedge itself."""
    return _ACTOR.get()


def act_as(who: Actor | None) -> None:
    """From here on the work of this task, and of what it starts, is done for this actor: for the edge of a server."""
    _ACTOR.set(who)


@contextmanager
def acting_as(who: Actor | None) -> Iterator[None]:
    """Do the block for this actor. Not around a `yield` of an async generator, whose caller has another context."""
    token = _ACTOR.set(who)
    try:
        yield
    finally:
        _ACTOR.reset(token)


def called(who: Actor | None, key: str) -> str:
    """How the audit log calls somebody: by user, else by the key; `owner` for who owns the home."""
    if who is None:
        return "owner"
    return f"user:{who.user}" if who.user is not None else key
