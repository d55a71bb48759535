"""`kedge ask --session` and `kedge chat`."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.surfaces.cli.conftest import Kedge


@pytest.mark.req("D-15")
def test_questions_under_one_name_are_understood_from_the_ones_before(kedge: Kedge, corpus: Path) -> None:
    assert kedge("ingest", str(corpus)).code == 0
    assert kedge("ask", "What is the anchor bend?", "--session", "evening").code == 0
    ran = kedge("ask", "What is it also called?", "--session", "evening", "--json")
    assert ran.json()["metadata"]["resolved_question"] == "What is the anchor bend also called?"
    assert "fisherman" in ran.json()["answer"]
    shown = kedge("ask", "What is it also called?", "--session", "evening")
    assert "understood as:" in shown.err
    assert "resolved_question" not in kedge("ask", "What is it also called?", "--json").json()["metadata"]


def test_a_chat_goes_on_until_an_empty_line(kedge: Kedge, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kedge("ingest", str(corpus)).code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("What is the anchor bend?\nWhat is it also called?\n\nnot read\n"))
    ran = kedge("chat", "--json")
    assert ran.code == 0
    assert len(ran.json()) == 2
    assert "fisherman" in ran.json()[1]["answer"]
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{'x' * 2001}\nWhat is the anchor bend?\n"))
    shown = kedge("chat")
    assert "maximum length" in shown.err
    assert "knot that attaches a rope" in shown.out
