"""Checks tokens: signature, issuer, audience and times by PyJWT; tenant, right and user from their claims.

The key decides which signature it can check, the settings which are accepted, and the token none of the two: `none`
and shared secrets (HS256 with a public key) cannot be accepted, because no key of these kinds is ever used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jwt

from kedge.core.errors import ForbiddenError, TokenError, TokenExpiredError
from kedge.core.settings import Settings
from kedge.core.values import Actor, Right
from kedge.core.values.access import MAX_GROUPS
from kedge.engine.access.keys import TENANT
from kedge.engine.access.oidc.issuer import Issuer

MAX_CHARS = 16_384
KINDS: Mapping[str, tuple[str, str | None]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), ("RSA", None)),
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}
"""By algorithm: type and curve of the key that it needs."""
TYPES = ("", "jwt", "at+jwt", "application/jwt", "application/at+jwt")
"""Kinds of tokens that let somebody in; a logout token, for instance, does not."""
RENEW = "Ask the issuer for a new token."


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a token speaks for."""

    tenant: str
    right: Right
    subject: str
    groups: frozenset[str] = frozenset()

    @property
    def actor(self) -> Actor:
        """Who asks with it."""
        return Actor(self.subject, self.groups)


class Tokens:
    """Lets in the tokens of one issuer for one audience."""

    def __init__(self, settings: Settings, issuer: Issuer | None = None) -> None:
        self._settings = settings
        self._issuer = issuer or Issuer(settings)

    async def identity(self, token: str) -> Identity:
        """Who it speaks for. TokenError, ForbiddenError for a good token without rights, IssuerError."""
        algorithm, kid = self._header(token)
        key = _only(await self._issuer.keys(), algorithm, kid)
        if key is None:
            key = _only(await self._issuer.keys(fresh=True), algorithm, kid)
        if key is None:
            raise TokenError("The token is signed with a key that the issuer does not publish.", hint=RENEW)
        return self._identity(self._claims(token, key, algorithm))

    def _header(self, token: str) -> tuple[str, str | None]:
        """The algorithm and the name of the key, both only compared with what is known."""
        if len(token) > MAX_CHARS:
            raise TokenError(f"The token is longer than {MAX_CHARS} characters.", hint="Ask for fewer claims.")
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError as error:
            raise _unreadable() from error
        algorithm, kind = header.get("alg"), header.get("typ", "")
        if algorithm not in self._settings.oidc_algorithms:
            accepted = ", ".join(self._settings.oidc_algorithms)
            raise TokenError(
                "The token is not signed in a way that is accepted here.",
                hint=f"Accepted are {accepted}; the setting oidc_algorithms changes that.",
            )
        if not isinstance(kind, str) or kind.lower() not in TYPES:
            raise TokenError("This kind of token lets nobody in.", hint="Send an access token.")
        return algorithm, header.get("kid")

    def _claims(self, token: str, key: dict[str, Any], algorithm: str) -> dict[str, Any]:
        settings = self._settings
        try:
            return jwt.decode(
                token,
                jwt.PyJWK(key, algorithm),
                algorithms=[algorithm],
                audience=settings.oidc_audience,
                issuer=settings.oidc_issuer,
                leeway=settings.oidc_leeway,
                options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
            )
        except jwt.ExpiredSignatureError as error:
            raise TokenExpiredError("The token has expired.", hint=RENEW) from error
        except jwt.ImmatureSignatureError as error:
            raise TokenError("The token is not valid yet.", hint="Check the clocks of both machines.") from error
        except jwt.InvalidAudienceError as error:
            hint = f"Ask the issuer for one with the audience {settings.oidc_audience!r}."
            raise TokenError("The token is for somebody else.", hint=hint) from error
        except jwt.InvalidIssuerError as error:
            hint = f"Only tokens of {settings.oidc_issuer} are accepted."
            raise TokenError("The token is of another issuer.", hint=hint) from error
        except jwt.MissingRequiredClaimError as error:
            raise TokenError(f"The token lacks the claim {error.claim}.", hint=RENEW) from error
        except jwt.PyJWTError as error:
            raise _unreadable() from error

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        settings = self._settings
        tenant = claim_of(claims, settings.oidc_tenant_claim)
        if not isinstance(tenant, str) or not TENANT.fullmatch(tenant):
            raise ForbiddenError(
                "The token names no tenant.",
                hint=f"The issuer has to put one into the claim {settings.oidc_tenant_claim!r} (oidc_tenant_claim).",
            )
        right = _right(claim_of(claims, settings.oidc_rights_claim), settings.oidc_rights_prefix)
        if right is None:
            wanted = f"{settings.oidc_rights_prefix}{Right.READ.value}"
            raise ForbiddenError(
                "The token gives no right here.",
                hint=f"Ask for {wanted!r} or more in the claim {settings.oidc_rights_claim!r} (oidc_rights_claim).",
            )
        subject = claim_of(claims, settings.oidc_subject_claim)
        if not isinstance(subject, str) or not subject:
            raise TokenError("The token names nobody.", hint=f"It lacks the claim {settings.oidc_subject_claim!r}.")
        return Identity(tenant, right, subject, _groups(claim_of(claims, settings.oidc_groups_claim)))


def claim_of(claims: Mapping[str, Any], name: str) -> Any:
    """A claim by its name, or by a path through nested ones; None when it is not there.

    >>> claim_of({"realm_access": {"roles": ["kedge:read"]}, "https://x.org/t": "a"}, "realm_access.roles")
    ['kedge:read']
    """
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _groups(claim: Any) -> frozenset[str]:
    """The names of a list; a text is one name, what is none is passed over. TokenError for more than can be weighed."""
    named = [claim] if isinstance(claim, str) else claim if isinstance(claim, list) else []
    found = frozenset(one.strip() for one in named if isinstance(one, str) and one.strip())
    if len(found) > MAX_GROUPS:
        raise TokenError(f"The token names {len(found)} groups.", hint=f"At most {MAX_GROUPS} can be weighed.")
    return found


def _right(claim: Any, prefix: str) -> Right | None:
    """The strongest right of a list or of words with spaces between."""
    named = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else []
    given = [right for right in Right if f"{prefix}{right.value}" in named]
    return given[-1] if given else None


def _only(keys: Sequence[dict[str, Any]], algorithm: str, kid: str | None) -> dict[str, Any] | None:
    """The key with this name that can check this signature; without a name, the only one that can."""
    fitting = [key for key in keys if _fits(key, algorithm) and (kid is None or key.get("kid") == kid)]
    return fitting[0] if len(fitting) == 1 or (fitting and kid is not None) else None


def _fits(key: Mapping[str, Any], algorithm: str) -> bool:
    kind, curve = KINDS[algorithm]
    uses = key.get("key_ops", ["verify"])
    verifies = key.get("use", "sig") == "sig" and isinstance(uses, list) and "verify" in uses
    return (
        key.get("kty") == kind
        and (curve is None or key.get("crv") == curve)
        and key.get("alg", algorithm) == algorithm
        and verifies
    )


def _unreadable() -> TokenError:
    return TokenError("The token is not signed by the issuer, or cannot be read.", hint=RENEW)
