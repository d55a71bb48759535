"""The way in of graph files: nodes and edges into the store, then every node into the index, as one job."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from kedge.core.errors import KedgeError, SourceFault, UnreadableError, UsageError
from kedge.core.urls import mask_url
from kedge.core.values import IngestMode, IngestRequest, Job, JobStatus, SourceError
from kedge.ingest.batch import Target
from kedge.ingest.sources.sidecar import refuse_readers_beside
from kedge.ingest.sources.source import is_file_within, source_error, unreadable
from kedge.ingest.tracker import JobTracker
from kedge.ingest.write.remove import sweep
from kedge.kinds.graphs.files.graph_file import GraphFile
from kedge.kinds.graphs.files.reading import open_graph_file
from kedge.kinds.graphs.indexing import index, unindex
from kedge.stores.graph.nodes import Edge, Node
from kedge.stores.graph.rules import check
from kedge.stores.graph.taken import id_taken, taken_ids

NODES_AT_ONCE = 1024
EDGES_AT_ONCE = 5000
SCRIPTS = (".cypher", ".cql", ".cyp")
FILES = (".csv", ".tsv", ".tab", ".txt", ".json", ".jsonl", ".ndjson", *SCRIPTS)
EVERY_NODE = "graph:"
"""As the only source of a request: index the nodes that the collection holds."""
OFF = "ENABLE_RAG_SEARCH is off: the nodes are kept, and not indexed. Index them later with `kedge graph index`."


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    name: str
    root: Path
    """Where a script finds the tables it loads; for uploads a place that does not exist."""


class GraphImport:
    """One run of one import. Run again after a kill, it finds its own traces."""

    def __init__(self, target: Target, request: IngestRequest, tracker: JobTracker) -> None:
        self._target = target
        self._scope = request.scope
        self._nodes = target.stores.nodes
        self._request = request
        self._tracker = tracker
        self._known: set[str] = set()
        """Ids that are in the store for certain."""
        self._hidden: frozenset[str] = frozenset()
        """Types of nodes that whoever submitted this may not read."""
        self._edges = 0
        self._stubs: list[Node] = []

    async def take_in(self) -> None:
        """Nodes of all files first, then edges: those may name nodes of any file."""
        await self._tracker.start()
        try:
            rules = await self._target.stores.catalog.rights.rules(self._scope)
            self._hidden = frozenset(
                label for label, said in rules.items() if label and not self._request.for_reader_of(said)
            )
            if self._request.sources == (EVERY_NODE,):
                await self._index_every()
                return
            databases = [source for source in self._request.sources if _names_database(source)]
            files = await asyncio.to_thread(_files, self._request)
            self._tracker.expect(2 * sum(_size(file.path) for file in files))
            opened = [(file, one) for file in files if (one := await self._open(file)) is not None]
            await self._tracker.move(JobStatus.EMBEDDING)
            for file, one in opened:
                await self._take_nodes(file, one)
            for file, one in opened:
                await self._take_edges(file, one)
                await self._tracker.add(files_processed=1)
            for source in databases:
                await self._take_database(source)
            await self._index(self._stubs)
            if not self._target.settings.enable_rag_search:
                await self._tracker.warn(OFF)
        except KedgeError as error:
            await self._tracker.fail(error)
            raise

    async def _take_database(self, url: str) -> None:
        """What changed in a database since it was read last; what vanished there goes here too (G-20)."""
        from kedge.stores.graph.neo4j.foreign import ForeignGraph, origin_of  # wants the driver

        secret = self._target.settings.source_password
        database = ForeignGraph(url, None if secret is None else secret.get_secret_value())
        await self._tracker.add(files_discovered=1)
        seen: set[str] = set()
        async for page in database.nodes():
            good = [node for node in page if await self._fits(node, database.shown)]
            held = await self._nodes.nodes(self._scope, [node.id for node in good])
            changed = [node for node in good if node.id not in held or not _same(held[node.id], node)]
            await self._nodes.put(self._scope, changed)
            self._target.on_step("nodes written")
            seen.update(node.id for node in good)
            await self._index(good)
        self._known |= seen
        kept: set[str] = set()
        async for edges in database.edges():
            fitting = [edge for edge in edges if edge.source in seen and edge.target in seen]
            await self._nodes.put(self._scope, [], fitting)
            kept.update(edge.id for edge in fitting)
        await self._forget_vanished(database.shown, origin_of, seen, kept)
        await self._tracker.add(files_processed=1)

    async def _fits(self, node: Node, name: str) -> bool:
        fault = _unfit(node, name)
        if fault is not None:
            await self._tracker.report(source_error(name, fault))
        return fault is None

    async def _forget_vanished(
        self, shown: str, origin_of: Callable[[Node], str | None], seen: set[str], kept: set[str]
    ) -> None:
        after, gone, own = "", [], set[str]()
        while page := await self._nodes.page(self._scope, after=after, limit=NODES_AT_ONCE):
            after = page[-1].id
            own.update(node.id for node in page if origin_of(node) == shown)
            gone += [node.id for node in page if origin_of(node) == shown and node.id not in seen]
        await unindex(self._target.stores, self._scope, gone)
        await self._nodes.remove(self._scope, gone)
        after, cut = "", []
        while edges := await self._nodes.edge_page(self._scope, after=after, limit=EDGES_AT_ONCE):
            after = edges[-1].id
            cut += [edge.id for edge in edges if {edge.source, edge.target} <= own and edge.id not in kept]
        await self._nodes.remove(self._scope, [], cut)
        await self._tracker.add(passages_deleted=len(gone))

    async def _index_every(self) -> None:
        """The nodes that are there, whether a hook was off or an index was lost."""
        self._tracker.expect((await self._nodes.count(self._scope)).nodes)
        await self._tracker.move(JobStatus.EMBEDDING)
        after = ""
        while page := await self._nodes.page(self._scope, after=after, limit=NODES_AT_ONCE):
            after = page[-1].id
            done = await index(self._target, page, force=self._request.mode is not IngestMode.INCREMENTAL)
            await self._tracker.add(source_bytes=len(page), processed_passages=len(page), passages_created=done.written)

    async def finish(self, document_id: str | None = None) -> Job:
        """Clear away what former versions of nodes left."""
        await sweep(self._target.stores, self._target.on_step, self._scope, document_id)
        if not self._hidden:
            counts = await self._nodes.count(self._scope)
            await self._tracker.warn(f"The graph has {counts.nodes} nodes and {counts.edges} edges.")
        return await self._tracker.complete()

    async def _open(self, file: _File) -> GraphFile | None:
        await self._tracker.add(files_discovered=1)
        try:
            return await asyncio.to_thread(open_graph_file, file.path, file.name, file.root)
        except SourceFault as fault:
            await self._tracker.report(source_error(file.name, fault))
            return None

    async def _take_nodes(self, file: _File, opened: GraphFile) -> None:
        size = _size(file.path)
        async for rows in self._batches(file, opened.nodes(), NODES_AT_ONCE):
            found = [row for row in rows if isinstance(row, Node)]
            taken = await self._taken(file, found, [])
            nodes = [node for node in found if node.id not in taken]
            await self._nodes.put(self._scope, nodes)
            self._target.on_step("nodes written")
            self._known.update(node.id for node in nodes)
            await self._index(nodes)
            done = min(size, sum(len(node.id) + len(node.title) + len(node.description) + 10 for node in nodes))
            size -= done
            await self._tracker.add(source_bytes=done)
        await self._tracker.add(source_bytes=size)

    async def _take_edges(self, file: _File, opened: GraphFile) -> None:
        size = _size(file.path)
        async for rows in self._batches(file, opened.edges(), EDGES_AT_ONCE):
            found = [row for row in rows if isinstance(row, Edge)]
            taken = await self._taken(file, [], found)
            edges = [edge for edge in found if taken.isdisjoint((edge.id, edge.source, edge.target))]
            stubs = await self._missing(edges)
            await self._nodes.put(self._scope, stubs, edges)
            self._target.on_step("edges written")
            self._edges += len(edges)
            self._stubs += stubs
            while len(self._stubs) >= NODES_AT_ONCE:
                await self._index(self._stubs[:NODES_AT_ONCE])
                self._stubs = self._stubs[NODES_AT_ONCE:]
            done = min(size, sum(len(edge.source) + len(edge.type) + len(edge.target) + 3 for edge in edges))
            size -= done
            await self._tracker.add(source_bytes=done)
        await self._tracker.add(source_bytes=size)

    async def _taken(self, file: _File, nodes: Sequence[Node], edges: Sequence[Edge]) -> set[str]:
        """Ids that cannot be used, each reported: somebody else's nodes have them."""
        read = (self._nodes.nodes, self._nodes.edges)
        taken = await taken_ids(read, self._scope, self._hidden, nodes, edges)
        for key in sorted(taken):
            error = id_taken(key)
            await self._tracker.report(SourceError(file.name, error.code, error.message, error.hint))
        return taken

    async def _missing(self, edges: Sequence[Edge]) -> list[Node]:
        """Nodes that edges name and nobody described, to be made. The last run may have made some, and died."""
        ends = dict.fromkeys(end for edge in edges for end in (edge.source, edge.target) if end not in self._known)
        there = await self._nodes.nodes(self._scope, list(ends))
        self._known.update(ends)
        self._stubs += there.values()  # indexed long ago, or not at all: the index knows
        return [Node(end, title=end) for end in ends if end not in there]

    async def _index(self, nodes: Sequence[Node]) -> None:
        if not nodes or not self._target.settings.enable_rag_search:
            return
        force = self._request.mode is not IngestMode.INCREMENTAL
        for part in _parts(nodes, NODES_AT_ONCE):
            kept = await self._nodes.nodes(self._scope, [node.id for node in part])  # with the times of the store
            done = await index(self._target, list(kept.values()), force=force)
            await self._tracker.add(processed_passages=len(part), passages_created=done.written)

    async def _batches(
        self, file: _File, rows: Iterator[Node | Edge | SourceFault], size: int
    ) -> AsyncIterator[list[Node | Edge]]:
        """Rows that can be kept, some at a time, read in a thread; the others are reported."""
        while taken := await asyncio.to_thread(_some, rows, size):
            good: list[Node | Edge] = []
            for row in taken:
                fault = row if isinstance(row, SourceFault) else _unfit(row, file.name)
                if fault is not None:
                    await self._tracker.report(source_error(file.name, fault))
                elif not isinstance(row, SourceFault):
                    good.append(row)
            yield good


