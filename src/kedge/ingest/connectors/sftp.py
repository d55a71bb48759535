"""Folders of an SFTP server as sources: `sftp://host:22/srv/docs`."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

import asyncssh
import sshfs

from kedge.core.errors import UsageError
from kedge.core.settings import Settings
from kedge.ingest.connectors.hosts import check_host, host_of
from kedge.ingest.connectors.ports import SourceAddress
from kedge.ingest.connectors.trees import OPTIONS, FileTree

PORT = 22


def open_sftp(place: SourceAddress, settings: Settings) -> FileTree:
    """Options `user`, `host_key`; secrets `password`, `private_key`, `passphrase`.

    The server's key is checked against `host_key` (its line in `known_hosts`, without the names), or else against the
    user's own `known_hosts`.
    """

    place.allow(options=(*OPTIONS, "user", "host_key"), secrets=("password", "private_key", "passphrase"))
    host, port = host_of(place.url, PORT)
    path = unquote(urlsplit(place.url).path) or "/"

    def connect() -> Any:
        address = check_host(host, port, settings)
        # None would switch the check of the server's key off; () is the user's own list.
        given: dict[str, Any] = {"client_keys": [], "agent_path": None, "known_hosts": (), "config": None}
        key, secrets = place.text("host_key"), place.secrets
        try:
            if key:
                given["known_hosts"] = asyncssh.import_known_hosts(f"* {key}\n")
            if secrets.get("private_key"):
                phrase = secrets.get("passphrase") or None
                given["client_keys"] = [asyncssh.import_private_key(secrets["private_key"], phrase)]
        except (asyncssh.KeyImportError, ValueError) as error:
            raise UsageError(
                "A key of the source cannot be read.", hint="Give host_key and private_key whole."
            ) from error
        if secrets.get("password"):
            given["password"] = secrets["password"]
        return sshfs.SSHFileSystem(
            address,
            port=port,
            host_key_alias=host,
            username=place.text("user") or None,
            connect_timeout=settings.url_timeout,
            login_timeout=settings.url_timeout,
            skip_instance_cache=True,
            **given,
        )

    base = f"sftp://{urlsplit(place.url).netloc}{path}"
    return FileTree(place, settings, connect=connect, root=path, base=base, faults=(asyncssh.Error,))
