"""Keys and passwords are in no log, error, metric, report or traceback, whatever goes wrong."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.support.forked import command, piped, ran, said_first
from tests.support.surfaces import http_client

PASSWORD, LLM_KEY, EMBED_KEY, VECTOR_KEY = "dsn-s3cret-1", "llm-s3cret-2", "embed-s3cret-3", "vector-s3cret-4"
SECRETS = (PASSWORD, LLM_KEY, EMBED_KEY, VECTOR_KEY)


def environment(home: Path, **more: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KEDGE_")}
    return {
        **clean,
        "KEDGE_HOME": str(home),
        "KEDGE_EMBEDDER": "hash:64",
        "KEDGE_LOG_LEVEL": "debug",
        "KEDGE_LLM": "openai:some-model",
        "KEDGE_LLM_URL": "http://127.0.0.1:9/v1",
        "KEDGE_LLM_KEY": LLM_KEY,
        "KEDGE_LLM_ATTEMPTS": "1",
        "KEDGE_EMBED_KEY": EMBED_KEY,
        "KEDGE_VECTOR_KEY": VECTOR_KEY,
        **more,
    }


def leaked(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text]


@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        (["doctor", "--json"], {}),
        (["ask", "why?"], {"KEDGE_LLM_URL": f"http://user:{PASSWORD}@127.0.0.1:9/v1"}),
        (["doctor", "--json"], {"KEDGE_CATALOG_URL": f"postgresql://u:{PASSWORD}@127.0.0.1:9/db"}),
        (["collection", "list", "--json"], {"KEDGE_CATALOG_URL": f"postgresql://u:{PASSWORD}@127.0.0.1:9/db"}),
        (["ask", "why?", "--json"], {"KEDGE_VECTOR_URL": f"qdrant://:{PASSWORD}@127.0.0.1:9"}),
        (["ingest", f"http://user:{PASSWORD}@127.0.0.1:9/x.md", "--json"], {}),
        (["collection", "list", "--json"], {"KEDGE_THRESHOLD": "7"}),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else ",".join(value)[:40],
)
def test_commands_show_no_secret(tmp_path: Path, arguments: list[str], more: dict[str, str]) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    with command(arguments, environment(tmp_path / "home", **more), out, err) as started:
        started.wait()
    said, noted = out.read_text("utf-8"), err.read_text("utf-8")
    assert said + noted
    assert leaked(said + noted) == []
    assert "Traceback" not in noted


def test_a_server_shows_no_secret(tmp_path: Path) -> None:
    home = tmp_path / "home"
    made = ran(["key", "create", "app", "--right", "admin", "--json"], environment(home))
    token = json.loads(made.stdout)["key"]
    said = ""
    with piped(["serve", "--port", "0"], environment(home)) as process:
        url = said_first(process).split(" at ")[1].split()[0]
        with http_client(url) as client:
            for headers in (
                {"authorization": f"Bearer {token}"},
                {"x-api-key": token},
                {"authorization": f"Bearer {token}x"},
                {"authorization": f"Basic {token}"},
                {},
            ):
                for path in ("/metrics", "/ready", "/api/collections", "/nowhere"):
                    said += client.get(path, headers=headers).text
                for path, body in (
                    ("/api/query", {"query": "What holds a ship?"}),
                    ("/api/query", {"query": 7}),
                    ("/api/ingest", {"sources": [f"http://user:{PASSWORD}@127.0.0.1:9/x.md"]}),
                    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "What holds?"}]}),
                ):
                    said += client.post(path, json=body, headers=headers).text
        process.send_signal(signal.SIGTERM)
        said += process.read_all()[1]
    assert leaked(said) == []
    assert token not in said
    assert token.split("_")[-1] not in said
