"""Whose certificates are trusted."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def trusted(*, trust_env: bool = True) -> ssl.SSLContext:
    """What every connection of this process is checked against, read once: the list is long, and takes 25 ms.

    With `trust_env`, SSL_CERT_FILE and SSL_CERT_DIR of the environment name others.
    """
    return httpx.create_ssl_context(trust_env=trust_env)
