"""Documents with known content. Every sentence carries a mark: whose document, which version, which sentence.

A version is a number from 1; `None` is a document that is not there. The first section is the same in all versions (its
marks say version 0), so that versions share passages.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kedge.core.values import Scope

NAMES = 8
"""Documents that a collection may have."""
SENTENCES = 11
"""In a section: enough for a passage of its own, small enough to stay one."""
STATIC = 0
State = int | None
_MARK = re.compile(r"\bz([a-z])d(\d\d)v(\d+)s(\d+)\b")
_WORDS = (
    "anchor ballast capstan davit ebb fairlead galley halyard inlet jetty keel leeward mast narrows outhaul pier quay "
    "rudder sail tiller upwind vessel wharf yaw zephyr bollard cleat deck fathom gunwale hawser knot lanyard mooring"
).split()


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """One document: the letter of its collection, and its number there."""

    letter: str
    number: int

    @property
    def name(self) -> str:
        return f"doc-{self.number:02d}.md"

    @property
    def title(self) -> str:
        return f"Chart {self.letter.upper()}{self.number:02d}"


@dataclass(frozen=True, slots=True)
class Corner:
    """A collection of one tenant and the folder of its sources."""

    letter: str
    scope: Scope
    folder: Path

    def places(self) -> list[Place]:
        return [Place(self.letter, number) for number in range(NAMES)]


@dataclass(frozen=True, slots=True)
class Mark:
    """What a sentence says about itself."""

    place: Place
    version: int
    sentence: int


def corners(root: Path, run: str) -> list[Corner]:
    """Two tenants, one with two collections. Names are of this run alone: a server may be shared."""
    first, second = f"{run}-one", f"{run}-two"
    scopes = {"a": Scope(first, "alpha"), "b": Scope(first, "beta"), "c": Scope(second, "alpha")}
    return [Corner(letter, scope, root / letter) for letter, scope in scopes.items()]


def sections_of(place: Place, version: int) -> int:
    """Versions differ in length."""
    return random.Random(f"{place}/{version}").randint(1, 4)


@lru_cache(maxsize=4096)
def text_of(place: Place, version: int) -> str:
    """The file of one version."""
    parts = [f"# {place.title}\n", _section(place, STATIC, 0)]
    parts += [_section(place, version, number) for number in range(1, 1 + sections_of(place, version))]
    return "\n".join(parts)


def _section(place: Place, version: int, number: int) -> str:
    rng = random.Random(f"{place}/{version}/{number}")
    lines = []
    for sentence in range(SENTENCES):
        words = " ".join(rng.choices(_WORDS, k=8))
        also = Place(place.letter, rng.randrange(NAMES)).title
        mark = f"z{place.letter}d{place.number:02d}v{version}s{number * SENTENCES + sentence}"
        lines.append(f"The {words} of {mark} lies near {also}.")
    return f"## Sheet {number}\n\n" + " ".join(lines) + "\n"


@lru_cache(maxsize=4096)
def marks_of(place: Place, version: State) -> frozenset[Mark]:
    """All marks of a whole version."""
    return frozenset() if version is None else frozenset(read_marks([text_of(place, version)]))


def read_marks(texts: Iterable[str]) -> list[Mark]:
    """The marks in texts, in their order."""
    found = [match.groups() for text in texts for match in _MARK.finditer(text)]
    return [Mark(Place(letter, int(number)), int(version), int(s)) for letter, number, version, s in found]


def write_file(corner: Corner, place: Place, version: State) -> None:
    """Put one version on the disk at once, or take the file away."""
    path = corner.folder / place.name
    if version is None:
        path.unlink(missing_ok=True)
        return
    beside = corner.folder.parent / f"{corner.letter}-{place.name}.new"
    beside.write_text(text_of(place, version), "utf-8")
    beside.replace(path)
