"""The same request to the whole home and to the twin that holds only what the person may read: the answers are equal.

A leak is a mark that the person may not see, another status, or another answer. What no two runs have in common (ids of
queries, times, scores to the last digit) is left out of the comparison.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kedge.core.values import Actor
from kedge.text.concepts import concept_key
from tests.campaigns.readers.world import (
    BIRDS,
    COURSE,
    DOCUMENTS,
    FIGURES,
    GRAPH,
    OPEN_FIGURES,
    PEOPLE,
    WORDS,
    World,
)

UNLIKE = re.compile(
    r"(_ms|_at|seconds|duration|expires)$|^(query_id|timings_ms|id|created|request_id|job_id|file_hash|origin)$"
)
"""Names of members that no two homes have in common."""
NOISE = 1.5e-4
"""By how much numbers may differ: twins live in memory and count in 64 bits, engines in 32 and round to four digits."""


@dataclass
class Compared:
    """What was tried, and what came of it."""

    attempts: Counter[str] = field(default_factory=Counter)
    """By address."""
    leaks: list[str] = field(default_factory=list)
    found: int = 0
    """Attempts whose answer named something that the person may read: the marks can be found."""


@dataclass(frozen=True)
class Attempt:
    """One request."""

    method: str
    path: str
    params: dict[str, Any] = field(default_factory=dict)
    body: Any = None


Recipe = Callable[[random.Random, World, Actor], Attempt]


def _asked(rng: random.Random, world: World) -> str:
    one, other = rng.sample(WORDS, 2)
    paper = rng.choice([*world.papers, *world.lessons])
    return rng.choice(
        (
            f"What does the {one} of the {other} cost?",
            f"What is the password of {paper.name}?",
            f"{one} {other} {paper.mark}",
            f"Who keeps the {one}?",
            f"When do we meet for {rng.choice(BIRDS)}?",
            paper.title,
        )
    )


def _question(rng: random.Random, world: World, collection: str = DOCUMENTS) -> dict[str, Any]:
    body: dict[str, Any] = {"query": _asked(rng, world), "collection": collection, "top_k": rng.randrange(1, 20)}
    if rng.random() < 0.2:
        body["filter"] = [f"title={rng.choice(world.papers).title}"]
    if rng.random() < 0.2:
        body["include_graph"] = False
    return body


RECIPES: dict[str, tuple[int, Recipe]] = {
    "search": (30, lambda r, w, _: Attempt("POST", "/api/search", body=_question(r, w))),
    "ask": (4, lambda r, w, _: Attempt("POST", "/api/query", body=_question(r, w))),
    "suggest": (1, lambda r, w, _: Attempt("POST", "/api/query/suggestions", body={
        "query": _asked(r, w), "collection": DOCUMENTS})),
    "chat": (1, lambda r, w, _: Attempt("POST", "/v1/chat/completions", body={
        "model": f"kedge/{DOCUMENTS}", "messages": [{"role": "user", "content": _asked(r, w)}]})),
    "documents": (10, lambda r, w, _: Attempt("GET", "/api/documents", {
        "collection": r.choice((DOCUMENTS, COURSE)), "limit": r.randrange(1, 30), "offset": r.randrange(12),
        "search": r.choice(("", "", r.choice(WORDS), r.choice(w.papers).mark))})),
    "document": (12, lambda r, w, _: Attempt("GET", f"/api/documents/{r.choice(w.ids)}")),
    "original": (4, lambda r, w, _: Attempt("GET", f"/api/documents/{r.choice(w.ids)}/original")),
    "page": (2, lambda r, w, _: Attempt("GET", f"/api/documents/{r.choice(w.ids)}/pages/1")),
    "passage": (10, lambda r, w, _: Attempt("GET", f"/api/passages/{r.choice(w.passages)}", {
        "collection": r.choice((DOCUMENTS, COURSE)), "beside": r.randrange(4)})),
    "collections": (3, lambda _r, _w, _: Attempt("GET", "/api/collections")),
    "collection": (3, lambda r, _w, _: Attempt(
        "GET", f"/api/collections/{r.choice((DOCUMENTS, COURSE, FIGURES, OPEN_FIGURES, GRAPH))}")),
    "why": (3, lambda r, w, _: Attempt("GET", "/api/access/check", {
        "user": "zoe", "document_id": r.choice(w.ids)})),
    "widen": (3, lambda r, w, who: Attempt(
        "PUT", f"/api/documents/{_not_for(r, w, who)}/readers", body={"readers": ["public"]})),
    "delete": (3, lambda r, w, who: Attempt("DELETE", f"/api/documents/{_not_for(r, w, who)}")),
    "again": (1, lambda r, w, who: Attempt("POST", f"/api/documents/{_not_for(r, w, who)}/ingest")),
    "lessons": (4, lambda _r, _w, _: Attempt("GET", f"/api/courses/{COURSE}/lessons")),
    "lesson": (4, lambda r, w, _: Attempt("GET", f"/api/courses/{COURSE}/lessons/{r.choice(w.ids)}")),
    "needs": (2, lambda r, w, _: Attempt("GET", f"/api/courses/{COURSE}/lessons/{r.choice(w.ids)}/prerequisites")),
    "around": (3, lambda r, w, _: Attempt("GET", f"/api/courses/{COURSE}/passages/{r.choice(w.passages)}/context")),
    "courses": (6, lambda r, w, _: Attempt("POST", "/api/courses/search", body={
        "book_id": COURSE, "query": _asked(r, w), "limit": r.randrange(1, 8)})),
    "sessions": (2, lambda _r, _w, _: Attempt("GET", "/api/sessions")),
    "session": (3, lambda r, _w, _: Attempt("GET", f"/api/sessions/{r.choice((FIGURES, OPEN_FIGURES))}")),
    "rows": (3, lambda r, _w, _: Attempt("POST", f"/api/sessions/{r.choice((FIGURES, OPEN_FIGURES))}/query", body={
        "query": r.choice(("How many crowns does the captain get?", "What is the total of crowns?"))})),
    "bad rows": (1, lambda r, _w, _: Attempt("GET", f"/api/sessions/{r.choice((FIGURES, OPEN_FIGURES))}/bad-rows")),
    "nodes": (3, lambda r, _w, _: Attempt("GET", "/api/graph/nodes", {
        "collection": GRAPH, "limit": r.randrange(1, 14), **r.choice(({}, {"type": "Person"}))})),
    "node": (3, lambda r, _w, _: Attempt(
        "GET", f"/api/graph/nodes/{r.choice('pt')}{r.randrange(6)}", {"collection": GRAPH})),
    "edges": (3, lambda r, _w, _: Attempt("GET", "/api/graph/edges", {
        "collection": GRAPH, "limit": r.randrange(1, 14), **r.choice(({}, {"node": f"t{r.randrange(6)}"}))})),
    "edge": (2, lambda r, _w, _: Attempt("GET", f"/api/graph/edges/{r.choice(('born', 'near'))}{r.randrange(6)}", {
        "collection": GRAPH})),
    "node search": (3, lambda r, _w, _: Attempt("POST", "/api/search", body={
        "query": f"{r.choice(('keeper', 'harbour town'))} {r.randrange(6)}", "collection": GRAPH, "top_k": 8})),
}  # fmt: skip
"""By address: how often, and the request."""


def _not_for(rng: random.Random, world: World, who: Actor) -> str:
    """A document that this person may not read: what is theirs would be changed."""
    hidden = world.hidden(who)
    ids = [one for one in world.ids if world_mark(world, one) in hidden]
    return rng.choice(ids) if ids else "00000000-0000-0000-0000-000000000000"


def world_mark(world: World, document_id: str) -> str:
    """The mark of a document by its id."""
    return _MARKS.get((id(world), document_id), "")


_MARKS: dict[tuple[int, str], str] = {}


async def note_marks(world: World) -> None:
    """Look the marks up once."""
    for one in world.ids:
        document, _ = await world.main.engine.document("default", one)
        for paper in (*world.papers, *world.lessons):
            if paper.mark in document.title:
                _MARKS[id(world), one] = paper.mark


async def compare(world: World, seed: int, count: int, report: Compared) -> None:
    """Make so many requests as people chosen at random."""
    rng = random.Random(seed)
    await note_marks(world)
    names = [name for name, (weight, _) in RECIPES.items() for _ in range(weight)]
    hidden = {who.user: world.hidden(who) for who in PEOPLE}
    clients = {who.user: (world.main.client(who), world.twins[str(who.user)].client(who)) for who in PEOPLE}
    for _ in range(count):
        who, name = rng.choice(PEOPLE), rng.choice(names)
        attempt = RECIPES[name][1](rng, world, who)
        report.attempts[name] += 1
        whole, twin = clients[who.user]
        said = f"{attempt.path} {attempt.params} {attempt.body}"
        answers = [
            await one.request(attempt.method, attempt.path, params=attempt.params, json=attempt.body)
            for one in (whole, twin)
        ]
        text = answers[0].text
        seen = {mark for mark in hidden[who.user] if mark in text and mark not in said}
        if seen:
            report.leaks.append(f"{who.user} {attempt.method} {said}: sees {sorted(seen)}")
        elif not same(got := comparable(answers[0]), wanted := comparable(answers[1])):
            report.leaks.append(f"{who.user} {attempt.method} {said}: {_first_difference(got, wanted)}")
        elif "zq" in text.replace(said, ""):
            report.found += 1
    for pair in clients.values():
        for client in pair:
            await client.aclose()


def comparable(response: Any) -> Any:
    """Status and body without what differs from home to home."""
    kind = response.headers.get("content-type", "")
    body = _plain(json.loads(response.text)) if "json" in kind and response.text else response.text
    return [response.status_code, body]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _by_key(one) if name in ("path", "evidence") else _plain(one)
            for name, one in value.items()
            if not UNLIKE.search(name)
        }
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


def same(got: Any, wanted: Any) -> bool:
    """Whether two answers are equal but for the noise of their numbers."""
    if isinstance(got, float) and isinstance(wanted, float):
        return abs(got - wanted) <= NOISE
    if isinstance(got, dict) and isinstance(wanted, dict):
        return got.keys() == wanted.keys() and all(same(got[name], wanted[name]) for name in got)
    if isinstance(got, list) and isinstance(wanted, list):
        return len(got) == len(wanted) and all(map(same, got, wanted))
    return bool(got == wanted)


def _by_key(value: Any) -> Any:
    """What led to a passage, with concepts by their keys: what one is called is up to the first document."""
    if isinstance(value, dict):
        return {name: _by_key(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_by_key(one) for one in value]
    return concept_key(value) if isinstance(value, str) else value


def _first_difference(got: Any, wanted: Any, at: str = "") -> str:
    if isinstance(got, dict) and isinstance(wanted, dict) and got.keys() == wanted.keys():
        return next(_first_difference(got[k], wanted[k], f"{at}.{k}") for k in got if not same(got[k], wanted[k]))
    if isinstance(got, list) and isinstance(wanted, list) and len(got) == len(wanted):
        pairs = enumerate(zip(got, wanted, strict=True))
        return next(_first_difference(a, b, f"{at}[{n}]") for n, (a, b) in pairs if not same(a, b))
    return f"{at}: {str(got)[:300]} instead of {str(wanted)[:300]}"
