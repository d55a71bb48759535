"""The one place where the errors of qdrant-client become Kedge's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import grpc  # type: ignore[import-untyped]
import httpx
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from kedge.core.errors import DimensionMismatchError, DiskFullError, KedgeError, StoreError
from kedge.stores.vectors.qdrant.address import QdrantAddress
from kedge.stores.vectors.rules import unknown_index

_DIMENSION = re.compile(r"expected dim: (\d+), got (\d+)")
_FULL = ("No space left", "out of disk", "Not enough disk space", "Disk quota exceeded")
_SHOWN = 300


@contextmanager
def translated(at: QdrantAddress, index: str) -> Iterator[None]:
    """Turn what the client raises about `index` into Kedge's errors."""
    address = at.shown
    try:
        yield
    except UnexpectedResponse as error:
        raise _from_status(error.status_code or 0, _message(error.content), address, index) from error
    except ResponseHandlingException as error:
        raise _from_source(error.source, address) from error
    except grpc.RpcError as error:
        raise _from_grpc(error, address, index) from error
    except (ApiException, QdrantException) as error:
        raise _failed(address, str(error)) from error
    except json.JSONDecodeError as error:
        raise _from_source(error, address) from error
    except (ValueError, RuntimeError) as error:
        if not at.local:  # only local mode speaks by these; else it is a bug
            raise
        raise _from_local(str(error), address, index) from error


def _from_status(status: int, message: str, address: str, index: str) -> KedgeError:
    dimension = _DIMENSION.search(message)
    if dimension is not None:
        return DimensionMismatchError(found=int(dimension.group(2)), expected=int(dimension.group(1)), collection=index)
    if status == 404 and "ollection" in message:  # else it is a proxy's, or no Qdrant at all
        return unknown_index(index)
    if status in (401, 403):
        return StoreError(
            f"The Qdrant server at {address} refused the key.",
            hint="Set vector_key (KEDGE_VECTOR_KEY), or give it as the URL's password: qdrant://:KEY@host:6333.",
            details={"status": status},
        )
    if any(sign in message for sign in _FULL) or status == 507:
        return DiskFullError(
            f"The disk of the Qdrant server at {address} is full.",
            hint="Free some space there and run the job again; what was stored before is intact.",
        )
    return _failed(address, f"{status} {message}")


def _from_source(source: Exception, address: str) -> KedgeError:
    if isinstance(source, httpx.TimeoutException):
        return StoreError(
            f"The Qdrant server at {address} did not answer in time.",
            hint="Try again, or allow more time with ?timeout=SECONDS in its URL.",
        )
    if isinstance(source, httpx.TransportError):
        return StoreError(
            f"The Qdrant server at {address} cannot be reached: {str(source) or type(source).__name__}.",
            hint="Check that it runs, and the host, port and https in its URL.",
        )
    return _failed(address, f"its answer cannot be read: {source}")


def _from_grpc(error: grpc.RpcError, address: str, index: str) -> KedgeError:
    code, message = error.code(), str(error.details())
    if code is grpc.StatusCode.NOT_FOUND:
        return unknown_index(index)
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return _from_source(httpx.ReadTimeout(message), address)
    if code is grpc.StatusCode.UNAVAILABLE:
        return _from_source(httpx.ConnectError(message), address)
    status = {grpc.StatusCode.UNAUTHENTICATED: 401, grpc.StatusCode.PERMISSION_DENIED: 403}.get(code, 500)
    return _from_status(status, message, address, index)


def _from_local(message: str, address: str, index: str) -> KedgeError:
    if message.startswith("Collection ") and message.endswith(" not found"):
        return unknown_index(index)
    return _failed(address, message)


def _failed(address: str, message: str) -> StoreError:
    return StoreError(
        f"The Qdrant at {address} failed: {message[:_SHOWN].strip() or 'no reason given'}.",
        hint="See its log; `kedge check --repair` rebuilds the vectors from the catalog.",
    )


def _message(content: bytes) -> str:
    """What the server says is wrong: `{"status": {"error": "…"}}`, or the text as it is."""
    try:
        return str(json.loads(content)["status"]["error"])
    except (ValueError, KeyError, TypeError):
        return content.decode(errors="replace")
