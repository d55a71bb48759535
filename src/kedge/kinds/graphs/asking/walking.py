"""From a node along typed paths to answers: a beam search that reads whole steps from the store, not single edges."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kedge.core.values import Json, Scope
from kedge.kinds.graphs.asking.matching import BACKWARDS, STEP, Path, PathMatcher, Step
from kedge.kinds.graphs.naming import relation_name
from kedge.stores.graph.nodes import Node, NodeStore

MAX_STEPS = 3
BEAM = 12
"""Paths that go on after every step."""
WIDE = 300
"""Most nodes that a path goes on from."""
EDGES = 3000
"""Most edges read for one kind of step: a hub's others are left out."""
PROPERTY_NODES = 20
"""Most nodes at the end of a path whose properties are looked at."""
_OPAQUE = re.compile(r"^(?:[mg]\.[0-9a-z_]+|_:\w+|cvt[_\d]\w*|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22})$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundPath:
    """A typed path from one node, with everything it leads to."""

    start: str
    path: Path
    score: float
    reached: Mapping[str, int]
    """Node → how many ways lead to it."""
    came: Mapping[str, tuple[str, str]] = field(default_factory=dict, compare=False)
    """Node of the last step → (node before it, edge id), for one of the ways."""
    before: FoundPath | None = field(default=None, compare=False, repr=False)
    values: Mapping[str, Json] = field(default_factory=dict)
    """For a property as the last step: node → its value."""

    def nodes_to(self, node: str) -> list[tuple[str, str | None]]:
        """One way from the start to the node: (node, edge that led to it)."""
        if self.before is None:
            return [(node, None)]
        if self.values:
            return self.before.nodes_to(node)
        previous, edge = self.came[node]
        return [*self.before.nodes_to(previous), (node, edge)]

    def answers(self) -> list[str]:
        """What it leads to: what most ways lead to first, the start itself last."""
        return sorted(self.reached, key=lambda node: (node == self.start, -self.reached[node], node))


def opaque(node: str) -> bool:
    """Whether an id names nothing by itself: a mediator between others, such as Freebase's `m.0abc`."""
    return _OPAQUE.match(node) is not None


async def walk(
    store: NodeStore, scope: Scope, start: str, matcher: PathMatcher, *, steps: int = MAX_STEPS
) -> list[FoundPath]:
    """All paths that were looked at, best first."""
    walker = _Walker(store, scope, matcher, start)
    beam = [FoundPath(start, (), 0.0, {start: 1})]
    found: list[FoundPath] = await walker.properties(beam)
    for length in range(1, steps + 1):
        further = await walker.further(beam)
        found += [one for one in further if not all(map(opaque, one.reached))]
        beam = walker.rescored(further)[:BEAM]
        if length < steps:
            found += await walker.properties(beam[:BEAM])
    return [one for one in walker.rescored(found) if one.reached]


class _Walker:
    def __init__(self, store: NodeStore, scope: Scope, matcher: PathMatcher, start: str) -> None:
        self._store = store
        self._scope = scope
        self._matcher = matcher
        self._start = start
        self._nodes: dict[str, Node] = {}

    def rescored(self, found: Iterable[FoundPath]) -> list[FoundPath]:
        """Scored with all steps that are known by now, best first; equal scores by the path, so that runs are equal."""
        scored = [replace(one, score=self._score(one)) for one in found]
        return sorted(scored, key=lambda one: (-one.score, len(one.path), one.path))

    def _score(self, found: FoundPath) -> float:
        """A mediator is no step of its own: what only passes through it is free."""
        passed = sum(1 for part in _parts(found) if part.path and all(map(opaque, part.reached)))
        return self._matcher.score(found.path) + passed * (STEP + BACKWARDS)

    async def further(self, beam: Sequence[FoundPath]) -> list[FoundPath]:
        """Every path of the beam, one step longer in all ways that score well."""
        fronts = [self._front(one) for one in beam]
        nodes = list(dict.fromkeys(node for front in fronts for node in front))
        steps: dict[str, set[Step]] = defaultdict(set)
        for relation in await self._store.relations(self._scope, nodes):
            steps[relation.node].add(Step(relation.type, relation.outgoing))
        await self._matcher.learn([step for held in steps.values() for step in held])
        wanted: list[tuple[float, int, Step]] = []
        for place, (one, front) in enumerate(zip(beam, fronts, strict=True)):
            for step in sorted(set().union(*(steps[node] for node in front)) if front else ()):
                if not _returns(one.path, step):
                    wanted.append((self._matcher.score((*one.path, step)), place, step))
        wanted.sort(key=lambda item: (-item[0], item[1], item[2]))
        return await self._followed(beam, fronts, [(place, step) for _, place, step in wanted[: 2 * BEAM]])

    def _front(self, found: FoundPath) -> list[str]:
        """Where a path goes on from: the most reached first, the start itself last."""
        return found.answers()[:WIDE]

    async def _followed(
        self, beam: Sequence[FoundPath], fronts: Sequence[Sequence[str]], wanted: Sequence[tuple[int, Step]]
    ) -> list[FoundPath]:
        """Read each kind of step once for all paths that take it."""
        by_step: dict[Step, list[int]] = defaultdict(list)
        for place, step in wanted:
            by_step[step].append(place)
        made: list[FoundPath] = []
        for step, places in by_step.items():
            union = list(dict.fromkeys(node for place in places for node in fronts[place]))
            edges = await self._store.follow(self._scope, union, step.type, outgoing=step.outgoing, limit=EDGES)
            leaving: dict[str, list[tuple[str, str]]] = defaultdict(list)
            for near, edge, far in edges:
                leaving[near].append((edge, far))
            for place in places:
                made.append(_longer(beam[place], fronts[place], step, leaving))
        return await self._typed([one for one in made if one.reached])

    async def _typed(self, made: list[FoundPath]) -> list[FoundPath]:
        """With the type of the nodes at the end, which questions name too."""
        ends = [one.answers()[:PROPERTY_NODES] for one in made]
        await self._load(node for some in ends for node in some)
        typed = []
        for one, some in zip(made, ends, strict=True):
            types = {self._nodes[node].type for node in some if node in self._nodes}
            leads_to = relation_name(types.pop()).words if len(types) == 1 and "" not in types else ""
            path = (*one.path[:-1], one.path[-1]._replace(leads_to=leads_to))
            typed.append(replace(one, path=path))
        await self._matcher.learn([one.path[-1] for one in typed])
        return typed

    async def properties(self, beam: Sequence[FoundPath]) -> list[FoundPath]:
        """Every path of the beam that ends at few nodes, with one of their properties as its last step."""
        few = [one for one in beam if len(one.reached) <= PROPERTY_NODES]
        await self._load(node for one in few for node in one.reached)
        made = []
        for one in few:
            names: dict[str, dict[str, Json]] = defaultdict(dict)
            for node in one.reached:
                held = self._nodes.get(node)
                for name, value in _values(held) if held else ():
                    names[name][node] = value
            for name, values in names.items():
                path = (*one.path, Step(name, True, is_property=True))
                reached = {node: one.reached[node] for node in values}
                made.append(FoundPath(self._start, path, 0.0, reached, before=one, values=values))
        await self._matcher.learn([one.path[-1] for one in made])
        return made

    async def _load(self, nodes: Iterable[str]) -> None:
        new = [node for node in dict.fromkeys(nodes) if node not in self._nodes]
        if new:
            self._nodes.update(await self._store.nodes(self._scope, new))


def _values(node: Node) -> Iterator[tuple[str, Json]]:
    """Properties that a question may ask for: plain values that are neither the title nor a key."""
    for name, value in node.properties.items():
        if isinstance(value, str | int | float | bool) and value != node.title and not _names_id(name):
            yield name, value


def _names_id(name: str) -> bool:
    """Whether a property is a key, which says nothing to a person: `categoryID`."""
    return name.lower() in ("id", "uuid", "key") or name.endswith(("ID", "Id", "_id"))


def _parts(found: FoundPath) -> list[FoundPath]:
    parts = [found]
    while parts[-1].before is not None:
        parts.append(parts[-1].before)
    return parts[1:]


def _returns(path: Path, step: Step) -> bool:
    """Going back along the very relation that led here leads to where it came from, and to its like."""
    return bool(path) and path[-1].type == step.type and path[-1].outgoing != step.outgoing


def _longer(
    found: FoundPath, front: Sequence[str], step: Step, leaving: Mapping[str, Sequence[tuple[str, str]]]
) -> FoundPath:
    reached: dict[str, int] = {}
    came: dict[str, tuple[str, str]] = {}
    for node in front:
        for edge, far in leaving.get(node, ()):
            reached[far] = reached.get(far, 0) + found.reached[node]
            came.setdefault(far, (node, edge))
    return FoundPath(found.start, (*found.path, step), 0.0, reached, came, found)
