"""Two tenants on one server: one whose knowledge is full of marks, and a twin with the same names and other content.

A mark is a word that stands nowhere else. Names and ids that only the first tenant has are marks too.
"""

from __future__ import annotations

import asyncio
import random
import re
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpx

from kedge.core.settings import Settings
from kedge.core.values import Right
from kedge.engine.access.keys import make_key
from kedge.engine.engine import Engine
from kedge.surfaces.server.app import create_app

OWNER, TWIN = "acme", "twin"
SHARED = {"documents": "default", "course": "robots", "session": "figures", "graph": "ancestry"}
"""Collections by kind that both tenants have."""
QUESTIONS = (
    "Which word opens the amber vault?",
    "Who keeps the ledger of the harbour?",
    "What is the total amount?",
    "How many rows are there?",
    "Where was the keeper born?",
    "How do frames move?",
    "And who keeps it?",
)
"""What the owner's knowledge answers; none holds a mark."""
KINDS = ("collection", "document", "passage", "job", "query", "conversation", "talk", "source", "session", "graph",
         "node", "edge", "course", "lesson", "lesson_passage")  # fmt: skip


@dataclass
class World:
    """The server with both tenants, and everything that the owner alone should see."""

    app: Any
    engine: Engine
    handles: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    """By kind: ids and names of the owner's things."""
    fakes: dict[str, str] = field(default_factory=dict)
    """For each handle one of the same shape that nothing has."""
    marks: set[str] = field(default_factory=set)
    secrets: list[str] = field(default_factory=list)
    """Marks that stand in content, and that others may look for."""
    tokens: dict[str, str] = field(default_factory=dict)

    def client(self, token: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        headers = {"authorization": f"Bearer {token}"}
        return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers, timeout=120)

    async def key(self, tenant: str, right: Right = Right.ADMIN) -> str:
        """A new key."""
        token, key = make_key(tenant, "crossing", right)
        await self.engine.stores.catalog.keys.put(key)
        return token

    def mark(self, what: str) -> str:
        """A new word that only the owner's content holds."""
        word = f"zq{uuid.uuid4().hex[:10]}{what}"
        self.marks.add(word)
        if what != "asked":  # what the owner asked is never put into the mouth of others
            self.secrets.append(word)
        return word

    def knows(self, kind: str, handle: str, *, shared: bool = False) -> str:
        """Note a handle of the owner."""
        self.handles[kind].append(handle)
        self.fakes[handle] = made_up(handle)
        if not shared:
            self.marks.add(handle)
        return handle


def made_up(handle: str) -> str:
    """Something of the same shape that is not there.

    >>> len(made_up("ledger-zq12")) == len("ledger-zq12")
    True
    """
    rng = random.Random(f"fake {handle}")  # the same for every run
    hexadecimal = re.fullmatch(r"[0-9a-f-]{36}", handle)
    letters = "0123456789abcdef" if hexadecimal else "bcdfghjkmnpqrtvwxy"
    return "".join(rng.choice(letters) if one.isalnum() else one for one in handle)


def served_by(settings: Settings, engine: Engine) -> Any:
    """The app over an open engine, without its lifespan."""
    limitless = {"rate_reads": 0, "rate_writes": 0}
    app = create_app(settings.model_copy(update=limitless), engine)
    app.state.engine = engine
    return app


async def plant(settings: Settings, engine: Engine) -> World:
    """Fill both tenants over HTTP, as their users would."""
    world = World(served_by(settings, engine), engine)
    world.tokens = {OWNER: await world.key(OWNER), TWIN: await world.key(TWIN)}
    async with world.client(world.tokens[OWNER]) as owner, world.client(world.tokens[TWIN]) as twin:
        await _documents(world, owner)
        await _twin(twin)
        await _sessions(world, owner)
        await _graphs(world, owner)
        await _courses(world, owner)
    return world


async def ended(client: httpx.AsyncClient, response: httpx.Response) -> dict[str, Any]:
    """The job that was accepted, when it has ended."""
    assert response.status_code == 202, response.text
    while True:
        job: dict[str, Any] = (await client.get(f"/api/ingest/{response.json()['job_id']}")).json()
        if job["status"] in ("complete", "failed"):
            return job
        await asyncio.sleep(0.02)


