"""How many physical indexes lie in a vector store: no more than the catalog knows may be there."""

from __future__ import annotations

from pathlib import Path

from kedge.core.settings import Settings
from kedge.engine.engine import Engine
from kedge.stores.catalog.ports import CanKeepPast


async def leaked(engine: Engine, settings: Settings) -> int:
    """Indexes that no collection uses, builds or keeps."""
    held = physical_indexes(settings)
    if held is None:
        return 0
    known = 0
    for collection in await engine.stores.catalog.collections.everywhere():
        known += 1 + len(await engine.stores.catalog.indexes.spare(collection.scope))
    beside = 2 if isinstance(engine.stores.catalog, CanKeepPast) else 1  # what was live before has one beside each
    return max(0, held - beside * known)


def physical_indexes(settings: Settings) -> int | None:
    """Counted without Kedge; None where that is not possible."""
    url = settings.vector_url
    if not url:
        return len([folder for folder in Path(settings.home / "vectors").glob("*") if folder.is_dir()])
    if url.startswith("postgresql"):
        import psycopg

        server, _, schema = url.partition("?schema=")
        with psycopg.connect(server) as connection:
            tables = connection.execute(
                "SELECT count(*) FROM pg_tables WHERE schemaname = %s AND tablename LIKE 'kedge_points_%%'", [schema]
            ).fetchone()
        return int(tables[0]) if tables else 0
    if url.startswith("milvus"):
        from tests.services.milvus import client_of

        client = client_of(url)
        try:
            return len(client.list_collections())
        finally:
            client.close()
    return None
