"""The catalog's schema is versioned: older databases are upgraded, newer ones refused (D-09)."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event

from kedge.core.errors import StoreError
from kedge.core.settings import Settings
from kedge.stores.catalog.sql import schema_graph, schema_nodes
from kedge.stores.catalog.sql.catalog import open_catalog
from kedge.stores.catalog.sql.schema import REVISION, metadata
from kedge.stores.catalog.sql.upgrade import SCRIPTS, migrate
from kedge.stores.graph.sql import open_graph
from kedge.testing.catalog.sample import HERE, THEN, collection, document, publish
from kedge.testing.graph.sample import library

REVISIONS = [script.revision for script in ScriptDirectory(str(SCRIPTS)).walk_revisions()]
DESIGN = {
    "documents": "id url title format author file_hash file_size chunk_count status error_message metadata created_at "
    "updated_at ingested_at",
    "ingestion_jobs": "id document_id status current_step progress total_chunks processed_chunks error_message "
    "started_at completed_at created_at",
    "analytics_sessions": "id started_at ended_at user_hash",
    "rag_queries": "id session_id timestamp query_hash execution_time_ms vector_hits graph_hits strategy_used",
    "retrieval_metrics": "id query_id vector_search_ms vector_result_count vector_top_score vector_avg_score "
    "graph_traversal_ms graph_result_count graph_max_depth concepts_found fusion_ms overlap_count rrf_top_score "
    "rerank_ms rerank_top_score confidence_threshold_met final_context_tokens citation_count created_at",
    "feedback_events": "id query_id rating comment created_at",
    "concepts": "name description category difficulty tags created_at updated_at",
    "concept_aliases": "alias",
    "graph_documents": "url title format author ingested_at chunk_count status",
    "graph_chunks": "passage_id hash preview token_count has_code has_formula has_table next_passage_id document_id",
    "graph_mentions": "frequency relevance",
    "passage_concepts": "kind frequency",
    "triples": "predicate confidence comparison use_case passage_id",
}


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'catalog.db'}"


def at_revision(folder: Path, revision: str) -> None:
    engine = create_engine(url(folder))
    migrate(engine, revision)
    engine.dispose()


def differences(folder: Path) -> list[object]:
    engine = create_engine(url(folder))
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_name": lambda name, kind, _: kind != "table" or "_fts" not in str(name)}
        )
        found = list(compare_metadata(context, metadata))
    engine.dispose()
    return found


async def use(folder: Path) -> None:
    catalog, graph = open_catalog(url(folder), Settings()), open_graph(url(folder), Settings())
    await catalog.collections.put(collection())
    await publish(catalog, document("one"), "1", ["a"])
    await graph.write(HERE, library())
    assert await catalog.integrity() == []
    await catalog.close()
    await graph.close()


@pytest.mark.req("D-09")
def test_migrations_build_the_declared_schema(tmp_path: Path) -> None:
    at_revision(tmp_path, "head")
    assert differences(tmp_path) == []
    assert REVISIONS[0] == REVISION


@pytest.mark.req("D-05", "D-06", "D-09", "D-16", "D-17")
@pytest.mark.parametrize("table", DESIGN)
def test_tables_have_the_columns_of_the_design(table: str) -> None:
    assert set(DESIGN[table].split()) <= set(metadata.tables[table].c.keys())


@pytest.mark.req("D-17")
def test_there_is_no_column_for_the_words_of_a_question() -> None:
    for table in ("analytics_sessions", "rag_queries", "retrieval_metrics"):
        names = {column.name for column in metadata.tables[table].columns}
        assert names.isdisjoint({"query", "question", "user", "user_id", "text", "ip"})


@pytest.mark.req("D-09")
@pytest.mark.parametrize("revision", REVISIONS)
def test_every_older_database_is_upgraded(tmp_path: Path, revision: str) -> None:
    at_revision(tmp_path, revision)
    asyncio.run(use(tmp_path))
    assert differences(tmp_path) == []


@pytest.mark.req("D-09")
def test_data_survive_the_upgrade(tmp_path: Path) -> None:
    at_revision(tmp_path, "0001")
    with sqlite3.connect(tmp_path / "catalog.db") as connection:
        connection.execute(
            "INSERT INTO collections (tenant, name, kind, embedder, dimension, generation, index_name, topics,"
            " created_at) VALUES ('default', 'notes', 'documents', 'minilm', 384, 1, 'notes-1', '[\"a\", \"b\"]', ?)",
            (THEN.strftime("%Y-%m-%d %H:%M:%S.%f"),),
        )
    connection.close()

    async def body() -> None:
        catalog = open_catalog(url(tmp_path), Settings())
        assert await catalog.collections.get(HERE) == collection()
        await catalog.close()

    asyncio.run(body())


@pytest.mark.req("D-09")
def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    at_revision(tmp_path, "head")
    file = tmp_path / "catalog.db"
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    for opened in (open_catalog, open_graph):
        with pytest.raises(StoreError, match=r"newer Kedge \(schema 9999") as caught:
            opened(url(tmp_path), Settings())
        assert "Upgrade Kedge" in caught.value.hint
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]
    connection.close()


def test_a_migration_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    engine = create_engine(url(tmp_path), isolation_level=None)

    @event.listens_for(engine, "before_cursor_execute")
    def stop(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "CREATE TABLE passages" in statement:
            raise RuntimeError("stop")

    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    event.listen(engine, "connect", lambda connection, _: setattr(connection, "isolation_level", None))
    with pytest.raises(RuntimeError, match="stop"):
        migrate(engine)
    engine.dispose()
    with sqlite3.connect(tmp_path / "catalog.db") as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
    connection.close()
    asyncio.run(use(tmp_path))


def test_processes_that_create_a_database_at_once_all_succeed(tmp_path: Path) -> None:
    code = (
        "import sys; from kedge.core.settings import Settings;"
        "from kedge.stores.catalog.sql.catalog import open_catalog;"
        "sys.stdin.readline(); open_catalog(sys.argv[1], Settings())"
    )
    command = [sys.executable, "-c", code, url(tmp_path)]
    openers = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    results = [opener.communicate("go\n", timeout=60) for opener in openers]
    assert [opener.returncode for opener in openers] == [0, 0, 0], results
    asyncio.run(use(tmp_path))


def test_revisions_are_found_beside_the_code_whatever_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an installed wheel: no alembic.ini, and characters that a configuration file would trip over."""
    moved = tmp_path / "site %(here)s packages"
    shutil.copytree(SCRIPTS, moved)
    monkeypatch.setattr("kedge.stores.catalog.sql.upgrade.SCRIPTS", moved)
    asyncio.run(use(tmp_path))
    assert Config().config_file_name is None
    assert schema_graph.concepts.name in metadata.tables
    assert schema_nodes.user_nodes.name in metadata.tables
