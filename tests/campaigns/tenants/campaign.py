"""All attempts on all surfaces of one set of stores, in order, with a control."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from kedge.core.settings import Settings
from kedge.engine.engine import Engine
from tests.campaigns.tenants.crossing import Crosser, Report, found_by_owner, unchanged, views
from tests.campaigns.tenants.library import cross_commands, cross_engine, cross_facade, cross_mcp
from tests.campaigns.tenants.world import OWNER, TWIN, World, plant, served_by, settled

STEP = 300
"""Attempts over HTTP between two looks at what owner and twin see."""


@dataclass(frozen=True)
class Plan:
    """How many attempts on which surface."""

    http: int
    engine: int
    mcp: int
    facade: int = 0
    cli: int = 0

    @classmethod
    def of(cls, attempts: int, *, local: bool) -> Plan:
        """Most over HTTP; `local`: the home is a folder that the command line can open too."""
        facade, cli = (attempts // 20, attempts // 100) if local else (0, 0)
        engine, mcp = attempts // 8, attempts // 20
        return cls(attempts - engine - mcp - facade - cli, engine, mcp, facade, cli)


def campaign(settings: Settings, plan: Plan, seed: int, told: Callable[[str], None] = lambda _line: None) -> Report:
    """Plant, try to cross, and compare what owner and twin see with what they saw before."""
    report = Report()
    world, before = asyncio.run(_within(settings, plan, seed, report, told))
    if plan.facade or plan.cli:
        cross_facade(world, settings.home, seed, plan.facade, report, embedder=settings.embedder)
        told(f"{report.total} attempts")
        cross_commands(world, settings.home, seed, plan.cli, report)
    asyncio.run(_after(settings, world, before, report))
    return report


async def _within(
    settings: Settings, plan: Plan, seed: int, report: Report, told: Callable[[str], None]
) -> tuple[World, dict[str, dict[str, str]]]:
    async with Engine.open(settings) as engine:
        engine.start_worker()
        world = await plant(settings, engine)
        before = await views(world)
        report.control = await found_by_owner(world, seed)
        crosser = Crosser(world, seed, report)
        for start in range(0, plan.http, STEP):
            await crosser.run(range(start, min(start + STEP, plan.http)))
            await _clear(engine)
            await unchanged(world, before, report)
            told("\n".join([f"{report.total} attempts, {len(report.leaks)} leaks", *report.leaks[-3:]]))
        await cross_engine(world, seed, plan.engine, report)
        await cross_mcp(world, seed, plan.mcp, report)
        await settled(engine)
        await unchanged(world, before, report)
        if settings.catalog_url.startswith("memory:"):
            return world, {}
        return world, before


async def _clear(engine: Engine) -> None:
    """Delete what the strangers made, under whatever names: every collection takes some megabytes on the disk."""
    await settled(engine)
    for collection in await engine.stores.catalog.collections.everywhere():
        if collection.scope.tenant not in (OWNER, TWIN):
            await engine.delete_collection(collection.scope)


async def _after(settings: Settings, world: World, before: dict[str, dict[str, str]], report: Report) -> None:
    """What is on disk is looked at once more by an engine that remembers nothing; then cleared from servers."""
    if not before:
        return
    async with Engine.open(settings) as engine:
        world.engine, world.app = engine, served_by(settings, engine)
        await unchanged(world, before, report)
        for collection in await engine.stores.catalog.collections.everywhere():
            await engine.delete_collection(collection.scope)
