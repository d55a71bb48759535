"""Random sequences of operations: a graph must always tell the same as the memory graph, also when re-opened."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from kedge.core.values import Concept, GraphBatch, MentionKind, Predicate, Role, Scope
from kedge.stores.graph.memory.concepts import MemoryGraph
from kedge.stores.ports import GraphStore
from kedge.testing.graph.sample import HERE, THERE, chunk, mention, observe, titled, triple
from kedge.testing.oracle import BesideOracle

KEYS = ("trie", "suffix tree", "c++", "东京", "heap")
PASSAGES = ("p1", "p2", "p3", "p4")
DOCUMENTS = ("d1", "d2", "d3")
WORDS = ("tree", "trees", "suffix", "C++", "东京", "")

scopes = st.sampled_from((HERE, THERE))
keys = st.sampled_from(KEYS)
passages = st.sampled_from(PASSAGES)
texts = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
documents = st.builds(
    lambda name, titles, mentioned: titled(name, *titles, mentions=[(key, 1, 0.5) for key in mentioned]),
    st.sampled_from(DOCUMENTS),
    st.lists(keys, max_size=2),
    st.sets(keys, max_size=2),
)
concepts = st.builds(
    Concept,
    key=keys,
    name=st.sampled_from(WORDS),
    aliases=st.lists(st.sampled_from(WORDS), max_size=2).map(tuple),
    description=texts,
    category=st.sampled_from(("", "a", "b")),
    tags=st.lists(st.sampled_from("xyz"), max_size=2).map(tuple),
)
batches = st.builds(
    GraphBatch,
    documents=st.lists(documents, max_size=2).map(tuple),
    chunks=st.lists(st.builds(chunk, passages, st.sampled_from(DOCUMENTS), st.integers(0, 3), texts), max_size=3).map(
        tuple
    ),
    concepts=st.lists(concepts, max_size=3).map(tuple),
    mentions=st.lists(
        st.builds(mention, passages, keys, st.integers(1, 4), st.sampled_from(MentionKind), st.sampled_from(Role)),
        max_size=5,
    ).map(tuple),
    triples=st.lists(
        st.builds(triple, keys, keys, passages, st.sampled_from((0.5, 0.9)), predicate=st.sampled_from(Predicate)),
        max_size=2,
    ).map(tuple),
)


class GraphCongruence(BesideOracle[GraphStore]):
    """Bind it with `open_store`; its `TestCase` is the test."""

    def open_oracle(self) -> GraphStore:
        return MemoryGraph()

    @invariant()
    def same_to_every_reader(self) -> None:
        mine = self._run(observe(self._store, KEYS, PASSAGES, "tree suffix"))
        assert mine == self._run(observe(self._oracle, KEYS, PASSAGES, "tree suffix"))

    @rule(scope=scopes, batch=batches)
    def write(self, scope: Scope, batch: GraphBatch) -> None:
        for graph in (self._store, self._oracle):
            self._run(graph.write(scope, batch))

    @rule(scope=scopes, some=st.sets(passages), documents=st.sets(st.sampled_from(DOCUMENTS), max_size=2))
    def remove(self, scope: Scope, some: set[str], documents: set[str]) -> None:
        for graph in (self._store, self._oracle):
            self._run(graph.remove(scope, sorted(some), sorted(documents)))

    @rule(scope=scopes)
    def drop(self, scope: Scope) -> None:
        for graph in (self._store, self._oracle):
            self._run(graph.drop(scope))
