"""Taking a backup: gather, add the vectors, pack."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import IO

from kedge.core.settings import Settings
from kedge.engine.backup import manifest
from kedge.engine.backup.archive import ArchiveWriter, OnPhase, no_phase, whole_file
from kedge.engine.backup.copying import settle
from kedge.engine.backup.manifest import Manifest, VectorFile
from kedge.engine.backup.staging import gather, staging
from kedge.engine.backup.vectors import dump_vectors
from kedge.engine.kinds import kind_files
from kedge.stores import registry
from kedge.stores.catalog.ports import Catalog
from kedge.stores.catalog.sql.catalog import open_catalog
from kedge.stores.catalog.sql.look import look
from kedge.stores.graph.nodes import NodeStore
from kedge.stores.graph.sql.nodes import open_nodes
from kedge.stores.ports import VectorStore

PAGE = 1000
BUSY = "vectors: another process holds them (a server adds its own with --url); restoring embeds the passages again"
UNREADABLE = "vectors: their store does not give them back; restoring embeds the passages again"
SPARE = "indexes kept for a rollback of `kedge collection reindex`"


async def take_backup(
    settings: Settings,
    path: Path,
    *,
    vectors: VectorStore | None = None,
    nodes: NodeStore | None = None,
    on_phase: OnPhase = no_phase,
) -> Manifest:
    """Write a backup of the settings' stores. The file is there when it is whole, and not before.

    Safe beside a process that holds the home and writes; then `vectors` is None and the vectors are left out.
    `nodes` is where users' graphs are kept when that is not the catalog's database.
    """
    with staging(settings.home) as folder:
        await asyncio.to_thread(gather, settings, folder, on_phase)
        catalog = open_catalog(f"sqlite:///{folder / manifest.CATALOG}", settings)
        try:
            if nodes is not None and separate_graph(settings):
                await _copy_nodes(settings, nodes, catalog, folder)
            held = await dump_vectors(vectors, catalog, folder, on_phase) if vectors is not None else []
            counts = await _counts(catalog, folder, held)
            spare = [await catalog.indexes.spare(one.scope) for one in await catalog.collections.everywhere()]
        finally:
            await catalog.close()
        left_out = [BUSY] if vectors is None else [UNREADABLE] if not held and counts["passages"] else []
        left_out += [SPARE] if any(spare) else []
        made = Manifest("", (), tuple(held), counts, tuple(left_out))
        return await asyncio.to_thread(_pack, folder, path, made, on_phase)


def _pack(folder: Path, path: Path, made: Manifest, on_phase: OnPhase) -> Manifest:
    """Pack the folder and complete the manifest with what was packed."""
    catalog = folder / manifest.CATALOG
    seen = look(f"sqlite:///{catalog}")
    settle(catalog)
    with whole_file(path) as file:
        writer = _write(folder, file, on_phase)
        made = replace(made, schema=str(seen.revision if seen else None), entries=tuple(writer.entries))
        writer.finish(made)
    return made


def _write(folder: Path, file: IO[bytes], on_phase: OnPhase) -> ArchiveWriter:
    writer = ArchiveWriter(file)
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    total, done = sum(path.stat().st_size for path in paths), 0
    for path in paths:
        writer.add(path.relative_to(folder).as_posix(), path)
        done += path.stat().st_size
        on_phase("packing", done, total)
    return writer


async def _copy_nodes(settings: Settings, source: NodeStore, catalog: Catalog, folder: Path) -> None:
    """Users' graphs are no index: what a graph server holds goes into the copied catalog."""
    target = open_nodes(f"sqlite:///{folder / manifest.CATALOG}", settings)
    try:
        await copy_nodes(source, target, catalog)
    finally:
        await target.close()


async def copy_nodes(source: NodeStore, target: NodeStore, catalog: Catalog) -> None:
    """All nodes and edges of every graph that the catalog knows, in place of those that are there."""
    for collection in await catalog.collections.everywhere():
        scope, after = collection.scope, ""
        await target.drop(scope)
        while nodes := await source.page(scope, after=after, limit=PAGE):
            await target.put(scope, nodes)
            after = nodes[-1].id
        after = ""
        while edges := await source.edge_page(scope, after=after, limit=PAGE):
            ends = await target.nodes(scope, list({end for edge in edges for end in (edge.source, edge.target)}))
            await target.put(scope, [], [one for one in edges if one.source in ends and one.target in ends])
            after = edges[-1].id


async def _counts(catalog: Catalog, folder: Path, vectors: list[VectorFile]) -> dict[str, int]:
    collections = await catalog.collections.everywhere()
    return {
        "collections": len(collections),
        "documents": sum(one.documents for one in collections),
        "passages": sum(one.passages for one in collections),
        "vectors": sum(one.count for one in vectors),
        **{files.unit: files.count(folder) for files in kind_files().values()},
        "jobs": len(await catalog.jobs.unfinished()),
        "keys": len(await catalog.keys.all()),
    }


def separate_graph(settings: Settings) -> bool:
    """Whether users' graphs are kept elsewhere than in the catalog's database."""
    return bool(settings.graph_url) and settings.graph_url != registry.catalog_url(settings)
