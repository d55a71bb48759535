"""Amazon S3 and what speaks like it, as sources: `s3://bucket/prefix`.

Without secrets the driver signs in as its vendor's tools do where the process runs (profiles, roles, workload
identities); `anonymous=yes` signs in as nobody.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import s3fs
from aiohttp.abc import AbstractResolver, ResolveResult
from botocore.exceptions import BotoCoreError, ClientError

from kedge.core.errors import SourceFault
from kedge.core.settings import Settings
from kedge.ingest.connectors.hosts import check_host, host_of
from kedge.ingest.connectors.ports import YES, SourceAddress
from kedge.ingest.connectors.trees import OPTIONS, FileTree, bucket


class _Checked(AbstractResolver):
    """Looks at every address of a name when it is connected to: none but those that were looked at are."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 (whichever was looked at)
    ) -> list[ResolveResult]:
        try:
            address = await asyncio.to_thread(check_host, host, port, self._settings)
        except SourceFault as fault:
            raise OSError(fault.message) from fault
        kind = socket.AF_INET6 if ":" in address else socket.AF_INET
        flags = socket.AI_NUMERICHOST
        return [ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=flags)]

    async def close(self) -> None:
        """Nothing is held."""


def open_s3(place: SourceAddress, settings: Settings) -> FileTree:
    """`s3://bucket/prefix`; options `endpoint`, `region`, `anonymous`; secrets `key`, `secret`, `token`."""
    place.allow(options=(*OPTIONS, "endpoint", "region", "anonymous"), secrets=("key", "secret", "token"))
    endpoint = place.text("endpoint")

    def connect() -> Any:
        if endpoint:
            check_host(*host_of(endpoint, 443), settings)
        seconds = settings.url_timeout
        terms: dict[str, Any] = {"connect_timeout": seconds, "read_timeout": seconds, "retries": {"max_attempts": 3}}
        if endpoint:
            terms["connector_args"] = {"resolver": _Checked(settings)}
        return s3fs.S3FileSystem(
            **{name: value for name, value in place.secrets.items() if value},
            anon=place.text("anonymous").lower() in YES,
            endpoint_url=endpoint or None,
            client_kwargs={"region_name": place.text("region")} if place.text("region") else {},
            config_kwargs=terms,
            use_listings_cache=False,
            skip_instance_cache=True,
        )

    return bucket(place, settings, connect, (BotoCoreError, ClientError))
