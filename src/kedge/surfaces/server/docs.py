"""The page at `/docs`: Swagger UI in one fixed version, whose bytes the browser checks before it runs them."""

from __future__ import annotations

import base64
import hashlib

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

PLACE = "https://cdn.jsdelivr.net/npm/swagger-ui-dist@5.34.1"
BUNDLE = "sha384-XFYN47VzPiDY6qPtxYKg0nqUeW/upo20xf1j2SUE7gT/i35FJB4cuS/71Iegzk8Z"
STYLE = "sha384-4c3vsE5f+trhFyHrFrLM1fFGUn531NIaC7dcqEWIJdoRQJ5CkJbSuSCwXLpaS1KF"
SCRIPT = 'SwaggerUIBundle({url: "openapi.json", dom_id: "#ui", deepLinking: true, queryConfigEnabled: false});'
PAGE = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Kedge API</title>
<link rel="stylesheet" href="{PLACE}/swagger-ui.css" integrity="{STYLE}" crossorigin="anonymous">
</head>
<body>
<noscript>The description of the API is at <a href="openapi.json">openapi.json</a>.</noscript>
<div id="ui"></div>
<script src="{PLACE}/swagger-ui-bundle.js" integrity="{BUNDLE}" crossorigin="anonymous"></script>
<script>{SCRIPT}</script>
</body>
</html>
"""
POLICY = "; ".join(
    (
        "default-src 'none'",
        f"script-src {PLACE}/ 'sha256-{base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()}'",
        f"style-src {PLACE}/ 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Scripts of this version alone and the one line above; styles are set by the program itself."""

router = APIRouter()


@router.get("/docs", include_in_schema=False)
async def docs() -> Response:
    return HTMLResponse(PAGE, headers={"content-security-policy": POLICY})
