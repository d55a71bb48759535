"""No tenant reaches another's data in any store, however alike the names are."""

from __future__ import annotations

import asyncio
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kedge.answer.conversation.turns import FileTurns, MemoryTurns, Turn, Turns
from kedge.core.ids import concept_id, document_id
from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, Scope
from kedge.engine.collections import index_name
from kedge.kinds import kind_named
from kedge.kinds.courses.place import book_of
from kedge.kinds.tables.state import Folders
from kedge.stores import registry
from tests.campaigns.tenants.ports import CatalogPort, GraphPort, NodePort, Port, VectorPort
from tests.contract.postgresql import url_of
from tests.services import milvus, need
from tests.stores.qdrant_rest import QdrantRest

MEMORY = load_settings(environ={}, catalog_url="memory:", vector_url="memory:", graph_url="memory:")
OPENERS: dict[type[Port[Any]], Callable[[Settings], Any]] = {
    VectorPort: registry.open_vectors,
    GraphPort: registry.open_graph,
    NodePort: registry.open_nodes,
    CatalogPort: registry.open_catalog,
}
ATTEMPTS = 120


def cross(port: type[Port[Any]], settings: Settings, attempts: int = ATTEMPTS) -> None:
    async def story() -> list[str]:
        store, alone = OPENERS[port](settings), OPENERS[port](MEMORY)
        try:
            return await port(store, alone, 3).run(attempts)
        finally:
            await store.close()
            await alone.close()

    assert asyncio.run(story()) == []


@pytest.mark.parametrize("port", list(OPENERS))
def test_memory(port: type[Port[Any]]) -> None:
    cross(port, MEMORY)


@pytest.mark.parametrize("port", list(OPENERS))
def test_embedded(port: type[Port[Any]], tmp_path: Path) -> None:
    cross(port, load_settings(environ={}, home=tmp_path))


@pytest.mark.parametrize("port", list(OPENERS))
def test_postgresql(port: type[Port[Any]], tmp_path: Path) -> None:
    url = url_of(tmp_path)
    cross(port, load_settings(environ={}, home=tmp_path, catalog_url=url, vector_url=url))


@pytest.mark.parametrize("port", [GraphPort, NodePort])
def test_neo4j(port: type[Port[Any]], tmp_path: Path) -> None:
    cross(port, load_settings(environ={}, home=tmp_path, graph_url=need("neo4j")), 25)


def test_qdrant(tmp_path: Path) -> None:
    with QdrantRest() as server:
        cross(VectorPort, load_settings(environ={}, home=tmp_path, vector_url=server.url))
    cross(VectorPort, load_settings(environ={}, home=tmp_path, vector_url=f"qdrant+local://{tmp_path}/vectors"), 60)


def test_milvus(tmp_path: Path) -> None:
    with milvus.own_database(need("milvus"), "kedge_tenants") as url:
        cross(VectorPort, load_settings(environ={}, home=tmp_path, vector_url=url), 60)


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_conversations(kind: str, tmp_path: Path) -> None:
    turns: Turns = MemoryTurns(30) if kind == "memory" else FileTurns(tmp_path / "sessions.db", 30)

    async def story() -> None:
        await turns.add(("acme", "talk"), Turn("What opens the vault?", "A secret."))
        for key in (
            ("acm", "etalk"),
            ("Acme", "talk"),
            ("talk", "acme"),
            ("", "talk"),
            ("%", "talk"),
            ("acme", "Talk"),
        ):
            assert await turns.last(key) == []
            await turns.add(key, Turn("Mine", "Mine"))
        assert [turn.question for turn in await turns.last(("acme", "talk"))] == ["What opens the vault?"]

    asyncio.run(story())


tenants = st.text(alphabet=string.ascii_letters + string.digits + "_.@-é", min_size=1, max_size=6).filter(
    lambda text: text[0] not in ".@-"
)
names = st.text(alphabet=string.ascii_letters + string.digits + "_ .@-é", min_size=1, max_size=6).filter(
    lambda text: text[0] not in " .@-"
)
scopes = st.builds(Scope, tenants | st.just(DEFAULT_TENANT), names)


@given(scopes, scopes)
def test_what_two_scopes_own_has_two_names(one: Scope, other: Scope) -> None:
    """Whatever is made from a scope tells it from every other: indexes, folders, ids."""
    assume(one != other)
    folders = Folders(Path("/x"))
    made: list[Callable[[Scope], object]] = [
        lambda scope: index_name(kind_named("documents"), scope, 1),
        folders.of,
        lambda scope: document_id(scope, "file:///a"),
        lambda scope: concept_id(scope, "tree"),
        book_of,
    ]
    for name in made:
        assert name(one) != name(other)
