"""Folders of a WebDAV server as sources: `webdav+https://cloud.example/remote.php/dav/files/me/docs`."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
import webdav4.client
import webdav4.fsspec

from kedge.core.errors import UsageError
from kedge.core.settings import Settings
from kedge.ingest.connectors.hosts import check_host, host_of
from kedge.ingest.connectors.pinned import PinnedTransport
from kedge.ingest.connectors.ports import SourceAddress
from kedge.ingest.connectors.trees import OPTIONS, FileTree


def open_webdav(place: SourceAddress, settings: Settings) -> FileTree:
    """Options `user`; secrets `password`, or `token` for a bearer token."""

    place.allow(options=(*OPTIONS, "user"), secrets=("password", "token"))
    address = place.url.removeprefix("webdav+")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https"):
        raise UsageError(f"{place.url} is no WebDAV address.", hint="Write webdav+https://host/folder.")
    host, port = host_of(address, 443 if parts.scheme == "https" else 80)
    folder = unquote(parts.path).strip("/")

    def connect() -> Any:
        check_host(host, port, settings)
        password, token = place.secrets.get("password"), place.secrets.get("token")
        return webdav4.fsspec.WebdavFileSystem(
            f"{parts.scheme}://{parts.netloc}/",
            auth=(place.text("user"), password) if password else None,
            headers={"Authorization": f"Bearer {token}"} if token else None,
            timeout=settings.url_timeout,
            trust_env=False,
            follow_redirects=False,
            transport=PinnedTransport(settings),
            skip_instance_cache=True,
        )

    faults = (httpx.HTTPError, webdav4.client.ClientError)
    base = f"{parts.scheme}://{parts.netloc}/{folder}"
    return FileTree(place, settings, connect=connect, root=folder, base=base, faults=faults)
