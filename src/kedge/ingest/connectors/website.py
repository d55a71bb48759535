"""Websites as sources: `https://docs.example/guide/`. By sitemap and links, within `robots.txt` and limits.

Pages of the same host are fetched, below the folder of the address. One that answers 404 or 410, or is reached by no
link and no sitemap any more, is gone; one that fails in any other way counts as still there. A walk that a limit cuts
short takes nothing out.
"""

from __future__ import annotations

import time
import zlib
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from kedge.core.errors import SourceFault, TooCostlyError, UnreadableError, UnsupportedFormatError, UsageError
from kedge.core.settings import Settings
from kedge.core.values import Json, SourceError
from kedge.ingest.connectors.links import links_in, plain, sitemap_entries
from kedge.ingest.connectors.ports import Content, Entry, LastListing, Remembered, SourceAddress
from kedge.ingest.connectors.robots import Robots, read_robots
from kedge.ingest.sources.download import Download
from kedge.ingest.sources.fetch import NOT_MODIFIED, Fetched, FetchTerms, Resolve, fetch, resolve
from kedge.ingest.sources.source import source_error

AGENT = "kedge"
PAGES, DEPTH, SECONDS, BYTES = 1000, 10, 1800, 1 << 30
"""Limits of one walk, unless the source's options say otherwise."""
MOST_LINKS = 2000
"""Links of one page that are remembered."""
MOST_FRESH = 64
"""Fetched pages that wait to be opened."""
MOST_SITEMAPS = 50
MOST_WAITING = 20
"""Times as many addresses as pages may be walked wait to be walked."""
MOST_SITEMAP_BYTES = 64 << 20
SLOWEST_BROKEN = 20
"""Failures one after the other that end a walk: the site is down."""
UNSAID = "application/octet-stream"
_GONE = (404, 410)
_HTML = ("text/html", "application/xhtml+xml")


def open_website(place: SourceAddress, settings: Settings) -> Website:
    """Options `pages`, `depth`, `seconds`, `bytes`, `delay` (seconds between two pages), `within` (a path), `sitemap`
    (its address, or `no`)."""
    place.allow(options=("pages", "depth", "seconds", "bytes", "delay", "within", "sitemap"))
    return Website(place, settings)


