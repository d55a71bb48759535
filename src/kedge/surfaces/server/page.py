"""The page people use, at `/rag`: static files of this package. It talks to the API like any other client."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from fastapi import APIRouter, FastAPI, Response
from fastapi.responses import RedirectResponse

from kedge._version import __version__
from kedge.core.errors import NotFoundError
from kedge.core.settings import Settings
from kedge.core.values import MAX_QUERY_CHARS
from kedge.ingest.parse.formats import BARE_NAMES, known_suffixes
from kedge.kinds import installed
from kedge.kinds.ports import OnPage
from kedge.surfaces.server.deps import SettingsDep
from kedge.surfaces.server.routes import passages

POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""No inline script or style, nothing from elsewhere, no text turned into markup."""
HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-cache",
}
LASTING = {"cache-control": "public, max-age=31536000, immutable"}
"""Fonts do not change under their name."""
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
PAGE_DOC: dict[int | str, dict[str, Any]] = {
    200: {"description": "The page.", "content": {"text/html": {"schema": {"type": "string"}}}}
}

router = APIRouter(tags=["query"])


def install(app: FastAPI, settings: Settings) -> None:
    """Serve the page, unless the settings hide it, and the passages that it opens."""
    app.include_router(passages.router)
    if settings.enable_rag_search:
        app.include_router(router)


@router.get("/rag", summary="The page", response_class=Response, responses=PAGE_DOC)
async def page() -> Response:
    """Ask, read the answer with its sources, and upload, in a browser."""
    return _asset("index.html")


@router.get("/", include_in_schema=False)
async def root() -> RedirectResponse:
    return RedirectResponse("/rag", status_code=307)


@router.get("/rag/about.json", include_in_schema=False)
async def about(settings: SettingsDep) -> dict[str, Any]:
    """What the page has to know of this server before it can offer anything."""
    return {
        "version": __version__,
        "collection": settings.collection,
        "conversations": bool(settings.conversation_days),
        "max_query_chars": MAX_QUERY_CHARS,
        "max_upload_bytes": settings.max_upload_bytes,
        "kinds": {name: _offered(kind.surfaces.page) for name, kind in installed().items()},
    }


def _offered(page: OnPage) -> dict[str, Any]:
    """What the page is told of a kind, with the files that the formats installed here can read."""
    if not page.formats:
        return asdict(page)
    return {**asdict(page), "suffixes": [*known_suffixes(), *page.suffixes], "names": sorted(BARE_NAMES)}


@router.get("/rag/{name:path}", include_in_schema=False)
async def asset(name: str) -> Response:
    return _asset(name)


def _asset(name: str) -> Response:
    kept = _files().get(name)
    if kept is None:
        raise NotFoundError(f"The page has no file {name}.", hint="The page is at /rag.")
    content, media_type = kept
    lasting = LASTING if media_type.startswith("font/") else {}
    return Response(content, media_type=media_type, headers={**HEADERS, **lasting})


@cache
def _files() -> dict[str, tuple[bytes, str]]:
    """All files of the page by name, read once: nothing outside the folder can be asked for."""
    return dict(_within(files("kedge.surfaces.server").joinpath("web"), ""))


def _within(folder: Traversable, path: str) -> Iterator[tuple[str, tuple[bytes, str]]]:
    for item in folder.iterdir():
        kind = TYPES.get("." + item.name.rpartition(".")[2])
        if item.is_dir():
            yield from _within(item, f"{path}{item.name}/")
        elif kind is not None:
            yield path + item.name, (item.read_bytes(), kind)
