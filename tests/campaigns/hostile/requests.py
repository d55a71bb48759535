"""Requests that no honest client sends: hostile strings in every field, broken bodies, odd types, odd headers."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

STRINGS = (
    "\x00",
    "a\x00b",
    "\ud800",
    "\udfff\ud800x",
    "\u202egnp.exe",
    "\u2066\u2067\u200f",
    "\x1b[31mred\x1b[0m",
    "\r\nX-Injected: yes",
    "\ufeff",
    "\uffff\ufffe",
    "e" + "\u0301" * 500,
    "😀" * 600,
    "ﷺ" * 300,
    "a" * 5000,
    "../../../../etc/passwd",
    "..\\..\\windows\\win.ini",
    "/etc/passwd",
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::ffff:127.0.0.1]/",
    "CON",
    "aux.md",
    ".",
    "..",
    "",
    " ",
    "%00",
    "%2e%2e%2f",
    "'; DROP TABLE documents; --",
    '" OR "1"="1',
    "x'); SELECT pg_sleep(9); --",
    "') UNION SELECT * FROM api_keys --",
    "}) DETACH DELETE n //",
    "`) MATCH (n) DETACH DELETE n //",
    "${jndi:ldap://127.0.0.1/a}",
    "{{7*7}}",
    "<script>alert(1)</script>",
    "(a|a)*" * 100,
    'NEAR/2 AND OR NOT * ^ : " ( )',
    "-1",
    "1e999",
    "NaN",
    "null",
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**31,
    2**63,
    -(2**63) - 1,
    10**400,
    1e308,
    float("inf"),
    float("nan"),
    [],
    {},
    [[]],
    {"": {}},
    {"gte": 1, "lte": "x"},
    {"gte": float("nan")},
    {"$where": "1"},
    [None],
    [1, "a", True],
    *STRINGS,
)
CONTENTS = (b"# Title\n\nSome text.", b"a,b\n1,2\n", b"%PDF-1.7\n", b"PK\x03\x04", b"\x00" * 50, b"")
FIELDS = ("collection", "metadata", "title", "kind", "mode", "topic", "delimiter", "encoding", "x")
DEPTHS = (200, 5_000, 100_000)


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it goes over the wire."""

    method: str
    url: str
    """Path and query."""
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def hostile(schema: dict[str, Any], known: dict[str, str], seed: int) -> Iterator[Sent]:
    """Endless requests over the operations of an OpenAPI document; `known` holds path parameters that exist."""
    chance = random.Random(seed)
    operations = [
        (path, method, operation) for path, methods in schema["paths"].items() for method, operation in methods.items()
    ]
    while True:
        path, method, operation = chance.choice(operations)
        url = _url(path, operation, known, chance)
        body = operation.get("requestBody", {}).get("content", {})
        if not body:
            yield Sent(method.upper(), url)
        elif "multipart/form-data" in body and chance.random() < 0.5:
            yield _form(method.upper(), url, chance)
        else:
            content, headers = _json(_resolved(body["application/json"]["schema"], schema), chance)
            yield Sent(method.upper(), url, content, headers)


def dumps(value: Any) -> bytes:
    """JSON as an attacker may write it: lone surrogates as escapes, NaN and Infinity as words."""
    return json.dumps(value).encode()


def _url(path: str, operation: dict[str, Any], known: dict[str, str], chance: random.Random) -> str:
    query: list[str] = []
    for parameter in operation.get("parameters", ()):
        name = parameter["name"]
        value = chance.choice(STRINGS)
        if name in known and chance.random() < 0.6:
            value = known[name]
        if parameter["in"] == "path":
            path = path.replace(f"{{{name}}}", _quoted(value) or "%00")
        elif parameter["in"] == "query" and chance.random() < 0.5:
            query.append(f"{name}={_quoted(value)}")
    return path + ("?" + "&".join(query) if query else "")


