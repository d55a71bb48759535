"""What must be known before a lesson: walks the PREREQUISITE edges of the graph and keeps the path to each lesson.

An edge counts while the version of the lesson that states it is live. A lesson that says nothing about prerequisites
needs the one that is taught before it in its module; one that says it needs none needs none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, TypeAlias

from kedge.core.errors import NotFoundError, StoreError, UsageError
from kedge.core.ids import concept_id, statement_id
from kedge.core.values import Predicate, Scope
from kedge.core.values.filters import Filter
from kedge.kinds.courses.edges import keys_of, name_key
from kedge.kinds.courses.place import Place
from kedge.kinds.courses.shelf import Shelf, passes
from kedge.kinds.courses.values import Lesson, Needed, Prerequisites
from kedge.stores.bundle import Stores
from kedge.stores.graph.reads import CanReadTriples

Why: TypeAlias = Literal["stated", "order"]


@dataclass(slots=True)
class _NeedsWalk:
    """One walk while it goes on."""

    lessons: Mapping[str, Lesson]
    """By key of their place: all of the course."""
    before: dict[str, dict[str, Why]] = field(default_factory=dict)
    """Lesson → lessons it needs."""
    modules: dict[str, None] = field(default_factory=dict)
    outside: dict[str, None] = field(default_factory=dict)


class Needs:
    """Answers what must be known before a lesson."""

    def __init__(self, stores: Stores, shelf: Shelf) -> None:
        self._stores = stores
        self._shelf = shelf

    async def find(self, scope: Scope, reference: str, where: Filter | None = None) -> list[Lesson]:
        """Lessons that a text names: by id, number (`3.2`, `2/3.2`, `Module 2 3.2`), title or file. NotFoundError."""
        lessons = await self._shelf.lessons(scope, where)
        found = named(reference, lessons)
        if not found:
            raise NotFoundError(
                f"There is no lesson {reference!r} in {scope.collection!r}.",
                hint=f"`kedge course lessons {scope.collection}` shows all.",
            )
        return found

    async def one(self, scope: Scope, reference: str, where: Filter | None = None) -> Lesson:
        """The one lesson that a text names. UsageError when several modules have it."""
        found = await self.find(scope, reference, where)
        if len(found) > 1:
            places = ", ".join(f"{lesson.place.module}/{lesson.place.number}" for lesson in found[:10])
            raise UsageError(
                f"{len(found)} lessons are called {reference!r}: {places}.",
                hint=f"Name its module: {found[0].place.module}/{found[0].place.number}, or filter by module.",
            )
        return found[0]

    async def before(self, scope: Scope, lesson: Lesson, where: Filter | None = None) -> Prerequisites:
        """All that must be known before the lesson."""
        every = await self._shelf.lessons(scope)
        walk = _NeedsWalk({one.place.key: one for one in every})
        follows = _following(every)
        edge = [lesson.place.key]
        while edge:
            stated = await self._stated(scope, [walk.lessons[key] for key in edge if key in walk.lessons])
            for key in edge:
                walk.before[key] = self._needed_by(walk, key, stated, follows)
            edge = sorted({other for key in edge for other in walk.before[key]} - walk.before.keys())
        return _gathered(walk, lesson, where)

    async def _stated(self, scope: Scope, lessons: Sequence[Lesson]) -> dict[str, list[str]]:
        """Lesson → nodes that its live version says it needs, read from the graph."""
        graph = self._stores.graph
        if not isinstance(graph, CanReadTriples):
            raise StoreError("This graph store gives no relations back.", hint="Use another graph_url.")
        live = {statement_id(lesson.version_id): lesson.place.key for lesson in lessons}
        triples = await graph.triples_of(scope, [concept_id(scope, lesson.place.key) for lesson in lessons])
        found: dict[str, list[str]] = {}
        for triple in triples:
            if triple.predicate is Predicate.PREREQUISITE and live.get(triple.passage_id) == triple.subject:
                found.setdefault(triple.subject, []).append(triple.object)
        for lesson in lessons:
            if lesson.needs and lesson.place.key not in found:  # replaced and swept since the lessons were read
                found[lesson.place.key] = [key for need in lesson.needs for key, _ in keys_of(need, lesson.place)]
        return found

    def _needed_by(
        self, walk: _NeedsWalk, key: str, stated: Mapping[str, Sequence[str]], follows: Mapping[str, str]
    ) -> dict[str, Why]:
        lesson = walk.lessons.get(key)
        if lesson is None:
            return {}
        if lesson.needs is None:
            return {follows[key]: "order"} if key in follows else {}
        found: dict[str, Why] = {}
        for node in stated.get(key, ()):
            found |= dict.fromkeys(_resolved(walk, node), "stated")
        found.pop(key, None)
        return found


def named(reference: str, lessons: Sequence[Lesson]) -> list[Lesson]:
    """Which of the lessons a text names; several when modules share a number or a title."""
    text = reference.strip()
    by_id = [lesson for lesson in lessons if lesson.parent_doc_id == text]
    if by_id:
        return by_id
    keys = {key for module in {one.place.module for one in lessons} for key, _ in keys_of(text, Place(module, 0, 0))}
    by_number = [lesson for lesson in lessons if lesson.place.key in keys]
    return by_number or [lesson for lesson in lessons if name_key(text) in _names(lesson)]


def _names(lesson: Lesson) -> set[str]:
    """Names that a lesson goes by: its title, its number with the title, its file with and without suffix."""
    file = lesson.source_file.rpartition("/")[2]
    stem = file.rpartition(".")[0]
    return {name_key(name) for name in (lesson.title, lesson.name, file, stem, lesson.source_file)}


def _resolved(walk: _NeedsWalk, node: str) -> list[str]:
    """Lessons that a node of the graph stands for; modules and what is no lesson are noted."""
    kind, _, rest = node.partition(":")
    if node in walk.lessons:
        return [node]
    if kind == "chapter":
        chapter = [key for key, one in walk.lessons.items() if f"{one.place.module}/{one.place.chapter}" == rest]
        if chapter:
            return chapter
    if kind == "module" and any(one.place.module == rest for one in walk.lessons.values()):
        walk.modules[rest] = None
        return []
    if kind == "name":
        called = [key for key, one in walk.lessons.items() if node in _names(one)]
        if called:
            return called
    walk.outside[rest if kind == "name" else node.replace("/", " ", 1).replace(":", " ").replace("/", ".")] = None
    return []


def _following(lessons: Sequence[Lesson]) -> dict[str, str]:
    """Lesson → the one that is taught before it in its module."""
    found: dict[str, str] = {}
    for earlier, later in pairwise(lessons):
        if earlier.place.module == later.place.module:
            found[later.place.key] = earlier.place.key
    return found


def _gathered(walk: _NeedsWalk, lesson: Lesson, where: Filter | None) -> Prerequisites:
    start = lesson.place.key
    paths = _paths(walk, start)
    order = [key for key in _learnable(walk, start) if key != start]
    needed = [
        Needed(
            lesson=walk.lessons[key],
            path=tuple(walk.lessons[step] for step in paths[key][0]),
            why=paths[key][1],
            direct=key in walk.before[start],
        )
        for key in order
    ]
    shown = [one for one in needed if all(passes(step, where) for step in one.path)]
    direct = [walk.lessons[key] for key in walk.before[start] if key in walk.lessons]
    return Prerequisites(
        lesson=lesson,
        needed=tuple(shown),
        direct=tuple(one.parent_doc_id for one in direct if passes(one, where)),
        modules=tuple(walk.modules),
        outside=tuple(walk.outside),
        hidden=len(needed) - len(shown),
    )


def _paths(walk: _NeedsWalk, start: str) -> dict[str, tuple[tuple[str, ...], Why]]:
    """The shortest path to each lesson, and whether all its steps are stated."""
    found: dict[str, tuple[tuple[str, ...], Why]] = {start: ((start,), "stated")}
    edge = [start]
    while edge:
        following: list[str] = []
        for key in edge:
            path, why = found[key]
            for other, step in walk.before.get(key, {}).items():
                if other not in found:
                    found[other] = ((*path, other), "order" if "order" in (why, step) else "stated")
                    following.append(other)
        edge = following
    return found


def _learnable(walk: _NeedsWalk, start: str) -> list[str]:
    """Every lesson after those that it needs, as far as they do not need each other; else as they are taught."""
    done: dict[str, None] = {}
    open_: set[str] = set()
    stack: list[tuple[str, bool]] = [(start, False)]
    while stack:
        key, returning = stack.pop()
        if returning:
            done[key] = None
        elif key not in done and key not in open_:
            open_.add(key)
            stack.append((key, True))
            inside = [other for other in walk.before.get(key, {}) if other in walk.lessons]
            inside.sort(key=lambda other: walk.lessons[other].place.order, reverse=True)
            stack += [(other, False) for other in inside]
    return list(done)
