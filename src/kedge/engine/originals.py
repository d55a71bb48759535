"""The files that documents were made of: found again by their digest, shown page by page, kept if uploaded.

What is handed out is always the very bytes that were taken in: a file that has changed since is not shown.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kedge.core.errors import NotFoundError
from kedge.core.ids import sha256
from kedge.core.settings import Settings
from kedge.core.values import Document, IngestMode, IngestRequest, PagePlace, PageView, Passage
from kedge.engine.library import Library
from kedge.ingest.apart.limits import ParseLimits
from kedge.kinds import installed
from kedge.stores.catalog.ports import CanKeepUploads, Catalog

if TYPE_CHECKING:
    from kedge.ingest.parse.pdf.view import PageCharacters, PagePicture

PDF = "pdf"
"""Name of the format that has pages."""
PIECE = 1 << 20
UPLOAD = "upload:"
_BEFORE = 160
"""Characters before the cited ones that tell two places apart."""
_OF_SEVERAL = (".jsonl", ".zip")
"""Suffixes of uploads that hold several documents: none of them is the file itself."""


@dataclass(frozen=True, slots=True)
class Cited:
    """Which characters of a document's text are looked for on a page, as [start, end)."""

    start: int
    end: int
    cells: tuple[tuple[int, int], ...] = ()
    """Those of them that answer."""


