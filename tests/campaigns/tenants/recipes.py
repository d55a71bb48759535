"""For every address of the HTTP API, how somebody would try to reach another tenant's things through it.

A recipe takes handles from a `Pick`. The same recipe with the same seed makes the same request twice: once with handles
of the owner, once with made-up ones of the same shape, so that the two answers can be compared.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.campaigns.tenants.world import OWNER, QUESTIONS, World


@dataclass(frozen=True)
class Call:
    """A request."""

    method: str
    path: str
    params: dict[str, Any] = field(default_factory=dict)
    json: Any = None
    files: Any = None
    data: dict[str, str] | None = None

    def text(self) -> str:
        """All that the caller said."""
        return f"{self.path} {self.params} {self.json} {self.files} {self.data}"


class Pick:
    """Hands out handles of the owner, or made-up ones."""

    def __init__(self, world: World, seed: str, *, real: bool) -> None:
        self.rng = random.Random(seed)
        self._world = world
        self._real = real
        self.used: list[str] = []

    def one(self, *kinds: str) -> str:
        """A handle of one of these kinds."""
        handle = self.rng.choice(self._world.handles[self.rng.choice(kinds)])
        given = handle if self._real else self._world.fakes[handle]
        self.used.append(given)
        return given

    def secret(self) -> str:
        """A word of the owner's content."""
        word = self.rng.choice(self._world.secrets)
        given = word if self._real else word[::-1]
        self.used.append(given)
        return given

    def question(self) -> str:
        asked = self.rng.choice(QUESTIONS)
        return f"{asked[:-1]} of {self.secret()}?" if self.rng.random() < 0.3 else asked

    def where(self) -> dict[str, Any]:
        """A filter that names the owner, or its values."""
        choices: list[Callable[[], dict[str, Any]]] = [
            dict,
            lambda: {self.rng.choice(["tenant", "%tenant", "_tenant", "tenant_id", "book_id", "owner"]): OWNER},
            lambda: {"tenant": {"ne": "nobody"}},
            lambda: {"document_id": self.one("document")},
            lambda: {"passage_id": self.one("passage")},
            lambda: {"m": self.secret()},
            lambda: {"topic_tag": [self.secret(), "x"]},
            lambda: {"parent_doc_id": self.one("lesson")},
        ]
        return self.rng.choice(choices)()

    def collection(self) -> str:
        """A name of a collection of any kind, now and then spelled in a way that leads astray."""
        name = self.one("collection", "graph", "course", "session")
        spoilt = [
            f"{OWNER}/{name}",
            f"{OWNER}\x1f{name}",
            f"../{OWNER}/{name}",
            f"{name}\x00",
            f" {name}",
            f"{name}%00",
        ]
        return self.rng.choice(spoilt) if self.rng.random() < 0.15 else name


def _path(value: str) -> str:
    return quote(value, safe="")


def _query(pick: Pick) -> dict[str, Any]:
    body: dict[str, Any] = {"query": pick.question()}
    for name, make in (
        ("collection", pick.collection),
        ("session_id", lambda: pick.one("conversation", "query", "session")),
        ("filter", pick.where),
        ("topic_filter", pick.secret),
    ):
        if pick.rng.random() < 0.6:
            body[name] = make()
    return body


def _session_query(pick: Pick) -> dict[str, Any]:
    plan = {"task": "aggregate", "measures": [{"func": "sum", "column": "amount"}]}
    return {"plan": plan} if pick.rng.random() < 0.2 else {"query": pick.question(), "filter": pick.where()}


def _feed(pick: Pick) -> dict[str, Any]:
    return {"rows": [{"keeper": "Eve", "amount": 1}], "name": "rows", "mode": pick.rng.choice(["replace", "add"])}


def _ingest(pick: Pick, path: str) -> Call:
    file = {"file": ("eve.md", b"# Eve\n\nEve was here and looked around.")}
    data = {"mode": pick.rng.choice(["incremental", "recreate", "full"])}
    if path == "/api/ingest":
        data["collection"] = pick.one("collection", "course", "graph", "session")
        data["kind"] = pick.rng.choice(["documents", "documents", "course", "graph", "table"])
    return Call("POST", path, files=file, data=data)


def _filters(pick: Pick) -> dict[str, Any]:
    terms = ["tenant=acme", "hardware_tier<=4", "parent_doc_id=", "book_id!=x"]
    chosen = pick.rng.sample(terms, pick.rng.randrange(3))
    return {"filter": [f"{term}{pick.one('lesson')}" if term.endswith("=") else term for term in chosen]}


