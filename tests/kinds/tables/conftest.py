"""An engine on a fresh home, a made-up shop's sales, and short ways to feed and ask."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, Answer, IngestMode, IngestRequest, Job, Query, Scope, SearchResult
from kedge.engine.engine import Engine
from kedge.kinds.tables.values import TableSession

T = TypeVar("T")
SCOPE = Scope(DEFAULT_TENANT, "s1")
PRODUCTS = {
    11: ("SNACKS", "Corn chips", "Crispo"),
    12: ("SNACKS", "Party pretzels", "Crispo"),
    13: ("DAIRY", "Whole milk", "Alpine"),
    14: ("DAIRY", "Goat cheese", "Alpine"),
    15: ("HOUSEHOLD", "Kitchen cleaner", "Sparkle"),
    16: ("PRODUCE", "Fresh apples", "Orchard"),
    17: ("BABY", "Baby food pears", "Tiny"),
}


def sales(count: int = 500) -> list[tuple[int, str, int, int, float]]:
    """(order, date, product, quantity, amount): the same for every run."""
    rng = random.Random(11)
    products = list(PRODUCTS)
    return [
        (
            order,
            f"2024-{1 + order % 12:02d}-{1 + order % 28:02d}",
            rng.choice(products),
            rng.randrange(1, 9),
            rng.randrange(100, 5000) / 100,
        )
        for order in range(1, count + 1)
    ]


def write_sales(path: Path, count: int = 500) -> Path:
    """One wide CSV, as a shop would export it."""
    lines = ["order_id,date,department,product,brand,quantity,amount"]
    for order, date, product, quantity, amount in sales(count):
        department, name, brand = PRODUCTS[product]
        lines.append(f"{order},{date},{department},{name},{brand},{quantity},{amount}")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


class Desk:
    """An open engine with the verbs that tests use."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    async def feed(self, *sources: Path | str, mode: str = "incremental", scope: Scope = SCOPE, **options: Any) -> Job:
        request = IngestRequest(
            scope, tuple(map(str, sources)), kind="table", mode=IngestMode(mode), options=dict(options)
        )
        return await self.engine.ingest(request)

    async def ask(self, question: str, scope: Scope = SCOPE, **options: Any) -> Answer:
        return await self.engine.ask(Query(question, scope, **options))

    async def search(self, question: str, top_k: int = 100, **options: Any) -> SearchResult:
        return await self.engine.search(Query(question, SCOPE, top_k=top_k, **options))

    async def session(self, scope: Scope = SCOPE) -> TableSession:
        return await self.engine.kinds.named("table").sessions.get(scope)

    async def figure(self, question: str, **options: Any) -> Any:
        """The one value of a computed answer."""
        answer = await self.ask(question, **options)
        plan = answer.metadata["plan"]
        assert isinstance(plan, dict)
        assert plan["exact"], answer.answer
        rows: Any = answer.metadata["rows"]
        assert len(rows) == 1, rows
        return rows[0][-1]


Scenario = Callable[[Desk], Awaitable[T]]
Run = Callable[..., Any]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(environ={}, home=tmp_path / "home", embedder="hash:256")


@pytest.fixture
def run(settings: Settings) -> Run:
    """Open an engine, run the scenario in it, close it."""

    def call(scenario: Scenario[T], **changes: object) -> T:
        async def inside() -> T:
            async with Engine.open(settings.model_copy(update=changes)) as engine:
                return await scenario(Desk(engine))

        return asyncio.run(inside())

    return call


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return write_sales(tmp_path / "sales.csv")


@pytest.fixture
def table(tmp_path: Path, run: Run) -> Callable[..., TableSession]:
    """Feed bytes or text as a file and return the session."""

    def feed(content: str | bytes, name: str = "data.csv", **options: Any) -> TableSession:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

        async def scenario(desk: Desk) -> TableSession:
            job = await desk.feed(path, **options)
            assert job.files_failed == 0, job.errors
            return await desk.session()

        session: TableSession = run(scenario)
        return session

    return feed
