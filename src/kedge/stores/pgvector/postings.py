"""Which points hold a term, and with what weight: for BM25.

One row holds the points that one call wrote under one term: pairs of a point's number and the weight, packed. A point's
number grows with every write, so the rows of a term hold ranges that never overlap, and the row of a point is the last
one that begins at or before it. Against a row for each pair this takes a quarter of the space and of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from psycopg.sql import SQL
from sqlalchemy import Connection

from kedge.stores.pgvector.encode import TERM, Terms, text
from kedge.stores.pgvector.tables import Index, execute

PAIR = np.dtype([("point", "<i4"), ("weight", "<f4")])
Pairs = npt.NDArray[Any]
"""Of `PAIR`."""

_ADD = SQL(
    "INSERT INTO {postings} (term, tenant, first, pairs) SELECT term, %(tenant)s, first, pairs"
    " FROM unnest(%(terms)s::int4[], %(firsts)s::int4[], %(pairs)s::bytea[]) AS new (term, first, pairs)"
)
# Every lookup is a subquery with a limit, and rows are deleted by their address: as a join, the server would plan it by
# statistics that know nothing of a tenant that has just come.
_HOLDING = SQL(
    "SELECT wanted.term, wanted.first, held.address, held.pairs FROM (SELECT DISTINCT gone.term, place.first"
    " FROM unnest(%(terms)s::int4[], %(points)s::int4[]) AS gone (term, point)"
    " CROSS JOIN LATERAL (SELECT first FROM {postings} WHERE term = gone.term AND tenant = %(tenant)s"
    " AND first <= gone.point ORDER BY first DESC LIMIT 1) AS place) AS wanted"
    " CROSS JOIN LATERAL (SELECT ctid::text AS address, pairs FROM {postings} WHERE term = wanted.term"
    " AND tenant = %(tenant)s AND first = wanted.first LIMIT 1) AS held"
)
_CLEAR = SQL("DELETE FROM {postings} WHERE ctid = ANY(%(addresses)s::tid[])")
_READ = SQL(
    "SELECT term, string_agg(pairs, '') FROM {postings}"
    " WHERE term = ANY(%(terms)s::int4[]) AND tenant = %(tenant)s GROUP BY term"
)
_COUNT = SQL(
    "SELECT term, sum(octet_length(pairs))::bigint FROM {postings} WHERE term = ANY(%(terms)s::int4[]) GROUP BY term"
)


def signed(term: int) -> int:
    """A term's id as the server's integers hold it."""
    return term - (1 << 32) if term >= 1 << 31 else term


def unsigned(term: int) -> int:
    """The way back."""
    return term % (1 << 32)


def add(connection: Connection, index: Index, tenant: str, first: int, held: Sequence[Terms]) -> None:
    """Note the terms of new points, which are numbered from `first` on, above all that were added before."""
    together = np.concatenate(held) if held else np.empty(0, dtype=TERM)
    if not len(together):
        return
    terms = together["term"]
    pairs = np.empty(len(terms), dtype=PAIR)
    pairs["point"] = np.repeat(np.arange(first, first + len(held)), [len(one) for one in held])
    pairs["weight"] = together["weight"]
    order = np.argsort(terms, kind="stable")
    terms, pairs = terms[order], pairs[order]
    starts = np.flatnonzero(np.concatenate(([True], terms[1:] != terms[:-1])))
    packed = [part.tobytes() for part in np.split(pairs, starts[1:])]
    firsts = pairs["point"][starts].tolist()
    _insert(connection, index, tenant, list(zip(terms[starts].tolist(), firsts, packed, strict=True)))


def remove(connection: Connection, index: Index, tenant: str, gone: Sequence[tuple[int, Terms]]) -> None:
    """Forget points, given as number and terms."""
    numbers = [number for number, _ in gone]
    values: dict[str, Any] = {
        "tenant": text(tenant),
        "terms": [term for _, terms in gone for term in terms["term"].tolist()],
        "points": [number for number, terms in gone for _ in terms],
    }
    if not values["terms"]:
        return
    addresses: list[str] = []
    left: list[tuple[int, int, bytes]] = []
    for term, first, address, packed in execute(connection, _HOLDING.format(postings=index.postings), values):
        pairs = np.frombuffer(packed, dtype=PAIR)
        rest = pairs[~np.isin(pairs["point"], numbers)]
        addresses.append(address)
        if len(rest):
            left.append((term, first, rest.tobytes()))
    execute(connection, _CLEAR.format(postings=index.postings), {"addresses": addresses})
    _insert(connection, index, tenant, left)


def _insert(connection: Connection, index: Index, tenant: str, rows: Sequence[tuple[int, int, bytes]]) -> None:
    if rows:
        columns = dict(zip(("terms", "firsts", "pairs"), map(list, zip(*rows, strict=True)), strict=True))
        execute(connection, _ADD.format(postings=index.postings), {"tenant": text(tenant), **columns})


def read(connection: Connection, index: Index, tenant: str, terms: Sequence[int]) -> dict[int, Pairs]:
    """All points of the tenant that hold each term, with the weight."""
    values = {"terms": [signed(term) for term in terms], "tenant": text(tenant)}
    found = execute(connection, _READ.format(postings=index.postings), values)
    return {unsigned(term): np.frombuffer(packed, dtype=PAIR) for term, packed in found}


def counts(connection: Connection, index: Index, terms: Sequence[int]) -> dict[int, int]:
    """How many points of all tenants hold each term."""
    values = {"terms": [signed(term) for term in terms]}
    found = execute(connection, _COUNT.format(postings=index.postings), values)
    return {unsigned(term): size // PAIR.itemsize for term, size in found}