class Website:
    """The `Connector` over a site. A page is fetched while it is listed: only so its links are known."""

    cursor = ""

    def __init__(self, place: SourceAddress, settings: Settings, *, resolve: Resolve = resolve) -> None:
        self._place = place
        self._settings = settings
        self._resolve = resolve
        self._start = plain(place.url, place.url)
        if not self._start:
            raise UsageError(f"{place.url} is no web address.", hint="Write https://host/folder/.")
        path = urlsplit(self._start).path
        self._within = place.text("within", path if path.endswith("/") else path.rpartition("/")[0] + "/")
        self._pages = int(place.number("pages", PAGES))
        self._depth = int(place.number("depth", DEPTH))
        self._seconds = place.number("seconds", SECONDS)
        self._bytes = int(place.number("bytes", BYTES))
        self._delay = place.number("delay", 0.0)
        self._robots = Robots()
        self._fresh: dict[str, Download] = {}
        """What was fetched while it was listed, until it is opened."""
        self._spent = 0
        self._last = 0.0
        self.complete = False

    def entries(self, past: LastListing) -> Iterator[Entry | SourceError]:
        """Breadth first, from the address and the sitemaps. Raises SourceFault where the site cannot be reached."""
        self.complete, self._spent = False, 0
        ends = time.monotonic() + self._seconds
        self._robots = self._read_robots()
        if not self._robots.allows(_path(self._start)):
            raise UnreadableError(
                f"{self._start} is closed to programs by the site's robots.txt.", hint="Ask the site's owner."
            )
        most = MOST_WAITING * self._pages
        mapped = list(islice(self._mapped(), most + 1))
        waiting = deque([(self._start, 0), *((url, 1) for url in mapped[:most])])
        cut = len(mapped) > most
        seen = {url for url, _ in waiting}
        failures, taken = 0, 0
        while waiting:
            if limit := self._reached(taken, ends):
                told = TooCostlyError(
                    f"The walk stopped at its limit of {limit}.", hint="Raise that option of the source."
                )
                yield source_error(self._start, told)
                return
            url, depth = waiting.popleft()
            found = self._page(url, past.items.get(url))
            if isinstance(found, SourceError):
                failures += 1
                if url == self._start or failures >= SLOWEST_BROKEN:
                    raise UnreadableError(f"{found.url}: {found.message}", hint=found.hint)
                yield found
                continue
            failures = 0
            if found is None and url == self._start:
                raise UnreadableError(f"{url} is gone, or leads to another site.", hint="Connect its new address.")
            if found is None:
                continue
            entry, links = found
            taken += 1
            if entry is not None:
                yield entry
            for link in links if depth < self._depth else ():
                if link in seen or not self._ours(link) or not self._robots.allows(_path(link)):
                    continue
                if cut := cut or len(waiting) >= most:
                    break
                seen.add(link)
                waiting.append((link, depth + 1))
        if cut:
            told = TooCostlyError(
                f"The site names more than {most} addresses.", hint="Raise the source's option pages."
            )
            yield source_error(self._start, told)
        self.complete = not cut

    def _reached(self, taken: int, ends: float) -> str:
        """The limit that ends the walk, in words; empty: none yet."""
        if taken >= self._pages:
            return f"{self._pages} pages"
        if time.monotonic() > ends:
            return f"{self._seconds:g} seconds"
        return f"{self._bytes} bytes" if self._spent >= self._bytes else ""

    def open(self, entry: Entry) -> Content:
        held = self._fresh.pop(entry.key, None)
        return held if held is not None else self._fetch(entry.key, None).download

    def close(self) -> None:
        self._fresh.clear()

    # ------------------------------------------------------------ pages

    def _page(self, url: str, known: Remembered | None) -> tuple[Entry | None, list[str]] | SourceError | None:
        """A page and what it links to; None for one that is gone or no document; what is wrong with it."""
        try:
            fetched = self._fetch(url, known)
        except UnsupportedFormatError:
            return None
        except SourceFault as fault:
            status = fault.details.get("status")
            if status == NOT_MODIFIED and known is not None:
                return _entry(url, known.fingerprint, dict(known.note), known.size), _links(known)
            if status in _GONE or (isinstance(status, int) and 300 <= status < 400):
                return None
            return source_error(url, fault)
        self._spent += fetched.download.size
        kind = (fetched.content_type or "").partition(";")[0].strip().lower()
        links = list(links_in(_text(fetched.download), fetched.url))[:MOST_LINKS] if kind in _HTML else []
        if plain(fetched.url, url) != url:
            return None, [plain(fetched.url, url), *links]  # what it redirects to is a page of its own
        note: dict[str, Json] = {"links": [*links], "type": fetched.content_type or ""}
        if fetched.etag:
            note["etag"] = fetched.etag
        if fetched.last_modified:
            note["last_modified"] = fetched.last_modified
        said = fetched.etag or fetched.last_modified
        self._fresh[url] = fetched.download
        while len(self._fresh) > MOST_FRESH:
            del self._fresh[next(iter(self._fresh))]  # what nobody opened
        entry = _entry(url, said, note, fetched.download.size)
        return entry, links

    def _fetch(self, url: str, known: Remembered | None) -> Fetched:
        """A page within the limits, asked for with what is remembered of it. Raises SourceFault."""
        pause = max(self._delay, self._robots.delay) - (time.monotonic() - self._last)
        if pause > 0:
            time.sleep(pause)
        headers = {"User-Agent": f"{AGENT} (+document ingestion)"}
        if known is not None and known.fingerprint:
            for name, header in (("etag", "If-None-Match"), ("last_modified", "If-Modified-Since")):
                if isinstance(known.note.get(name), str):
                    headers[header] = str(known.note[name])
        try:
            asked = FetchTerms(headers, self._ours, max(1, self._bytes - self._spent))
            return fetch(url, self._settings, resolve=self._resolve, asked=asked)
        finally:
            self._last = time.monotonic()

    def _ours(self, url: str) -> bool:
        first, other = urlsplit(self._start), urlsplit(url)
        return (first.scheme, first.netloc) == (other.scheme, other.netloc) and other.path.startswith(self._within)

    # ------------------------------------------------------------ robots and sitemaps

    def _read_robots(self) -> Robots:
        """RFC 9309: none there, all is open; a site that fails over it is left alone."""
        try:
            fetched = self._plain(_at(self._start, "/robots.txt"), 1 << 20)
        except SourceFault as fault:
            status = fault.details.get("status")
            if isinstance(status, int) and status < 500:
                return Robots()
            raise
        return read_robots(_text(fetched), AGENT)

    def _mapped(self) -> Iterator[str]:
        """Addresses in the sitemaps, those of ours that may be fetched."""
        given = self._place.text("sitemap")
        if given.lower() in ("no", "false"):
            return
        waiting = [plain(one, self._start) for one in ([given] if given else self._robots.sitemaps)]
        waiting = waiting or [_at(self._start, "/sitemap.xml")]
        seen: set[str] = set()
        while waiting and len(seen) < MOST_SITEMAPS:
            url = waiting.pop(0)
            if url in seen or urlsplit(url).netloc != urlsplit(self._start).netloc:
                continue
            seen.add(url)
            try:
                entries, further = sitemap_entries(_text(self._plain(url, MOST_SITEMAP_BYTES)))
            except SourceFault:
                continue  # a site need not have one, and links lead to its pages too
            links = [plain(one, url) for one in entries]
            if further:
                waiting += links
            else:
                yield from (one for one in links if one and self._ours(one) and self._robots.allows(_path(one)))

    def _plain(self, url: str, most: int) -> Download:
        same = urlsplit(self._start).netloc
        asked = FetchTerms({"User-Agent": AGENT}, lambda to: urlsplit(to).netloc == same, most, any_type=True)
        return fetch(url, self._settings, resolve=self._resolve, asked=asked).download


def _entry(url: str, said: str | None, note: dict[str, Json], size: int) -> Entry:
    name = unquote(PurePosixPath(urlsplit(url).path).name) or "index.html"
    kind = note.get("type")
    return Entry(url, url, name, said, size, content_type=str(kind or UNSAID), note=note)


def _links(known: Remembered) -> list[str]:
    links = known.note.get("links")
    return [one for one in links if isinstance(one, str)] if isinstance(links, list) else []


def _at(start: str, path: str) -> str:
    parts = urlsplit(start)
    return f"{parts.scheme}://{parts.netloc}{path}"


def _path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _text(download: Download) -> str:
    """As text, unpacked where it is gzip, as sitemaps may be; no more than a page may hold."""
    with download.path.open("rb") as stream:
        data = stream.read(MOST_SITEMAP_BYTES)
    if data.startswith(b"\x1f\x8b"):
        try:
            data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, MOST_SITEMAP_BYTES)
        except zlib.error:
            return ""
    return data.decode("utf-8", "replace")
