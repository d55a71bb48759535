"""Files of a GitHub repository as a source, without git: `github://owner/name/docs`."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import requests
from fsspec.implementations.github import GithubFileSystem

from kedge.core.errors import UsageError
from kedge.core.settings import Settings
from kedge.ingest.connectors.ports import SourceAddress
from kedge.ingest.connectors.trees import OPTIONS, FileTree


def open_github(place: SourceAddress, settings: Settings) -> FileTree:
    """Options `ref` (branch, tag or commit; the default branch if not given), `user`; secret `token`."""

    place.allow(options=(*OPTIONS, "ref", "user"), secrets=("token",))
    parts = urlsplit(place.url)
    name, _, folder = parts.path.strip("/").partition("/")
    if not parts.netloc or not name:
        raise UsageError(
            f"{place.url} names no repository.", hint="Write github://owner/name, or github://owner/name/docs."
        )
    ref, token = place.text("ref"), place.secrets.get("token")

    def connect() -> Any:
        signed: dict[str, Any] = {"username": place.text("user", "git"), "token": token} if token else {}
        return GithubFileSystem(
            parts.netloc, name, sha=ref or None, timeout=settings.url_timeout, skip_instance_cache=True, **signed
        )

    base = f"https://github.com/{parts.netloc}/{name}/blob/{ref or 'HEAD'}/{folder}"
    return FileTree(place, settings, connect=connect, root=folder, base=base, faults=(requests.RequestException,))
