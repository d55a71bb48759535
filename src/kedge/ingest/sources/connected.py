"""A connected source as the pipeline reads it: what its connector lists, compared with what is remembered of it.

What is remembered (`SourceItem`) is written before anything of an entry becomes visible, so that a document never comes
from an entry that nobody knows: killed anywhere, the next run finds what it has to take out. It says nothing about
documents, only which bytes an entry had; whether those are taken in is in the catalog.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import PurePosixPath

from kedge.core.errors import SourceFault
from kedge.core.settings import Settings
from kedge.core.values import SourceError, SourceHold, SourceItem
from kedge.ingest.connectors.ports import Connector, Content, Entry, LastListing, Remembered
from kedge.ingest.parse.formats import JSONL_SUFFIX, ZIP_SUFFIX, known_name
from kedge.ingest.sources import passed_over
from kedge.ingest.sources.corpus import is_corpus, read_corpus
from kedge.ingest.sources.discovery import unpack
from kedge.ingest.sources.download import Deferred, Download
from kedge.ingest.sources.source import Source, source_error, too_large, with_format
from kedge.ingest.sources.zipped import is_archive

AT_ONCE = 16
"""Entries whose bytes are fetched, and remembered, together."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """What a run knows and does beside its connector. The calls wait for the catalog, from the thread that reads."""

    items: Mapping[str, SourceItem]
    """What is remembered of the source, by key."""
    remember: Callable[[Sequence[SourceItem]], None]
    """Keep these, before their documents become visible."""
    visible: Callable[[Sequence[str]], set[str]]
    """Which of these urls readers see."""
    shared: Callable[[Sequence[str]], set[str]]
    """Which of these urls another source of the collection has too."""
    cursor: str = ""
    """Of the last whole listing."""


@dataclass(slots=True)
class Outcome:
    """What came of listing a source; complete when the last entry has been handed out."""

    entries: int = 0
    """How many there are."""
    whole: bool = False
    """Whether everything that is there was seen."""
    fault: str | None = None
    """Why the listing broke off."""
    held: SourceHold | None = None
    cursor: str = ""
    gone: list[str] = field(default_factory=list)
    """Keys of entries that are not there any more."""


class ConnectedDiscovery:
    """The `Discovered` of a run. Iterated once, by one thread at a time."""

    def __init__(self, url: str, connector: Connector, ledger: Ledger, settings: Settings, *, confirmed: bool) -> None:
        """`confirmed`: whatever is gone may be taken out."""
        self._url = url
        self._connector = connector
        self._ledger = ledger
        self._settings = settings
        self._confirmed = confirmed
        self._owners = {item.url: item for item in ledger.items.values()}
        """By url: what is remembered of this run and of those before."""
        self._seen: dict[str, SourceItem] = {}
        self._given: set[str] = set()
        """Urls of documents that were handed out."""
        self._unseen: list[str] = []
        """Urls of what could not be seen, or of the folder above it."""
        self._elsewhere: set[str] = set()
        """Urls that stay because another source of the collection has them too."""
        self._skipped: Counter[str] = Counter()
        self.outcome = Outcome()

    def __iter__(self) -> Iterator[Source | SourceError]:
        listing = self._listing()
        while some := list(islice(listing, AT_ONCE)):
            yield from self._taken(some)
        if self.outcome.whole:
            self._find_gone()

    def volume(self) -> int:
        """Not known before it is listed."""
        return 0

    def titles(self) -> Iterator[str]:
        """None are known before the documents are read."""
        return iter(())

    def notes(self) -> list[str]:
        """What was passed over, and what is held."""
        return [*passed_over.notes(self._skipped), *([held_message(self.outcome.held)] if self.outcome.held else [])]

    def gone(self, url: str) -> bool:
        """Whether a document known before is not in the source any more, and may be taken out."""
        if not self.outcome.whole or self.outcome.held is not None or url in self._given:
            return False
        owner = self._owner(url)
        if owner is None or owner.url in self._elsewhere or self._hidden(owner.url):
            return False
        return not self._hidden(url)

    # ------------------------------------------------------------ listing

    def _listing(self) -> Iterator[Entry | SourceError]:
        """All entries; what breaks the listing off is told in the outcome."""
        past = LastListing({key: _remembered(item) for key, item in self._ledger.items.items()}, self._ledger.cursor)
        try:
            yield from self._connector.entries(past)
        except SourceFault as fault:
            self.outcome.fault = str(fault)
            yield source_error(self._url, fault)
        else:
            self.outcome.whole = self._connector.complete
            self.outcome.cursor = self._connector.cursor

    def _taken(self, some: Sequence[Entry | SourceError]) -> list[Source | SourceError]:
        """These entries as sources, after what is new of them was written down."""
        found: list[Source | SourceError] = []
        fresh: list[SourceItem] = []
        for one in some:
            if isinstance(one, SourceError):
                self._miss(one, found)
                continue
            if one.key in self._seen or not self._is_document(one):
                continue
            known = self._ledger.items.get(one.key)
            item = self._unchanged(one, known, found) or self._read(one, known, found)
            self._seen[one.key] = self._owners[one.url] = item
            if item != known:
                fresh.append(item)
        self._given.update(one.url for one in found if isinstance(one, Source))
        self.outcome.entries = len(self._seen)
        if fresh:
            self._ledger.remember(fresh)
        return found

    def _is_document(self, entry: Entry) -> bool:
        suffix = PurePosixPath(entry.name).suffix.lower()
        if entry.content_type or known_name(entry.name) or suffix in (JSONL_SUFFIX, ZIP_SUFFIX):
            return True
        self._skipped[suffix] += 1
        return False

    def _unchanged(
        self, entry: Entry, known: SourceItem | None, found: list[Source | SourceError]
    ) -> SourceItem | None:
        """An entry whose bytes are known: they are fetched only if they have to be taken in after all."""
        same = known is not None and known.content_hash and entry.fingerprint and entry.fingerprint == known.fingerprint
        if known is None or not same:
            return None
        source = _source(entry, Deferred(lambda: self._open(entry)), known.size)
        found.append(replace(source, format=known.format, known_hash=known.content_hash))
        return replace(known, url=entry.url, note=entry.note)

    def _read(self, entry: Entry, known: SourceItem | None, found: list[Source | SourceError]) -> SourceItem:
        """Fetch an entry and add what is in it; returns what is to be remembered of it."""
        plain = SourceItem(entry.key, entry.url, several=known is not None and known.several, note=entry.note)
        try:
            content = self._open(entry)
            source = _source(entry, content, _size(content))
            if PurePosixPath(entry.name).suffix.lower() == JSONL_SUFFIX and is_corpus(source):
                self._add_several(read_corpus(source), found)
                return replace(plain, several=True)
            if is_archive(source):
                self._add_several(unpack(source, self._settings, self._skipped), found)
                return replace(plain, several=True)
            source = with_format(source)
            digest = source.content_hash()
        except SourceFault as fault:
            self._miss(source_error(entry.url, fault), found)
            return plain if known is None else replace(plain, content_hash=known.content_hash)
        found.append(replace(source, known_hash=digest))
        return replace(
            plain,
            fingerprint=entry.fingerprint,
            content_hash=digest,
            several=False,
            format=source.format,
            size=source.size,
        )

    def _add_several(self, documents: Iterator[Source | SourceError], found: list[Source | SourceError]) -> None:
        for one in documents:
            if isinstance(one, SourceError):
                self._miss(one, found)
            else:
                found.append(one)

    def _miss(self, error: SourceError, found: list[Source | SourceError]) -> None:
        """What cannot be seen counts as still there."""
        self._unseen.append(error.url.split("#line-")[0].rstrip("/"))
        found.append(error)

    def _open(self, entry: Entry) -> Content:
        content = self._connector.open(entry)
        if _size(content) > self._settings.max_source_bytes:
            raise too_large(entry.name, self._settings.max_source_bytes)
        return content

    # ------------------------------------------------------------ what is gone

    def _find_gone(self) -> None:
        """After the listing: what is gone, and whether it is so much that somebody has to say that it is meant.

        What is there under another key with the same bytes was moved, and what readers do not see is not lost.
        """
        items = self._ledger.items
        missing = [item for key, item in items.items() if key not in self._seen and not self._hidden(item.url)]
        if not missing:
            return
        urls = [item.url for item in missing]
        visible = self._ledger.visible(urls)
        here = {item.content_hash for item in self._seen.values() if item.content_hash}
        there = [item for item in missing if item.several or item.url in visible]
        lost = [item for item in there if item.content_hash is None or item.content_hash not in here]
        known = len(items) - len(missing) + len(there)
        if lost and not self._confirmed and (not self._seen or 2 * len(lost) > known):
            self.outcome.held = SourceHold(len(lost), known)
            return
        self.outcome.gone = [item.key for item in missing]
        self._elsewhere = self._ledger.shared(urls)

    def _hidden(self, url: str) -> bool:
        """Whether it is, or stands below, something that could not be seen."""
        return any(f"{url}/".startswith((f"{place}/", f"{place}#")) for place in self._unseen)

    def _owner(self, url: str) -> SourceItem | None:
        """The entry that a document came from: it is one, or stands in it."""
        if url in self._owners:
            return self._owners[url]
        at = url.find("#")
        while at >= 0:
            if (found := self._owners.get(url[:at])) is not None and found.several:
                return found
            at = url.find("#", at + 1)
        return None


def held_message(held: SourceHold, name: str = "NAME") -> str:
    """What a hold means, and what to do."""
    return (
        f"{held.gone} of {held.known} documents are gone from the source and are kept; "
        f"if that is meant so, run `kedge source sync {name} --confirm`."
    )


def _remembered(item: SourceItem) -> Remembered:
    return Remembered(item.url, item.fingerprint, item.size, item.note)


def _source(entry: Entry, content: Content | Deferred, size: int) -> Source:
    return Source(
        url=entry.url,
        external_id=entry.key,
        name=entry.name,
        content=content,
        size=size,
        updated_at=entry.updated_at,
        metadata=entry.metadata,
        title=entry.title,
        content_type=entry.content_type,
        readers=entry.readers,
    )


def _size(content: Content) -> int:
    if isinstance(content, bytes):
        return len(content)
    return content.size if isinstance(content, Download) else content.stat().st_size
