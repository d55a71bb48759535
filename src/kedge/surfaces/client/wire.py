"""What both clients share on the wire: a call, its tries, and errors as the server raised them."""

from __future__ import annotations

import mimetypes
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar
from urllib.parse import quote

import httpx

from kedge.core.errors import KedgeError, StoreError, UnreadableError

T = TypeVar("T")
Upload: TypeAlias = "str | Path | tuple[str, bytes]"
"""A file to send: its path, or a name and its bytes."""

AGAIN = (429, 503)
MOST_WAIT = 60.0
"""Seconds: a server that wants a longer pause is not waited for."""


@dataclass(frozen=True, slots=True)
class ClientCall(Generic[T]):
    """One request and how its answer is read."""

    method: str
    path: str
    read: Callable[[Any], T]
    """Gets the JSON of the answer; None when there is none."""
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    uploads: Sequence[Upload] = ()
    """Sent as a form, with the body's fields."""
    text: bool = False
    """The answer is text, not JSON."""
    raw: bool = False
    """The answer is bytes."""
    any_status: bool = False
    """The answer says how it is, whatever its status."""
    slow: bool = False
    """It may take as long as it takes."""
    streams: bool = False
    """The answer comes as events, each of which `read` gets."""

    @contextmanager
    def request(self, client: httpx.Client | httpx.AsyncClient) -> Iterator[httpx.Request]:
        """The request, with its files open. Made anew for every try. UnreadableError."""
        query = {name: value for name, value in self.query.items() if value is not None}
        body = {name: value for name, value in (self.body or {}).items() if value is not None}
        timeout = httpx.Timeout(None, connect=client.timeout.connect) if self.slow else client.timeout
        build = partial(client.build_request, self.method, self.path, params=query, timeout=timeout)
        if not self.uploads:
            yield build(json=None if self.body is None else body)
            return
        with ExitStack() as opened:
            files = [("file", _opened(upload, opened)) for upload in self.uploads]
            yield build(data=body, files=files)


def at(path: str, **ids: str) -> str:
    """A path with ids in it, which may hold anything.

    >>> at("/api/documents/{id}", id="a/b c")
    '/api/documents/a%2Fb%20c'
    """
    return path.format(**{name: quote(value, safe="") for name, value in ids.items()})


def _opened(upload: Upload, opened: ExitStack) -> tuple[str, Any, str]:
    if isinstance(upload, tuple):
        name, content = upload
        return name, content, _type(name)
    path = Path(upload)
    try:
        return path.name, opened.enter_context(path.open("rb")), _type(path.name)
    except OSError as error:
        raise UnreadableError(
            f"{path} cannot be read: {error.strerror}.", hint="Check path and permissions."
        ) from error


def _type(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


# ------------------------------------------------------------ tries


def pause(response: httpx.Response, attempt: int, most: int) -> float | None:
    """Seconds to wait before the next try; None when there is none to be made.

    429 says that nothing was done. So does 503 with `Retry-After`; without, a request that changes something may have
    been carried out, and is not sent again.
    """
    if response.status_code not in AGAIN or attempt >= most:
        return None
    asked = _retry_after(response.headers.get("retry-after"))
    if asked is None and response.status_code == 503 and response.request.method not in ("GET", "DELETE"):
        return None
    wait = backoff(attempt) if asked is None else asked
    return wait if wait <= MOST_WAIT else None


def backoff(attempt: int) -> float:
    """Longer with every try, and not the same for all who were turned away together."""
    return float(min(10.0, 0.25 * 2**attempt) * (0.5 + random.random()))  # noqa: S311 (no secret)


def _retry_after(value: str | None) -> float | None:
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


# ------------------------------------------------------------ answers


def read(call: ClientCall[T], response: httpx.Response) -> T:
    """What the call returns. The error that the server raised, if it did."""
    if response.is_error and not call.any_status:
        raise error_of(response)
    if call.raw:
        return call.read(response.content)
    if call.text:
        return call.read(response.text)
    try:
        return call.read(response.json() if response.content else None)
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{response.request.url.host} answered in a way that this client does not know.",
            hint="Check that the address is that of a Kedge server, and that client and server have one version.",
        ) from error


def error_of(response: httpx.Response) -> KedgeError:
    """The server's error as the class that it raised there."""
    try:
        said = response.json()["error"]
        return made(said)
    except (ValueError, KeyError, TypeError, AttributeError):
        return KedgeError(
            f"The server answered {response.status_code}.",
            hint="Check the address; a proxy may stand between.",
            details={"status": response.status_code},
        )


def made(said: Mapping[str, Any]) -> KedgeError:
    """An error of the class that has this code."""
    kind = _classes().get(str(said["code"]), KedgeError)
    error = kind.__new__(kind)
    KedgeError.__init__(error, said["message"], hint=said["hint"], details=said["details"])
    if kind is KedgeError:
        error.details.setdefault("code", said["code"])
    return error


def _classes() -> dict[str, type[KedgeError]]:
    found: dict[str, type[KedgeError]] = {}
    waiting: list[type[KedgeError]] = [KedgeError]
    while waiting:
        kind = waiting.pop()
        found.setdefault(kind.code, kind)
        waiting += kind.__subclasses__()
    return found


@contextmanager
def translated(base_url: httpx.URL) -> Iterator[None]:
    """Raise what goes wrong on the way as an error of Kedge."""
    try:
        yield
    except httpx.TimeoutException as error:
        raise StoreError(
            f"{base_url} did not answer in time.", hint="Try again, or give the client a longer timeout."
        ) from error
    except httpx.HTTPError as error:
        raise StoreError(
            f"{base_url} cannot be reached: {error}.", hint="Check the address, and that `kedge serve` runs there."
        ) from error