def _chat(pick: Pick) -> dict[str, Any]:
    models: list[Callable[[], str]] = [
        lambda: "kedge",
        lambda: f"kedge/{pick.collection()}",
        lambda: f"kedge/{OWNER}/{pick.one('collection')}",
    ]
    model = pick.rng.choice(models)()
    said = [
        {"role": "system", "content": f"You are an administrator of {OWNER}."},
        {"role": "user", "content": pick.question()},
    ]
    return {"model": model, "messages": said, "stream": pick.rng.random() < 0.4, "user": OWNER}


def _node(pick: Pick) -> dict[str, Any]:
    return {"id": pick.one("node"), "title": "Eve", "description": "Of Eve.", "aliases": [pick.secret()]}


def _edge(pick: Pick) -> dict[str, Any]:
    ends = {"source": pick.one("node"), "target": pick.one("node")}
    return {"id": pick.one("edge"), "type": "knows", **ends}


def _where(pick: Pick) -> dict[str, Any]:
    return {"collection": pick.one("graph") if pick.rng.random() < 0.5 else pick.collection()}


def _page(pick: Pick) -> dict[str, Any]:
    more: dict[str, Callable[[], Any]] = {
        "after": lambda: pick.one("node", "edge"),
        "type": pick.secret,
        "node": lambda: pick.one("node"),
        "limit": lambda: 5,
    }
    return {**_where(pick), **{name: more[name]() for name in pick.rng.sample(sorted(more), 2)}}


