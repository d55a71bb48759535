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
from sqlalchemy import Connection

from kedge.stores.queries import load_queries
from kedge.stores.vectors.pgvector.encode import TERM, Terms, text
from kedge.stores.vectors.pgvector.tables import PgIndex, execute

PAIR = np.dtype([("point", "<i4"), ("weight", "<f4")])
Pairs = npt.NDArray[Any]
"""Of `PAIR`."""
QUERIES = load_queries(__package__, "queries.sql")


def signed(term: int) -> int:
    """A term's id as the server's integers hold it."""
    return term - (1 << 32) if term >= 1 << 31 else term


def unsigned(term: int) -> int:
    """The way back."""
    return term % (1 << 32)


def add(connection: Connection, index: PgIndex, tenant: str, first: int, held: Sequence[Terms]) -> None:
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


def remove(connection: Connection, index: PgIndex, tenant: str, gone: Sequence[tuple[int, Terms]]) -> None:
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
    held = execute(connection, QUERIES["postings_that_hold"], values, postings=index.postings)
    for term, first, address, packed in held:
        pairs = np.frombuffer(packed, dtype=PAIR)
        rest = pairs[~np.isin(pairs["point"], numbers)]
        addresses.append(address)
        if len(rest):
            left.append((term, first, rest.tobytes()))
    execute(connection, QUERIES["clear_postings"], {"addresses": addresses}, postings=index.postings)
    _insert(connection, index, tenant, left)


def _insert(connection: Connection, index: PgIndex, tenant: str, rows: Sequence[tuple[int, int, bytes]]) -> None:
    if rows:
        columns = dict(zip(("terms", "firsts", "pairs"), map(list, zip(*rows, strict=True)), strict=True))
        values = {"tenant": text(tenant), **columns}
        execute(connection, QUERIES["add_postings"], values, postings=index.postings)


def read(connection: Connection, index: PgIndex, tenant: str, terms: Sequence[int]) -> dict[int, Pairs]:
    """All points of the tenant that hold each term, with the weight."""
    values = {"terms": [signed(term) for term in terms], "tenant": text(tenant)}
    found = execute(connection, QUERIES["read_postings"], values, postings=index.postings)
    return {unsigned(term): np.frombuffer(packed, dtype=PAIR) for term, packed in found}


def counts(connection: Connection, index: PgIndex, terms: Sequence[int]) -> dict[int, int]:
    """How many points of all tenants hold each term."""
    values = {"terms": [signed(term) for term in terms]}
    found = execute(connection, QUERIES["size_of_postings"], values, postings=index.postings)
    return {unsigned(term): size // PAIR.itemsize for term, size in found}
