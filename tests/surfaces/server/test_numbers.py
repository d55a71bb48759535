"""Figures over HTTP mean what they are called: scores, warnings, defaults, ratings, frequent questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from kedge.surfaces.cli.main import run
from kedge.surfaces.client import KedgeClient
from tests.support.surfaces import QUESTION, events_of, follow

SCORES = {"score", "vector_score", "keyword_score", "fused_score", "relevance_score", "above_threshold", "in_both"}


def search(client: httpx.Client, **body: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.post("/api/search", json=body).raise_for_status().json()
    return found


@pytest.mark.req("D-28", "Q-04", "D-27", "Q-10")
def test_hits_say_their_raw_scores_and_all_metadata(client: httpx.Client, base_url: str, filled: str) -> None:
    found = search(client, query=QUESTION, collection=filled)
    assert found["warnings"] == []
    for hit in found["results"]:
        assert hit.keys() >= SCORES
        assert -1.0 <= hit["vector_score"] <= 1.0
        assert {"section_path", "ingested_at", "document_updated_at", "token_count"} <= hit["metadata"].keys()
    with KedgeClient(base_url) as remote:
        result = remote.search(QUESTION, collection=filled)
    assert [hit.cosine for hit in result.hits] == [hit["vector_score"] for hit in found["results"]]
    assert [hit.bm25 for hit in result.hits] == [hit["keyword_score"] for hit in found["results"]]
    document = client.get(f"/api/documents/{found['results'][0]['document_id']}").json()
    assert {"ingested_at", "document_updated_at", "topic_tag", "token_count"} <= document["passages"][0].keys()


@pytest.mark.req("Q-12", "Q-05")
def test_nothing_found_is_explained_to_every_caller(client: httpx.Client, base_url: str, filled: str) -> None:
    found = search(client, query="anchor", collection=filled, filter={"title": "none"})
    assert found["results"] == []
    assert "0 pass the filter" in found["warnings"][0]
    with KedgeClient(base_url) as remote:
        assert remote.search("anchor", collection=filled, where={"title": "none"}).warnings == (found["warnings"][0],)


@pytest.mark.req("Q-10")
@pytest.mark.parametrize("wrong", [2.5, "three", True, [1]])
def test_top_k_that_is_no_number(client: httpx.Client, filled: str, wrong: object) -> None:
    response = client.post("/api/search", json={"query": "anchor", "collection": filled, "top_k": wrong})
    assert response.status_code == 400
    assert f"top_k must be positive integer, got {wrong!r}" in json.dumps(response.json()["error"], ensure_ascii=False)


@pytest.mark.req("Q-10", "Q-03")
def test_a_search_gives_ten_and_an_answer_reads_five(client: httpx.Client, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(14):
        (folder / f"{number}.md").write_text(f"# Buoy {number}\n\nBuoy number {number} marks an anchor place.\n")
    body = {"sources": [str(folder)], "collection": "buoys"}
    accepted = client.post("/api/ingest", json=body).raise_for_status().json()
    assert accepted["estimated_chunks"] >= 1
    assert follow(client, accepted["job_id"])["status"] == "complete"
    assert len(search(client, query="buoy", collection="buoys")["results"]) == 10
    assert len(search(client, query="buoy", collection="buoys", top_k=12)["results"]) == 12


@pytest.mark.req("D-32")
def test_what_is_accepted_says_how_much_it_will_be(client: httpx.Client) -> None:
    text = b"A kedge is a light anchor. " * 3000
    sent = client.post("/api/ingest", files={"file": ("long.txt", text)}, data={"collection": "long"}).json()
    job = follow(client, sent["job_id"])
    assert 0.5 <= job["total_passages"] / sent["estimated_chunks"] <= 2.0
    unknown = {"sources": ["http://127.0.0.1:9/nothing"], "collection": "long"}
    assert client.post("/api/ingest", json=unknown).json()["estimated_chunks"] is None


@pytest.mark.req("D-31", "D-14")
def test_a_query_can_ask_for_a_stream(client: httpx.Client, filled: str) -> None:
    body = {"query": QUESTION, "collection": filled, "stream": True}
    response = client.post("/api/query", json=body)
    assert response.headers["content-type"].startswith("text/event-stream")
    events = events_of(response.text)
    assert [name for name, _ in events][-2:] == ["metadata", "done"]
    whole = client.post("/api/query", json={**body, "stream": False}).json()
    assert "".join(json.loads(data)["content"] for name, data in events if name == "token") == whole["answer"]
    refused = client.post("/api/query", json={**body, "query": ""})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_query")


@pytest.mark.req("D-40", "G-26")
def test_ratings_and_frequent_questions(
    client: httpx.Client, base_url: str, filled: str, capsys: pytest.CaptureFixture[str], settings: Any
) -> None:
    asked = "How often was this asked by the tests of figures?"
    ids = [client.post("/api/query", json={"query": asked, "collection": filled}).json()["query_id"] for _ in range(40)]
    before = client.get("/api/analytics").json()
    for rating in ({"rating": 0}, {"rating": 1, "binary": True}, {"rating": 1, "binary": True}):
        client.post("/api/feedback", json={"query_id": ids[0], **rating}).raise_for_status()
    after = client.get("/api/analytics", params={"days": 1, "top": 1}).json()
    assert after["mean_rating"] == before["mean_rating"]
    assert after["yes_share"] == pytest.approx(2 / 3)
    for wrong in ({"rating": 2, "binary": True}, {"rating": 6}):
        assert client.post("/api/feedback", json={"query_id": ids[0], **wrong}).status_code == 400
    (top,) = after["top_queries"]
    assert top["count"] >= 40
    assert top["refusal_share"] == 1.0
    assert top["mean_execution_time_ms"] > 0
    assert top["words"] is None
    assert after["queries_per_minute"] > 0
    with KedgeClient(base_url) as remote:
        assert remote.analytics(days=1, top=1).top_queries[0].query_hash == top["query_hash"]
    assert run(["--home", str(settings.home), "analytics", "show", "--days", "1", "--top", "1"]) == 0
    assert top["query_hash"][:12] in capsys.readouterr().out