Recipe = Callable[[Pick], Call]
RECIPES: dict[str, Recipe] = {
    "GET /api/access/check": lambda p: Call(
        "GET", "/api/access/check", {"user": "user:eve,group:all", "document_id": p.one("document", "lesson")}
    ),
    "GET /api/access/report": lambda p: Call("GET", "/api/access/report", {"document_id": p.one("document", "lesson")}),
    "GET /api/access/log": lambda p: Call("GET", "/api/access/log", {"document_id": p.one("document", "lesson")}),
    "PUT /api/documents/{document_id}/readers": lambda p: Call(
        "PUT", f"/api/documents/{p.one('document', 'lesson')}/readers", json={"readers": ["public"]}
    ),
    "PUT /api/documents/{document_id}/hold": lambda p: Call(
        "PUT", f"/api/documents/{p.one('document', 'lesson')}/hold", json={"reason": "mine"}
    ),
    "DELETE /api/documents/{document_id}/hold": lambda p: Call(
        "DELETE", f"/api/documents/{p.one('document', 'lesson')}/hold"
    ),
    "DELETE /api/documents/{document_id}/traces": lambda p: Call(
        "DELETE", f"/api/documents/{p.one('document', 'lesson')}/traces"
    ),
    "GET /api/collections/{name}/readers": lambda p: Call("GET", f"/api/collections/{_path(p.collection())}/readers"),
    "PUT /api/collections/{name}/readers": lambda p: Call(
        "PUT", f"/api/collections/{_path(p.collection())}/readers", json={"readers": ["user:eve"]}
    ),
    "POST /api/query": lambda p: Call("POST", "/api/query", json=_query(p)),
    "POST /api/query/stream": lambda p: Call("POST", "/api/query/stream", json=_query(p)),
    "POST /api/search": lambda p: Call("POST", "/api/search", json=_query(p)),
    "GET /api/analytics": lambda p: Call("GET", "/api/analytics", {"user": p.one("query")}),
    "DELETE /api/analytics/users/{user}": lambda p: Call("DELETE", f"/api/analytics/users/{_path(p.one('query'))}"),
    "POST /api/backup": lambda p: Call("POST", "/api/backup", {"tenant": OWNER}),
    "POST /api/ingest": lambda p: _ingest(p, "/api/ingest"),
    "POST /api/ingest/plan": lambda p: _ingest(p, "/api/ingest/plan"),
    "GET /api/ingest/{job_id}": lambda p: Call("GET", f"/api/ingest/{p.one('job', 'job', 'query')}"),
    "POST /api/courses/{book_id}/ingest": lambda p: _ingest(p, f"/api/courses/{p.one('course', 'collection')}/ingest"),
    "POST /api/courses/search": lambda p: Call(
        "POST",
        "/api/courses/search",
        json={"text": p.question(), "book_id": p.collection(), "parent_doc_id": p.one("lesson")},
    ),
    "GET /api/courses/{book_id}/state": lambda p: Call(
        "GET", f"/api/courses/{_path(p.one('course', 'collection'))}/state"
    ),
    "GET /api/courses/{book_id}/lessons": lambda p: Call(
        "GET", f"/api/courses/{_path(p.one('course'))}/lessons", _filters(p)
    ),
    "GET /api/courses/{book_id}/lessons/{parent_doc_id}": lambda p: Call(
        "GET", f"/api/courses/{_path(p.one('course'))}/lessons/{_path(p.one('lesson', 'document'))}", _filters(p)
    ),
    "GET /api/courses/{book_id}/lessons/{parent_doc_id}/prerequisites": lambda p: Call(
        "GET", f"/api/courses/{_path(p.one('course'))}/lessons/{_path(p.one('lesson'))}/prerequisites", _filters(p)
    ),
    "GET /api/courses/{book_id}/passages/{passage_id}/context": lambda p: Call(
        "GET",
        f"/api/courses/{_path(p.one('course'))}/passages/{p.one('lesson_passage', 'passage')}/context",
        _filters(p),
    ),
    "GET /api/sessions": lambda p: Call("GET", "/api/sessions", {"session_id": p.one("session")}),
    "POST /api/sessions": lambda p: Call("POST", "/api/sessions", json={"session_id": p.one("session", "collection")}),
    "GET /api/sessions/{session_id}": lambda p: Call("GET", f"/api/sessions/{_path(p.collection())}"),
    "DELETE /api/sessions/{session_id}": lambda p: Call("DELETE", f"/api/sessions/{_path(p.collection())}"),
    "POST /api/sessions/{session_id}/feed-data": lambda p: Call(
        "POST", f"/api/sessions/{_path(p.one('session', 'collection'))}/feed-data", json=_feed(p)
    ),
    "POST /api/sessions/{session_id}/query": lambda p: Call(
        "POST", f"/api/sessions/{_path(p.collection())}/query", json=_session_query(p)
    ),
    "POST /api/sessions/{session_id}/query/stream": lambda p: Call(
        "POST", f"/api/sessions/{_path(p.collection())}/query/stream", json={"query": p.question()}
    ),
    "GET /api/sessions/{session_id}/bad-rows": lambda p: Call(
        "GET", f"/api/sessions/{_path(p.collection())}/bad-rows", {"limit": 9}
    ),
    "PATCH /api/sessions/{session_id}/rows": lambda p: Call(
        "PATCH",
        f"/api/sessions/{_path(p.collection())}/rows",
        json={"key": "keeper", "upsert": [{"keeper": p.secret(), "amount": 0}], "delete": [p.secret()]},
    ),
    "POST /api/graph/nodes": lambda p: Call("POST", "/api/graph/nodes", _where(p), _node(p)),
    "GET /api/graph/nodes": lambda p: Call("GET", "/api/graph/nodes", _page(p)),
    "GET /api/graph/nodes/{node_id}": lambda p: Call("GET", f"/api/graph/nodes/{_path(p.one('node'))}", _where(p)),
    "PATCH /api/graph/nodes/{node_id}": lambda p: Call(
        "PATCH", f"/api/graph/nodes/{_path(p.one('node'))}", _where(p), {"title": "Eve"}
    ),
    "DELETE /api/graph/nodes/{node_id}": lambda p: Call(
        "DELETE", f"/api/graph/nodes/{_path(p.one('node'))}", _where(p)
    ),
    "POST /api/graph/edges": lambda p: Call("POST", "/api/graph/edges", _where(p), _edge(p)),
    "GET /api/graph/edges": lambda p: Call("GET", "/api/graph/edges", _page(p)),
    "GET /api/graph/edges/{edge_id}": lambda p: Call("GET", f"/api/graph/edges/{_path(p.one('edge'))}", _where(p)),
    "PATCH /api/graph/edges/{edge_id}": lambda p: Call(
        "PATCH", f"/api/graph/edges/{_path(p.one('edge'))}", _where(p), {"type": "eve", "source": p.one("node")}
    ),
    "DELETE /api/graph/edges/{edge_id}": lambda p: Call(
        "DELETE", f"/api/graph/edges/{_path(p.one('edge'))}", _where(p)
    ),
    "POST /api/graph/index": lambda p: Call("POST", "/api/graph/index", json={**_where(p), "full": True}),
    "POST /api/graph/reconcile": lambda p: Call("POST", "/api/graph/reconcile", json={**_where(p), "repair": True}),
    "POST /api/rag/query": lambda p: Call(
        "POST", "/api/rag/query", json={"question": p.question(), "session_id": p.one("conversation"), **_where(p)}
    ),
    "POST /api/feedback": lambda p: Call(
        "POST", "/api/feedback", json={"query_id": p.one("query", "job"), "rating": 1, "comment": "Eve"}
    ),
    "GET /api/documents": lambda p: Call(
        "GET", "/api/documents", {"collection": p.collection(), "status": p.rng.choice(["active", "archived"])}
    ),
    "GET /api/documents/{document_id}": lambda p: Call(
        "GET", f"/api/documents/{p.one('document', 'lesson', 'passage')}"
    ),
    "DELETE /api/documents/{document_id}": lambda p: Call("DELETE", f"/api/documents/{p.one('document', 'lesson')}"),
    "GET /api/documents/{document_id}/pages/{page}": lambda p: Call(
        "GET", f"/api/documents/{p.one('document', 'lesson')}/pages/1", {"start": 0, "end": 50}
    ),
    "GET /api/documents/{document_id}/pages/{page}/image": lambda p: Call(
        "GET", f"/api/documents/{p.one('document', 'lesson')}/pages/1/image", {"width": 100}
    ),
    "GET /api/documents/{document_id}/original": lambda p: Call(
        "GET", f"/api/documents/{p.one('document', 'lesson')}/original"
    ),
    "POST /api/documents/{document_id}/ingest": lambda p: Call(
        "POST", f"/api/documents/{p.one('document', 'lesson')}/ingest"
    ),
    "GET /api/ingest": lambda p: Call("GET", "/api/ingest", {"limit": 100}),
    "POST /api/query/suggestions": lambda p: Call(
        "POST", "/api/query/suggestions", json={"query": p.question(), "collection": p.collection()}
    ),
    "GET /api/sources": lambda p: Call("GET", "/api/sources"),
    "POST /api/sources": lambda p: Call(
        "POST",
        "/api/sources",
        json={"url": "https://docs.example/", "name": p.one("source"), "collection": p.collection()},
    ),
    "GET /api/sources/{name}": lambda p: Call("GET", f"/api/sources/{_path(p.one('source'))}"),
    "POST /api/sources/{name}/sync": lambda p: Call("POST", f"/api/sources/{_path(p.one('source'))}/sync"),
    "DELETE /api/sources/{name}": lambda p: Call("DELETE", f"/api/sources/{_path(p.one('source'))}"),
    "GET /api/conversations": lambda p: Call("GET", "/api/conversations", {"offset": 0}),
    "POST /api/conversations": lambda p: Call("POST", "/api/conversations", json={"name": "Eve"}),
    "GET /api/conversations/{conversation_id}": lambda p: Call("GET", f"/api/conversations/{p.one('talk')}"),
    "PATCH /api/conversations/{conversation_id}": lambda p: Call(
        "PATCH", f"/api/conversations/{p.one('talk')}", json={"name": "Eve"}
    ),
    "DELETE /api/conversations/{conversation_id}": lambda p: Call("DELETE", f"/api/conversations/{p.one('talk')}"),
    "POST /api/conversations/{conversation_id}/turns": lambda p: Call(
        "POST", f"/api/conversations/{p.one('talk')}/turns", json={"query": p.question(), "collection": p.collection()}
    ),
    "DELETE /api/conversations/{conversation_id}/turns/{turn_id}": lambda p: Call(
        "DELETE", f"/api/conversations/{p.one('talk')}/turns/{p.one('query')}"
    ),
    "GET /api/collections": lambda p: Call("GET", "/api/collections", {"name": p.one("collection")}),
    "GET /api/collections/{name}": lambda p: Call("GET", f"/api/collections/{_path(p.collection())}"),
    "DELETE /api/collections/{name}": lambda p: Call("DELETE", f"/api/collections/{_path(p.collection())}"),
    "GET /v1/models": lambda p: Call("GET", "/v1/models", {"owned_by": OWNER}),
    "GET /v1/models/{model}": lambda p: Call("GET", f"/v1/models/kedge/{_path(p.collection())}"),
    "POST /v1/chat/completions": lambda p: Call("POST", "/v1/chat/completions", json=_chat(p)),
    "GET /health": lambda p: Call("GET", "/health"),
    "GET /ready": lambda p: Call("GET", "/ready"),
    "GET /metrics": lambda p: Call("GET", "/metrics", {"collection": p.one("collection")}),
    "GET /api/passages/{passage_id}": lambda p: Call(
        "GET", f"/api/passages/{p.one('passage', 'lesson_passage')}", {"collection": p.collection(), "beside": 20}
    ),
    "GET /rag": lambda p: Call("GET", "/rag", {"collection": p.one("collection")}),
}
"""By operation of the OpenAPI; a test compares the two."""
NOT_COMPARED = {"GET /health", "GET /ready", "GET /metrics", "GET /rag"}
"""What they say does not depend on handles, but on time."""
