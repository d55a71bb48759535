"""Homes as they were at an earlier revision of the schema: its tables made by its own migrations, with real rows."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic.script import ScriptDirectory

from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query
from kedge.engine.backup.copying import _index_words
from kedge.engine.engine import Engine
from kedge.stores.catalog.sql import postgresql, sqlite
from kedge.stores.catalog.sql.database import read_url
from kedge.stores.catalog.sql.postgresql import create_schema
from kedge.stores.catalog.sql.schema import metadata
from kedge.stores.catalog.sql.upgrade import SCRIPTS, migrate
from kedge.stores.graph.nodes import Edge, Node
from tests.engine.backup.made import GRAPH, SEA, TABLE, settings_of
from tests.support.surfaces import QUESTION, write_corpus

REVISIONS = sorted(script.revision for script in ScriptDirectory(str(SCRIPTS)).walk_revisions())
"""Every one that there is, oldest first: a new migration is tested from all before it without a change here."""


def fill(home: Path, folder: Path, *, graph: bool) -> dict[str, Any]:
    """A home of today with documents and a table, and a user's graph; returns what it says."""
    write_corpus(folder)
    (folder.parent / "prices.csv").write_text("name,price\nkedge,10\nbower,50\n", "utf-8")

    async def take_in() -> dict[str, Any]:
        async with Engine.open(settings_of(home)) as engine:
            await engine.ingest(IngestRequest(SEA, (str(folder),)))
            await engine.delete_document(DEFAULT_TENANT, (await engine.documents(SEA))[-1].id)
            await engine.ingest(IngestRequest(SEA, (str(folder),)))
            await engine.ingest(IngestRequest(TABLE, (str(folder.parent / "prices.csv"),), kind="table"))
            asked = await engine.ask(Query(QUESTION, SEA))
            await engine.feedback(DEFAULT_TENANT, asked.query_id, 4)
            if graph:
                await engine.kinds.named("graph").nodes.create(GRAPH, Node("ada", "Person", "Ada"))
                await engine.kinds.named("graph").nodes.create(GRAPH, Node("hms", "Ship", "Surprise"))
                await engine.kinds.named("graph").nodes.create_edge(GRAPH, Edge("", "ada", "hms", "serves_on"))
            return await told(engine)

    return asyncio.run(take_in())


def engine_of(url: str) -> sa.Engine:
    parsed = read_url(url)
    if parsed.get_backend_name() == "sqlite":
        return sqlite.open_engine(parsed, 1).execution_options(**{sqlite.WRITES: True})
    server = postgresql.parse(parsed)
    engine = postgresql.open_engine(server, 1, "catalog").execution_options(**{sqlite.WRITES: True})
    with engine.begin() as connection:
        create_schema(connection, server.schema)
    return engine


def tables_at(revision: str, url: str) -> dict[str, set[str]]:
    """Make an empty database of that revision; its tables and their columns."""
    engine = engine_of(url)
    try:
        migrate(engine, revision)
        looked = sa.inspect(engine)
        return {name: {column["name"] for column in looked.get_columns(name)} for name in looked.get_table_names()}
    finally:
        engine.dispose()


def make_old(today: Path, home: Path, revision: str, url: str) -> dict[str, set[str]]:
    """A copy of today's home whose catalog is at that revision and holds the rows that could be there."""
    shutil.copytree(today, home, ignore=shutil.ignore_patterns("catalog.db*", "lock"), dirs_exist_ok=True)
    tables = tables_at(revision, url)
    source, target = engine_of(f"sqlite:///{today / 'catalog.db'}"), engine_of(url)
    try:
        with source.begin() as rows, target.begin() as old:
            for table in metadata.sorted_tables:
                columns = [column for column in table.columns if column.name in tables.get(table.name, ())]
                missing = tables.get(table.name, set()) - {column.name for column in table.columns}
                assert not missing, f"{table.name} of {revision} has {missing}: say here how its rows looked"
                found = [dict(row) for row in rows.execute(sa.select(*columns)).mappings()] if columns else []
                if found:
                    into: Any = sa.table(table.name, *(sa.column(one.name, one.type) for one in columns))
                    old.execute(sa.insert(into), found)
            if "concepts" in tables:
                _index_words(old)
            if old.dialect.name == "postgresql":
                _continue(old, tables)
    finally:
        source.dispose()
        target.dispose()
    return tables


def _continue(connection: sa.Connection, tables: dict[str, set[str]]) -> None:
    """As if the rows had been written one by one."""
    for name in (
        table.name for table in metadata.sorted_tables if table.name in tables and "seq" in tables[table.name]
    ):
        step = f"SELECT setval(pg_get_serial_sequence('{name}', 'seq'), (SELECT max(seq) FROM {name}))"
        connection.execute(sa.text(step))


async def told(engine: Engine) -> dict[str, Any]:
    """What a home says about its documents, its table and its graph."""
    found: dict[str, Any] = {}
    for document in await engine.documents(SEA):
        whole, passages = await engine.document(DEFAULT_TENANT, document.id)
        found[document.url] = (whole.title, whole.status, [passage.text for passage in passages])
    answer = await engine.ask(Query(QUESTION, SEA))
    found["answer"] = (answer.answer, answer.refused, [one.snippet for one in answer.citations])
    found["table"] = (await engine.ask(Query("What is the highest price?", TABLE))).answer
    found["jobs"] = len(await engine.jobs(DEFAULT_TENANT))
    if await engine.stores.catalog.collections.get(GRAPH):
        found["graph"] = (await engine.ask(Query("Which ship does Ada serve on?", GRAPH))).answer
    return found
