"""Addresses in pages and sitemaps. Linear in their length, whatever they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import urldefrag, urljoin, urlsplit, urlunsplit

LONGEST = 2000
"""Characters of an address."""
MOST_TEXT = 4 << 20
"""Characters of a page that are looked through."""
_HREF = re.compile(
    r"""\bhref\s{0,9}=\s{0,9}(?:"([^"<>]{1,2000}+)"|'([^'<>]{1,2000}+)'|([^\s"'<>]{1,2000}+))""", re.IGNORECASE
)
_LOC = re.compile(r"<loc>\s{0,99}([^<>\s]{1,2000}+)", re.IGNORECASE)
_ENTRY = re.compile(r"<sitemap>", re.IGNORECASE)


def links_in(text: str, base: str) -> Iterator[str]:
    """Addresses that a page at `base` links to, in their order, without what stands behind a `#`; each once."""
    seen: set[str] = set()
    for found in _HREF.finditer(text[:MOST_TEXT]):
        link = plain(unescape(found[1] or found[2] or found[3]).strip(), base)
        if link and link not in seen:
            seen.add(link)
            yield link


def sitemap_entries(text: str) -> tuple[list[str], bool]:
    """Addresses in a sitemap, and whether they are those of further sitemaps."""
    found = [unescape(one[1]).strip() for one in _LOC.finditer(text[: 16 * MOST_TEXT])]
    return found, bool(_ENTRY.search(text[: 16 * MOST_TEXT]))


def plain(link: str, base: str) -> str:
    """The link as a whole address without a fragment; empty for what is no web address."""
    try:
        parts = urlsplit(urldefrag(urljoin(base, link))[0])
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        return ""
    usual = {"http": 80, "https": 443}[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    netloc = host if port in (None, usual) else f"{host}:{port}"
    whole = urlunsplit((parts.scheme, netloc, parts.path or "/", parts.query, ""))
    return whole if len(whole) <= LONGEST and whole.isprintable() else ""
