"""What may be seen of each document, now and since a reader began."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.campaigns.chaos.plan import Kind, Operation
from tests.campaigns.chaos.world import Place, State, marks_of, read_marks


class Violation(Exception):
    """Something that must never be was seen."""


@dataclass
class Ledger:
    """For each document the possible states: one after an acknowledged write, more while it runs or was cut."""

    history: dict[Place, list[frozenset[State]]] = field(default_factory=dict)
    """All sets of possible states, oldest first; the last one is the present."""

    def possible(self, place: Place, since: int = -1) -> frozenset[State]:
        """States possible now, or at any time since a moment."""
        known = self.history.get(place)
        return frozenset[State]().union(*known[since:]) if known else frozenset([None])

    def moment(self) -> dict[Place, int]:
        """Now, to ask `possible` later."""
        return {place: len(known) - 1 for place, known in self.history.items()}

    def set(self, place: Place, states: Iterable[State]) -> None:
        self.history.setdefault(place, [frozenset([None])]).append(frozenset(states))

    def add(self, place: Place, *states: State) -> None:
        self.set(place, self.possible(place).union(states))

    def settle(self) -> None:
        """Forget the past."""
        self.history = {place: known[-1:] for place, known in self.history.items()}

    def begin(self, operation: Operation) -> None:
        """From now on the operation's effects may be seen."""
        for place, target in operation.targets.items():
            absent = [None] if operation.kind is Kind.RECREATE else []
            self.add(place, target, *absent)
        for place in operation.leftovers:
            self.add(place, None)

    def done(self, operation: Operation) -> None:
        """The operation was acknowledged: only its result may be seen; what it left over may be there or not."""
        for place, target in operation.targets.items():
            self.set(place, [target])

    def judge_document(self, place: Place, texts: Iterable[str], since: int = -1) -> State:
        """Which version a reader saw of a document. Violation for a mix, a part, or one that may not be seen."""
        seen = frozenset(read_marks(texts))
        states = self.possible(place, since)
        for state in states:
            if seen == marks_of(place, state):
                return state
        versions = sorted({mark.version for mark in seen})
        shown = sorted(states, key=lambda state: state or 0)
        raise Violation(f"{place.title}: {len(seen)} sentences of versions {versions}, which is none of {shown} whole")

    def judge_hits(self, hits: Mapping[str, str], letter: str, since: Mapping[Place, int]) -> None:
        """Passages of one answer (passage id → text): no dead ones, of each document one version, all of one tenant."""
        versions: dict[Place, set[int]] = {}
        for mark in read_marks(hits.values()):
            versions.setdefault(mark.place, set()).add(mark.version)
        for place, seen in versions.items():
            if place.letter != letter:
                raise Violation(f"{place.title} was found in collection {letter}")
            states = self.possible(place, since.get(place, 0))
            marked = seen - {0}
            if len(marked) > 1:
                raise Violation(f"{place.title}: one answer shows versions {sorted(marked)}")
            if not marked <= states or states == {None}:
                raise Violation(
                    f"{place.title}: version {sorted(seen)} was found, possible is {sorted(map(str, states))}"
                )
