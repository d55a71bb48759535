"""The contract of node stores. Bind it with `open_store`; every test runs on an empty store."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kedge.core.errors import NotFoundError, UsageError
from kedge.core.values import DEFAULT_TENANT, Scope
from kedge.stores.graph.nodes import Counts, Edge, Node, NodeStore, Relation

HERE = Scope(DEFAULT_TENANT, "g1")
THERE = Scope("acme", "g1")
ADA = Node("ada", "Person", "Ada Lovelace", "Wrote the first program.", ("Countess of Lovelace",), {"born": 1815})
BYRON = Node("byron", "Person", "Lord Byron")
LONDON = Node("london", "Place", "London", properties={"tags": ["city", {"deep": True}], "size": 1.5})
FATHER = Edge("e1", "ada", "byron", "father", {"sure": True})
BORN = Edge("e2", "ada", "london", "place of birth")


def plain(thing: Any) -> Any:
    """A node or an edge without its times, which the store sets."""
    return replace(thing, created_at=None, updated_at=None)


async def observe(store: NodeStore, scope: Scope) -> object:
    """Everything a reader can see of a scope, without times."""
    nodes = await store.page(scope, limit=1000)
    edges = await store.edge_page(scope, limit=1000)
    ids = [node.id for node in nodes]
    return (
        [plain(node) for node in nodes],
        [plain(edge) for edge in edges],
        sorted(await store.relations(scope, ids)),
        await store.count(scope),
        {edge.type: await store.follow(scope, ids, edge.type, outgoing=True, limit=1000) for edge in edges},
        {edge.type: await store.follow(scope, ids, edge.type, outgoing=False, limit=1000) for edge in edges},
    )


class NodeStoreContract:
    """What every node store does."""

    @abstractmethod
    async def open_store(self, folder: Path) -> NodeStore:
        """The store in the folder, with what an earlier one left there."""

    @pytest.fixture
    def use(self, tmp_path: Path) -> Callable[[Callable[[NodeStore], Awaitable[None]]], None]:
        """Run a scenario on the store, then close it."""

        def run(scenario: Callable[[NodeStore], Awaitable[None]]) -> None:
            async def inside() -> None:
                store = await self.open_store(tmp_path)
                try:
                    await scenario(store)
                finally:
                    await store.close()

            asyncio.run(inside())

        return run

    def test_what_is_put_comes_back_and_survives_reopening(self, use: Any) -> None:
        async def write(store: NodeStore) -> None:
            assert isinstance(store, NodeStore)
            await store.put(HERE, [ADA, BYRON, LONDON], [FATHER, BORN])

        async def read(store: NodeStore) -> None:
            found = await store.nodes(HERE, ["london", "ada", "nobody"])
            assert [plain(node) for node in found.values()] == [LONDON, ADA]
            assert {key: plain(edge) for key, edge in (await store.edges(HERE, ["e2", "no"])).items()} == {"e2": BORN}
            assert found["ada"].created_at is not None
            assert await store.count(HERE) == Counts(3, 2)

        use(write)
        use(read)

    def test_putting_again_replaces_whole_and_keeps_the_time_of_creation(self, use: Any) -> None:
        async def scenario(store: NodeStore) -> None:
            await store.put(HERE, [ADA, BYRON, LONDON], [FATHER, BORN])
            before = (await store.nodes(HERE, ["ada"]))["ada"]
            edge = (await store.edges(HERE, ["e1"]))["e1"]
            renamed = Node("ada", "Woman", "Augusta Ada King")
            await store.put(HERE, [renamed], [Edge("e1", "byron", "ada", "child")])
            after = (await store.nodes(HERE, ["ada"]))["ada"]
            assert plain(after) == renamed
            assert after.created_at == before.created_at
            assert (await store.edges(HERE, ["e1"]))["e1"].created_at == edge.created_at
            assert await store.named(HERE, ["ada lovelace", "augusta ada king", "ada"], 5) == {
                "augusta ada king": ["ada"],
                "ada": ["ada"],
            }
            assert await store.count(HERE) == Counts(3, 2)

        use(scenario)

    def test_the_last_of_equal_ids_wins(self, use: Any) -> None:
        async def scenario(store: NodeStore) -> None:
            await store.put(HERE, [BYRON, replace(BYRON, title="George"), ADA], [FATHER, replace(FATHER, type="dad")])
            assert (await store.nodes(HERE, ["byron"]))["byron"].title == "George"
            assert (await store.edges(HERE, ["e1"]))["e1"].type == "dad"

        use(scenario)

    def test_an_edge_needs_its_ends_or_nothing_is_written(self, use: Any) -> None:
        async def scenario(store: NodeStore) -> None:
            with pytest.raises(NotFoundError, match="byron"):
                await store.put(HERE, [ADA], [FATHER])
            assert await store.count(HERE) == Counts(0, 0)

        use(scenario)

    @pytest.mark.parametrize("wrong", ["", "  ", "x" * 501, "half \ud800", "nul \0"])
    def test_ids_that_cannot_be_are_refused(self, use: Any, wrong: str) -> None:
        async def scenario(store: NodeStore) -> None:
            with pytest.raises(UsageError):
                await store.put(HERE, [Node(wrong)])
            with pytest.raises(UsageError):
                await store.put(HERE, [ADA], [Edge("e", "ada", "ada", wrong)])
            assert await store.count(HERE) == Counts(0, 0)

        use(scenario)

    def test_removing_a_node_takes_its_edges_and_names_along(self, use: Any) -> None:
        async def scenario(store: NodeStore) -> None:
            await store.put(HERE, [ADA, BYRON, LONDON], [FATHER, BORN])
            assert await store.remove(HERE, ["byron", "nobody"], ["e2", "nothing"]) == (["byron"], ["e1", "e2"])
            assert await store.named(HERE, ["lord byron", "london"], 5) == {"london": ["london"]}
            assert await store.relations(HERE, ["ada", "london"]) == []
            assert await store.remove(HERE, ["byron"]) == ([], [])

        use(scenario)

    def test_scopes_do_not_meet(self, use: Any) -> None:
        async def scenario(store: NodeStore) -> None:
            await store.put(HERE, [ADA, BYRON], [FATHER])
            other = Node("ada", "Language", "Ada")
            await store.put(THERE, [other, BYRON], [Edge("e1", "byron", "ada", "likes")])
            assert plain((await store.nodes(HERE, ["ada"]))["ada"]) == ADA
            assert (await store.edges(HERE, ["e1"]))["e1"].type == "father"
            await store.drop(HERE)
            assert await store.count(HERE) == Counts(0, 0)
            assert await store.count(THERE) == Counts(2, 1)
            assert await store.named(THERE, ["ada"], 5) == {"ada": ["ada"]}
            await store.remove(HERE, ["ada"], ["e1"])
            assert await store.count(THERE) == Counts(2, 1)

        use(scenario)

    def test_pages_are_by_id_and_can_be_narrowed(self, use: Any) -> None:
        async def scenario(store: NodeStore) -> None:
            await store.put(HERE, [LONDON, BYRON, ADA], [FATHER, BORN])
            assert [node.id for node in await store.page(HERE, limit=2)] == ["ada", "byron"]
            assert [node.id for node in await store.page(HERE, after="byron")] == ["london"]
            assert [node.id for node in await store.page(HERE, type="Place")] == ["london"]
            assert [edge.id for edge in await store.edge_page(HERE, after="e1")] == ["e2"]
            assert [edge.id for edge in await store.edge_page(HERE, node="ada", limit=1)] == ["e1"]
            assert [edge.id for edge in await store.edge_page(HERE, node="london")] == ["e2"]
            assert [edge.id for edge in await store.edge_page(HERE, type="father")] == ["e1"]

        use(scenario)

    def test_names_are_titles_aliases_and_ids_without_accents_or_case(self, use: Any) -> None:
        async def scenario(store: NodeStore) -> None:
            twin = Node("x_1", "", "ÀDA_lovelace")
            await store.put(HERE, [ADA, twin])
            found = await store.named(HERE, ["ada lovelace", "countess of lovelace", "x 1", "lovelace"], 5)
            expected = {"ada lovelace": ["ada", "x_1"], "countess of lovelace": ["ada"], "x 1": ["x_1"]}
            assert found == expected
            assert (await store.named(HERE, ["ada lovelace"], 1)) == {"ada lovelace": ["ada"]}

        use(scenario)

    def test_relations_count_both_sides_and_loops(self, use: Any) -> None:
        async def scenario(store: NodeStore) -> None:
            loop = Edge("e3", "ada", "ada", "knows")
            again = Edge("e4", "ada", "byron", "father")
            await store.put(HERE, [ADA, BYRON, LONDON], [FATHER, BORN, loop, again])
            assert sorted(await store.relations(HERE, ["ada", "byron"])) == [
                Relation("ada", "father", True, 2),
                Relation("ada", "knows", False, 1),
                Relation("ada", "knows", True, 1),
                Relation("ada", "place of birth", True, 1),
                Relation("byron", "father", False, 2),
            ]
            assert await store.follow(HERE, ["ada"], "father", outgoing=True, limit=5) == [
                ("ada", "e1", "byron"),
                ("ada", "e4", "byron"),
            ]
            assert await store.follow(HERE, ["byron", "ada"], "father", outgoing=False, limit=1) == [
                ("byron", "e1", "ada")
            ]

        use(scenario)

    def test_hostile_names_are_only_names(self, use: Any) -> None:
        async def scenario(store: NodeStore) -> None:
            nasty = "x`) DETACH DELETE n //'; DROP TABLE user_nodes; --"
            await store.put(HERE, [ADA, Node(nasty, nasty, nasty)], [Edge(nasty, "ada", nasty, nasty)])
            assert (await store.follow(HERE, ["ada"], nasty, outgoing=True, limit=5))[0][2] == nasty
            assert [node.id for node in await store.page(HERE, type=nasty)] == [nasty]
            assert await store.count(HERE) == Counts(2, 1)

        use(scenario)
