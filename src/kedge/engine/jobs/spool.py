"""Where uploads wait for their job: in the home of the one process, or in the catalog that every worker can read."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

from kedge.core.errors import KedgeError, SourceTooLargeError
from kedge.core.ids import new_id
from kedge.engine.home import Home
from kedge.stores.catalog.ports import Uploads

PIECE_BYTES = 1 << 20
PREFIX = "catalog:"

Named = tuple[tuple[str, str], ...]
"""(file name, where its bytes are) for each upload, as a request carries them."""


class Spool(Protocol):
    """Keeps uploads from their request to the end of their job."""

    def require(self) -> None:
        """StoreError where what is kept now would be lost."""

    async def keep(self, chunks: AsyncIterator[bytes]) -> str:
        """Keep an upload; returns where it is. SourceTooLargeError, and nothing stays, when it is over the limit."""

    def fetched(self, uploads: Named) -> AbstractAsyncContextManager[Named]:
        """The uploads as files of this machine, for as long as the context lasts."""

    async def discard(self, uploads: Named) -> None:
        """Forget the uploads of an ended job."""


class HomeSpool:
    """Files in the home."""

    def __init__(self, home: Home, limit: int) -> None:
        self._home = home
        self._limit = limit

    def require(self) -> None:
        self._home.require()

    async def keep(self, chunks: AsyncIterator[bytes]) -> str:
        return str(await self._home.spool(chunks, self._limit))

    @asynccontextmanager
    async def fetched(self, uploads: Named) -> AsyncIterator[Named]:
        yield uploads

    async def discard(self, uploads: Named) -> None:
        self._home.discard([Path(path) for _, path in uploads])


class CatalogSpool:
    """Pieces in the catalog's database, copied to a temporary folder by the worker that needs them."""

    def __init__(self, uploads: Uploads, limit: int) -> None:
        self._uploads = uploads
        self._limit = limit

    def require(self) -> None:
        """The database says itself when it cannot."""

    async def keep(self, chunks: AsyncIterator[bytes]) -> str:
        upload_id = new_id()
        try:
            number = 0
            async for piece in _pieces(chunks, self._limit):
                await self._uploads.append(upload_id, number, piece)
                number += 1
        except KedgeError:
            await self._uploads.delete([upload_id])
            raise
        return PREFIX + upload_id

    @asynccontextmanager
    async def fetched(self, uploads: Named) -> AsyncIterator[Named]:
        if not uploads:
            yield uploads
            return
        with tempfile.TemporaryDirectory(prefix="kedge-") as folder:
            found = []
            for number, (name, place) in enumerate(uploads):
                path = Path(folder) / str(number)
                with path.open("wb") as file:
                    async for piece in self._uploads.read(place.removeprefix(PREFIX)):
                        file.write(piece)
                found.append((name, str(path)))
            yield tuple(found)

    async def discard(self, uploads: Named) -> None:
        if uploads:
            await self._uploads.delete([place.removeprefix(PREFIX) for _, place in uploads])


async def _pieces(chunks: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    """The same bytes in pieces of one size."""
    size = 0
    held = bytearray()
    async for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise SourceTooLargeError(
                f"The upload is larger than {limit} bytes.", hint="Raise max_upload_bytes in the settings."
            )
        held += chunk
        while len(held) >= PIECE_BYTES:
            yield bytes(held[:PIECE_BYTES])
            del held[:PIECE_BYTES]
    if held:
        yield bytes(held)
