"""One error shape for everything that can go wrong: `{"error": {"code", "message", "hint", "details"}}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from kedge.core import telemetry
from kedge.core.errors import KedgeError, NotFoundError, TokenError, UsageError
from kedge.core.outside import outside, to_json
from kedge.core.values import Json, Metadata


@outside()
@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """What went wrong."""

    code: str
    """Stable name of the error; docs/reference/errors.md lists all."""
    message: str
    """What happened."""
    hint: str
    """What to do about it."""
    details: Metadata
    """The facts."""


@outside()
@dataclass(frozen=True, slots=True)
class ErrorBody:
    """The one shape of every error."""

    error: ErrorInfo


CHAT = "/v1/"
"""Addresses of chat clients, which look for two members more."""
CHAT_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def install(app: FastAPI) -> None:
    """Let the app answer every error in the one shape. Unexpected ones are caught by `kedge.surfaces.server.edge`."""
    app.add_exception_handler(KedgeError, _on_kedge_error)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_exception_handler(HTTPException, _on_http_error)


def respond(request: Request, error: KedgeError, status: int | None = None) -> JSONResponse:
    """The error as a response; it is counted."""
    count_error(request, error)
    scheme = 'Bearer error="invalid_token"' if isinstance(error, TokenError) else "Bearer"
    headers = {"www-authenticate": scheme} if error.status == 401 else {}
    wait = error.details.get("retry_after")
    if isinstance(wait, int):
        headers["retry-after"] = str(wait)
    said: Any = to_json(ErrorBody(info_of(error, request)))
    if request.url.path.startswith(CHAT):
        said = chat_error(said, error.status)
    return JSONResponse(said, status or error.status, headers)


def chat_error(said: Mapping[str, Any], status: int) -> dict[str, Any]:
    """The error with the members that chat clients look for."""
    usual = "server_error" if status >= 500 else "invalid_request_error"
    told = said["error"]
    named = (told.get("details") or {}).get("param")
    return {"error": {**told, "type": CHAT_TYPES.get(status, usual), "param": named}}


def count_error(request: Request, error: KedgeError) -> None:
    """Every error by its code; of questions and searches those that are our fault once more (G-31)."""
    metrics = request.app.state.metrics
    metrics.add(telemetry.ERRORS, error.code)
    route = getattr(request.scope.get("route"), "path", "")
    if error.status >= 500 and route in telemetry.QUERY_ROUTES:
        metrics.add(telemetry.QUERY_ERRORS, error.code)


def info_of(error: KedgeError, request: Request) -> ErrorInfo:
    """The one shape; its details name the request, as the log does."""
    request_id: str | None = getattr(request.state, "request_id", None)
    named: dict[str, Json] = {"request_id": request_id} if request_id else {}
    details: dict[str, Json] = {**error.details, **named}
    return ErrorInfo(error.code, error.message, error.hint, details)


def unexpected(request_id: str) -> KedgeError:
    """What a caller may know of a fault of ours: where the log has it."""
    return KedgeError(
        "Something went wrong in the server.",
        hint="The server's log has the cause under this request id.",
        details={"request_id": request_id},
    )


async def _on_kedge_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, KedgeError)
    return respond(request, error)


async def _on_validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return respond(request, from_faults(error.errors()))


def from_faults(found: Sequence[Any]) -> UsageError:
    """All faults of a request that does not fit its model, in one error."""
    faults: list[Json] = [f"{_place(fault['loc'])}: {fault['msg']}" for fault in found]
    return UsageError(
        "The request cannot be read: " + "; ".join(map(str, faults)) + ".",
        hint="/docs shows what this address takes.",
        details={"faults": faults, "param": _place(found[0]["loc"]) if found else None},
    )


async def _on_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    response = respond(request, _translated(request, error), error.status_code)
    response.headers.update(error.headers or {})
    return response


def _translated(request: Request, error: HTTPException) -> KedgeError:
    if error.status_code == 404:
        return NotFoundError(f"There is nothing at {request.url.path}.", hint="/docs lists every address.")
    if error.status_code == 405:
        return UsageError(f"{request.method} is not possible at {request.url.path}.", hint="/docs lists every address.")
    return UsageError(str(error.detail))


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location if part not in ("body", "query", "path")) or "body"
