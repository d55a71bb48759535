"""Books to text: the chapters in the order of reading, each read as a page of HTML."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kedge.core.errors import EmptySourceError, EncryptedError, UnreadableError
from kedge.core.values import Json, ParsedDocument
from kedge.ingest.parse.archive import attribute, child, local, opened, resolved
from kedge.ingest.parse.html import decode_html, parse_html
from kedge.ingest.parse.joined import joined

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

_PAGES = ("application/xhtml+xml", "text/html")


def parse_epub(source: Source) -> ParsedDocument:
    """All chapters. Raises SourceFault, EncryptedError for a book with copy protection."""
    with opened(source, "EPUB book") as package:
        root = child(package.xml("META-INF/container.xml"), "rootfiles", "rootfile")
        path = attribute(root, "full-path")
        book = package.xml(path)
        if book is None:
            raise UnreadableError(f"{source.name} is no EPUB book.", hint="Make or download it anew.")
        folder = path.rpartition("/")[0]
        manifest = {attribute(item, "id"): item for item in book.iter() if local(item) == "item"}
        order = [attribute(item, "idref") for item in book.iter() if local(item) == "itemref"]
        locked = "META-INF/rights.xml" in package
        chapters = []
        for one in order:
            item = manifest.get(one)
            nav = "nav" in attribute(item, "properties").split()
            if item is None or nav or attribute(item, "media-type") not in _PAGES:
                continue
            data = package.read(resolved(attribute(item, "href"), folder))
            try:
                chapters.append(parse_html(decode_html(data, None, source.name)))
            except EmptySourceError:
                continue  # a cover, or a page of pictures
        known = {local(node): (node.text or "").strip() for node in book.iter() if (node.text or "").strip()}
    if not chapters and locked:
        raise EncryptedError(f"{source.name} has copy protection.", hint="Only books without it can be read.")
    if not chapters:
        raise EmptySourceError(f"{source.name} holds no text.", hint="Pictures of text are not read.")
    metadata: dict[str, Json] = {
        key: known[key] for key in ("language", "publisher", "date", "subject") if key in known
    }
    return replace(joined(chapters), title=known.get("title"), author=known.get("creator"), metadata=metadata)
