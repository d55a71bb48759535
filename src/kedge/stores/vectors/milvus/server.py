"""The connection to one Milvus server, and the one place where its errors become Kedge's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc  # type: ignore[import-untyped]
from pymilvus import MilvusClient, MilvusException

from kedge.core.errors import KedgeError, NotFoundError, StoreError
from kedge.stores.vectors.milvus.address import MilvusAddress
from kedge.stores.vectors.rules import closed_store

_NO_SUCH_COLLECTION = 100
_NOT_LOADED = (101, 103)
_NOT_LOADED_WORDS = ("not loaded", "not fully loaded")
_FAR = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
NOT_LOADED = "not_loaded"
"""Reason, in the details of a `StoreError`: the collection is on the server's disk but not in its memory."""


class MilvusServer:
    """Connects on the first call. Calls block, so they run in threads; the driver takes several at once."""

    def __init__(self, address: MilvusAddress) -> None:
        self._address = address
        self._client: Any = None
        self._connecting = threading.Lock()
        self._closed = False

    async def ask(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a method of `MilvusClient`, as in `ask(MilvusClient.has_collection, name)`."""
        if self._closed:
            raise closed_store()
        return await asyncio.to_thread(self._ask, method, arguments, options)

    async def close(self) -> None:
        """Hang up. Closing twice is fine."""
        self._closed = True
        client, self._client = self._client, None
        if client is not None:
            await asyncio.to_thread(client.close)

    def _ask(self, method: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        with translated(self._address):
            return method(self._connected(), *arguments, timeout=self._address.timeout, **options)

    def _connected(self) -> Any:
        with self._connecting:
            if self._client is None:
                address = self._address
                self._client = MilvusClient(
                    address.uri,
                    user=address.user,
                    password=address.password,
                    token=address.token,
                    db_name=address.database,
                    timeout=address.timeout,
                    dedicated=True,
                )
            return self._client


@contextmanager
def translated(address: MilvusAddress) -> Iterator[None]:
    """Turn what the driver raises into Kedge's errors."""
    try:
        yield
    except MilvusException as error:
        raise _from_server(error, address) from error
    except grpc.RpcError as error:
        raise _unreachable(str(error), address) from error
    except ValueError as error:
        if "closed channel" not in str(error):
            raise
        raise StoreError("The vector store was closed meanwhile.", hint="Open it again.") from error


def _from_server(error: MilvusException, address: MilvusAddress) -> KedgeError:
    if error.code == _NO_SUCH_COLLECTION:
        return NotFoundError("The vector index is not on the server (any more).", hint="Create it first.")
    if error.code in _NOT_LOADED or any(words in error.message for words in _NOT_LOADED_WORDS):
        return StoreError(
            f"Milvus has not loaded the index: {error.message}.",
            hint="Try again in a moment.",
            details={"reason": NOT_LOADED},
        )
    if error.code in _FAR or "Fail connecting" in error.message:
        return _unreachable(error.message, address)
    return StoreError(
        f"Milvus at {address.uri} refused the work: {error.message}.",
        hint="See the server's log; `kedge check` shows whether anything is missing.",
        details={"code": int(error.code) if isinstance(error.code, int) else str(error.code)},
    )


def _unreachable(message: str, address: MilvusAddress) -> StoreError:
    return StoreError(
        f"Milvus at {address.uri} does not answer: {message}.",
        hint="Check that the server runs and that vector_url names it.",
    )
