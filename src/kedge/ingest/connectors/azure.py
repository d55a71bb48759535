"""Azure Blob Storage as a source: `az://container/prefix`.

Without secrets the driver signs in as its vendor's tools do where the process runs (profiles, roles, workload
identities); `anonymous=yes` signs in as nobody.
"""

from __future__ import annotations

import re
from typing import Any

import adlfs
from azure.core.exceptions import AzureError

from kedge.core.errors import UsageError
from kedge.core.settings import Settings
from kedge.ingest.connectors.ports import YES, SourceAddress
from kedge.ingest.connectors.trees import OPTIONS, FileTree, bucket

_ACCOUNT = re.compile(r"[a-z0-9]{3,24}")


def open_azure(place: SourceAddress, settings: Settings) -> FileTree:
    """`az://container/prefix`; options `account`, `anonymous`; secrets `key`, `sas_token`, `connection_string`."""
    place.allow(options=(*OPTIONS, "account", "anonymous"), secrets=("key", "sas_token", "connection_string"))
    names = {"key": "account_key"}
    account = place.text("account")
    if account and not _ACCOUNT.fullmatch(account):  # it becomes a part of the host's name
        raise UsageError(f"{account[:100]!r} is no account.", hint="Give its name, of small letters and digits.")

    def connect() -> Any:
        return adlfs.AzureBlobFileSystem(
            account_name=account or None,
            **{names.get(name, name): value for name, value in place.secrets.items() if value},
            anon=place.text("anonymous").lower() in YES,
            use_listings_cache=False,
            skip_instance_cache=True,
        )

    return bucket(place, settings, connect, (AzureError,))
