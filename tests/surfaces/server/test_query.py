"""`POST /api/query`, its stream, and feedback."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import httpx
import pytest

from tests.support.surfaces import FOREIGN, QUESTION, events_of

ANSWER_KEYS = {
    *("query_id", "answer", "short_answer", "form", "readings", "citations"),
    *("confidence", "evidence_probability", "metadata"),
}
CITATION_KEYS = {
    *("id", "passage_id", "title", "url", "snippet", "start", "end", "page", "cells", "relevance_score", "identity")
}


@pytest.mark.req("D-13")
def test_answer_has_the_keys_of_the_contract(client: httpx.Client, filled: str) -> None:
    response = client.post("/api/query", json={"query": QUESTION, "collection": filled})
    assert response.status_code == 200
    assert set(response.json()) == ANSWER_KEYS
    assert all(set(citation) == CITATION_KEYS for citation in response.json()["citations"])


@pytest.mark.req("D-13")
def test_refusal_is_a_success(client: httpx.Client, filled: str) -> None:
    response = client.post("/api/query", json={"query": FOREIGN, "collection": filled})
    assert response.status_code == 200
    assert response.json()["confidence"] == "insufficient"
    assert response.json()["citations"] == []
    assert set(response.json()["metadata"]["refusal"]) == {"looked_for", "nearest", "probability", "read"}


@pytest.mark.req("D-15")
def test_camel_case_and_snake_case_are_the_same(client: httpx.Client, filled: str) -> None:
    snake = {"query": QUESTION, "collection": filled, "top_k": 2, "include_graph": False, "session_id": "s1"}
    camel = {"query": QUESTION, "collection": filled, "topK": 2, "includeGraph": False, "sessionId": "s1"}
    one, other = (client.post("/api/query", json=body).json() for body in (snake, camel))
    assert one["answer"] == other["answer"]
    assert one["citations"] == other["citations"]


@pytest.mark.req("D-15")
@pytest.mark.parametrize("address", ["/api/query", "/api/query/stream"])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"query": ""}, "Query cannot be empty"),
        ({"query": " \n"}, "Query cannot be empty"),
        ({"query": "x" * 2001}, "Query exceeds maximum length"),
        ({"query": "why", "top_k": 0}, "top_k must be positive integer, got 0"),
        ({"query": "why", "topK": 21}, "top_k must be between 1 and 20"),
    ],
)
def test_bad_queries(client: httpx.Client, filled: str, address: str, body: dict[str, object], message: str) -> None:
    response = client.post(address, json={**body, "collection": filled})
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["code"] == "invalid_query"
    assert error["message"].rstrip(".") == message


def test_tenant_cannot_be_named_in_a_request(client: httpx.Client, filled: str) -> None:
    response = client.post("/api/query", json={"query": QUESTION, "collection": filled, "tenant": "other"})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_request"
    assert "tenant" in response.json()["error"]["message"]


def test_filter_narrows(client: httpx.Client, filled: str) -> None:
    body = {"query": "anchor bend", "collection": filled, "filter": {"title": "Spring tides"}}
    titles = {citation["title"] for citation in client.post("/api/query", json=body).json()["citations"]}
    assert titles <= {"Spring tides"}
    response = client.post("/api/query", json={**body, "filter": {"page": {"about": 3}}})
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "invalid_filter"


def test_unknown_collection_is_not_found(client: httpx.Client, filled: str) -> None:
    for address in ("/api/query", "/api/query/stream"):
        response = client.post(address, json={"query": QUESTION, "collection": "nowhere"})
        assert response.status_code == 404
        assert response.json()["error"]["code"] == "not_found"


@pytest.mark.req("D-14")
@pytest.mark.parametrize("question", [QUESTION, FOREIGN])
def test_stream_comes_in_order(client: httpx.Client, filled: str, question: str) -> None:
    response = client.post("/api/query/stream", json={"query": question, "collection": filled, "stream": True})
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    events = events_of(response.text)
    names = [name for name, _ in events]
    assert names[0] == "token"
    assert names[-2:] == ["metadata", "done"]
    assert set(names[:-2]) <= {"token", "citation"}
    assert all(json.loads(data)["type"] == name for name, data in events)


@pytest.mark.req("D-14")
def test_a_citation_comes_after_its_mark(client: httpx.Client, filled: str) -> None:
    response = client.post("/api/query/stream", json={"query": QUESTION, "collection": filled})
    said = ""
    for data in (json.loads(data) for _, data in events_of(response.text)):
        said += data.get("content", "")
        if data["type"] == "citation":
            assert data["citation"]["id"] in said


@pytest.mark.req("D-14")
def test_stream_says_what_the_whole_answer_says(client: httpx.Client, filled: str) -> None:
    body = {"query": QUESTION, "collection": filled}
    whole = client.post("/api/query", json=body).json()
    events = [json.loads(data) for _, data in events_of(client.post("/api/query/stream", json=body).text)]
    tokens = "".join(event["content"] for event in events if event["type"] == "token")
    assert tokens.split() == whole["answer"].split()
    assert [event["citation"] for event in events if event["type"] == "citation"] == whole["citations"]


@pytest.mark.req("D-17")
def test_feedback(client: httpx.Client, filled: str) -> None:
    query_id = client.post("/api/query", json={"query": QUESTION, "collection": filled}).json()["query_id"]
    kept = client.post("/api/feedback", json={"queryId": query_id, "rating": 5, "comment": "right"})
    assert kept.status_code == 201
    assert kept.json()["feedback_id"]
    for rating in (-1, 6, "good"):
        wrong = client.post("/api/feedback", json={"query_id": query_id, "rating": rating})
        assert wrong.status_code == 400
        assert "rating" in wrong.json()["error"]["message"]
    unknown = client.post("/api/feedback", json={"query_id": "nobody", "rating": 3})
    assert unknown.status_code == 404


@pytest.mark.req("D-16", "G-13")
def test_metrics_count_queries_and_refusals(client: httpx.Client, filled: str) -> None:
    client.post("/api/query", json={"query": FOREIGN, "collection": filled})
    client.post("/api/query", json={"query": ""})
    text = client.get("/metrics").text
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(values["kedge_refusals_total"]) >= 1
    assert float(values['kedge_queries_total{confidence="insufficient"}']) >= 1
    assert float(values["kedge_query_seconds_count"]) >= 1
    assert float(values["kedge_embed_seconds_count"]) >= 1
    assert float(values["kedge_embed_errors_total"]) == 0
    assert float(values['kedge_errors_total{code="invalid_query"}']) >= 1
    assert float(values['kedge_documents{collection="sea"}']) == 3
    assert float(values['kedge_jobs{status="complete"}']) >= 1
    assert float(values['kedge_http_requests_total{method="POST",route="/api/query",status="200"}']) >= 1


@pytest.mark.parametrize("address", ["/api/query", "/api/search"])
def test_as_of_a_time_before_anything_there_is_nothing_and_a_warning(
    client: httpx.Client, filled: str, address: str
) -> None:
    told = client.post(address, json={"query": QUESTION, "collection": filled, "as_of": "2020-01-01"}).json()
    assert told.get("results", []) == []
    assert told.get("citations", []) == []
    warnings = told["warnings"] if "warnings" in told else told["metadata"]["warnings"]
    assert any("no longer kept" in one for one in warnings)


@pytest.mark.parametrize(("as_of", "code"), [("3020-01-01", 400), ("soon", 400), ("x" * 41, 400)])
def test_a_time_that_cannot_be_is_refused(client: httpx.Client, filled: str, as_of: str, code: int) -> None:
    response = client.post("/api/search", json={"query": QUESTION, "collection": filled, "asOf": as_of})
    assert response.status_code == code
    assert response.json()["error"]["hint"]


def test_as_of_now_is_what_is_live(client: httpx.Client, filled: str) -> None:
    body = {"query": QUESTION, "collection": filled, "include_graph": False}
    now = client.post("/api/search", json=body).json()["results"]
    then = client.post("/api/search", json={**body, "as_of": datetime.now(UTC).isoformat()}).json()["results"]
    assert [hit["passage_id"] for hit in then] == [hit["passage_id"] for hit in now]
