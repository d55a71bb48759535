"""Google Cloud Storage as a source: `gs://bucket/prefix`.

Without secrets the driver signs in as its vendor's tools do where the process runs (profiles, roles, workload
identities); `anonymous=yes` signs in as nobody.
"""

from __future__ import annotations

import json
from typing import Any

import gcsfs
import gcsfs.retry

from kedge.core.errors import UsageError
from kedge.core.settings import Settings
from kedge.ingest.connectors.ports import YES, SourceAddress
from kedge.ingest.connectors.trees import OPTIONS, FileTree, bucket


def open_gcs(place: SourceAddress, settings: Settings) -> FileTree:
    """`gs://bucket/prefix`; options `project`, `anonymous`; secret `token`: the JSON key of a service account."""
    place.allow(options=(*OPTIONS, "project", "anonymous"), secrets=("token",))

    def connect() -> Any:
        token: Any = "anon" if place.text("anonymous").lower() in YES else None
        if place.secrets.get("token"):
            try:
                token = json.loads(place.secrets["token"])
            except ValueError as error:
                raise UsageError("The secret token is no JSON key.", hint="Give the service account's file.") from error
        return gcsfs.GCSFileSystem(
            project=place.text("project") or None,
            token=token,
            timeout=settings.url_timeout,
            use_listings_cache=False,
            skip_instance_cache=True,
        )

    return bucket(place, settings, connect, (gcsfs.retry.HttpError,))
