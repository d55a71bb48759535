"""What a round does: operations, and how they are disturbed. All of it follows from the seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from tests.campaigns.chaos.proxy import WAYS
from tests.campaigns.chaos.world import NAMES, Corner, Place, State

EMBEDDERS = ("hash:64", "hash:48")


class Kind(StrEnum):
    """What an operation is."""

    INGEST = "ingest"
    SYNC = "sync"
    """Like ingest, by a source that the collection stays in step with."""
    FULL = "full"
    RECREATE = "recreate"
    DELETE = "delete"
    DROP = "drop"
    REINDEX = "reindex"
    SWEEP = "sweep"
    REPAIR = "repair"


_WEIGHTS = {
    Kind.INGEST: 35,
    Kind.SYNC: 15,
    Kind.FULL: 8,
    Kind.RECREATE: 4,
    Kind.DELETE: 14,
    Kind.DROP: 3,
    Kind.REINDEX: 11,
    Kind.SWEEP: 4,
    Kind.REPAIR: 6,
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of the engine."""

    kind: Kind
    letter: str
    """Of the collection."""
    changes: Mapping[Place, State] = field(default_factory=dict)
    """Files written or removed just before."""
    targets: Mapping[Place, State] = field(default_factory=dict)
    """State of each document that this is about, once acknowledged."""
    embedder: str = ""
    leftovers: Sequence[Place] = ()
    """Documents without a file, of a sync: a source that ever had the file takes them out, another leaves them."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A store goes away for a while."""

    after: int
    """Steps of the operations after which it does."""
    proxy: int
    how: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Round:
    """What one process does until it ends or is killed."""

    groups: Sequence[Sequence[Operation]]
    """One after the other; the operations of a group at once."""
    kill_after: int | None = None
    """Steps after which the process is killed."""
    kill_delay: float = 0.0
    """Seconds more."""
    faults: Sequence[Fault] = ()
    recover: bool = True
    """Whether somebody repairs before the next round."""

    @property
    def calm(self) -> bool:
        return self.kill_after is None and not self.faults


class Planner:
    """Makes rounds. Knows what shall be on the disk, never what became of it: so a seed gives the same plan again."""

    def __init__(self, seed: int, corners: Sequence[Corner], proxies: int) -> None:
        self._seed = seed
        self._corners = corners
        self._proxies = proxies
        self.wanted: dict[Place, State] = {place: None for corner in corners for place in corner.places()}
        self._newest = dict.fromkeys(self.wanted, 0)

    def round(self, number: int) -> Round:
        """The round of this number; to be asked for in order."""
        rng = random.Random(f"{self._seed}/{number}")
        groups = [self._group(rng) for _ in range(rng.randint(1, 3))]
        operations = sum(map(len, groups))
        kill = rng.random() < (0.85 if not self._proxies else 0.55)
        faults = self._proxies and rng.random() < 0.6
        slow = 0.3 if self._proxies else 0.05
        return Round(
            groups,
            kill_after=rng.randint(1, 12 * operations) if kill else None,
            kill_delay=rng.choice([0.0, rng.uniform(0, slow)]),
            faults=self._faults(rng, operations) if faults else (),
            recover=rng.random() < 0.75,
        )

    def _faults(self, rng: random.Random, operations: int) -> list[Fault]:
        return [
            Fault(
                after=rng.randint(0, 12 * operations),
                proxy=rng.randrange(self._proxies),
                how=rng.choice(WAYS),
                seconds=rng.uniform(0.05, 1.0),
            )
            for _ in range(rng.randint(1, 3))
        ]

    def _group(self, rng: random.Random) -> list[Operation]:
        corners = rng.sample(list(self._corners), 2 if rng.random() < 0.25 else 1)
        return [self._operation(rng, corner) for corner in corners]

    def _operation(self, rng: random.Random, corner: Corner) -> Operation:
        present = [place for place in corner.places() if self.wanted[place] is not None]
        kind = rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        if len(present) < 2:
            kind = Kind.INGEST
        if kind is Kind.DELETE:
            changes: dict[Place, State] = {rng.choice(present): None}
        elif kind is Kind.DROP:
            changes = dict.fromkeys(present)
        elif kind in (Kind.INGEST, Kind.FULL, Kind.RECREATE):
            changes = self._changes(rng, corner, present)
        elif kind is Kind.SYNC:  # what a source never had, it does not take out
            changes = {place: state for place, state in self._changes(rng, corner, present).items() if state}
        else:
            changes = {}
        self.wanted.update(changes)
        targets = self._targets(kind, corner, changes)
        gone = [place for place in corner.places() if self.wanted[place] is None] if kind is Kind.SYNC else []
        return Operation(kind, corner.letter, changes, targets, rng.choice(EMBEDDERS), gone)

    def _changes(self, rng: random.Random, corner: Corner, present: Sequence[Place]) -> dict[Place, State]:
        """New files, new versions, files as they were once, and files that go; at least two stay."""
        changes: dict[Place, State] = {}
        for place in rng.sample(corner.places(), rng.randint(1, NAMES // 2)):
            newest = self._newest[place]
            roll = rng.random()
            if self.wanted[place] is not None and roll < 0.2 and len(present) > 4:
                changes[place] = None
            elif newest and roll < 0.4:
                changes[place] = rng.randint(1, newest)
            else:
                changes[place] = self._newest[place] = newest + 1
        return changes

    def _targets(self, kind: Kind, corner: Corner, changes: Mapping[Place, State]) -> dict[Place, State]:
        if kind in (Kind.INGEST, Kind.FULL, Kind.RECREATE):
            return {place: self.wanted[place] for place in corner.places()}
        if kind is Kind.SYNC:
            return {place: self.wanted[place] for place in corner.places() if self.wanted[place] is not None}
        if kind is Kind.DROP:
            return dict.fromkeys(corner.places())
        return dict(changes)
