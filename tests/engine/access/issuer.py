"""A real issuer on loopback: discovery, keys and tokens, signed with `cryptography`; it can rotate, fail and lie."""

from __future__ import annotations

import base64
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

AUDIENCE = "kedge-tests"
KEYS: dict[str, Any] = {
    "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
    "small": rsa.generate_private_key(public_exponent=65537, key_size=1024),
    "next": ec.generate_private_key(ec.SECP256R1()),
    "strange": ec.generate_private_key(ec.SECP256R1()),
}


def jwk(private: Any, kid: str | None, **more: Any) -> dict[str, Any]:
    """The public half as a JWK."""
    kinds: dict[type, Any] = {rsa.RSAPrivateKey: RSAAlgorithm, ec.EllipticCurvePrivateKey: ECAlgorithm}
    kind = next((kinds[one] for one in kinds if isinstance(private, one)), OKPAlgorithm)
    made: dict[str, Any] = kind.to_jwk(private.public_key(), as_dict=True)
    return {**made, **({"kid": kid} if kid else {}), "use": "sig", **more}


def segment(value: Any) -> str:
    """A part of a token made by hand."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


class LocalIssuer:
    """The server; use it as a context manager."""

    def __init__(self) -> None:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                status, body = issuer.answer(self.path)
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/realm"
        self.asked: list[str] = []
        self.keys = [jwk(KEYS[name], name.lower()) for name in ("RS256", "ES256", "EdDSA")]
        self.down = False
        self.discovery: dict[str, Any] = {}
        self.raw: bytes | None = None

    def answer(self, path: str) -> tuple[int, bytes]:
        if self.down:
            return 503, b"gone"
        if path == "/realm/.well-known/openid-configuration":
            return 200, json.dumps({"issuer": self.url, "jwks_uri": f"{self.url}/keys", **self.discovery}).encode()
        if path == "/realm/keys":
            return 200, self.raw or json.dumps({"keys": self.keys}).encode()
        return 404, b"{}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Those of a good token; a change to None takes one out."""
        now = int(time.time())
        made = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "ada",
            "tenant": "acme",
            "scope": "openid kedge:read",
            "iat": now,
            "exp": now + 300,
            **changes,
        }
        return {name: value for name, value in made.items() if value is not None}

    def token(
        self, key: str = "RS256", algorithm: str | None = None, headers: dict[str, Any] | None = None, **changes: Any
    ) -> str:
        """A token signed by one of the keys."""
        header = {"kid": key.lower(), **(headers or {})}
        signed_by = algorithm or (key if key in ("RS256", "ES256", "EdDSA") else "ES256")
        return jwt.encode(self.claims(**changes), KEYS[key], signed_by, {k: v for k, v in header.items() if v})
