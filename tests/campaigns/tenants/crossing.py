"""Tries to cross: makes requests as another tenant, and looks for anything of the owner's in what comes back.

An attempt leaks when the answer holds a mark that the request did not, when it differs from the answer to the same
request with made-up handles (a hint that something is there), when the server fails, or when afterwards the owner's own
view has changed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import httpx

from kedge.core.values import Right
from tests.campaigns.tenants.recipes import NOT_COMPARED, RECIPES, Call, Pick
from tests.campaigns.tenants.world import OWNER, TWIN, World, plain, snapshot

FORGED: tuple[dict[str, str], ...] = (
    {},
    {"x-tenant": OWNER, "x-tenant-id": OWNER, "tenant": OWNER},
    {"x-forwarded-user": OWNER, "x-remote-user": OWNER, "remote-user": OWNER, "x-scope-orgid": OWNER},
    {
        "cookie": f"tenant={OWNER}; session={OWNER}",
        "x-original-url": "/api/collections",
        "x-http-method-override": "GET",
    },
)
"""Headers that name the owner; the first is none."""


@dataclass
class Report:
    """What was tried, and what came of it."""

    attempts: Counter[str] = field(default_factory=Counter)
    """By surface."""
    statuses: Counter[str] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)
    control: int = 0
    """Reading addresses that brought marks back to the owner itself: the marks can be found."""

    @property
    def total(self) -> int:
        return self.attempts.total()


class Crosser:
    """Makes attempts over HTTP as two others: one with nothing of its own, and the twin."""

    def __init__(self, world: World, seed: int, report: Report) -> None:
        self._world = world
        self._rng = random.Random(seed)
        self._seed = seed
        self._report = report
        self._strangers = 0
        self._stranger: dict[Right, str] = {}
        self._said: dict[tuple[str, str], str] = {}
        """What a caller said before in a conversation: it may hear its own words again."""

    async def run(self, numbers: Iterable[int]) -> None:
        """Make the attempts with these numbers, every operation in turn."""
        names = sorted(RECIPES)
        for number in numbers:
            await self.attempt(names[number % len(names)], number)

    async def attempt(self, name: str, number: int) -> None:
        """One request by one caller, with one credential and one set of forged headers."""
        world, rng, report = self._world, self._rng, self._report
        seed, forged = f"{self._seed}/{number}", rng.choice(FORGED)
        twin = rng.random() < 0.3 and _reads(name)
        token = world.tokens[TWIN] if twin else await self._key(rng.choice([Right.ADMIN, Right.WRITE, Right.READ]))
        pick = Pick(world, seed, real=True)
        call = RECIPES[name](pick)
        response = await self._send(token, call, forged)
        report.attempts[_surface(name)] += 1
        report.statuses[str(response.status_code)] += 1
        self._look(name, call, response, self._remembered(TWIN if twin else str(self._strangers), call))
        changed = response.is_success and not _reads(name)
        if changed:
            self._stranger.clear()  # from now on it has something of its own
        if twin or name in NOT_COMPARED:
            return
        other = Pick(world, seed, real=False)
        token = await self._key(Right.ADMIN) if changed else token
        control = await self._send(token, RECIPES[name](other), forged)
        if control.is_success and not _reads(name):
            self._stranger.clear()
        ours, theirs = _told(response, pick.used), _told(control, other.used)
        if ours != theirs:
            report.leaks.append(f"{name}: {call.text()} is told apart: {ours[:400]} / {theirs[:400]}")

    async def _key(self, right: Right) -> str:
        """Of a tenant that has nothing."""
        if not self._stranger:
            self._strangers += 1
        if right not in self._stranger:
            self._stranger[right] = await self._world.key(f"stranger{self._seed}-{self._strangers}", right)
        return self._stranger[right]

    async def _send(self, token: str, call: Call, forged: dict[str, str]) -> httpx.Response:
        return await send(self._world, token, call, forged)

    def _remembered(self, who: str, call: Call) -> str:
        """All that this caller said in the conversation of this request, with the request."""
        talk = call.json.get("session_id") if isinstance(call.json, dict) else None
        said = f"{self._said.get((who, talk), '')} {call.text()}" if talk else call.text()
        if talk:
            self._said[who, talk] = said
        return said

    def _look(self, name: str, call: Call, response: httpx.Response, said: str) -> None:
        if response.status_code >= 500:
            self._report.leaks.append(f"{name}: {call.text()} failed: {response.text[:400]}")
        self._report.leaks.extend(
            f"{name}: {call.text()} got {mark}: {response.text[:400]}"
            for mark in leaked(self._world, said, f"{response.text} {response.headers}")
        )


async def send(world: World, token: str, call: Call, headers: dict[str, str]) -> httpx.Response:
    """Make the request."""
    async with world.client(token) as client:
        more: dict[str, Any] = {"json": call.json} if call.json is not None else {}
        if call.files is not None:
            more = {"files": call.files, "data": call.data}
        return await client.request(call.method, call.path, params=call.params, headers=headers, **more)


async def found_by_owner(world: World, seed: int) -> int:
    """The control: how many of the reading recipes bring marks back when the owner itself uses them."""
    found = 0
    for number, name in enumerate(name for name in sorted(RECIPES) if _reads(name)):
        for again in range(5):
            call = RECIPES[name](Pick(world, f"{seed}/owner/{number}/{again}", real=True))
            response = await send(world, world.tokens[OWNER], call, {})
            if leaked(world, call.text(), response.text):
                found += 1
                break
    return found


def leaked(world: World, said: str, heard: str) -> list[str]:
    """Marks that came back and were not sent."""
    return [mark for mark in world.marks if mark in heard and mark not in said]


async def unchanged(world: World, before: dict[str, dict[str, str]], report: Report) -> None:
    """Compare what the tenants see of their own with what they saw before."""
    for tenant, seen in before.items():
        now = await snapshot(world, tenant)
        for address in seen.keys() | now.keys():
            if seen.get(address) != now.get(address):
                report.leaks.append(f"{tenant} sees {address} changed: {seen.get(address)} / {now.get(address)}"[:900])


async def views(world: World) -> dict[str, dict[str, str]]:
    """What owner and twin see now."""
    return {tenant: await snapshot(world, tenant) for tenant in (OWNER, TWIN)}


def _reads(name: str) -> bool:
    """Whether it changes nothing."""
    asks = ("/query", "/stream", "/search", "/completions", "/feedback")
    return name.startswith("GET ") or name.endswith(asks)


def _surface(name: str) -> str:
    parts = name.split()[1].strip("/").split("/")
    return f"http {parts[1] if parts[0] in ('api', 'v1') else parts[0]}"


def _told(response: httpx.Response, used: list[str]) -> str:
    """What a caller learns, whatever handles it used."""
    text = response.text
    for handle in sorted(set(used), key=len, reverse=True):
        text = text.replace(handle, "<handle>")
    return f"{response.status_code} {plain(text, ids=True)}"
