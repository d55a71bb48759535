"""Documents as they are: the pages of a PDF with what is cited on them, the file itself, and taking it in again."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Query, Response
from fastapi import Request as HttpRequest

from kedge.core.errors import UsageError
from kedge.core.untrusted import file_name
from kedge.core.values import Accepted, PageView
from kedge.engine.originals import Cited
from kedge.surfaces.server.deps import CallerDep, EngineDep, SettingsDep, TenantDep, local_paths_allowed, writer

router = APIRouter(prefix="/api/documents", tags=["documents"])

PNG = "image/png"
BYTES = "application/octet-stream"
_CELLS = re.compile(r"\d{1,9}-\d{1,9}(?:,\d{1,9}-\d{1,9}){0,99}")
ASKED_AGAIN = {"cache-control": "private, no-cache"}
"""A browser may keep a page, and asks each time whether whoever looks may have it: addresses do not tell keys apart."""
PNG_DOC: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The page.",
        "content": {media_type: {"schema": {"type": "string", "format": "binary"}} for media_type in (PNG, BYTES)},
    }
}
FILE_DOC: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file, byte by byte.",
        "content": {BYTES: {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/{document_id}/pages/{page}", summary="Show a page of a PDF")
async def show_page(
    *,
    document_id: str,
    page: int,
    engine: EngineDep,
    tenant: TenantDep,
    start: Annotated[int | None, Query(ge=0, description="`start` of a citation.")] = None,
    end: Annotated[int | None, Query(ge=0, description="`end` of it.")] = None,
    cells: Annotated[str, Query(description="`start-end` of its cells that answer, joined by commas.")] = "",
) -> PageView:
    """The size of the page, how many there are, and where the cited words stand on it. The picture is at `…/image`."""
    cited = None if start is None or end is None else Cited(start, end, _cells(cells))
    return await engine.originals.page(tenant, document_id, page, cited)


@router.get(
    "/{document_id}/pages/{page}/image",
    summary="Show a page of a PDF as a picture",
    response_class=Response,
    responses=PNG_DOC,
)
async def show_page_image(
    *,
    document_id: str,
    page: int,
    engine: EngineDep,
    tenant: TenantDep,
    width: Annotated[int, Query(ge=100, le=3000, description="Pixels.")] = 1200,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Response:
    """The page as PNG. Only a file that is as it was when it was taken in is shown."""
    png = await engine.originals.picture(tenant, document_id, page, width)
    return Response(png, media_type=BYTES if accept == BYTES else PNG, headers={**ASKED_AGAIN, "vary": "Accept"})


@router.get(
    "/{document_id}/original", summary="Download a document's file", response_class=Response, responses=FILE_DOC
)
async def download(document_id: str, engine: EngineDep, tenant: TenantDep) -> Response:
    """The very bytes that the document was made of: an upload that was kept, or a file that has not changed since."""
    document, data = await engine.originals.read(tenant, document_id)
    name = quote(file_name(document.url.removeprefix("upload:")), safe="")
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(data, media_type=BYTES, headers=headers)


@router.post(
    "/{document_id}/ingest", status_code=202, summary="Take a document in again", dependencies=[Depends(writer)]
)
async def take_in_again(
    document_id: str, request: HttpRequest, engine: EngineDep, settings: SettingsDep, caller: CallerDep
) -> Accepted:
    """Read its source anew: the address, the file of this machine, or the upload that was kept."""
    document, _ = await engine.document(caller.tenant, document_id)
    local = "://" not in document.url and not document.url.startswith("upload:")
    if local and not local_paths_allowed(request, settings, caller):
        raise UsageError(
            "This server does not read files of its own machine for others.", hint="Upload the file, or give a URL."
        )
    return Accepted.of(await engine.ingest_again(caller.tenant, document_id), None)


def _cells(written: str) -> tuple[tuple[int, int], ...]:
    if not written:
        return ()
    if not _CELLS.fullmatch(written):
        raise UsageError("`cells` is not readable.", hint="Write it as 120-125,140-143.")
    pairs = [part.split("-") for part in written.split(",")]
    return tuple((int(start), int(end)) for start, end in pairs)
