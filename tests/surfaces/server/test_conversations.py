"""Conversations that the server keeps: by user, in order, understood from what was said before, gone when deleted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from kedge.core.settings import load_settings
from kedge.surfaces.server.app import create_app
from tests.support.surfaces import EMBEDDER, FOREIGN, QUESTION, events_of


def make(client: httpx.Client, **body: str) -> str:
    response = client.post("/api/conversations", json=body)
    assert response.status_code == 201, response.text
    return str(response.json()["conversation_id"])


def ask(client: httpx.Client, conversation: str, question: str, collection: str, **more: Any) -> list[dict[str, Any]]:
    body = {"query": question, "collection": collection, **more}
    response = client.post(f"/api/conversations/{conversation}/turns", json=body)
    assert response.status_code == 200, response.text
    return [json.loads(data) for _, data in events_of(response.text)]


def told(events: list[dict[str, Any]]) -> dict[str, Any]:
    return next(event["metadata"] for event in events if event["type"] == "metadata")


def test_what_was_asked_and_answered_is_kept_as_it_was_streamed(client: httpx.Client, filled: str) -> None:
    conversation = make(client)
    events = ask(client, conversation, QUESTION, filled, filter={"language": ["en"]})
    refused = ask(client, conversation, FOREIGN, filled)
    kept = client.get(f"/api/conversations/{conversation}").json()
    assert kept["name"] == QUESTION
    assert kept["turn_count"] == 2
    first, second = kept["turns"]
    assert (first["question"], first["collection"], first["filter"]) == (QUESTION, filled, {"language": ["en"]})
    assert first["content"] == "".join(event.get("content", "") for event in events)
    assert first["citations"] == [event["citation"] for event in events if event["type"] == "citation"]
    assert first["metadata"] == told(events)
    assert told(events)["turn_id"] == first["turn_id"]
    assert (second["number"], second["metadata"]["confidence"]) == (2, told(refused)["confidence"])


def test_the_list_has_the_one_used_last_first(client: httpx.Client, filled: str) -> None:
    one, two = make(client, name="  One \n more "), make(client)
    ask(client, one, QUESTION, filled)
    found = client.get("/api/conversations").json()["conversations"]
    assert [item["conversation_id"] for item in found][:2] == [one, two]
    assert found[0]["name"] == "One more"
    renamed = client.patch(f"/api/conversations/{two}", json={"name": "Two"}).json()
    assert renamed["name"] == "Two"
    assert client.patch(f"/api/conversations/{two}", json={"name": " "}).status_code == 400
    assert client.patch(f"/api/conversations/{two}", json={"name": "x" * 121}).status_code == 400
    assert client.delete(f"/api/conversations/{two}").status_code == 204
    for response in (client.get(f"/api/conversations/{two}"), client.delete(f"/api/conversations/{two}")):
        assert response.status_code == 404
        assert response.json()["error"]["code"] == "not_found"


def test_another_try_takes_the_place_of_its_turn(client: httpx.Client, filled: str) -> None:
    conversation = make(client)
    first = told(ask(client, conversation, FOREIGN, filled))["turn_id"]
    ask(client, conversation, QUESTION, filled)
    again = told(ask(client, conversation, QUESTION, filled, replaces=first))
    turns = client.get(f"/api/conversations/{conversation}").json()["turns"]
    assert [turn["question"] for turn in turns] == [QUESTION, QUESTION]
    assert again["turn_id"] == first == turns[0]["turn_id"]
    assert client.delete(f"/api/conversations/{conversation}/turns/{first}").status_code == 204
    assert client.delete(f"/api/conversations/{conversation}/turns/{first}").status_code == 404
    body = {"query": QUESTION, "collection": filled, "replaces": first}
    assert client.post(f"/api/conversations/{conversation}/turns", json=body).status_code == 404


def test_a_follow_up_is_understood_after_a_restart(tmp_path: Path) -> None:
    """The memory of follow-ups lives in the process; the conversation outlives it."""
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER, threshold=0.0)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        sent = {"file": ("kedge.md", b"# Kedge\n\nA kedge weighs twelve kilograms. A kedge is made of steel.\n")}
        job = client.post("/api/ingest", files=sent, data={"collection": "sea"}).json()
        while client.get(f"/api/ingest/{job['job_id']}").json()["status"] not in ("complete", "failed"):
            pass
        conversation = make(client)
        ask(client, conversation, "How much does a kedge weigh?", "sea")
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        followed = told(ask(client, conversation, "What is it made of?", "sea"))
        assert "kedge" in followed["resolved_question"].lower()


def test_a_bad_question_is_refused_with_a_status(client: httpx.Client, filled: str) -> None:
    conversation = make(client)
    for body in ({"query": ""}, {"query": "x" * 3000}):
        response = client.post(f"/api/conversations/{conversation}/turns", json={**body, "collection": filled})
        assert response.status_code == 400, body
        assert response.json()["error"]["code"] == "invalid_query"
    assert client.get(f"/api/conversations/{conversation}").json()["turns"] == []
    assert client.post("/api/conversations/none/turns", json={"query": QUESTION}).status_code == 404


@pytest.mark.req("D-17")
def test_conversations_go_with_their_user(client: httpx.Client, filled: str) -> None:
    conversation = make(client)
    ask(client, conversation, QUESTION, filled)
    erased = client.delete("/api/analytics/users/local").json()
    assert erased["conversations"] >= 1
    assert client.get(f"/api/conversations/{conversation}").status_code == 404


def test_a_server_can_keep_none(tmp_path: Path) -> None:
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER, conversation_days=0)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        assert client.get("/api/conversations").json()["conversations"] == []
        response = client.post("/api/conversations", json={})
        assert response.status_code == 400
        assert "conversation_days" in response.json()["error"]["hint"]
        assert client.get("/rag/about.json").json()["conversations"] is False


def test_what_is_suggested_after_a_refusal_has_answers(client: httpx.Client, filled: str) -> None:
    """Nothing of it is counted as a question."""
    before = client.get("/api/analytics").json()["queries"]
    found = client.post("/api/query/suggestions", json={"query": FOREIGN, "collection": filled}).json()["suggestions"]
    assert client.get("/api/analytics").json()["queries"] == before
    assert len(found) <= 3
    for one in found:
        assert one["question"].endswith("?")
        answer = client.post("/api/query", json={"query": one["question"], "collection": filled}).json()
        assert answer["confidence"] != "insufficient"
    assert client.post("/api/query/suggestions", json={"query": "", "collection": filled}).status_code == 400
    assert client.post("/api/query/suggestions", json={"query": FOREIGN, "collection": "none"}).status_code == 404
