"""Ids made by the application, equal in all stores (D-18)."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping

from kedge.core.values import Json, Scope

NAMESPACE = uuid.UUID("5b0a3a3e-7f0b-5f1e-9d5c-6b656467652e")
_NAMESPACE = NAMESPACE.bytes


def new_id() -> str:
    """A random id, for things that have no content of their own: jobs, queries, sessions."""
    return str(uuid.uuid4())


def sha256(data: bytes | str) -> str:
    """Hex digest."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def stable_json(value: Mapping[str, Json]) -> str:
    """JSON with sorted keys, equal for equal content."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def document_id(scope: Scope, url: str) -> str:
    """The same source in the same collection is the same document."""
    return _uuid5("document", scope.tenant, scope.collection, url)


def version_id(document: str, file_hash: str) -> str:
    """The same content is the same version, so an interrupted ingest finds its own traces."""
    return _uuid5("version", document, file_hash)


def past_version_id(version: str, died: int) -> str:
    """Of a version that was live before, once its document has returned to the same content."""
    return _uuid5("past", version, str(died))


def passage_id(document: str, content_hash: str, occurrence: int) -> str:
    """Equal content keeps its id across versions of a document; a repeated text is told apart by its occurrence."""
    return _uuid5("passage", document, content_hash, str(occurrence))


def statement_id(version: str) -> str:
    """Under which a version of a document states relations as a whole, where no passage of it says so."""
    return _uuid5("statement", version)


def concept_id(scope: Scope, key: str) -> str:
    """A concept is its key within a collection."""
    return _uuid5("concept", scope.tenant, scope.collection, key)


def _uuid5(*parts: str) -> str:
    """`str(uuid.uuid5(NAMESPACE, …))`, written out because ingestion makes a dozen for every passage.

    >>> _uuid5("a", "b") == str(uuid.uuid5(NAMESPACE, "a\\x1fb"))
    True
    """
    digest = hashlib.sha1(_NAMESPACE + "\x1f".join(parts).encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"
