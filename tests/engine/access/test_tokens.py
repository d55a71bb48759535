"""Tokens of a real issuer over HTTP: who is let in with which rights, and what hostile tokens come to."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from kedge.core.errors import ConfigError, ForbiddenError, IssuerError, KedgeError, MissingExtraError, TokenError
from kedge.core.settings import Settings, load_settings
from kedge.core.values import Right
from kedge.engine.access.oidc import open_tokens
from kedge.engine.access.oidc.issuer import REFETCH_SECONDS, STALE_SECONDS, Issuer
from kedge.engine.access.oidc.tokens import Identity, Tokens
from tests.engine.access.issuer import AUDIENCE, KEYS, LocalIssuer, jwk, segment
from tests.support.serving import put_key, served
from tests.support.surfaces import EMBEDDER, follow, http_client


@pytest.fixture(scope="module")
def shared() -> Iterator[LocalIssuer]:
    with LocalIssuer() as issuer:
        yield issuer


@pytest.fixture
def issuer() -> Iterator[LocalIssuer]:
    with LocalIssuer() as issuer:
        yield issuer


def settings_for(issuer: LocalIssuer, **more: Any) -> Settings:
    return load_settings(environ={}, oidc_issuer=issuer.url, oidc_audience=AUDIENCE, **more)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def identity(issuer: LocalIssuer, token: str, **settings: Any) -> Identity:
    return asyncio.run(Tokens(settings_for(issuer, **settings)).identity(token))


@pytest.fixture(scope="module")
def address(shared: LocalIssuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(settings_for(shared, home=tmp_path_factory.mktemp("oidc") / "home", embedder=EMBEDDER)) as url:
        yield url


def client(address: str, token: str | None) -> httpx.Client:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return http_client(address, headers=headers)


# ---------------------------------------------------------------- over HTTP


def test_tokens_open_their_tenant_with_their_rights(address: str, shared: LocalIssuer) -> None:
    secret = b"# Vault\n\nThe brass key of the vault lies under the third stone."
    with client(address, shared.token("ES256", scope="kedge:write")) as writes:
        job = writes.post("/api/ingest", files={"file": ("vault.md", secret)}).json()["job_id"]
        assert follow(writes, job)["status"] == "complete"
        assert writes.get("/metrics").status_code == 403
    with client(address, shared.token("EdDSA")) as reads:
        assert "third stone" in reads.post("/api/query", json={"query": "Where is the brass key?"}).text
        refused = reads.post("/api/ingest", files={"file": ("more.md", secret)})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
    with client(address, shared.token(tenant="other", scope="kedge:admin")) as other:
        assert other.get("/api/collections").json() == {"collections": []}
        assert other.get(f"/api/ingest/{job}").status_code == 404
        assert other.get("/metrics").status_code == 200


def test_with_an_issuer_nobody_is_let_in_without_a_credential(address: str) -> None:
    with client(address, None) as nobody:
        refused = nobody.get("/api/collections")
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert nobody.get("/health").status_code == 200


def test_keys_are_let_in_beside_tokens(shared: LocalIssuer, tmp_path: Path) -> None:
    settings = settings_for(shared, home=tmp_path / "home", embedder=EMBEDDER)
    key = put_key(settings, "acme", Right.READ)
    with served(settings) as url:
        for credential in (key, shared.token()):
            with client(url, credential) as caller:
                assert caller.get("/api/collections").status_code == 200
        with client(url, key[:-4] + "AAAA") as wrong:
            assert wrong.get("/api/collections").json()["error"]["code"] == "unauthorized"


def test_what_is_wrong_is_said_in_the_shape_of_all_errors(address: str, shared: LocalIssuer) -> None:
    with client(address, shared.token(exp=int(time.time()) - 3600)) as late:
        refused = late.get("/api/collections")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert refused.json()["error"]["code"] == "token_expired"
    assert refused.json()["error"]["hint"] == "Ask the issuer for a new token."


# ---------------------------------------------------------------- what is not let in


def hostile(issuer: LocalIssuer) -> dict[str, tuple[str, str]]:
    """By name: a token, and words of the message that refuses it."""
    now = int(time.time())
    public = KEYS["RS256"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    header, claims = segment({"alg": "HS256", "kid": "rs256"}), segment(issuer.claims())
    mac = hmac.new(public, f"{header}.{claims}".encode(), sha256).digest()
    good = issuer.token()
    elsewhere = {"jku": f"{issuer.url}/elsewhere", "x5u": f"{issuer.url}/elsewhere", "jwk": jwk(KEYS["strange"], "x")}
    unsigned, unknown = "not signed in a way", "does not publish"
    return {
        "none": (f"{segment({'alg': 'none'})}.{claims}.", unsigned),
        "None": (f"{segment({'alg': 'NoNe', 'kid': 'rs256'})}.{claims}.", unsigned),
        "no algorithm": (f"{segment({'kid': 'rs256'})}.{claims}.{good.rpartition('.')[2]}", unsigned),
        "shared secret": (f"{header}.{claims}.{jwt.utils.base64url_encode(mac).decode()}", unsigned),
        "algorithm of another key": (issuer.token("ES256", headers={"kid": "rs256"}), unknown),
        "not accepted": (issuer.token("RS256", "RS512"), unsigned),
        "other claims": (
            f"{good.split('.')[0]}.{segment(issuer.claims(tenant='x'))}.{good.split('.')[2]}",
            "not signed",
        ),
        "cut": (good[:-6], "not signed"),
        "signature taken off": (good.rpartition(".")[0] + ".", "not signed"),
        "own key in the header": (issuer.token("strange", headers=elsewhere), unknown),
        "own key under a known name": (issuer.token("strange", headers={**elsewhere, "kid": "es256"}), "not signed"),
        "traversal": (issuer.token("strange", headers={"kid": "../../../../dev/null"}), unknown),
        "injection": (issuer.token("strange", headers={"kid": "x' UNION SELECT 'secret' --"}), unknown),
        "address as a name": (issuer.token("strange", headers={"kid": f"{issuer.url}/elsewhere"}), unknown),
        "no name": (issuer.token("strange", headers={"kid": None}), "not signed"),
        "critical": (issuer.token(headers={"crit": ["exp"], "exp": 1}), "not signed"),
        "other issuer": (issuer.token(iss="https://evil.example"), "of another issuer"),
        "no issuer": (issuer.token(iss=None), "lacks the claim iss"),
        "other audience": (issuer.token(aud="another-api"), "for somebody else"),
        "no audience": (issuer.token(aud=None), "lacks the claim aud"),
        "expired": (issuer.token(exp=now - 120), "expired"),
        "for ever": (issuer.token(exp=None), "lacks the claim exp"),
        "not yet": (issuer.token(nbf=now + 3600), "not valid yet"),
        "from the future": (issuer.token(iat=now + 3600), "not valid yet"),
        "nobody": (issuer.token(sub=None), "names nobody"),
        "logout token": (issuer.token(headers={"typ": "logout+jwt"}), "lets nobody in"),
        "huge": (issuer.token(padding="x" * 20_000), "longer than"),
        "no token": ("a.b.c", "not signed"),
        "not even dots": ("nonsense", "not signed"),
    }


HOSTILE = list(hostile(LocalIssuer()))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tokens_open_nothing(address: str, shared: LocalIssuer, name: str) -> None:
    token, why = hostile(shared)[name]
    with client(address, token) as caller:
        refused = caller.get("/api/collections")
    assert refused.status_code == 401, refused.text
    assert refused.json()["error"]["code"] in ("invalid_token", "token_expired")
    assert why in refused.json()["error"]["message"]
    assert set(shared.asked) <= {"/realm/.well-known/openid-configuration", "/realm/keys"}


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=300) | st.binary(max_size=200).map(bytes.hex))
def test_no_text_is_a_token(text: str) -> None:
    tokens = Tokens(load_settings(environ={}, oidc_issuer="http://127.0.0.1:9/x", oidc_audience="a"))
    with pytest.raises(TokenError):
        asyncio.run(tokens.identity(text))


values = st.none() | st.integers() | st.text() | st.lists(st.text(max_size=3), max_size=2) | st.just("RS256")


@given(st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jku"]), values, max_size=5))
def test_no_header_breaks_the_check(header: dict[str, Any]) -> None:
    tokens = Tokens(load_settings(environ={}, oidc_issuer="http://127.0.0.1:9/x", oidc_audience="a"))
    with pytest.raises((TokenError, IssuerError)):
        asyncio.run(tokens.identity(f"{segment(header)}.{segment({'sub': 'x'})}.AAAA"))


@pytest.mark.parametrize("kind", ["small", "private use", "encryption", "not for verifying", "shared secret"])
def test_keys_that_are_not_for_this_are_not_used(issuer: LocalIssuer, kind: str) -> None:
    issuer.keys = [
        {
            "small": jwk(KEYS["small"], "rs256"),
            "private use": jwk(KEYS["RS256"], "rs256", alg="RS512"),
            "encryption": jwk(KEYS["RS256"], "rs256", use="enc"),
            "not for verifying": jwk(KEYS["RS256"], "rs256", key_ops=["encrypt"]),
            "shared secret": {"kty": "oct", "kid": "rs256", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"},
        }[kind]
    ]
    with pytest.raises(TokenError):
        identity(issuer, issuer.token("small", "RS256", {"kid": "rs256"}) if kind == "small" else issuer.token())


# ---------------------------------------------------------------- tenant, rights and user


@pytest.mark.parametrize(
    "tenant", [None, "", "a b", "../acme", "a/b", "a\x1fb", "x" * 101, ["acme"], {"a": 1}, 7, True]
)
def test_a_token_without_a_proper_tenant_opens_nothing(shared: LocalIssuer, tenant: Any) -> None:
    with pytest.raises(ForbiddenError, match="names no tenant"):
        identity(shared, shared.token(tenant=tenant))


@pytest.mark.parametrize(
    ("scope", "right"),
    [
        ("kedge:read", Right.READ),
        ("openid kedge:write email", Right.WRITE),
        (["kedge:read", "kedge:admin"], Right.ADMIN),
        ("read write admin", None),
        ("kedge:", None),
        ("kedge:reader xkedge:admin kedge:ADMIN", None),
        (None, None),
        ({"kedge:admin": True}, None),
        ([["kedge:admin"]], None),
    ],
)
def test_rights(shared: LocalIssuer, scope: Any, right: Right | None) -> None:
    if right is not None:
        assert identity(shared, shared.token(scope=scope)).right == right
    else:
        with pytest.raises(ForbiddenError, match="gives no right"):
            identity(shared, shared.token(scope=scope))


def test_claims_have_the_names_of_the_settings(shared: LocalIssuer) -> None:
    claims: dict[str, Any] = {
        "https://kedge.example/tenant": "acme",
        "tenant": "evil",
        "realm_access": {"roles": ["reader", "write"]},
        "email": "ada@acme.example",
    }
    names = {
        "oidc_tenant_claim": "https://kedge.example/tenant",
        "oidc_rights_claim": "realm_access.roles",
        "oidc_rights_prefix": "",
        "oidc_subject_claim": "email",
    }
    assert identity(shared, shared.token(**claims), **names) == Identity("acme", Right.WRITE, "ada@acme.example")


def test_several_audiences_clock_leeway_and_a_key_without_a_name(issuer: LocalIssuer) -> None:
    now = int(time.time())
    assert identity(issuer, issuer.token(aud=["x", AUDIENCE])).tenant == "acme"
    assert identity(issuer, issuer.token(exp=now - 10, nbf=now + 10, iat=now + 10)).tenant == "acme"
    with pytest.raises(TokenError):
        identity(issuer, issuer.token(exp=now - 10), oidc_leeway=0)
    assert identity(issuer, issuer.token(headers={"kid": None})).tenant == "acme"
    issuer.keys.append(jwk(KEYS["RS256"], "twin"))
    with pytest.raises(TokenError, match="does not publish"):
        identity(issuer, issuer.token(headers={"kid": None}))


def test_algorithms_are_those_of_the_settings(issuer: LocalIssuer) -> None:
    assert identity(issuer, issuer.token("RS256", "PS384"), oidc_algorithms="PS384, ES256").tenant == "acme"
    with pytest.raises(TokenError, match="Accepted are PS384"):
        identity(issuer, issuer.token(), oidc_algorithms="PS384")


# ---------------------------------------------------------------- the issuer's keys


def test_rotation_is_followed_and_unknown_names_cost_little(issuer: LocalIssuer) -> None:
    clock = Clock()
    settings = settings_for(issuer)
    tokens = Tokens(settings, Issuer(settings, clock))

    async def story() -> None:
        await tokens.identity(issuer.token())
        assert len(issuer.asked) == 2  # discovery and keys, once
        issuer.keys = [jwk(KEYS["next"], "next")]
        with pytest.raises(TokenError):
            await tokens.identity(issuer.token("next"))
        assert len(issuer.asked) == 2  # asked just now
        clock.now += REFETCH_SECONDS
        assert (await tokens.identity(issuer.token("next"))).subject == "ada"
        assert len(issuer.asked) == 4
        with pytest.raises(TokenError):
            await tokens.identity(issuer.token())  # its key was withdrawn
        await asyncio.gather(*(_refused(tokens, issuer.token("strange", headers={"kid": f"k{n}"})) for n in range(50)))
        assert len(issuer.asked) == 4
        clock.now += REFETCH_SECONDS
        await asyncio.gather(*(_refused(tokens, issuer.token("strange", headers={"kid": f"k{n}"})) for n in range(50)))
        assert len(issuer.asked) == 6

    asyncio.run(story())


async def _refused(tokens: Tokens, token: str) -> None:
    with pytest.raises(TokenError):
        await tokens.identity(token)


def test_a_withdrawn_key_is_forgotten_when_the_keys_are_fetched_again(issuer: LocalIssuer) -> None:
    clock = Clock()
    settings = settings_for(issuer, oidc_refresh=600)
    tokens = Tokens(settings, Issuer(settings, clock))

    async def story() -> None:
        await tokens.identity(issuer.token())
        issuer.keys = [jwk(KEYS["next"], "next")]
        await tokens.identity(issuer.token())
        clock.now += 600
        await _refused(tokens, issuer.token())

    asyncio.run(story())


def test_an_outage_of_the_issuer_is_bridged_for_a_day(issuer: LocalIssuer) -> None:
    clock = Clock()
    settings = settings_for(issuer)
    tokens = Tokens(settings, Issuer(settings, clock))

    async def story() -> None:
        await tokens.identity(issuer.token())
        issuer.down = True
        clock.now += STALE_SECONDS - 1
        assert (await tokens.identity(issuer.token())).tenant == "acme"
        clock.now += 1
        with pytest.raises(IssuerError, match="answered with 503"):
            await tokens.identity(issuer.token())
        issuer.down = False
        clock.now += REFETCH_SECONDS
        assert (await tokens.identity(issuer.token())).tenant == "acme"

    asyncio.run(story())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"down": True}, "answered with 503"),
        ({"discovery": {"issuer": "https://evil.example"}}, "belongs to the issuer 'https://evil.example'"),
        ({"discovery": {"jwks_uri": "http://example.org/keys"}}, "no https address"),
        ({"discovery": {"jwks_uri": "file:///etc/passwd"}}, "no https address"),
        ({"discovery": {"jwks_uri": 7}}, "no https address"),
        ({"keys": []}, "sent 0 keys"),
        ({"keys": [{"kid": "x"}] * 101}, "sent 101 keys"),
        ({"raw": b"<html>"}, "did not send JSON"),
        ({"raw": b"[1]"}, "did not send a JSON object"),
        ({"raw": b" " * (1 << 20) + b"{}"}, "more than"),
    ],
)
def test_an_issuer_that_gives_no_keys(issuer: LocalIssuer, change: dict[str, Any], message: str) -> None:
    for name, value in change.items():
        setattr(issuer, name, value)
    with pytest.raises(IssuerError, match=message) as caught:
        identity(issuer, issuer.token())
    assert caught.value.status == 503
    assert "oidc_issuer" in caught.value.hint


def test_an_issuer_that_is_not_there_and_keys_by_their_own_address(issuer: LocalIssuer) -> None:
    issuer.discovery = {"issuer": "https://lies.example"}
    assert identity(issuer, issuer.token(), oidc_jwks_url=f"{issuer.url}/keys").tenant == "acme"
    assert issuer.asked == ["/realm/keys"]
    with pytest.raises(IssuerError, match="cannot be reached"):
        identity(issuer, issuer.token(), oidc_jwks_url="http://127.0.0.1:9/keys")


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"oidc_issuer": "http://id.example", "oidc_audience": "a"}, "must be https"),
        ({"oidc_issuer": "https://user:pw@id.example", "oidc_audience": "a"}, "must be https"),
        ({"oidc_issuer": "https://id.example"}, "needs oidc_audience"),
        ({"oidc_audience": "a"}, "need oidc_issuer"),
        ({"oidc_issuer": "https://id.example", "oidc_audience": "a", "oidc_algorithms": "none"}, "oidc_algorithms"),
        ({"oidc_issuer": "https://id.example", "oidc_audience": "a", "oidc_algorithms": "RS256,HS256"}, "RS256"),
        ({"oidc_issuer": "https://id.example", "oidc_audience": "a", "oidc_jwks_url": "ftp://x/y"}, "must be https"),
    ],
)
def test_settings_that_would_let_anybody_in_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_settings(environ={}, **settings)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kedge.engine.access.oidc.find_spec", lambda name: None)
    assert open_tokens(load_settings(environ={})) is None
    with pytest.raises(MissingExtraError) as caught:
        open_tokens(load_settings(environ={}, oidc_issuer="https://id.example", oidc_audience="a"))
    assert isinstance(caught.value, KedgeError)
    assert "kedge[oidc]" in caught.value.hint
