"""Tokens of an OpenID Connect issuer instead of keys (extra `oidc`): `open_tokens(settings)`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from kedge.core.errors import MissingExtraError
from kedge.core.settings import Settings

if TYPE_CHECKING:
    from kedge.engine.access.oidc.tokens import Tokens


def open_tokens(settings: Settings) -> Tokens | None:
    """What checks tokens, or None where the settings name no issuer. MissingExtraError."""
    if not settings.oidc_issuer:
        return None
    if find_spec("jwt") is None or find_spec("cryptography") is None:
        raise MissingExtraError("Letting in tokens (oidc_issuer)", "oidc")
    from kedge.engine.access.oidc.tokens import Tokens

    return Tokens(settings)
