"""All errors of Kedge: one tree, each with a code, an HTTP status and a hint that says what to do.

KedgeError
├── UsageError 400             invalid_request      the caller asked for something that cannot be
│   ├── QueryError 400         invalid_query        empty or too long a question, top_k out of range
│   ├── FilterError 400        invalid_filter       a filter that cannot be read
│   ├── PlanError 400          invalid_plan         a plan over a table that does not fit its columns
│   └── ConfigError 400        invalid_config       settings that cannot work; names every fault at once
├── UnauthorizedError 401      unauthorized         no credential, or one that is not valid
│   └── TokenError 401         invalid_token        a token that is not signed by the issuer, or not for this server
│       └── TokenExpiredError  token_expired
├── ForbiddenError 403         forbidden            the credential does not allow this
├── NotFoundError 404          not_found            no such document, job, collection, query
│   └── ExpiredError 410       expired              a table session whose time is over
├── SourceFault 422            bad_source           a source that cannot be read, by kind of fault:
│   ├── EmptySourceError       empty_source
│   ├── BinarySourceError      not_text
│   ├── EncodingError          bad_encoding
│   ├── NoTextLayerError       no_text_layer
│   ├── EncryptedError         encrypted
│   ├── UnreadableError        unreadable           permission, vanished file, broken PDF
│   ├── UnsupportedFormatError unsupported_format
│   ├── SourceTooLargeError    too_large
│   ├── TooCostlyError         too_costly           reading it took more time, memory or output than allowed
│   ├── LessonError            bad_lesson           a lesson whose front matter says what cannot be
│   ├── ForbiddenAddressError  forbidden_address    a URL that leads to a private address
│   └── UnfittingError         unfitting            a file whose columns do not go with its table's
├── BackupError 422            bad_backup           a backup that is damaged, hostile, or of a newer Kedge
├── ConflictError 409          conflict
│   ├── HeldError              held                 a document that is on legal hold
│   ├── HomeBusyError          home_busy            another process uses this home
│   ├── DimensionMismatchError dimension_mismatch
│   └── EmbedderMismatchError  embedder_mismatch
├── IssuerError 503            issuer_failed        the issuer of tokens does not give its keys
├── RateError 429              too_many_requests    more requests than this caller may send
├── OverloadedError 503        overloaded           the server has as much to do as it takes
│   └── QueueFullError         queue_full           as many ingestions wait as may
├── TimeoutExceededError 504   timed_out            the work took longer than it may
│   └── SlowClientError 408    slow_client          the request came too slowly
├── ModelError 502             model_failed         an embedder, reranker or language model failed
├── StoreError 503             store_failed         a store cannot be reached or refused the work
│   └── DiskFullError 507      disk_full
├── MissingExtraError 501      missing_extra        an optional driver is not installed
└── PluginError 500            broken_plugin        a part that another package brings cannot be loaded
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from kedge.core.values.base import Json


class KedgeError(Exception):
    """Base of all. `message` says what happened, `hint` what to do, `details` holds the facts."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str = "", details: Mapping[str, Json] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, Json] = dict(details or {})

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def as_json(self) -> dict[str, Json]:
        """The one error shape of the HTTP API and of `--json`."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint, "details": self.details}}


class UsageError(KedgeError):
    """The request itself cannot be carried out."""

    code = "invalid_request"
    status = 400


class QueryError(UsageError):
    """The question is empty, too long, or its limits are out of range."""

    code = "invalid_query"


class FilterError(UsageError):
    """A filter that cannot be read or names an impossible value."""

    code = "invalid_filter"


class PlanError(UsageError):
    """A plan over a table names columns, values or parts that cannot be."""

    code = "invalid_plan"

    def __init__(self, message: str, *, hint: str = "", details: Mapping[str, Json] | None = None) -> None:
        super().__init__(message, hint=hint or "docs/how-to/tables.md shows what a plan may hold.", details=details)


class ConfigError(UsageError):
    """Settings that cannot work."""

    code = "invalid_config"


class UnauthorizedError(KedgeError):
    """No credential, or one that is not valid."""

    code = "unauthorized"
    status = 401


class TokenError(UnauthorizedError):
    """A token that is not signed by the issuer, is for somebody else, or says too little."""

    code = "invalid_token"


class TokenExpiredError(TokenError):
    """A token that was good once."""

    code = "token_expired"


class ForbiddenError(KedgeError):
    """The credential does not allow this."""

    code = "forbidden"
    status = 403


class NotFoundError(KedgeError):
    """The named thing is not there (or belongs to another tenant, which looks the same)."""

    code = "not_found"
    status = 404


class ExpiredError(NotFoundError):
    """It was there, and its time is over."""

    code = "expired"
    status = 410


class SourceFault(KedgeError):
    """A source cannot be taken in. The job goes on with the others and reports this one."""

    code = "bad_source"
    status = 422


class EmptySourceError(SourceFault):
    """No text in it."""

    code = "empty_source"


class BinarySourceError(SourceFault):
    """Bytes that are no text, whatever the name says."""

    code = "not_text"


class EncodingError(SourceFault):
    """Text whose encoding could not be told, or not the one that was named."""

    code = "bad_encoding"


class NoTextLayerError(SourceFault):
    """A PDF of pictures."""

    code = "no_text_layer"


class EncryptedError(SourceFault):
    """A PDF that wants a password."""

    code = "encrypted"


class UnreadableError(SourceFault):
    """Missing, forbidden or damaged."""

    code = "unreadable"


class UnsupportedFormatError(SourceFault):
    """No parser for this format."""

    code = "unsupported_format"


class SourceTooLargeError(SourceFault):
    """Larger than the limit in the settings."""

    code = "too_large"


class TooCostlyError(SourceFault):
    """Reading it took more time, memory or output than the settings allow, and was stopped."""

    code = "too_costly"


class LessonError(SourceFault):
    """A lesson whose front matter cannot be read or says what cannot be; details name the file and the field."""

    code = "bad_lesson"


class ForbiddenAddressError(SourceFault):
    """A URL that is not public http(s)."""

    code = "forbidden_address"


class UnfittingError(SourceFault):
    """A file of a table that goes with the others neither by its columns nor by a key."""

    code = "unfitting"


class BackupError(KedgeError):
    """A file that is no whole backup, or that this Kedge cannot restore."""

    code = "bad_backup"
    status = 422


class ConflictError(KedgeError):
    """The request clashes with what is there."""

    code = "conflict"
    status = 409


class HeldError(ConflictError):
    """A document is on legal hold: it is neither deleted nor replaced before it is released."""

    code = "held"

    def __init__(self, document_id: str, reason: str) -> None:
        super().__init__(
            f"Document {document_id} is on legal hold: {reason}.",
            hint=f"Release it with `kedge access release {document_id}`, if it may go.",
            details={"document_id": document_id, "reason": reason},
        )

    @classmethod
    def unnamed(cls, collection: str) -> HeldError:
        """For somebody who may not read what is held."""
        made = cls("", "")
        made.message = f"Something of the collection {collection!r} is on legal hold."
        made.hint, made.details = "Ask whoever runs Kedge.", {}
        return made


class HomeBusyError(ConflictError):
    """Another process holds this home."""

    code = "home_busy"


class DimensionMismatchError(ConflictError):
    """A vector has another length than its collection."""

    code = "dimension_mismatch"

    def __init__(self, *, found: int, expected: int, collection: str, model: str | None = None) -> None:
        """`collection` as the user knows it where `model` says what it was built with; else the index of a store."""
        self.found, self.expected = found, expected
        if model is None:
            super().__init__(
                f"The vector has {found} dimensions, but the index {collection!r} holds vectors of {expected}.",
                hint="Use the embedder that the index was built with.",
                details={"found": found, "expected": expected, "index": collection},
            )
            return
        super().__init__(
            f"The vector has {found} dimensions, but the collection {collection!r}, built with {model!r}, holds "
            f"vectors of {expected}.",
            hint=f"Use the embedder that it was built with; re-indexing is required for another one: run "
            f"`kedge collection reindex {shlex.quote(collection)}`.",
            details={"found": found, "expected": expected, "collection": collection, "model": model},
        )

    @classmethod
    def stored(cls, *, found: int, expected: int, collection: str, model: str, where: str) -> DimensionMismatchError:
        """For vectors that another program has stored at `where`, which the collection's model cannot ask (Q-09)."""
        error = cls(found=found, expected=expected, collection=collection, model=model)
        error.message = (
            f"The vectors stored in {where} have {found} dimensions, but the collection {collection!r} asks with "
            f"{model!r}, which gives {expected}: re-indexing required."
        )
        error.hint = (
            "Name the model that made them with the setting embedder and run "
            f"`kedge collection reindex {shlex.quote(collection)}`, or have the program that fills the table embed its "
            "texts anew."
        )
        error.args = (error.message,)
        return error


