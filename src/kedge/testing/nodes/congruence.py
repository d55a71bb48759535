"""Random sequences of operations: a node store must always tell the same as the memory store, also when re-opened."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from kedge.core.errors import NotFoundError
from kedge.core.values import Scope
from kedge.stores.graph.memory.nodes import MemoryNodes
from kedge.stores.graph.nodes import Edge, Node, NodeStore
from kedge.testing.nodes.contract import HERE, THERE, observe
from kedge.testing.oracle import BesideOracle

IDS = ("a", "B", "c_1", "东京", "é")
KEYS = ("a", "b", "c 1", "东京", "e", "tree house")

scopes = st.sampled_from((HERE, THERE))
ids = st.sampled_from(IDS)
edge_ids = st.sampled_from(("1", "2", "3", "10"))
values = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text("aé\"'`", max_size=3))
nodes = st.builds(
    Node,
    id=ids,
    type=st.sampled_from(("", "Person", "Place")),
    title=st.sampled_from(("", "Tree house", "tree_house", "Ä")),
    description=st.sampled_from(("", "Some words.")),
    aliases=st.lists(st.sampled_from(("Tree house", "b")), max_size=2).map(tuple),
    properties=st.dictionaries(st.sampled_from(("p", "q r")), values, max_size=2),
)
edges = st.builds(
    Edge, id=edge_ids, source=ids, target=ids, type=st.sampled_from(("knows", "lives in")), properties=st.just({})
)


class NodesCongruence(BesideOracle[NodeStore]):
    """Bind it with `open_store`; its `TestCase` is the test."""

    def open_oracle(self) -> NodeStore:
        return MemoryNodes()

    @invariant()
    def same_to_every_reader(self) -> None:
        for scope in (HERE, THERE):
            assert self._run(observe(self._store, scope)) == self._run(observe(self._oracle, scope))
            mine = self._run(self._store.named(scope, KEYS, 2))
            assert mine == self._run(self._oracle.named(scope, KEYS, 2))

    @rule(scope=scopes, some=st.lists(nodes, max_size=4), links=st.lists(edges, max_size=3))
    def put(self, scope: Scope, some: list[Node], links: list[Edge]) -> None:
        outcomes = []
        for store in (self._store, self._oracle):
            try:
                self._run(store.put(scope, some, links))
                outcomes.append("")
            except NotFoundError as error:
                outcomes.append(error.message)
        assert outcomes[0] == outcomes[1]

    @rule(scope=scopes, some=st.lists(ids, max_size=2), links=st.lists(edge_ids, max_size=2))
    def remove(self, scope: Scope, some: list[str], links: list[str]) -> None:
        assert self._run(self._store.remove(scope, some, links)) == self._run(self._oracle.remove(scope, some, links))

    @rule(scope=scopes)
    def drop(self, scope: Scope) -> None:
        for store in (self._store, self._oracle):
            self._run(store.drop(scope))
