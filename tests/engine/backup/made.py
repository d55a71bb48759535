"""Homes with something of every kind in them, and what must be true of their copies."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Right, Scope
from kedge.engine.access.keys import make_key
from kedge.engine.engine import Engine
from kedge.stores.graph.nodes import Edge, Node
from tests.support.surfaces import write_corpus

EMBEDDER = "hash:64"
SEA, TABLE, GRAPH, OTHER = (
    Scope(DEFAULT_TENANT, "sea"),
    Scope(DEFAULT_TENANT, "prices"),
    Scope(DEFAULT_TENANT, "crew"),
    Scope("acme", "sea"),
)


def settings_of(home: Path, **more: Any) -> Settings:
    return load_settings(environ={}, home=home, embedder=EMBEDDER, session_keep="home", **more)


async def bytes_of(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def fill(settings: Settings, folder: Path) -> str:
    """Documents of two tenants, a table, a graph, a key, a conversation, and an upload that waits. Returns its job."""
    write_corpus(folder)
    (folder.parent / "prices.csv").write_text("name,price\nkedge,10\nbower,50\n", "utf-8")
    async with Engine.open(settings) as engine:
        for scope in (SEA, OTHER):
            await engine.ingest(IngestRequest(scope, (str(folder),)))
        await engine.ingest(IngestRequest(TABLE, (str(folder.parent / "prices.csv"),), kind="table"))
        await engine.kinds.named("graph").nodes.create(
            GRAPH, Node("ada", "Person", "Ada", aliases=("the mate",), properties={"age": 36})
        )
        await engine.kinds.named("graph").nodes.create(GRAPH, Node("hms", "Ship", "Surprise"))
        await engine.kinds.named("graph").nodes.create_edge(GRAPH, Edge("", "ada", "hms", "serves_on", {"since": 1801}))
        _, key = make_key("acme", "importer", Right.WRITE)
        await engine.stores.catalog.keys.put(key)
        asked = await engine.ask(Query("What is an anchor bend?", SEA, session_id="s"))
        await engine.feedback(DEFAULT_TENANT, asked.query_id, 5, "fine")
        upload = await engine.spool("late.md", bytes_of("# Windlass\n\nA windlass hoists the anchor.\n"))
        return (await engine.submit(IngestRequest(SEA, (), uploads=(upload,)))).id


async def told(settings: Settings) -> dict[str, Any]:
    """What a home says about everything that `fill` put into it."""
    async with Engine.open(settings) as engine:
        found: dict[str, Any] = {}
        for scope in (SEA, OTHER):
            for document in await engine.documents(scope):
                whole, passages = await engine.document(scope.tenant, document.id)
                found[f"{scope.tenant}/{document.url}"] = (whole.title, [passage.text for passage in passages])
            hits = (await engine.search(Query("knot for the ring of an anchor", scope, top_k=3))).hits
            found[f"{scope.tenant}/search"] = [(hit.passage.id, round(hit.score, 4), hit.path) for hit in hits]
        found["table"] = (await engine.ask(Query("What is the highest price?", TABLE))).answer
        found["graph"] = (await engine.ask(Query("Which ship does Ada serve on?", GRAPH))).answer
        node = await engine.kinds.named("graph").nodes.node(GRAPH, "ada")
        found["node"] = (node.title, node.aliases, dict(node.properties))
        found["edges"] = [
            (one.id, one.type, dict(one.properties)) for one in await engine.kinds.named("graph").nodes.edges(GRAPH)
        ]
        found["keys"] = [(key.id, key.digest, key.tenant) for key in await engine.stores.catalog.keys.all()]
        found["concepts"] = [one.name for one in await engine.stores.graph.search_concepts(SEA, "anchor bend", 5)]
        jobs = [*await engine.jobs(SEA.tenant), *await engine.jobs(OTHER.tenant)]
        found["jobs"] = sorted((job.id, job.kind) for job in jobs)
        report = await engine.check()
        found["problems"] = [str(problem) for problem in report.problems]
        return found


def tell(settings: Settings) -> dict[str, Any]:
    return asyncio.run(told(settings))


def shown(value: object) -> str:
    return json.dumps(value, indent=1, sort_keys=True, default=str)
