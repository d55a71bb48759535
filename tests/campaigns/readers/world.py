"""A home in which documents, lessons, sessions and nodes have readers, and for each of a few people a twin home that
holds only what that person may read: the oracle is the absence of the rest.

Addresses are the same everywhere, so ids are too. Every document has a mark, a word that stands nowhere else.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from kedge.core.settings import Settings
from kedge.core.values import Actor, IngestRequest, Right, Scope
from kedge.engine.access.keys import make_key
from kedge.engine.engine import Engine
from kedge.kinds.graphs.surfaces.opened import nodes_of
from kedge.stores.graph.nodes import Edge, Node
from tests.campaigns.tenants.world import served_by

DOCUMENTS, COURSE, FIGURES, OPEN_FIGURES, GRAPH = "papers", "robots", "salaries", "prices", "family"
GROUPS = ("board", "staff", "night", "north")
PEOPLE = (
    Actor("ann", frozenset({"board", "staff"})),
    Actor("bob", frozenset({"night"})),
    Actor("cy"),
)
WORDS = (
    "harbour captain salary anchor keeper ledger vault tide ship cargo crane pilot storm lantern rope chart compass "
    "sail engine customs"
).split()
BIRDS = ("Nightingale", "Kingfisher", "Osprey", "Sandpiper")
"""Short names of plans: documents are called by them, and others speak of them."""
HIDDEN_TYPE = "Person"


@dataclass(frozen=True)
class Paper:
    """One made-up document."""

    name: str
    text: str
    mark: str
    readers: tuple[str, ...] | None

    @property
    def title(self) -> str:
        return self.name if self.name.startswith(BIRDS) else f"The {self.name} paper"


@dataclass
class Home:
    """One engine with its server."""

    engine: Engine
    app: Any
    keys: dict[str, str] = field(default_factory=dict)
    """By user: the token of a key with the right to write."""

    def client(self, who: Actor) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        headers = {"authorization": f"Bearer {self.keys[str(who.user)]}"}
        return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers, timeout=120)


@dataclass
class World:
    """The home with everything, the twins, and what is in them."""

    papers: list[Paper]
    lessons: list[Paper]
    main: Home
    twins: dict[str, Home] = field(default_factory=dict)
    rules: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Readers of sessions, by collection."""
    node_readers: tuple[str, ...] = ()
    """Readers of the nodes of `HIDDEN_TYPE`."""
    ids: list[str] = field(default_factory=list)
    """Of all documents and lessons."""
    passages: list[str] = field(default_factory=list)

    def hidden(self, who: Actor) -> set[str]:
        """Marks that this person must never see."""
        return {one.mark for one in (*self.papers, *self.lessons) if not who.may_read(one.readers)}


def made_papers(rng: random.Random, count: int) -> list[Paper]:
    """Documents of a small vocabulary, some for everybody, some for groups and users."""
    found = []
    for _ in range(count):
        mark = f"zq{rng.randrange(16**8):08x}"
        plain = f"{rng.choice(WORDS)} {rng.choice(WORDS)} {mark}"
        name = f"{rng.choice(BIRDS)} ({mark})" if rng.random() < 0.3 else plain
        sentences = [
            f"The {one} of the {other} costs {rng.randrange(10, 9000)} crowns {when}."
            for one, other, when in (
                (rng.choice(WORDS), rng.choice(WORDS), rng.choice(("a month", "a year", "in winter")))
                for _ in range(rng.randrange(2, 6))
            )
        ]
        sentences.insert(rng.randrange(len(sentences)), f"Its password is {mark}.")
        sentences.append(f"We meet for {rng.choice(BIRDS)} in winter.")
        found.append(Paper(name, " ".join(sentences), mark, made_readers(rng)))
    return found


def made_readers(rng: random.Random) -> tuple[str, ...] | None:
    """Nobody named, public, or one to three principals."""
    if rng.random() < 0.3:
        return rng.choice((None, ("public",)))
    every = [f"group:{group}" for group in GROUPS] + [f"user:{who.user}" for who in PEOPLE] + ["user:dee"]
    return tuple(sorted(rng.sample(every, rng.randrange(1, 4))))


