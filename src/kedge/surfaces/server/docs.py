"""The page at `/docs`: Swagger UI from this package, which needs no network; and what OpenAPI says of keys."""

from __future__ import annotations

import base64
import gzip
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import HTMLResponse

from kedge.core.errors import NotFoundError

SCRIPT = 'SwaggerUIBundle({url: "openapi.json", dom_id: "#ui", deepLinking: true, queryConfigEnabled: false});'
PAGE = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Kedge API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<noscript>The description of the API is at <a href="openapi.json">openapi.json</a>.</noscript>
<div id="ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script>{SCRIPT}</script>
</body>
</html>
"""
POLICY = "; ".join(
    (
        "default-src 'none'",
        f"script-src 'self' 'sha256-{base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()}'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Scripts of this server alone and the one line above; styles are set by the program itself."""
TYPES = {"swagger-ui-bundle.js": "text/javascript; charset=utf-8", "swagger-ui.css": "text/css; charset=utf-8"}
SCHEMES = {
    "key": {"type": "http", "scheme": "bearer", "description": "A key (`kdg_…`), or a token of the issuer."},
    "header": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "The same key.",
    },
}
OPEN = ("/health", "/ready", "/rag")
"""Answered without a key."""

router = APIRouter()


@router.get("/docs", include_in_schema=False)
async def docs() -> Response:
    return HTMLResponse(PAGE, headers={"content-security-policy": POLICY})


@router.get("/docs/{name}", include_in_schema=False)
async def part(name: str, request: Request) -> Response:
    """A file of Swagger UI, kept compressed."""
    if name not in TYPES:
        raise NotFoundError(f"The page has no file {name}.", hint="The page is at /docs.")
    packed = _packed(name)
    headers = {"cache-control": "no-cache", "vary": "accept-encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(packed, media_type=TYPES[name], headers={**headers, "content-encoding": "gzip"})
    return Response(gzip.decompress(packed), media_type=TYPES[name], headers=headers)


@cache
def _packed(name: str) -> bytes:
    return files("kedge.surfaces.server").joinpath("swagger", f"{name}.gz").read_bytes()


def say_keys(app: FastAPI) -> None:
    """Have the OpenAPI document say how a key is sent. A server without keys wants none."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = made()
            schema.setdefault("components", {})["securitySchemes"] = SCHEMES
            for path, methods in schema["paths"].items():
                for operation in methods.values():
                    operation["security"] = [{}] if path in OPEN else [{"key": []}, {"header": []}, {}]
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]
