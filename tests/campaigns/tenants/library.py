"""The same attempts without HTTP: the engine with another tenant; MCP, the façade and the command line, whose user is
the local one and no more than a tenant among others."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mcp import Client

from kedge.core.errors import KedgeError
from kedge.core.values import IngestRequest, Query, Scope
from kedge.engine.blocking import Kedge
from kedge.engine.engine import Engine
from kedge.stores.graph.nodes import Edge, Node
from kedge.surfaces.cli.main import run
from kedge.surfaces.mcp.server import mcp_server
from tests.campaigns.tenants.crossing import Report, leaked
from tests.campaigns.tenants.recipes import Pick
from tests.campaigns.tenants.world import World, plain

Answered = Callable[[Pick], Awaitable[Any]]
PLAN: Any = {"task": "aggregate", "measures": [{"func": "sum", "column": "amount"}]}


def engine_calls(engine: Engine, tenant: str) -> dict[str, Answered]:
    """What code can ask of an engine in the name of a tenant."""

    def scope(pick: Pick, *kinds: str) -> Scope:
        return Scope(tenant, pick.one(*(kinds or ("collection", "graph", "course", "session"))))

    def query(pick: Pick) -> Query:
        return Query(pick.question(), scope(pick), session_id=pick.one("conversation"))

    async def streamed(pick: Pick) -> Any:
        return [event async for event in engine.stream(query(pick))]

    async def exported(pick: Pick) -> str:
        target = io.StringIO()
        await engine.kinds.named("table").sessions.export(scope(pick, "session"), target, bad=pick.rng.random() < 0.3)
        return target.getvalue()

    async def ingested(pick: Pick) -> Any:
        job = await engine.ingest(IngestRequest(scope(pick, "collection"), ("/nowhere/at-all.md",)))
        return job.files_processed, job.errors

    return {
        "search": lambda p: engine.search(query(p)),
        "rank": lambda p: engine.rank(query(p), 5),
        "ask": lambda p: engine.ask(query(p)),
        "stream": streamed,
        "ingest": ingested,
        "feedback": lambda p: engine.feedback(tenant, p.one("query"), 1, "Eve"),
        "collections": lambda _: engine.collections(tenant),
        "collection": lambda p: engine.collection(scope(p)),
        "delete_collection": lambda p: engine.delete_collection(scope(p)),
        "reindex": lambda p: engine.reindex(scope(p), "hash:32"),
        "rollback": lambda p: engine.rollback(scope(p)),
        "discard_indexes": lambda p: engine.discard_indexes(scope(p)),
        "spare_indexes": lambda p: engine.spare_indexes(scope(p)),
        "documents": lambda p: engine.documents(scope(p)),
        "document": lambda p: engine.document(tenant, p.one("document", "lesson")),
        "passage": lambda p: engine.passage(scope(p), p.one("passage", "lesson_passage"), 5),
        "delete_document": lambda p: engine.delete_document(tenant, p.one("document", "lesson")),
        "job": lambda p: engine.job(tenant, p.one("job")),
        "jobs": lambda _: engine.jobs(tenant),
        "courses.find": lambda p: engine.kinds.named("course").find(scope(p, "course"), p.question()),
        "courses.lessons": lambda p: engine.kinds.named("course").lessons(scope(p, "course")),
        "courses.lesson": lambda p: engine.kinds.named("course").lesson(scope(p, "course"), p.one("lesson")),
        "courses.expand": lambda p: engine.kinds.named("course").expand(
            scope(p, "course"), p.one("lesson_passage"), 500
        ),
        "courses.prerequisites": lambda p: engine.kinds.named("course").prerequisites(
            scope(p, "course"), p.one("lesson")
        ),
        "graph.node": lambda p: engine.kinds.named("graph").nodes.node(scope(p, "graph"), p.one("node")),
        "graph.nodes": lambda p: engine.kinds.named("graph").nodes.nodes(scope(p, "graph"), after=p.one("node")),
        "graph.update": lambda p: engine.kinds.named("graph").nodes.update(
            scope(p, "graph"), p.one("node"), {"title": "Eve"}
        ),
        "graph.delete": lambda p: engine.kinds.named("graph").nodes.delete(scope(p, "graph"), p.one("node")),
        "graph.edge": lambda p: engine.kinds.named("graph").nodes.edge(scope(p, "graph"), p.one("edge")),
        "graph.edges": lambda p: engine.kinds.named("graph").nodes.edges(scope(p, "graph"), node=p.one("node")),
        "graph.update_edge": lambda p: engine.kinds.named("graph").nodes.update_edge(
            scope(p, "graph"), p.one("edge"), {"type": "x"}
        ),
        "graph.delete_edge": lambda p: engine.kinds.named("graph").nodes.delete_edge(scope(p, "graph"), p.one("edge")),
        "graph.count": lambda p: engine.kinds.named("graph").nodes.count(scope(p, "graph")),
        "graph.reconcile": lambda p: engine.kinds.named("graph").nodes.reconcile(scope(p, "graph"), repair=True),
        "sessions.get": lambda p: engine.kinds.named("table").sessions.get(scope(p, "session")),
        "sessions.all": lambda _: engine.kinds.named("table").sessions.all(tenant),
        "sessions.update": lambda p: engine.kinds.named("table").sessions.update(
            scope(p, "session"), "keeper", [{"keeper": "Eve"}]
        ),
        "sessions.bad_rows": lambda p: engine.kinds.named("table").sessions.bad_rows(scope(p, "session")),
        "sessions.run_plan": lambda p: engine.kinds.named("table").sessions.run_plan(scope(p, "session"), PLAN),
        "sessions.export": exported,
    }


async def cross_engine(world: World, seed: int, attempts: int, report: Report) -> None:
    """As tenants that have nothing."""
    names = sorted(engine_calls(world.engine, ""))
    for number in range(attempts):
        name = names[number % len(names)]
        heard = []
        for real in (True, False):
            pick = Pick(world, f"{seed}/{number}", real=real)
            calls = engine_calls(world.engine, f"reader{seed}-{number}-{real}")
            heard.append(await _heard(world, f"engine {name}", pick, calls[name], report, counted=real))
        if heard[0] != heard[1]:
            report.leaks.append(f"engine {name} is told apart: {heard[0][:400]} / {heard[1][:400]}")


async def cross_mcp(world: World, seed: int, attempts: int, report: Report) -> None:
    """As an agent of the local user, who has nothing."""
    async with Client(mcp_server(world.engine)) as agent:
        for number in range(attempts):
            name = ("ask", "search", "collections")[number % 3]

            async def call(pick: Pick, name: str = name) -> Any:
                said = {} if name == "collections" else {"question": pick.question(), "filter": pick.where()}
                where = {} if name == "collections" else {"collection": pick.collection()}
                done = await agent.call_tool(name, {**said, **where})
                return done.is_error, [str(part) for part in done.content]

            heard = [
                await _heard(world, "mcp", Pick(world, f"m{seed}/{number}", real=real), call, report, counted=real)
                for real in (True, False)
            ]
            if heard[0] != heard[1]:
                report.leaks.append(f"mcp {name} is told apart: {heard[0][:400]} / {heard[1][:400]}")


def facade_calls(kedge: Kedge) -> dict[str, Callable[[Pick], Any]]:
    """What the blocking façade offers."""

    def made_and_deleted(pick: Pick) -> Any:
        collection = pick.one("graph")
        made = kedge.create_node(Node(pick.one("node"), "", "Eve"), collection=collection)
        kedge.delete_collection(collection)
        return made

    return {
        "search": lambda p: kedge.search(p.question(), collection=p.collection()),
        "ask": lambda p: kedge.ask(p.question(), collection=p.collection()),
        "stream": lambda p: list(kedge.stream(p.question(), collection=p.collection())),
        "feedback": lambda p: kedge.feedback(p.one("query"), 1),
        "collections": lambda _: kedge.collections(),
        "delete_collection": lambda p: kedge.delete_collection(p.collection()),
        "documents": lambda p: kedge.documents(p.collection()),
        "document": lambda p: kedge.document(p.one("document", "lesson")),
        "delete": lambda p: kedge.delete(p.one("document", "lesson")),
        "session": lambda p: kedge.session(p.one("session")),
        "sessions": lambda _: kedge.sessions(),
        "bad_rows": lambda p: kedge.bad_rows(p.one("session")),
        "update_rows": lambda p: kedge.update_rows(p.one("session"), "keeper", [{"keeper": "Eve"}]),
        "run_plan": lambda p: kedge.run_plan(p.one("session"), PLAN),
        "node": lambda p: kedge.node(p.one("node"), collection=p.one("graph")),
        "nodes": lambda p: kedge.nodes(collection=p.one("graph")),
        "update_node": lambda p: kedge.update_node(p.one("node"), collection=p.one("graph"), title="Eve"),
        "delete_node": lambda p: kedge.delete_node(p.one("node"), collection=p.one("graph")),
        "create_edge": lambda p: kedge.create_edge(
            Edge(p.one("edge"), p.one("node"), p.one("node"), "x"), collection=p.one("graph")
        ),
        "edges": lambda p: kedge.edges(p.one("graph"), node=p.one("node")),
        "delete_edge": lambda p: kedge.delete_edge(p.one("edge"), collection=p.one("graph")),
        "reconcile": lambda p: kedge.reconcile(p.one("graph"), repair=True),
        "courses.lessons": lambda p: kedge.courses.lessons(p.one("course")),
        "courses.lesson": lambda p: kedge.courses.lesson(p.one("course"), p.one("lesson")),
        "courses.expand": lambda p: kedge.courses.expand(p.one("course"), p.one("lesson_passage")),
        "courses.prerequisites": lambda p: kedge.courses.prerequisites(p.one("course"), p.one("lesson")),
        "create and delete": made_and_deleted,
    }


def cross_facade(world: World, home: Path, seed: int, attempts: int, report: Report, **settings: Any) -> None:
    """As the local user, in code. The engine is closed by now."""
    with Kedge(home, **settings) as kedge:
        calls = facade_calls(kedge)
        for number in range(attempts):
            pick = Pick(world, f"f{seed}/{number}", real=True)
            try:
                heard = repr(list(calls.values())[number % len(calls)](pick))
            except KedgeError as error:
                heard = _refusal(error)
            _looked(world, "facade", pick, heard, report)


COMMANDS: tuple[Callable[[Pick], list[str]], ...] = (
    lambda p: ["ask", p.question(), "--collection", p.one("collection", "graph", "course", "session")],
    lambda p: ["search", p.question(), "--collection", p.one("collection", "graph", "course", "session")],
    lambda _: ["collection", "list"],
    lambda p: ["collection", "show", p.one("collection", "graph")],
    lambda p: ["collection", "delete", p.one("collection", "graph", "session"), "--yes"],
    lambda p: ["document", "list", "--collection", p.one("collection")],
    lambda p: ["document", "show", p.one("document", "lesson")],
    lambda p: ["document", "delete", p.one("document", "lesson"), "--yes"],
    lambda _: ["job", "list"],
    lambda p: ["job", "show", p.one("job")],
    lambda _: ["session", "list"],
    lambda p: ["session", "show", p.one("session")],
    lambda p: ["session", "export", p.one("session")],
    lambda p: ["session", "delete", p.one("session"), "--yes"],
    lambda p: ["course", "lessons", p.one("course")],
    lambda p: ["course", "lesson", p.one("course"), p.one("lesson")],
    lambda p: ["graph", "node", "list", "--collection", p.one("graph")],
    lambda p: ["graph", "node", "show", p.one("node"), "--collection", p.one("graph")],
    lambda p: ["graph", "node", "delete", p.one("node"), "--collection", p.one("graph"), "--yes"],
    lambda p: ["graph", "edge", "show", p.one("edge"), "--collection", p.one("graph")],
)


def cross_commands(world: World, home: Path, seed: int, attempts: int, report: Report) -> None:
    """As the local user, in a terminal."""
    for number in range(attempts):
        pick, out = Pick(world, f"c{seed}/{number}", real=True), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = run(["--home", str(home), *COMMANDS[number % len(COMMANDS)](pick), "--json"])
        _looked(world, "cli", pick, f"{code} {out.getvalue()}", report)


async def _heard(
    world: World, surface: str, pick: Pick, call: Answered, report: Report, *, counted: bool = True
) -> str:
    """What came back, looked through for marks."""
    try:
        heard = repr(await call(pick))
    except KedgeError as error:
        heard = _refusal(error)
    return _looked(world, surface, pick, heard, report, counted=counted)


def _refusal(error: KedgeError) -> str:
    return f"{type(error).__name__} {error} {error.details}"


def _looked(world: World, surface: str, pick: Pick, heard: str, report: Report, *, counted: bool = True) -> str:
    """Count the attempt, look for marks, and return what was learned whatever handles were used."""
    if counted:
        report.attempts[surface.split(maxsplit=1)[0]] += 1
    said = " ".join(pick.used)
    report.leaks.extend(f"{surface} with {said} got {mark}: {heard[:400]}" for mark in leaked(world, said, heard))
    for handle in sorted(set(pick.used), key=len, reverse=True):
        heard = heard.replace(handle, "<handle>")
    return plain(heard, ids=True)
