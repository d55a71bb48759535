"""Amazon S3 and what speaks like it, as sources: `s3://bucket/prefix`.

Without secrets the driver signs in as its vendor's tools do where the process runs (profiles, roles, workload
identities); `anonymous=yes` signs in as nobody.
"""

from __future__ import annotations

from typing import Any

import s3fs
from botocore.exceptions import BotoCoreError, ClientError

from kedge.core.settings import Settings
from kedge.ingest.connectors.hosts import check_host, host_of
from kedge.ingest.connectors.ports import SourceAddress
from kedge.ingest.connectors.trees import OPTIONS, YES, FileTree, bucket


def open_s3(place: SourceAddress, settings: Settings) -> FileTree:
    """`s3://bucket/prefix`; options `endpoint`, `region`, `anonymous`; secrets `key`, `secret`, `token`."""
    place.allow(options=(*OPTIONS, "endpoint", "region", "anonymous"), secrets=("key", "secret", "token"))
    endpoint = place.text("endpoint")

    def connect() -> Any:
        if endpoint:
            check_host(*host_of(endpoint, 443), settings)
        seconds = settings.url_timeout
        return s3fs.S3FileSystem(
            **{name: value for name, value in place.secrets.items() if value},
            anon=place.text("anonymous").lower() in YES,
            endpoint_url=endpoint or None,
            client_kwargs={"region_name": place.text("region")} if place.text("region") else {},
            config_kwargs={"connect_timeout": seconds, "read_timeout": seconds, "retries": {"max_attempts": 3}},
            use_listings_cache=False,
            skip_instance_cache=True,
        )

    return bucket(place, settings, connect, (BotoCoreError, ClientError))
