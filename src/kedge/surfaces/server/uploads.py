"""Files in multipart forms, handed to the engine piece by piece. The edge bounds the size of the whole request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Request
from starlette.datastructures import FormData, UploadFile

from kedge.core.errors import EmptySourceError, UsageError
from kedge.core.untrusted import file_name
from kedge.engine.engine import Engine

MAX_FILES = 1000
MAX_FIELDS = 30
MAX_FIELD_BYTES = 1 << 18
"""Fields are held in memory; files go to disk as they come."""
PIECE = 1 << 20


@asynccontextmanager
async def read_form(request: Request) -> AsyncIterator[FormData]:
    """The form; its temporary files are gone afterwards."""
    async with request.form(max_files=MAX_FILES, max_fields=MAX_FIELDS, max_part_size=MAX_FIELD_BYTES) as form:
        yield form


def text_fields(form: FormData) -> dict[str, str]:
    """The fields that are no files and not empty."""
    return {name: value for name, value in form.multi_items() if isinstance(value, str) and value}


async def spool_files(form: FormData, engine: Engine) -> tuple[tuple[str, str], ...]:
    """Give every file to the engine. All are looked at before the first one is kept.

    An empty file among others goes along, and its job says so: it keeps none of them out. EmptySourceError where no
    file holds anything.
    """
    files = [value for _, value in form.multi_items() if isinstance(value, UploadFile)]
    if not files:
        raise UsageError("The form has no file.", hint="Send at least one part with a file name.")
    if not all((file.filename or "").strip() for file in files):
        raise UsageError("A file has no name.", hint="Name each file; its ending tells the format.")
    if all(file.size == 0 for file in files):
        raise EmptySourceError(f"{_name(files[0])} is empty.", hint="Send a file with text in it.")
    return tuple([await engine.spool(_name(file), _pieces(file)) for file in files])


def _name(file: UploadFile) -> str:
    """The bare file name, without folders and tricks that a client may have sent."""
    return file_name(file.filename or "")


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(PIECE):
        yield piece