def _names_database(source: str) -> bool:
    return source.partition("://")[0] in ("neo4j", "neo4j+s", "neo4j+ssc")


def _same(one: Node, other: Node) -> bool:
    return replace(one, created_at=None, updated_at=None) == replace(other, created_at=None, updated_at=None)


def _some(rows: Iterator[Node | Edge | SourceFault], size: int) -> list[Node | Edge | SourceFault]:
    """The next rows; a file that breaks off while it is read is a fault like others."""
    taken: list[Node | Edge | SourceFault] = []
    try:
        taken.extend(islice(rows, size))
    except SourceFault as fault:
        taken.append(fault)
    return taken


def _unfit(row: Node | Edge, name: str) -> SourceFault | None:
    try:
        if isinstance(row, Node):
            check([row], [])
        else:
            check([Node(row.source), Node(row.target)], [row])
    except UsageError as error:
        return UnreadableError(f"{name}: {error.message}", hint=error.hint)
    return None


def _parts(nodes: Sequence[Node], size: int) -> Iterator[Sequence[Node]]:
    for start in range(0, len(nodes), size):
        yield nodes[start : start + size]


def _files(request: IngestRequest) -> list[_File]:
    """The files behind the request. UsageError for an address, UnreadableError for what is missing or not for all."""
    found: list[_File] = []
    for source in request.sources:
        if _names_database(source):
            continue
        if "://" in source:
            raise UsageError(
                f"A graph is not fetched from {mask_url(source)}.",
                hint="Download the file and name it, or name a database: neo4j://user@host:7687/database.",
            )
        path = Path(source).expanduser()
        if path.is_dir():
            found += [_File(one, one.name, one.parent) for one in _in_folder(path)]
        elif path.is_file():
            found.append(_File(path, path.name, path.parent))
        else:
            matches = sorted(path.parent.glob(path.name)) if path.parent.is_dir() else []
            if not matches:
                raise unreadable(source, FileNotFoundError(2, "No such file or directory"))
            found += [_File(one, one.name, one.parent) for one in matches if one.is_file()]
    for file in found:
        refuse_readers_beside(file.path.resolve(), request.readers)
    for name, kept in request.uploads:
        path = Path(kept)
        found.append(_File(path, name, path / "beside"))
    return found


def _in_folder(folder: Path) -> list[Path]:
    """The graph files of a folder; where there are scripts, those alone: they load the tables beside them."""
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in FILES and is_file_within(path, folder))
    return [path for path in files if path.suffix.lower() in SCRIPTS] or files


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # told when it is read
        return 0
