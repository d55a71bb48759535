"""Servers for campaigns and benchmarks: those that `python -m tests.services start NAME…` runs, or your own.

`KEDGE_TEST_<NAME>_URL` names your own. A run keeps to tables, databases and collections of its own and removes them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager

from tests.support.paths import ROOT

SERVERS = ("postgresql", "milvus", "qdrant", "neo4j")
CATALOG, VECTORS, GRAPH = "catalog_url", "vector_url", "graph_url"
_ROOT = ROOT / ".services"


class NotRunning(Exception):
    """A server that is needed does not run here; the message says how to start it."""


def url_of(name: str) -> str:
    """URL of the running server. NotRunning."""
    own = os.environ.get(f"KEDGE_TEST_{name.upper()}_URL")
    if own:
        return own
    noted = _ROOT / name / "url"
    if not noted.exists():
        raise NotRunning(f"{name} does not run here: start it with `python -m tests.services start {name}`")
    return noted.read_text("utf-8")


def parts_of(stores: str) -> list[str]:
    """The servers in a name like `milvus+postgresql`; none for `embedded`. ValueError."""
    parts = [part for part in stores.split("+") if part not in ("embedded", "memory")]
    unknown = sorted(set(parts) - set(SERVERS))
    if unknown:
        raise ValueError(f"no such store: {', '.join(unknown)}")
    return parts


@contextmanager
def own_places(parts: Collection[str], run: str) -> Iterator[dict[str, str]]:
    """Settings that name empty places of this run on the servers; removed at the end. NotRunning.

    The catalog is in PostgreSQL if that is among the parts, vectors in Milvus or Qdrant before PostgreSQL, the graph in
    Neo4j; what is not named stays embedded. Qdrant has no server here: it is Qdrant's engine behind its REST API.
    Neo4j's only database is shared: choose tenants of your own, and drop their graphs.
    """
    found: dict[str, str] = {}
    with ExitStack() as stack:
        if "postgresql" in parts:
            found[CATALOG] = found[VECTORS] = stack.enter_context(own_schema(url_of("postgresql"), run))
        if "milvus" in parts:
            from tests.services import milvus

            server, mark, options = url_of("milvus").partition("?")
            found[VECTORS] = stack.enter_context(milvus.own_database(server, f"bench_{run}")) + mark + options
        if "qdrant" in parts:
            from tests.stores.qdrant_rest import QdrantRest

            found[VECTORS] = stack.enter_context(QdrantRest()).url
        if "neo4j" in parts:
            found[GRAPH] = f"{url_of('neo4j')}?direct=true"
        yield found


@contextmanager
def own_schema(server: str, run: str) -> Iterator[str]:
    """URL of a schema of this run."""
    import psycopg
    from psycopg.sql import SQL, Identifier

    schema = f"bench_{run}"
    try:
        yield f"{server}?schema={schema}"
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(Identifier(schema)))
