"""RSS and Atom feeds as sources: `feed+https://blog.example/feed.xml`.

A feed tells of what is new and forgets what is old, so an entry that left it stays. One that comes back with other
words is taken in anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from html import escape
from urllib.parse import urlsplit
from xml.etree import ElementTree
from xml.parsers import expat

from kedge.core.errors import SourceFault, UnreadableError, UsageError
from kedge.core.ids import sha256
from kedge.core.settings import Settings
from kedge.core.values import Json, SourceError
from kedge.ingest.connectors.links import plain
from kedge.ingest.connectors.ports import Content, Entry, LastListing, SourceAddress
from kedge.ingest.sources.fetch import NOT_MODIFIED, FetchTerms, Resolve, fetch, resolve

MOST_BYTES = 32 << 20
MOST_ENTRIES = 10_000
HTML = "text/html; charset=utf-8"
YES = ("yes", "true", "1")
_TEXTS = ("encoded", "content", "description", "summary")
"""Where the words of an entry stand, the fullest first."""


def open_feed(place: SourceAddress, settings: Settings) -> NewsFeed:
    """Options `pages`: `yes` takes in the pages that entries link to, instead of their words in the feed; `entries`."""
    place.allow(options=("pages", "entries"))
    return NewsFeed(place, settings)


class NewsFeed:
    """The `Connector` over a feed."""

    complete = False

    def __init__(self, place: SourceAddress, settings: Settings, *, resolve: Resolve = resolve) -> None:
        self._address = place.url.removeprefix("feed+")
        if urlsplit(self._address).scheme not in ("http", "https"):
            raise UsageError(f"{place.url} is no address of a feed.", hint="Write feed+https://host/feed.xml.")
        self._settings = settings
        self._resolve = resolve
        self._pages = place.text("pages").lower() in YES
        self._most = int(place.number("entries", MOST_ENTRIES))
        self._words: dict[str, bytes] = {}
        """What entries say, by key, until they are opened."""
        self.cursor = ""

    def entries(self, past: LastListing) -> Iterator[Entry | SourceError]:
        tags = {"If-None-Match": past.cursor} if past.cursor else {}
        try:
            fetched = fetch(
                self._address, self._settings, resolve=self._resolve, asked=FetchTerms(tags, most_bytes=MOST_BYTES)
            )
        except SourceFault as fault:
            if fault.details.get("status") == NOT_MODIFIED:
                self.cursor = past.cursor
                return
            raise
        self.cursor = fetched.etag or ""
        seen: set[str] = set()
        for node in _items(fetched.download.path.read_bytes(), self._address)[: self._most]:
            entry = self._entry(node)
            if entry is not None and entry.url not in seen:
                seen.add(entry.url)
                yield entry

    def open(self, entry: Entry) -> Content:
        if self._pages:
            return fetch(entry.url, self._settings, resolve=self._resolve).download
        return self._words[entry.key]

    def close(self) -> None:
        self._words.clear()

    def _entry(self, node: ElementTree.Element) -> Entry | None:
        """One entry; None where it links nowhere, as nothing could be cited then."""
        written = _link(node)
        link = plain(written, self._address)
        if not written or not link:
            return None
        key = _said(node, "guid", "id") or link
        title = " ".join((_said(node, "title") or link).split())
        words = next((text for name in _TEXTS if (text := _said(node, name))), "")
        page = f"<html><head><title>{escape(title)}</title></head><body><h1>{escape(title)}</h1>\n{words}</body></html>"
        self._words[key] = page.encode()
        author = _said(node, "creator", "author", "name")
        metadata: dict[str, Json] = {"author": author} if author else {}
        changed = _time(_said(node, "updated", "modified", "pubDate", "published", "date"))
        name = f"{sha256(key)[:16]}.html"
        return Entry(key, link, name, sha256(page), len(page), changed, title, HTML, metadata)


def _items(data: bytes, url: str) -> list[ElementTree.Element]:
    """The entries of RSS or Atom. UnreadableError for what is neither."""
    try:
        if _has_doctype(data):
            raise UnreadableError(f"{url} defines entities of its own.", hint="Feeds do not; tell its owner.")
        root = ElementTree.fromstring(data)  # noqa: S314 (without a DOCTYPE nothing can expand)
    except (ElementTree.ParseError, expat.ExpatError, ValueError, LookupError) as error:
        raise UnreadableError(
            f"{url} is no feed: {error}.", hint="Give the address of its RSS or Atom file."
        ) from error
    if _name(root) not in ("rss", "feed", "RDF"):
        raise UnreadableError(f"{url} is no feed.", hint="Give the address of its RSS or Atom file.")
    return [node for node in root.iter() if _name(node) in ("item", "entry")]


def _has_doctype(data: bytes) -> bool:
    """Whether a document type is declared, in whichever encoding; told by the parser, before it comes to an entity."""
    parser = expat.ParserCreate()

    def declared(*_: object) -> None:
        raise _DoctypeError

    parser.StartDoctypeDeclHandler = declared
    try:
        parser.Parse(data, True)
    except _DoctypeError:
        return True
    return False


class _DoctypeError(Exception):
    """Ends the parsing."""


def _name(node: ElementTree.Element) -> str:
    return str(node.tag).rpartition("}")[2]


def _said(node: ElementTree.Element, *names: str) -> str:
    """The text of the first child of such a name that has any, in the order of the names."""
    for name in names:
        for child in node:
            if _name(child) == name and (text := _inner(child)):
                return text
    return ""


def _inner(node: ElementTree.Element) -> str:
    """What stands in an element: its text, or the markup of what it holds (`type="xhtml"`)."""
    if len(node):
        return "".join(node.itertext()).strip()
    return (node.text or "").strip()


def _link(node: ElementTree.Element) -> str:
    """RSS writes it as text, Atom as an attribute."""
    links = [child for child in node if _name(child) == "link"]
    for link in links:
        if link.get("rel", "alternate") == "alternate" and link.get("href"):
            return str(link.get("href"))
    return next((link.text.strip() for link in links if link.text and link.text.strip()), "") or _permanent(node)


def _permanent(node: ElementTree.Element) -> str:
    """A `guid` that says it is an address."""
    for child in node:
        if _name(child) == "guid" and child.get("isPermaLink", "true") == "true":
            return (child.text or "").strip()
    return ""


def _time(said: str) -> datetime | None:
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            return read(said)
        except (ValueError, TypeError):
            continue
    return None
