"""Random work on a graph, broken off anywhere: after reconciling, the index holds exactly the nodes of the graph."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kedge.core.errors import ConflictError, NotFoundError
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, Scope
from kedge.engine.engine import Engine
from kedge.kinds.graphs.indexing import cited_pieces
from kedge.models.registry import open_embedder
from kedge.stores.graph.nodes import Edge, Node
from tests.contract.postgresql import url_of
from tests.services import need

T = TypeVar("T")
SCOPE = Scope(DEFAULT_TENANT, "random-graph")
IDS = st.sampled_from(("a", "b", "c/1", "东京"))
LONG = "\n".join(f"Line {number} of a long text. It says something about {number * 7} boats." for number in range(60))
TEXTS = st.sampled_from(("", "One thing.", "Another thing.", LONG, LONG[:1900]))


class _Killed(BaseException):
    """As if the process had ended there."""


class GraphAndIndex(RuleBasedStateMachine):
    """A model of the graph beside the engine. Bind it with `urls`."""

    @staticmethod
    def urls(folder: Path) -> dict[str, str]:
        raise NotImplementedError

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._place = Path(self._folder.name)
        self._settings = load_settings(
            environ={}, home=self._place / "home", embedder="hash:16", **self.urls(self._place)
        )
        self._loop = asyncio.new_event_loop()
        self._nodes: dict[str, str] = {}
        self._sound = True
        self._steps = -1
        self._open()
        self._run(self._engine.stores.nodes.drop(SCOPE))
        with suppress(NotFoundError):
            self._run(self._engine.delete_collection(SCOPE))

    def _open(self) -> None:
        self._opened = Engine.open(self._settings, on_step=self._step)
        self._engine = self._run(self._opened.__aenter__())

    def _run(self, work: Awaitable[T]) -> T:
        return self._loop.run_until_complete(work)

    def _step(self, _name: str) -> None:
        if self._steps == 0:
            raise _Killed
        self._steps -= 1

    def teardown(self) -> None:
        self._steps = -1
        with suppress(NotFoundError):
            self._run(self._engine.delete_collection(SCOPE))
        self._run(self._opened.__aexit__(None, None, None))
        self._loop.close()
        self._folder.cleanup()

    @rule(node=IDS, text=TEXTS)
    def create(self, node: str, text: str) -> None:
        made = Node(node, "Thing", f"Title {node}", text)
        if node in self._nodes:
            with pytest.raises(ConflictError):
                self._run(self._engine.kinds.named("graph").nodes.create(SCOPE, made))
        else:
            self._run(self._engine.kinds.named("graph").nodes.create(SCOPE, made))
            self._nodes[node] = text

    @rule(node=IDS, text=TEXTS)
    def update(self, node: str, text: str) -> None:
        if node in self._nodes:
            self._run(self._engine.kinds.named("graph").nodes.update(SCOPE, node, {"description": text}))
            self._nodes[node] = text

    @rule(node=IDS)
    def delete(self, node: str) -> None:
        if node in self._nodes:
            self._run(self._engine.kinds.named("graph").nodes.delete(SCOPE, node))
            del self._nodes[node]

    @precondition(lambda self: self._nodes)
    @rule(source=IDS, end=IDS)
    def link(self, source: str, end: str) -> None:
        if source in self._nodes and end in self._nodes:
            with suppress(ConflictError):
                self._run(self._engine.kinds.named("graph").nodes.create_edge(SCOPE, Edge("", source, end, "near")))

    @precondition(lambda self: self._nodes)
    @rule(node=IDS, text=TEXTS, steps=st.integers(0, 8), what=st.sampled_from(("create", "update", "delete")))
    def killed(self, node: str, text: str, steps: int, what: str) -> None:
        """Work that ends in the middle: then the node is as it was or as it should be, and reconciling repairs."""
        self._steps = steps
        graph = self._engine.kinds.named("graph").nodes
        works: dict[str, Callable[[], Awaitable[Any]]] = {
            "create": lambda: graph.create(SCOPE, Node(node, "Thing", f"Title {node}", text)),
            "update": lambda: graph.update(SCOPE, node, {"description": text}),
            "delete": lambda: graph.delete(SCOPE, node),
        }
        with suppress(_Killed, ConflictError, NotFoundError):
            self._run(works[what]())
        self._steps = -1
        self._run(self._opened.__aexit__(None, None, None))
        self._open()
        held = self._run(self._engine.stores.nodes.nodes(SCOPE, [node]))
        before = self._nodes.pop(node, None)
        if node in held:
            self._nodes[node] = held[node].description
            assert held[node].description in (before, text)
        self._run(self._engine.kinds.named("graph").nodes.reconcile(SCOPE, repair=True))

    @precondition(lambda self: self._nodes)
    @invariant()
    def index_is_like_the_graph(self) -> None:
        nodes = self._run(self._engine.stores.nodes.page(SCOPE, limit=100))
        assert {node.id: node.description for node in nodes} == self._nodes
        collection = self._run(self._engine.collection(SCOPE))
        embedder = open_embedder("hash:16", self._settings)
        wanted = {piece.passage_id for node in nodes for piece in cited_pieces(SCOPE, node, embedder)}
        live = self._run(self._engine.stores.catalog.passages.live(SCOPE, sorted(wanted)))
        assert live.keys() == wanted
        assert collection.passages == len(wanted)
        assert self._run(self._vectors(collection.index_name)) == wanted
        report = self._run(self._engine.kinds.named("graph").nodes.reconcile(SCOPE, repair=False))
        assert (report.missing, report.orphaned, report.stale) == ((), (), ())

    async def _vectors(self, index: str) -> set[str]:
        return {key async for batch in self._engine.stores.vectors.ids(index, SCOPE.tenant) for key in batch}


class OnSqlite(GraphAndIndex):
    @staticmethod
    def urls(folder: Path) -> dict[str, str]:
        return {}


class OnPostgresql(GraphAndIndex):
    @staticmethod
    def urls(folder: Path) -> dict[str, str]:
        url = url_of(folder)
        return {"catalog_url": url, "vector_url": url}


class OnNeo4j(GraphAndIndex):
    @staticmethod
    def urls(folder: Path) -> dict[str, str]:
        return {"graph_url": need("neo4j")}


@pytest.mark.req("G-02", "G-09", "G-23")
class TestOnSqlite(OnSqlite.TestCase):
    settings = settings(max_examples=3, stateful_step_count=10, deadline=None)


@pytest.mark.req("G-02", "G-09", "G-23")
class TestOnPostgresql(OnPostgresql.TestCase):
    settings = settings(max_examples=2, stateful_step_count=8, deadline=None)


@pytest.mark.req("G-01", "G-02", "G-09", "G-23")
class TestOnNeo4j(OnNeo4j.TestCase):
    settings = settings(max_examples=2, stateful_step_count=8, deadline=None)
