"""Chat clients that others wrote, against a real server.

OpenAI's own is in `test_chat.py`. `instructor` forbids the version of `rich` that Kedge is tested with and `litellm` is
118 MB: they and the generator of clients have an environment of their own, which `make services` makes.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr

from tests.services import need
from tests.support.surfaces import QUESTION
from tests.surfaces.server.conftest import base_url, corpus, filled, settings

__all__ = ["base_url", "corpus", "filled", "settings"]


class CitedAnswer(BaseModel):
    """What a client wants filled."""

    answer: str
    confidence: str
    sources: list[str]


@pytest.fixture
def langchain(base_url: str, filled: str) -> ChatOpenAI:
    key = SecretStr("none")
    return ChatOpenAI(model=f"kedge/{filled}", base_url=f"{base_url}/v1", api_key=key, max_retries=0)


def test_langchain_asks_streams_and_goes_on(langchain: ChatOpenAI) -> None:
    whole = langchain.invoke(QUESTION)
    assert "anchor bend" in str(whole.content)
    assert whole.usage_metadata is not None
    assert whole.usage_metadata["total_tokens"] > 20
    assert "".join(str(chunk.content) for chunk in langchain.stream(QUESTION)) == whole.content
    turns = [
        ("system", "Be kind. " * 2000),
        ("human", "What is the anchor bend?"),
        ("ai", "A knot."),
        ("human", "What is it also called?"),
    ]
    assert "fisherman's bend" in str(langchain.invoke(turns).content)


@pytest.mark.parametrize("method", ["json_schema", "json_mode"])
def test_langchain_fills_a_form(langchain: ChatOpenAI, method: str) -> None:
    found = langchain.with_structured_output(CitedAnswer, method=method).invoke(QUESTION)  # type: ignore[arg-type]
    assert isinstance(found, CitedAnswer)
    assert "anchor bend" in found.answer
    assert found.sources == ["Kedge anchor › Warp"]


def test_langchain_is_told_that_there_are_no_tools(langchain: ChatOpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="Tools cannot be used"):
        langchain.bind_tools([CitedAnswer]).invoke(QUESTION)


def outside(way: str, *arguments: str, folder: Path) -> Any:
    """What a client of the environment `clients` found."""
    python = need("clients")
    environ = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONPATH": ""}
    program = [python, str(Path(__file__).with_name("outside.py")), way, *arguments]
    done = subprocess.run(program, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_instructor_fills_a_form(base_url: str, filled: str, tmp_path: Path) -> None:
    for found in outside("instructor", base_url, filled, QUESTION, folder=tmp_path):
        assert "anchor bend" in found["answer"]
        assert found["sources"] == ["Kedge anchor › Warp"]


def test_litellm_asks_and_streams(base_url: str, filled: str, tmp_path: Path) -> None:
    found = outside("litellm", base_url, filled, QUESTION, folder=tmp_path)
    assert "anchor bend" in found["whole"]
    assert found["streamed"] == found["whole"]
    assert found["tokens"] > 20


def test_a_client_is_generated_without_a_warning_and_works(base_url: str, filled: str, tmp_path: Path) -> None:
    python = need("clients")
    (tmp_path / "openapi.json").write_text(httpx.get(f"{base_url}/openapi.json").text, "utf-8")
    (tmp_path / "config.yml").write_text("post_hooks: []\n")
    options = ["--path", "openapi.json", "--config", "config.yml", "--meta", "none", "--output-path", "kedge_client"]
    program = [python, "-c", "from openapi_python_client.cli import app; app()", "generate", *options]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "arning" not in done.stdout + done.stderr, done.stdout
    found = outside("generated", base_url, filled, QUESTION, folder=tmp_path)
    assert filled in found["collections"]
    assert "anchor bend" in found["answer"]
    assert found["sources"] == ["Kedge anchor"]
    assert found["code"] == "not_found"