class Originals:
    """The sources of documents, as they were when they were taken in."""

    def __init__(self, settings: Settings, catalog: Catalog, library: Library) -> None:
        self._settings = settings
        self._catalog = catalog
        self._library = library
        self._uploads = catalog.uploads if isinstance(catalog, CanKeepUploads) else None

    async def read(self, tenant: str, document_id: str) -> tuple[Document, bytes]:
        """A document and the bytes that it was made of. NotFoundError, which says why they cannot be shown."""
        document, _ = await self._library.document(tenant, document_id)
        return document, await self._bytes(document)

    async def page(self, tenant: str, document_id: str, number: int, cited: Cited | None = None) -> PageView:
        """A page of a PDF with the places of the cited words. NotFoundError, SourceFault for a damaged file."""
        document, passages = await self._library.document(tenant, document_id)
        async with self._file(document) as path:
            found = await asyncio.to_thread(self._characters, path, number, document)
        places = () if cited is None else _places(found, passages, cited)
        return PageView(document.id, number, found.pages, found.width, found.height, places)

    async def picture(self, tenant: str, document_id: str, number: int, width: int) -> bytes:
        """A page of a PDF as PNG, so many pixels wide. NotFoundError, SourceFault for a damaged file."""
        document, _ = await self._library.document(tenant, document_id)
        async with self._file(document) as path:
            return (await asyncio.to_thread(self._picture, path, number, width, document)).png

    # ------------------------------------------------------------ uploads

    async def keep(self, request: IngestRequest) -> None:
        """Keep the uploads of a request, which are files here, before they are read."""
        if self._uploads is None or not self._settings.keep_uploads or not _opens(request.kind):
            return
        for name, place in request.uploads:
            path = Path(place)
            if name.lower().endswith(_OF_SEVERAL) or not path.is_file():
                continue
            kept = _key(request.scope.tenant, request.scope.collection, UPLOAD + name, await _digest(path))
            for number in range(-(-path.stat().st_size // PIECE)):
                await self._uploads.append(kept, number, await asyncio.to_thread(_piece, path, number))

    async def settle(self, request: IngestRequest, before: Sequence[Document]) -> None:
        """After the uploads were read: forget those of which no document came, and what they replaced."""
        if self._uploads is None or not (request.uploads or before):
            return
        urls = [UPLOAD + name for name, _ in request.uploads]
        now = await self._catalog.documents.find(request.scope, urls)
        live = {_of(document) for document in now.values() if document.live_version}
        taken = {
            _key(request.scope.tenant, request.scope.collection, UPLOAD + name, await _digest(Path(place)))
            for name, place in request.uploads
            if Path(place).is_file()
        }
        await self._uploads.delete(sorted((taken | {_of(document) for document in before}) - live))

    async def known(self, request: IngestRequest) -> list[Document]:
        """The uploaded documents that the request will replace."""
        if self._uploads is None:
            return []
        if request.mode is IngestMode.RECREATE:
            every = self._library.all_documents(request.scope)
            return [document async for document in every if document.url.startswith(UPLOAD)]
        urls = [UPLOAD + name for name, _ in request.uploads]
        return list((await self._catalog.documents.find(request.scope, urls)).values()) if urls else []

    async def forget(self, documents: Sequence[Document]) -> None:
        """Forget what was kept of documents that are gone."""
        kept = [_of(document) for document in documents if document.url.startswith(UPLOAD)]
        if self._uploads is not None and kept:
            await self._uploads.delete(kept)

    # ------------------------------------------------------------ finding the bytes

    @asynccontextmanager
    async def _file(self, document: Document) -> AsyncIterator[Path]:
        """The bytes as a file that nobody changes. NotFoundError for a document without pages."""
        if document.format != PDF:
            raise NotFoundError(
                f"{document.title} has no pages that can be shown.", hint="Its passages show it as text."
            )
        data = await self._bytes(document)
        with tempfile.TemporaryDirectory(prefix="kedge-page-") as folder:
            path = Path(folder) / "source.pdf"
            await asyncio.to_thread(path.write_bytes, data)
            yield path

    async def _bytes(self, document: Document) -> bytes:
        digest = document.content_hash
        if digest is None:
            raise _not_here(document, "was taken in before its digest was kept")
        if document.url.startswith(UPLOAD):
            data = b"".join([piece async for piece in self._uploads.read(_of(document))]) if self._uploads else b""
            if not data:
                raise _not_here(document, "was uploaded, and uploads were not kept then")
        elif "://" in document.url:
            raise _not_here(document, "was fetched from the web: open it at its address")
        else:
            data = await asyncio.to_thread(_read, document.url, self._settings.max_source_bytes)
            if not data:
                raise _not_here(document, "is not where it was any more")
        if sha256(data) != digest:
            raise _not_here(document, "has changed since it was taken in")
        return data

    def _characters(self, path: Path, number: int, document: Document) -> PageCharacters:
        limits = ParseLimits.of(self._settings)
        if limits is None:
            from kedge.ingest.parse.pdf.view import page_characters

            return page_characters(path, number)
        from kedge.ingest.apart.pool import characters_apart

        return characters_apart(path, number, document.title, limits)

    def _picture(self, path: Path, number: int, width: int, document: Document) -> PagePicture:
        limits = ParseLimits.of(self._settings)
        if limits is None:
            from kedge.ingest.parse.pdf.view import page_picture

            return page_picture(path, number, width)
        from kedge.ingest.apart.pool import picture_apart

        return picture_apart(path, number, width, document.title, limits)


def _places(found: PageCharacters, passages: Sequence[Passage], cited: Cited) -> tuple[PagePlace, ...]:
    """Where the cited characters of the document's text stand on the page."""
    from kedge.ingest.parse.pdf.view import lines_of
    from kedge.text.locate import locate, squeeze, within

    page = squeeze(found.text)
    spans = locate(
        page, _slice(passages, cited.start, cited.end), before=_slice(passages, cited.start - _BEFORE, cited.start)
    )
    answers = [one for cell in cited.cells if (one := within(page, _slice(passages, *cell), spans)) is not None]
    return tuple(
        PagePlace(left, top, right - left, bottom - top, answers=marked)
        for several, marked in ((spans, False), (answers, True))
        for first, last in several
        for left, top, right, bottom in lines_of(found.boxes[first : last + 1])
    )


def _slice(passages: Sequence[Passage], start: int, end: int) -> str:
    """These characters of the document's text, as far as its passages hold them."""
    parts: list[str] = []
    reached = max(0, start)
    for passage in passages:
        if passage.end > reached and passage.start < end:
            begin = max(reached, passage.start)
            parts.append(passage.text[begin - passage.start : end - passage.start])
            reached = min(end, passage.end)
    return "".join(parts)


def _read(url: str, most: int) -> bytes:
    """A file of this machine that is not too large; nothing where there is none."""
    path = Path(url)
    try:
        if not path.is_absolute() or not path.is_file() or path.stat().st_size > most:
            return b""
        return path.read_bytes()
    except OSError:
        return b""


def _piece(path: Path, number: int) -> bytes:
    with path.open("rb") as file:
        file.seek(number * PIECE)
        return file.read(PIECE)


async def _digest(path: Path) -> str:
    def digest() -> str:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    return await asyncio.to_thread(digest)


def _opens(kind: str) -> bool:
    found = installed().get(kind)
    return found is not None and found.surfaces.page.opens


def _key(tenant: str, collection: str, url: str, digest: str) -> str:
    return f"original:{sha256(chr(31).join((tenant, collection, url)))}:{digest}"


def _of(document: Document) -> str:
    return _key(document.scope.tenant, document.scope.collection, document.url, document.content_hash or "")


def _not_here(document: Document, why: str) -> NotFoundError:
    return NotFoundError(
        f"The file of {document.title} {why}.", hint="Its text is here; take it in again to see it as it is."
    )
