"""Over HTTP: a collection that shows somebody nothing is, for them, like one that is not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from kedge.core.settings import Settings, load_settings
from kedge.core.values import Right
from tests.support.serving import put_key, served
from tests.support.surfaces import EMBEDDER, follow, http_client

SECRET, NOWHERE = "layoffs-next-year", "matters-of-moment"
"""A collection for the board alone, and one that nobody ever made."""
PLAN = b"# Plan\n\nThe yard in the east closes in June.\n"
LESSON = b"# Knots\n\nA bowline holds under load.\n"
ASKED = {"query": "When does the yard in the east close?"}
REQUESTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("GET", "/api/collections/{name}", {}),
    ("DELETE", "/api/collections/{name}", {}),
    ("GET", "/api/collections/{name}/readers", {}),
    ("PUT", "/api/collections/{name}/readers", {"json": {"readers": ["public"]}}),
    ("GET", "/api/documents", {"params": {"collection": "{name}"}}),
    ("POST", "/api/search", {"json": {**ASKED, "collection": "{name}"}}),
    ("POST", "/api/query", {"json": {**ASKED, "collection": "{name}"}}),
    ("POST", "/api/query/stream", {"json": {**ASKED, "collection": "{name}"}}),
    ("POST", "/api/query/suggestions", {"json": {**ASKED, "collection": "{name}"}}),
    ("POST", "/v1/chat/completions", {"json": {
        "model": "kedge/{name}", "messages": [{"role": "user", "content": ASKED["query"]}]}}),
    ("GET", "/v1/models/kedge/{name}", {}),
    ("GET", "/api/courses/{name}/state", {}),
    ("GET", "/api/courses/{name}/lessons", {}),
    ("POST", "/api/courses/search", {"json": {**ASKED, "book_id": "{name}"}}),
    ("GET", "/api/graph/nodes", {"params": {"collection": "{name}"}}),
    ("GET", "/api/sessions/{name}", {}),
    ("GET", "/api/sources/{name}", {}),
)  # fmt: skip
LISTS = ("/api/collections", "/v1/models", "/api/sources", "/api/ingest", "/api/documents", "/api/analytics")
VARIES = ("request_id", "query_id", "id", "created", "retry_after")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return load_settings(environ={}, home=tmp_path_factory.mktemp("names") / "home", embedder=EMBEDDER)


@pytest.fixture(scope="module")
def tokens(settings: Settings) -> dict[str, str]:
    return {
        "ann": put_key(settings, "default", Right.WRITE, user="ann", groups=("board",)),
        "bob": put_key(settings, "default", Right.WRITE, user="bob"),
    }


@pytest.fixture(scope="module")
def address(settings: Settings, tokens: dict[str, str]) -> Iterator[str]:
    with served(settings) as url:
        with client(url, tokens["ann"]) as ann:
            take_in(ann, SECRET, "plan.md", PLAN, "group:board")
            take_in(ann, "handbook", "knots.md", LESSON, "public")
        yield url


def client(address: str, token: str) -> httpx.Client:
    return http_client(address, headers={"authorization": f"Bearer {token}"})


def take_in(who: httpx.Client, collection: str, name: str, text: bytes, readers: str | None = None) -> dict[str, Any]:
    data = {"collection": collection, **({} if readers is None else {"readers": readers})}
    sent = who.post("/api/ingest", files={"file": (name, text)}, data=data)
    done: dict[str, Any] = follow(who, sent.raise_for_status().json()["job_id"])
    return done


def told(who: httpx.Client, method: str, path: str, said: dict[str, Any], name: str) -> tuple[int, str]:
    """Status and text of an answer, with the name that was asked for made the same."""
    filled = json.loads(json.dumps(said).replace("{name}", name))
    answer = who.request(method, path.replace("{name}", name), **filled)
    return answer.status_code, without_ids(answer.text).replace(name, "NAME")


def without_ids(text: str) -> str:
    try:
        body = json.loads(text)
    except ValueError:
        return text
    return json.dumps(plain(body))


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items() if key not in VARIES}
    return [plain(one) for one in value] if isinstance(value, list) else value


@pytest.mark.req("D-09")
@pytest.mark.parametrize(("method", "path", "said"), REQUESTS, ids=[f"{one[0]} {one[1]}" for one in REQUESTS])
def test_what_is_not_seen_answers_like_what_is_not_there(
    address: str, tokens: dict[str, str], method: str, path: str, said: dict[str, Any]
) -> None:
    with client(address, tokens["bob"]) as bob:
        unseen = told(bob, method, path, said, SECRET)
        assert unseen == told(bob, method, path, said, NOWHERE)
        assert "yard" not in unseen[1].replace(ASKED["query"], "")


@pytest.mark.req("D-09")
def test_no_list_and_no_hint_names_it(address: str, tokens: dict[str, str]) -> None:
    with client(address, tokens["bob"]) as bob, client(address, tokens["ann"]) as ann:
        assert SECRET in ann.get("/api/collections").text
        assert SECRET in ann.get("/v1/models").text
        for path in LISTS:
            assert SECRET not in bob.get(path).text
        almost = bob.get(f"/api/collections/{SECRET[:-1]}")
        assert (almost.status_code, SECRET in almost.text.replace(almost.url.path, "")) == (404, False)
        assert SECRET in ann.get(f"/api/collections/{SECRET[:-1]}").text  # who may read it is told what was meant


@pytest.mark.req("D-09")
def test_who_writes_into_a_name_that_is_taken_destroys_nothing(address: str, tokens: dict[str, str]) -> None:
    with client(address, tokens["bob"]) as bob, client(address, tokens["ann"]) as ann:
        take_in(ann, "shared-name", "plan.md", PLAN, "group:board")
        assert take_in(bob, "shared-name", "knots.md", LESSON)["status"] == "complete"
        assert bob.get("/api/collections/shared-name").json()["documents"] == 1
        assert ann.get("/api/collections/shared-name").json()["documents"] == 2
        found = ann.post("/api/search", json={**ASKED, "collection": "shared-name"}).json()["results"]
        assert found[0]["title"] == "Plan"


@pytest.mark.req("D-09")
def test_a_node_in_a_graph_that_is_not_seen_destroys_nothing(address: str, tokens: dict[str, str]) -> None:
    with client(address, tokens["bob"]) as bob, client(address, tokens["ann"]) as ann:
        for who, id in ((ann, "n1"), (bob, "n2")):
            node = {"id": id, "title": f"Node {id}", "type": "Person" if who is ann else "Town"}
            who.post("/api/graph/nodes", params={"collection": "harbours"}, json=node).raise_for_status()
            if who is ann:
                said = {"readers": ["group:board"], "label": "Person"}
                ann.put("/api/collections/harbours/readers", json=said).raise_for_status()
                assert bob.get("/api/collections/harbours").status_code == 404
        seen = [
            [one["id"] for one in who.get("/api/graph/nodes", params={"collection": "harbours"}).json()["nodes"]]
            for who in (ann, bob)
        ]
        assert seen == [["n1", "n2"], ["n2"]]
        found = ann.post("/api/search", json={"query": "Node n1", "collection": "harbours"}).json()["results"]
        assert "n1" in json.dumps(found)


@pytest.mark.req("D-09")
def test_what_is_empty_is_seen_and_what_was_emptied_is_not(address: str, tokens: dict[str, str]) -> None:
    with client(address, tokens["bob"]) as bob, client(address, tokens["ann"]) as ann:
        ann.post("/api/sessions", json={"session_id": "new-session"}).raise_for_status()
        assert bob.get("/api/collections/new-session").status_code == 200
        take_in(ann, "emptied", "plan.md", PLAN, "group:board")
        (plan,) = ann.get("/api/documents", params={"collection": "emptied"}).json()["documents"]
        ann.delete(f"/api/documents/{plan['document_id']}").raise_for_status()
        assert bob.get("/api/collections/emptied").status_code == 404
        assert "emptied" not in bob.get("/api/collections").text
