"""Where a lesson stands in its course, and the ids that follow from it (C-01, C-02)."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from pathlib import PurePosixPath

from kedge.core.values import DEFAULT_TENANT, Scope

MAX_CHAPTER = 20
MAX_LESSON = 15
NO_MODULE = "main"
"""Module of a course that has none."""
NAMES = {
    "module": ("module", "module_id", "part"),
    "chapter": ("chapter", "unit", "week"),
    "lesson": ("lesson", "lesson_number"),
}
"""Field → its names in front matter, the first that is there counts."""

_NUMBER = r"(\d+)"
_FOLDERS = {
    "module": re.compile(rf"(?:module|mod|part|course)[-_ .]*{_NUMBER}(?![\d.])", re.IGNORECASE),
    "chapter": re.compile(rf"(?:chapter|chap|ch|unit|week)[-_ .]*{_NUMBER}(?![\d.])", re.IGNORECASE),
}
_LESSON_NAME = re.compile(
    rf"(?:lesson|lektion|lec|lecture)[-_ .]*(?:{_NUMBER}[.])?{_NUMBER}(?!\d)|{_NUMBER}(?:[.-]{_NUMBER})?(?=[-_. ]|$)",
    re.IGNORECASE,
)
_OVERVIEW = re.compile(r"(?:readme|_?index|overview|introduction|intro)", re.IGNORECASE)
_LEADING = re.compile(r"^\d+[-_. ]+")
_CONTAINERS = frozenset(("lessons", "lesson", "modules", "docs", "content", "src", "chapters", "units", "course"))


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A lesson's place: module, then chapter, then lesson. Chapter 0 is the module's own, lesson 0 an overview."""

    module: str
    chapter: int
    lesson: int

    @property
    def number(self) -> str:
        """As people say it within a module: `2.8`."""
        return f"{self.chapter}.{self.lesson}"

    @property
    def key(self) -> str:
        """Of the lesson's node in the graph."""
        return f"lesson:{self.module}/{self.chapter}/{self.lesson}"

    @property
    def order(self) -> tuple[int, int, str, int, int]:
        """Sorts lessons as they are taught: numbered modules by number, then the others by name."""
        numbered = self.module.isdigit()
        return (0 if numbered else 1, int(self.module) if numbered else 0, self.module, self.chapter, self.lesson)


def module_key(module: str) -> str:
    """Of a module's node in the graph."""
    return f"module:{module}"


def module_name(written: str) -> str:
    """One name for one module: `01`, `1` and `Module 1` are all `1`; other names are kept as they are.

    >>> module_name("Module 01"), module_name("ros2"), module_name("007")
    ('1', 'ros2', '7')
    """
    text = " ".join(written.split())
    prefixed = re.fullmatch(rf"(?:module|mod|part)?[-_ .]*{_NUMBER}", text, re.IGNORECASE)
    return str(int(prefixed[1])) if prefixed else text


def book_of(scope: Scope) -> str:
    """The book in ids: the collection; with the tenant before it for all but the default one, as ids are unique."""
    return scope.collection if scope.tenant == DEFAULT_TENANT else f"{scope.tenant}/{scope.collection}"


def parent_id(book: str, place: Place) -> str:
    """Id of the lesson as a whole: of its document, and `parent_doc_id` of its passages."""
    return _dns(f"{book}:{place.module}:{place.chapter}:{place.lesson}:parent")


def lesson_passage_id(book: str, place: Place, content_hash: str, occurrence: int = 1) -> str:
    """Id of a passage. A text that a lesson repeats is told apart from its second occurrence on."""
    again = f":{occurrence}" if occurrence > 1 else ""
    return _dns(f"{book}:{place.module}:{place.chapter}:{place.lesson}:{content_hash[:16]}{again}")


def _dns(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


@dataclass(frozen=True, slots=True)
class PathPlace:
    """What a path says about a lesson's place; None where it says nothing."""

    module: str | None = None
    chapter: int | None = None
    lesson: int | None = None
    overview: bool = False
    """The file introduces its folder: `README.md`, `index.md`, `overview.md`."""


_NUMBERED = re.compile(r"(\d{1,4})[-_. ]+\D")


def place_in_path(path: PurePosixPath) -> PathPlace:
    """Read `module-1/chapter-2/03-frames.md`, `ros2/2.3-frames.md`, `02-more/01-sensors/03-lidar.md` and the like.

    The path is relative to the course's folder.
    """
    module, chapter = _folders(path.parts[:-1])
    named = _LESSON_NAME.match(path.stem)
    numbers = [int(number) for number in named.groups() if number] if named else []
    if len(numbers) == 2:
        chapter = numbers[0]
    lesson = numbers[-1] if numbers else None
    return PathPlace(module, chapter, lesson, overview=lesson is None and bool(_OVERVIEW.fullmatch(path.stem)))


def _folders(folders: tuple[str, ...]) -> tuple[str | None, int | None]:
    """The first folder that is called so, else the outermost that is no mere container, names the module."""
    found: dict[str, str] = {}
    for folder in folders:
        for field, pattern in _FOLDERS.items():
            if field not in found and (match := pattern.match(folder)):
                found[field] = match[1]
    module = str(int(found["module"])) if "module" in found else _plain(folders)
    if "chapter" in found:
        return module, int(found["chapter"])
    return module, _numbered_below(folders, named=found.get("module"))


def _numbered_below(folders: tuple[str, ...], named: str | None) -> int | None:
    """The number of the first numbered folder inside the module's: `02-advanced/01-sensors` is chapter 1."""
    below = False
    for folder in folders:
        number = _NUMBERED.match(folder)
        if below and number:
            return int(number[1])
        if named is not None:
            below = below or _FOLDERS["module"].match(folder) is not None
        else:
            below = below or folder.lower() not in _CONTAINERS
    return None


def _plain(folders: tuple[str, ...]) -> str | None:
    for folder in folders:
        if folder.lower() not in _CONTAINERS and not _FOLDERS["chapter"].match(folder):
            return _LEADING.sub("", folder) or folder
    return None