async def settled(engine: Engine) -> None:
    """Wait for the jobs that attempts left behind."""
    while True:
        if not await engine.stores.catalog.jobs.unfinished():
            return
        await asyncio.sleep(0.02)


def upload(name: str, text: str) -> dict[str, Any]:
    return {"files": {"file": (name, text.encode(), "text/markdown")}}


async def _documents(world: World, owner: httpx.AsyncClient) -> None:
    private = world.knows("collection", f"ledger-{world.mark('name')}")
    world.knows("collection", SHARED["documents"], shared=True)
    for collection in (SHARED["documents"], private):
        text = (
            f"# Vault {world.mark('title')}\n\nThe word {world.mark('text')} opens the amber vault. "
            f"It was chosen by {world.mark('name')}.\n\n## Ledger\n\n{world.mark('who')} keeps the harbour's ledger.\n"
        )
        data = {"collection": collection, "topic": world.mark("topic"), "metadata": f'{{"m": "{world.mark("meta")}"}}'}
        sent = await owner.post("/api/ingest", data=data, **upload(f"{world.mark('file')}.md", text))
        job = await ended(owner, sent)
        world.knows("job", job["job_id"])
        listed = (await owner.get("/api/documents", params={"collection": collection})).json()["documents"]
        for document in listed:
            world.knows("document", document["document_id"])
            shown = (await owner.get(f"/api/documents/{document['document_id']}")).json()
            for passage in shown["passages"]:
                world.knows("passage", passage["passage_id"])
        conversation = world.knows("conversation", f"talk-{world.mark('talk')}")
        body = {"query": f"What does {world.mark('asked')} open?", "session_id": conversation, "collection": collection}
        answer = (await owner.post("/api/query", json=body)).json()
        world.knows("query", answer["query_id"])
        connected = {"url": "https://docs.example/", "name": f"source-{world.mark('source')}", "collection": collection}
        assert (await owner.post("/api/sources", json=connected)).status_code == 201
        world.knows("source", connected["name"])
        kept = (await owner.post("/api/conversations", json={"name": world.mark("talk")})).json()
        talk = world.knows("talk", kept["conversation_id"])
        told = {"query": f"Who keeps {world.mark('asked')}?", "collection": collection}
        assert (await owner.post(f"/api/conversations/{talk}/turns", json=told)).status_code == 200
        rating = {"query_id": answer["query_id"], "rating": 4, "comment": world.mark("comment")}
        assert (await owner.post("/api/feedback", json=rating)).status_code == 201
    faulty = await owner.post("/api/ingest", data={"collection": private}, files={"file": ("x.pdf", b"\x00\x01")})
    world.knows("job", (await ended(owner, faulty))["job_id"])


async def _sessions(world: World, owner: httpx.AsyncClient) -> None:
    for name, shared in ((SHARED["session"], True), (f"books-{world.mark('name')}", False)):
        world.knows("session", name, shared=shared)
        rows = [{"keeper": world.mark("cell"), "amount": 10 * n, world.mark("column"): n} for n in range(1, 4)]
        body = {"rows": rows, "name": world.mark("table")}
        assert (await owner.post("/api/sessions", json={"session_id": name})).status_code == 201
        await ended(owner, await owner.post(f"/api/sessions/{name}/feed-data", json=body))


async def _graphs(world: World, owner: httpx.AsyncClient) -> None:
    for name, shared in ((SHARED["graph"], True), (f"family-{world.mark('name')}", False)):
        world.knows("graph", name, shared=shared)
        where = {"collection": name}
        for node, own in (("keeper", False), ("town", False), (f"n-{world.mark('node')}", True)):
            world.knows("node", node, shared=not own)
            body = {"id": node, "type": world.mark("type"), "title": world.mark("title"),
                    "description": f"The keeper was born in {world.mark('text')}.",
                    "aliases": [world.mark("alias")], "properties": {"p": world.mark("value")}}  # fmt: skip
            assert (await owner.post("/api/graph/nodes", params=where, json=body)).status_code == 201
        for edge, own in (("born", False), (f"e-{world.mark('edge')}", True)):
            world.knows("edge", edge, shared=not own)
            body = {"id": edge, "source": "keeper", "target": "town", "type": world.mark("relation"),
                    "properties": {"p": world.mark("value")}}  # fmt: skip
            assert (await owner.post("/api/graph/edges", params=where, json=body)).status_code == 201