def _quoted(value: str) -> str:
    return quote(value.encode("utf-8", "surrogatepass"), safe="")


def _resolved(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        found: dict[str, Any] = schema["components"]["schemas"][name]
        return found
    return node


def _json(model: dict[str, Any], chance: random.Random) -> tuple[bytes, dict[str, str]]:
    headers = {"content-type": "application/json"}
    roll = chance.random()
    if roll < 0.03:
        kind = chance.choice(("text/plain", "application/xml", "application/json; charset=utf-16", "x", ""))
        return dumps({"query": "x"}), {"content-type": kind}
    if roll < 0.23:
        return _broken(chance), headers
    fields = dict(model.get("properties", {}))
    required = set(model.get("required", ()))
    body: dict[str, Any] = {}
    for name, shape in fields.items():
        if name in required or chance.random() < 0.5:
            body[name] = _plain(name, shape, chance) if chance.random() < 0.5 else chance.choice(VALUES)
    if chance.random() < 0.1:
        body[chance.choice(STRINGS)] = chance.choice(VALUES)
    return dumps(body), headers


def _broken(chance: random.Random) -> bytes:
    depth = chance.choice(DEPTHS)
    return chance.choice(
        (
            b'{"query":"x","filter":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}",
            b"[" * depth,
            bytes(chance.randrange(256) for _ in range(chance.randrange(300))),
            dumps({"query": "a" * (1 << 20)}),
            dumps(chance.choice(VALUES)),
        )
    )


def _plain(name: str, shape: dict[str, Any], chance: random.Random) -> Any:
    """A value of about the right type, so that hostile ones beside it are reached."""
    options = [shape, *shape.get("anyOf", ())]
    types = {option.get("type") for option in options}
    if "enum" in shape:
        return chance.choice(shape["enum"])
    if "array" in types:
        item = next(option for option in options if option.get("type") == "array").get("items", {})
        if "messages" in name:
            return [{"role": "user", "content": chance.choice((*STRINGS, "Which knot?"))}]
        return [
            chance.choice(STRINGS) if item.get("type") == "string" else {chance.choice(STRINGS): chance.choice(VALUES)}
        ]
    if "object" in types:
        return {chance.choice(STRINGS): chance.choice(VALUES)}
    if types & {"integer", "number", "boolean"}:
        return chance.choice((1, 3, 5)) if "boolean" not in types else chance.random() < 0.5
    return chance.choice(("Which knot ties the warp?", "sum of price by city", "a", *STRINGS))


def _form(method: str, url: str, chance: random.Random) -> Sent:
    roll = chance.random()
    boundary = "frontier"
    kind = f"multipart/form-data; boundary={boundary}"
    if roll < 0.15:
        return Sent(method, url, b"no form at all", {"content-type": kind})
    if roll < 0.25:
        return Sent(method, url, b"--x\r\n\r\n", {"content-type": "multipart/form-data"})
    parts: list[bytes] = []
    for _ in range(chance.randrange(4)):
        name = chance.choice((*STRINGS, "notes.md", "table.csv")).encode("utf-8", "surrogatepass")
        name = name.replace(b"\r", b"%0D").replace(b"\n", b"%0A").replace(b'"', b"%22")
        content = chance.choice(CONTENTS)
        parts.append(
            b'Content-Disposition: form-data; name="file"; filename="' + name + b'"\r\n\r\n' + content + b"\r\n"
        )
    if chance.random() < 0.6:
        field = chance.choice(FIELDS)
        value = chance.choice(STRINGS).encode("utf-8", "surrogatepass")
        parts.append(f'Content-Disposition: form-data; name="{field}"\r\n\r\n'.encode() + value + b"\r\n")
    end = b"" if roll < 0.35 else f"--{boundary}--\r\n".encode()
    content = b"".join(f"--{boundary}\r\n".encode() + part for part in parts) + end
    return Sent(method, url, content, {"content-type": kind})
