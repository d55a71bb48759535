"""A real server in a thread, with collections of the kinds `table` and `graph` whose answers are written down here.

Their own ways out are other parts of Kedge; the page is tested on the agreed shapes, through the real server.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from kedge.core.ids import new_id
from kedge.core.settings import Settings
from kedge.core.values import Answer, Citation, Collection, Json, Query, Scope, SearchResult, StreamEvent
from kedge.engine.engine import Engine
from kedge.surfaces.server.app import create_app
from kedge.surfaces.server.run import UvicornServer, bind, url_of

TABLE_QUESTION = "Which region sold the most?"
GRAPH_QUESTION = "Who coached the team that the winner of the golden ball played for?"
BLOCKS_QUESTION = "How many jibs are in the locker?"
BLOCKS = """The locker holds what a crew needs in a gale. [Node 1]

- storm jib
- trysail with `sheets`

| Sail | <i>Count</i> |
|---|---|
| jib | 12 |
| a\\|b | **3** | [Node 1]

```
make sail
  --now <b>
```

Then:

    hoist it"""
SLOW_QUESTION = "Take your time"
UNSURE_QUESTION = "How much was sold in Atlantis?"

REGIONS = [
    ("North", 1824.5),
    ("South", 1490.25),
    ("Harbour & coast", 912.0),
    ("West", 655.75),
    ("<b>East</b>", 410.0),
]
MONTHS = [(f"2025-{month:02}", 40.0 + 7 * month + (13 * month) % 17) for month in range(1, 13)]


def _row(mark: int, number: int, region: str, amount: float) -> Citation:
    snippet = f"region: {region}; amount: {amount}"
    return Citation(
        f"[{mark}]", f"row-{number}", "", f"sales row {number}", "sales.csv", snippet, 0, len(snippet), 0.98
    )


def unsure_answer(query: Query) -> Answer:
    """Two readings of which neither is sure, and a word that is not understood; or the one that was picked."""
    values = ("1,824.5", "42")
    plans = ("add up amount", "count them")
    readings: list[Json] = [
        {"reading": number, "probability": 0.4, "answer": value, "values": [value], "plan": plan}
        for number, (value, plan) in enumerate(zip(values, plans, strict=True), 1)
    ]
    picked = query.reading
    steps: list[Json] = [plans[picked - 1]] if picked else []
    plan: dict[str, Json] = {"text": "; ".join(map(str, steps)), "steps": steps, "exact": picked is not None}
    metadata: dict[str, Json] = {
        "kind": "table",
        "plan": plan,
        "columns": ["value"] if picked else [],
        "rows": [[values[picked - 1]]] if picked else [],
        "row_count": 0,
        "readings": readings,
        "not_understood": ["Atlantis"],
    }
    told = f"{values[picked - 1]}." if picked else "The question can be read in more than one way."
    return Answer(
        query_id=new_id(),
        answer=told if picked else f"{told}\nNot understood: Atlantis",
        citations=(),
        confidence="medium" if picked else "low",
        evidence_probability=0.4,
        metadata=metadata,
    )


def table_answer(query: Query) -> Answer:
    """Sales by region with a bar chart, or by month with a line."""
    if query.text == UNSURE_QUESTION:
        return unsure_answer(query)
    line = "month" in query.text.lower()
    rows: list[Json] = [[name, value] for name, value in (MONTHS if line else REGIONS)]
    column = "month" if line else "region"
    metadata: dict[str, Json] = {
        "kind": "table",
        "plan": {
            "text": f"Sum of amount for each {column}, largest first",
            "steps": [f"group the 5,000 rows of sales by {column}", "sum amount", "sort by the sum, largest first"],
            "exact": True,
        },
        "columns": [column, "amount"],
        "rows": rows,
        "row_numbers": [1, 2],
        "row_count": 4870,
        "chart": {"type": "line" if line else "bar", "x": column, "y": "amount"},
    }
    return Answer(
        query_id=new_id(),
        answer="North sold the most: 1824.5 in all.\n"
        f"Plan: Sum of amount for each {column}, largest first (4,870 of 5,000 rows counted)\nRows: [1] [2]",
        citations=(_row(1, 1, *REGIONS[0]), _row(2, 2, *REGIONS[1])),
        confidence="high",
        evidence_probability=0.99,
        short_answer="North",
        metadata=metadata,
    )


def _node(mark: int, node_id: str, title: str, snippet: str) -> Citation:
    return Citation(f"[Node {mark}]", new_id(), "", title, f"node:{node_id}", snippet, 0, len(snippet), 0.91)


def graph_answer(query: Query) -> Answer:
    """Two hops from a prize to a coach."""
    if query.text == BLOCKS_QUESTION:
        return blocks_answer(query)
    nodes: list[Json] = [
        {"id": "n1", "title": "Golden Ball", "type": "Award"},
        {"id": "n2", "title": "Lionel Messi", "type": "Player"},
        {"id": "n3", "title": "Argentina", "type": "Team"},
        {"id": "n4", "title": "Alejandro Sabella", "type": "Coach"},
    ]
    edges: list[Json] = [
        {"source": "n1", "target": "n2", "type": "WON_BY"},
        {"source": "n2", "target": "n3", "type": "PLAYS_FOR"},
        {"source": "n4", "target": "n3", "type": "COACHES"},
    ]
    return Answer(
        query_id=new_id(),
        answer="Alejandro Sabella [Node 1]. (Golden Ball › won by › Lionel Messi › plays for › Argentina [Node 2])",
        citations=(
            _node(1, "n4", "Alejandro Sabella", "Alejandro Sabella. Coach of the team of Argentina."),
            _node(2, "n3", "Argentina", "Argentina. A national team."),
        ),
        confidence="high",
        evidence_probability=0.93,
        metadata={"kind": "graph", "paths": [{"nodes": nodes, "edges": edges}]},
    )


def blocks_answer(query: Query) -> Answer:
    """A text with a list, a table and code, whose short answer stands further down."""
    cited = _node(1, "n1", "Locker", "The locker holds what a crew needs in a gale.")
    return Answer(
        query_id=new_id(),
        answer=BLOCKS,
        citations=(cited,),
        confidence="high",
        evidence_probability=0.9,
        short_answer="12 <em>jibs</em>",
        metadata={"kind": "graph"},
    )


class WrittenWay:
    """A way out whose answers are written down."""

    def __init__(self, engine: Engine, answer: Callable[[Query], Answer]) -> None:
        self._answer = answer
        self._recorder = engine._recorder
        self.left = threading.Event()
        """Set when a client left a slow answer."""

    async def search(self, query: Query) -> SearchResult:
        return SearchResult(query.text, (), {})

    async def ask(self, query: Query) -> Answer:
        answer = self._answer(query)
        await self._recorder.record(query, SearchResult(query.text, (), {}), answer, 1.0)
        return answer

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        if query.text == SLOW_QUESTION:
            try:
                yield StreamEvent("token", content="The beginning of ")
                await asyncio.sleep(3600)
            finally:
                self.left.set()
        answer = await self.ask(query)
        citations = {citation.id: citation for citation in answer.citations}
        for piece in re.findall(r"\[[^\]]+\]|[^\s\[]+\s*|\s+", answer.answer):
            yield StreamEvent("token", content=piece)
            if piece in citations:
                yield StreamEvent("citation", citation=citations[piece])
        verdict: dict[str, Json] = {
            "query_id": answer.query_id,
            "confidence": answer.confidence,
            "evidence_probability": answer.evidence_probability,
            "short_answer": answer.short_answer,
        }
        yield StreamEvent("metadata", metadata={**verdict, **answer.metadata})
        yield StreamEvent("done")


class Served:
    """A running server."""

    def __init__(self) -> None:
        self.url = ""
        self.ways: dict[str, WrittenWay] = {}


@contextmanager
def serving(settings: Settings, *, kinds: bool = True) -> Iterator[Served]:
    """Serve these settings on a free port until the block is left."""
    served, ready = Served(), threading.Event()
    with bind(settings.host, settings.port) as bound:
        served.url = url_of(settings.host, bound)
        servers: list[UvicornServer] = []

        async def run() -> None:
            async with Engine.open(settings) as engine:
                if kinds:
                    await _add_kinds(engine, served)
                engine.start_worker()
                servers.append(UvicornServer(create_app(settings, engine), settings, ready.set))
                await servers[0].serve(sockets=[bound])

        thread = threading.Thread(target=lambda: asyncio.run(run()))
        thread.start()
        assert ready.wait(60)
        try:
            yield served
        finally:
            servers[0].should_exit = True
            thread.join()


async def _add_kinds(engine: Engine, served: Served) -> None:
    made: Mapping[str, Callable[[Query], Answer]] = {"table": table_answer, "graph": graph_answer}
    for kind, answer in made.items():
        way = WrittenWay(engine, answer)
        served.ways[kind] = way
        engine.kinds.named(kind).way_out = way
        scope = Scope("default", {"table": "sales", "graph": "worldcup"}[kind])
        index = f"{scope.collection}-index"
        await engine.stores.catalog.collections.put(Collection(scope, kind, "none", 1, 1, index, datetime.now(UTC)))