def lesson(number: int, title: str, body: str) -> str:
    return (
        f"---\nmodule: 1\nchapter: 1\nlesson: {number}\ntitle: {title}\nhardware_tier: 1\nprerequisites: "
        f"[{'' if number == 1 else '1.1'}]\n---\n\n# {title}\n\n{body}\n"
    )


async def _courses(world: World, owner: httpx.AsyncClient) -> None:
    for name, shared in ((SHARED["course"], True), (f"course-{world.mark('name')}", False)):
        world.knows("course", name, shared=shared)
        files = [
            (
                "file",
                (f"{world.mark('file')}.md", lesson(n, world.mark("title"), f"Frames move by {world.mark('text')}.")),
            )
            for n in (1, 2)
        ]
        await ended(owner, await owner.post(f"/api/courses/{name}/ingest", files=files))
        for found in (await owner.get(f"/api/courses/{name}/lessons")).json()["lessons"]:
            world.knows("lesson", found["parent_doc_id"])
            whole = (await owner.get(f"/api/courses/{name}/lessons/{found['parent_doc_id']}")).json()
            for chunk in whole["chunks"]:
                world.knows("lesson_passage", chunk["id"])
    world.knows("lesson", "1.1", shared=True)


async def _twin(twin: httpx.AsyncClient) -> None:
    """The same names, other content."""
    text = (
        "# Vault\n\nThe word swordfish opens the amber vault.\n\n## Ledger\n\nNobody keeps the ledger of the harbour.\n"
    )
    await ended(twin, await twin.post("/api/ingest", **upload("vault.md", text)))
    files = [("file", (f"{n}.md", lesson(n, f"Lesson {n}", "Frames move by wheels."))) for n in (1, 2)]
    await ended(twin, await twin.post(f"/api/courses/{SHARED['course']}/ingest", files=files))
    rows = {"rows": [{"keeper": "Ida", "amount": 7}], "name": "figures"}
    await twin.post("/api/sessions", json={"session_id": SHARED["session"]})
    await ended(twin, await twin.post(f"/api/sessions/{SHARED['session']}/feed-data", json=rows))
    where = {"collection": SHARED["graph"]}
    for node in ("keeper", "town"):
        await twin.post(
            "/api/graph/nodes", params=where, json={"id": node, "title": node, "description": "Of the twin."}
        )
    await twin.post(
        "/api/graph/edges", params=where, json={"id": "born", "source": "keeper", "target": "town", "type": "b"}
    )


async def snapshot(world: World, tenant: str) -> dict[str, str]:
    """Everything that a tenant sees of its own, without times and ids that every request makes anew."""
    async with world.client(world.tokens[tenant]) as client:
        addresses = ["/api/collections", "/api/sessions", "/v1/models"]
        for collection in [one["name"] for one in (await client.get("/api/collections")).json()["collections"]]:
            addresses += [
                f"/api/documents?collection={collection}",
                f"/api/graph/nodes?collection={collection}",
                f"/api/graph/edges?collection={collection}",
                f"/api/courses/{collection}/lessons",
            ]
        if tenant == OWNER:
            addresses += [f"/api/documents/{id}" for id in world.handles["document"]]
            addresses += [f"/api/ingest/{id}" for id in world.handles["job"]]
            addresses += [f"/api/sessions/{id}" for id in world.handles["session"]]
        seen = {address: plain((await client.get(address)).text) for address in addresses}
        for question in QUESTIONS[:2]:
            answer = await client.post("/api/query", json={"query": question})
            seen[question] = f"{answer.status_code} {answer.json().get('answer')}"
        for session in {one["session_id"] for one in (await client.get("/api/sessions")).json()["sessions"]}:
            answer = await client.post(f"/api/sessions/{session}/query", json={"query": "What is the total amount?"})
            seen[session] = f"{answer.status_code} {answer.json().get('answer')}"
        return seen


_VARYING = (
    (re.compile(r'"request_id": ?"[^"]*"'), '"request_id": ""'),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"chatcmpl-[\w-]+"), "<id>"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r'("(?:\w*_)?(?:ms|seconds|created|expires_after)": ?)[\d.eE+-]+'), r"\1<number>"),
)


def plain(text: str, *, ids: bool = False) -> str:
    """A response without what differs between two equal requests; with `ids` also without ids."""
    for pattern, name in _VARYING:
        if ids or name != "<id>":
            text = pattern.sub(name, text)
    return text
