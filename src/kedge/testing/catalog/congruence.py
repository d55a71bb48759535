"""Random sequences of operations: a catalog must always tell the same as the memory catalog, also when re-opened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from kedge.core.errors import KedgeError
from kedge.core.ids import passage_id, sha256
from kedge.core.values import Document, DocumentStatus, Passage, Scope
from kedge.stores.catalog.memory.catalog import MemoryCatalog
from kedge.stores.catalog.ports import CanKeepPast, Catalog, Past
from kedge.testing.catalog.sample import HERE, INDEX, THERE, collection, document, observe, passages, version
from kedge.testing.oracle import BesideOracle

TEXTS = ("a", "b", "c")
CONTENTS = ("1", "2", "3")

scopes = st.sampled_from((HERE, THERE))
documents = st.builds(document, st.sampled_from(("one", "two", "six")), scopes)
contents = st.sampled_from(CONTENTS)
versions = st.builds(version, documents, contents)
some_versions = st.lists(versions, max_size=3)
ids = st.builds(
    lambda of, text, position: passage_id(of.id, sha256(f"{text}@{position}"), 0),
    documents,
    st.sampled_from(TEXTS),
    st.integers(0, 2),
)


def _past(catalog: Catalog) -> Past:
    assert isinstance(catalog, CanKeepPast)
    return catalog.past


async def _kept(catalog: Catalog, scope: Scope) -> list[Passage]:
    return [one.passage async for batch in _past(catalog).scan(scope, 2) for one in batch]


class CatalogCongruence(BesideOracle[Catalog]):
    """Bind it with `open_store`; its `TestCase` is the test."""

    def open_oracle(self) -> Catalog:
        return MemoryCatalog()

    def teardown(self) -> None:
        assert self._run(self._store.integrity()) == []
        super().teardown()

    def _both(self, operation: Callable[[Catalog], Awaitable[object]]) -> None:
        """Do it to both; they answer, or refuse, alike."""
        assert self._answer(self._store, operation) == self._answer(self._oracle, operation)

    def _answer(self, catalog: Catalog, operation: Callable[[Catalog], Awaitable[object]]) -> object:
        try:
            return self._run(operation(catalog))
        except KedgeError as error:
            return type(error)

    @invariant()
    def same_to_every_reader(self) -> None:
        assert self._run(observe(self._store)) == self._run(observe(self._oracle))

    @initialize()
    def some_collections(self) -> None:
        for scope in (HERE, THERE):
            self.put(scope, 1)

    @rule(scope=scopes, generation=st.integers(1, 2))
    def put(self, scope: Scope, generation: int) -> None:
        self._both(lambda c: c.collections.put(collection(scope, generation=generation)))

    @rule(of=documents, content=contents, title=st.sampled_from(("Old", "New")))
    def begin(self, of: Document, content: str, title: str) -> None:
        self._both(lambda c: c.documents.begin([(replace(of, title=title, file_hash=content), version(of, content))]))

    @rule(of=documents, content=contents, texts=st.lists(st.sampled_from(TEXTS), max_size=3), first=st.integers(0, 1))
    def stage(self, of: Document, content: str, texts: list[str], first: int) -> None:
        self._both(lambda c: c.passages.stage(passages(of, content, texts, first), INDEX))

    @rule(of=documents, content=contents, texts=st.lists(st.sampled_from(TEXTS), max_size=3))
    def publish(self, of: Document, content: str, texts: list[str]) -> None:
        """The usual way, so that much is live."""
        self.begin(of, content, "Usual")
        self.stage(of, content, texts, 0)
        self.mark_indexed([passage.id for passage in passages(of, content, texts)], INDEX)
        self.switch([version(of, content)])

    @rule(some=st.lists(ids, max_size=4), index=st.sampled_from((INDEX, "another")))
    def mark_indexed(self, some: list[str], index: str) -> None:
        self._both(lambda c: c.passages.mark_indexed(some, index))

    @rule(some=some_versions, status=st.sampled_from(DocumentStatus))
    def set_status(self, some: list[str], status: DocumentStatus) -> None:
        self._both(lambda c: c.documents.set_status(some, status))

    @rule(some=some_versions)
    def switch(self, some: list[str]) -> None:
        self._both(lambda c: c.documents.switch(some))

    @rule(one=versions)
    def fail(self, one: str) -> None:
        self._both(lambda c: c.documents.fail(one, "no"))

    @rule(scope=scopes, some=st.lists(documents, max_size=3))
    def retire(self, scope: Scope, some: list[Document]) -> None:
        self._both(lambda c: c.documents.retire(scope, [of.id for of in some]))

    @rule(scope=scopes, some=st.lists(documents, max_size=3))
    def archive(self, scope: Scope, some: list[Document]) -> None:
        self._both(lambda c: c.documents.archive(scope, [of.id for of in some]))

    @rule(some=some_versions)
    def forget(self, some: list[str]) -> None:
        self._both(lambda c: c.passages.forget(some))

    @rule(limit=st.integers(1, 3))
    def sweep(self, limit: int) -> None:
        dead = self._run(self._oracle.passages.dead(limit))
        self._both(lambda c: c.passages.forget([one.version_id for one in dead]))

    @rule(limit=st.integers(1, 3))
    def keep(self, limit: int) -> None:
        dead = self._run(self._oracle.passages.dead(limit))
        self._both(lambda c: _past(c).keep([one.version_id for one in dead]))

    @rule(scope=scopes)
    def release(self, scope: Scope) -> None:
        self._both(lambda c: _past(c).release(scope, datetime.now(UTC) + timedelta(days=1)))

    @rule(scope=scopes, some=st.lists(ids, max_size=5))
    def read_past(self, scope: Scope, some: list[str]) -> None:
        now = datetime.now(UTC) + timedelta(days=1)
        self._both(lambda c: _past(c).held(some))
        self._both(lambda c: _past(c).live(scope, some, now))
        self._both(lambda c: _kept(c, scope))

    @rule(scope=scopes, some=st.lists(ids, max_size=5))
    def read(self, scope: Scope, some: list[str]) -> None:
        self._both(lambda c: c.passages.live(scope, some))

    @rule(scope=scopes)
    def delete(self, scope: Scope) -> None:
        self._both(lambda c: c.collections.delete(scope))
