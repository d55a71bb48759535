"""The contract of connectors, written once. A connector binds it by publishing documents at its place:

```python
class TestMine(ConnectorContract):
    def publish(self, documents):  # name → text: exactly these are there from now on
        ...

    def open(self):
        return MyConnector(SourceAddress("mine://here"), Settings())
```
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from kedge.core.urls import mask_url
from kedge.core.values import SourceError
from kedge.ingest.connectors.ports import Connector, Content, Entry, LastListing, Remembered
from kedge.ingest.sources.download import as_file

ANCHORS = "The kedge anchor is light and is carried out by boat."
TIDES = "Spring tides come twice in every lunar month."
KNOTS = "The bowline makes a fixed loop that does not slip."
OLD = {"anchors.md": ANCHORS, "tides.md": TIDES}


class ConnectorContract(ABC):
    """What every connector does."""

    forgets: ClassVar[bool] = False
    """Whether entries leave its listings without being gone, as those of feeds do."""

    beside: ClassVar[int] = 0
    """Entries that are there beside the documents and always the same: a site's first page."""

    @abstractmethod
    def publish(self, documents: Mapping[str, str]) -> None:
        """Let exactly these documents be there, each a file of that name with that sentence in it."""

    @abstractmethod
    def open(self) -> Connector:
        """A connector for the place, new each time."""

    # ------------------------------------------------------------ the suite

    def test_what_is_there_is_listed_with_its_bytes(self) -> None:
        self.publish(OLD)
        with self._opened() as connector:
            found = _texts(connector, LastListing())
            assert _sentences(found) == {ANCHORS, TIDES}
            assert connector.complete is not self.forgets

    def test_keys_and_urls_are_unique_and_hold_no_secret(self) -> None:
        self.publish({**OLD, "knots.md": KNOTS})
        with self._opened() as connector:
            entries = _entries(connector, LastListing())
        assert len({one.key for one in entries}) == len({one.url for one in entries}) == 3 + self.beside
        for one in entries:
            assert one.key
            assert one.name
            assert mask_url(one.url) == one.url

    def test_what_did_not_change_keeps_its_key_url_and_fingerprint(self) -> None:
        self.publish(OLD)
        assert self._listed(LastListing()) == self._listed(LastListing())

    def test_another_text_has_another_fingerprint_or_another_key(self) -> None:
        self.publish(OLD)
        before = self._read()
        self.publish({**OLD, "tides.md": "Neap tides come when sun and moon stand at right angles."})
        after = self._read()
        same = {key for key, (said, _) in after.items() if said is not None and said == before.get(key, (None, ""))[0]}
        assert all(before[key][1] == after[key][1] for key in same)
        assert {text for _, text in before.values()} != {text for _, text in after.values()}

    def test_what_is_gone_is_not_listed(self) -> None:
        self.publish({**OLD, "knots.md": KNOTS})
        assert len(self._listed(LastListing())) == 3 + self.beside
        self.publish(OLD)
        with self._opened() as connector:
            assert _sentences(_texts(connector, LastListing())) == {ANCHORS, TIDES}

    def test_a_place_that_is_known_lists_the_same_and_can_still_be_read(self) -> None:
        """Whatever a connector saves by being told of the run before, it says the same."""
        self.publish(OLD)
        with self._opened() as connector:
            first = _entries(connector, LastListing())
            for one in first:
                as_file(connector.open(one))
            past = LastListing({one.key: _remembered(one) for one in first}, connector.cursor)
        with self._opened() as again:
            known = _entries(again, past)
            if self.forgets and not known:
                return
            assert {(one.key, one.url, one.fingerprint) for one in known} == {
                (one.key, one.url, one.fingerprint) for one in first
            }
            assert _sentences([_text(again.open(one)) for one in known]) == {ANCHORS, TIDES}
        self.publish({"anchors.md": ANCHORS, "knots.md": KNOTS})
        with self._opened() as third:
            assert KNOTS in _sentences(_texts(third, past))

    def test_a_killed_run_leaves_nothing_that_the_next_one_trusts(self) -> None:
        """Some of the entries are remembered, and no cursor: everything is listed all the same."""
        self.publish(OLD)
        with self._opened() as connector:
            first = _entries(connector, LastListing())
        with self._opened() as again:
            known = _entries(again, LastListing({first[0].key: _remembered(first[0])}))
        assert {one.key for one in known} == {one.key for one in first}

    def test_an_entry_can_be_opened_after_the_listing(self) -> None:
        self.publish(OLD)
        with self._opened() as connector:
            entries = _entries(connector, LastListing())
            assert _sentences([_text(connector.open(one)) for one in reversed(entries)]) == {ANCHORS, TIDES}

    def test_closing_twice_is_fine(self) -> None:
        self.publish(OLD)
        connector = self.open()
        connector.close()
        connector.close()

    def test_it_keeps_the_port(self) -> None:
        with self._opened() as connector:
            assert isinstance(connector, Connector)

    # ------------------------------------------------------------ helpers

    @contextmanager
    def _opened(self) -> Iterator[Connector]:
        connector = self.open()
        try:
            yield connector
        finally:
            connector.close()

    def _read(self) -> dict[str, tuple[str | None, str]]:
        """By key: fingerprint and text."""
        with self._opened() as connector:
            return {
                one.key: (one.fingerprint, _text(connector.open(one))) for one in _entries(connector, LastListing())
            }

    def _listed(self, past: LastListing) -> dict[str, tuple[str, str | None]]:
        with self._opened() as connector:
            return {one.key: (one.url, one.fingerprint) for one in _entries(connector, past)}


def _entries(connector: Connector, past: LastListing) -> list[Entry]:
    found = []
    for one in connector.entries(past):
        if isinstance(one, SourceError):
            pytest.fail(f"could not be listed: {one.url}: {one.message}")
        found.append(one)
    return found


def _texts(connector: Connector, past: LastListing) -> list[str]:
    """Of entries that are opened while the listing runs."""
    found = []
    for one in connector.entries(past):
        assert isinstance(one, Entry), one
        found.append(_text(connector.open(one)))
    return found


def _text(content: Content) -> str:
    held = as_file(content)
    return (held if isinstance(held, Path) else held.path).read_bytes().decode("utf-8", "replace")


def _sentences(texts: list[str]) -> set[str]:
    """Which of the sentences stand in the texts; a page that leads to the others may hold none."""
    return {one for one in (ANCHORS, TIDES, KNOTS) if any(one in text for text in texts)}


def _remembered(entry: Entry) -> Remembered:
    return Remembered(entry.url, entry.fingerprint, entry.size, entry.note)
