"""Azure Blob Storage as a source: `az://container/prefix`.

Without secrets the driver signs in as its vendor's tools do where the process runs (profiles, roles, workload
identities); `anonymous=yes` signs in as nobody.
"""

from __future__ import annotations

from typing import Any

import adlfs
from azure.core.exceptions import AzureError

from kedge.core.settings import Settings
from kedge.ingest.connectors.ports import SourceAddress
from kedge.ingest.connectors.trees import OPTIONS, YES, FileTree, bucket


def open_azure(place: SourceAddress, settings: Settings) -> FileTree:
    """`az://container/prefix`; options `account`, `anonymous`; secrets `key`, `sas_token`, `connection_string`."""
    place.allow(options=(*OPTIONS, "account", "anonymous"), secrets=("key", "sas_token", "connection_string"))
    names = {"key": "account_key"}

    def connect() -> Any:
        return adlfs.AzureBlobFileSystem(
            account_name=place.text("account") or None,
            **{names.get(name, name): value for name, value in place.secrets.items() if value},
            anon=place.text("anonymous").lower() in YES,
            use_listings_cache=False,
            skip_instance_cache=True,
        )

    return bucket(place, settings, connect, (AzureError,))