@contextmanager
def in_collection(collection: str, model: str) -> Iterator[None]:
    """Let a vector of the wrong length be told by the collection and the model, not by the index of a store (Q-11)."""
    try:
        yield
    except DimensionMismatchError as error:
        raise DimensionMismatchError(
            found=error.found, expected=error.expected, collection=collection, model=model
        ) from error


class EmbedderMismatchError(ConflictError):
    """A collection is opened with another model than it was built with."""

    code = "embedder_mismatch"


class IssuerError(KedgeError):
    """The issuer of tokens cannot be reached, or gives no keys, so that no token can be checked."""

    code = "issuer_failed"
    status = 503


class RateError(KedgeError):
    """More requests than this caller may send. `details.retry_after` says how many seconds to wait."""

    code = "too_many_requests"
    status = 429


class OverloadedError(KedgeError):
    """The server has as much to do as it takes; nothing of the request was done."""

    code = "overloaded"
    status = 503


class QueueFullError(OverloadedError):
    """As many ingestions wait as may; nothing of the request was kept."""

    code = "queue_full"


class TimeoutExceededError(KedgeError):
    """The work took longer than it may, and was broken off."""

    code = "timed_out"
    status = 504


class SlowClientError(TimeoutExceededError):
    """The next piece of the request did not come in time."""

    code = "slow_client"
    status = 408


class ModelError(KedgeError):
    """A model failed or gave something that cannot be used."""

    code = "model_failed"
    status = 502


class StoreError(KedgeError):
    """A store failed."""

    code = "store_failed"
    status = 503
    told = False
    """Whether it was counted: an error may pass several stores on its way."""


class DiskFullError(StoreError):
    """No space left; what was stored before is intact."""

    code = "disk_full"
    status = 507


class MissingExtraError(KedgeError):
    """An optional driver is not installed."""

    code = "missing_extra"
    status = 501

    def __init__(self, what: str, extra: str, package: str = "kedge") -> None:
        super().__init__(
            f"{what} needs a driver that is not installed.",
            hint=f"Install it with: pip install '{package}[{extra}]'",
            details={"extra": extra},
        )


class PluginError(KedgeError):
    """A part that an installed package brings cannot be loaded."""

    code = "broken_plugin"