@asynccontextmanager
async def opened_world(settings: Settings, folder: Path, seed: int, papers: int = 24) -> AsyncIterator[World]:
    """Everything planted: in the home of the settings, and in twins that live in memory."""
    rng = random.Random(seed)
    documents, lessons = made_papers(rng, papers), made_papers(rng, max(4, papers // 4))
    (folder / COURSE).mkdir(parents=True)
    async with AsyncExitStack() as stack:
        main = await _opened(stack, settings)
        world = World(documents, lessons, main)
        world.rules = {FIGURES: ("group:board",), OPEN_FIGURES: ("public",)}
        world.node_readers = ("group:night", "user:ann")
        await _plant(world, main, folder, None)
        for who in PEOPLE:
            alone = settings.model_copy(
                update={
                    "home": folder / f"twin-{who.user}",
                    "catalog_url": "memory:",
                    "vector_url": "memory:" if settings.vector_url == "memory:" else "",
                    "graph_url": "memory:",
                }
            )
            twin = world.twins[str(who.user)] = await _opened(stack, alone)
            await _plant(world, twin, folder, who)
        for name in (DOCUMENTS, COURSE):
            async for document in main.engine.library.all_documents(Scope("default", name)):
                world.ids.append(document.id)
                _, passages = await main.engine.document("default", document.id)
                world.passages += [passage.id for passage in passages]
        yield world


async def _opened(stack: AsyncExitStack, settings: Settings) -> Home:
    engine = await stack.enter_async_context(Engine.open(settings))
    engine.kinds.open_all()
    home = Home(engine, served_by(settings, engine))
    for who in PEOPLE:
        token, key = make_key("default", "campaign", Right.WRITE, user=who.user, groups=sorted(who.groups))
        await engine.stores.catalog.keys.put(key)
        home.keys[str(who.user)] = token
    return home


async def _plant(world: World, home: Home, folder: Path, who: Actor | None) -> None:
    """What this person may read, with the same addresses; for nobody in particular everything."""

    def mine(found: Sequence[Paper]) -> list[Paper]:
        return [one for one in found if who is None or who.may_read(one.readers)]

    engine = home.engine
    places = folder / "papers"
    places.mkdir(exist_ok=True)
    sources = []
    for number, paper in enumerate(world.papers):
        path = places / f"{number:03}.md"
        if who is None:
            said = "" if paper.readers is None else f"---\nreaders: [{', '.join(map(repr, paper.readers))}]\n---\n"
            path.write_text(f"{said}# {paper.title}\n\n{paper.text}\n")
        if paper in mine(world.papers):
            sources.append(str(path))
    if sources:
        await _taken(engine, IngestRequest(Scope("default", DOCUMENTS), tuple(sources)))
    await _course(world, home, folder, mine(world.lessons), who)
    for name, readers in world.rules.items():
        if who is None or who.may_read(readers):
            table = folder / f"{name}.csv"
            table.write_text(f"name,crowns\ncaptain,{len(name)}000\npilot,40\nkeeper,30\n")
            await _taken(engine, IngestRequest(Scope("default", name), (str(table),), kind="table"))
            if who is None:
                await engine.access.give_collection(Scope("default", name), readers)
    await _graph(world, home, who)


async def _course(world: World, home: Home, folder: Path, shown: Sequence[Paper], who: Actor | None) -> None:
    base = folder / (COURSE if who is None else f"lessons-{who.user}") / COURSE
    base.mkdir(parents=True, exist_ok=True)
    for number, lesson in enumerate(world.lessons, start=1):
        if lesson not in shown:
            continue
        place = base / "module-1" / "chapter-01"
        place.mkdir(parents=True, exist_ok=True)
        said = "" if lesson.readers is None else f"readers: [{', '.join(map(repr, lesson.readers))}]\n"
        head = f"---\ntitle: {lesson.title}\n{said}---\n"
        (place / f"lesson-{number:02}.md").write_text(f"{head}# {lesson.title}\n\n{lesson.text}\n")
    if shown:
        await _taken(home.engine, IngestRequest(Scope("default", COURSE), (str(base),), kind="course"))


async def _graph(world: World, home: Home, who: Actor | None) -> None:
    nodes, scope = nodes_of(home.engine), Scope("default", GRAPH)
    hidden = who is not None and not who.may_read(world.node_readers)
    for number in range(6):
        if not hidden:
            description = f"A keeper of zqperson{number}."
            await nodes.create(scope, Node(f"p{number}", HIDDEN_TYPE, f"Keeper {number}", description))
        await nodes.create(scope, Node(f"t{number}", "Town", f"Town {number}", f"A harbour town, number {number}."))
    for number in range(6):
        if not hidden:
            await nodes.create_edge(scope, Edge(f"born{number}", f"p{number}", f"t{number}", "born_in"))
        await nodes.create_edge(scope, Edge(f"near{number}", f"t{number}", f"t{(number + 1) % 6}", "near"))
    if who is None:
        await home.engine.access.give_collection(scope, world.node_readers, HIDDEN_TYPE)


async def _taken(engine: Engine, request: IngestRequest) -> None:
    job = await engine.ingest(request)
    assert not job.errors, (job.errors, job.error_message)
