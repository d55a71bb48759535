"""Every regular expression of Kedge with long texts made of its own alphabet: `patterns.py` prints what grows too fast.

The texts are those on which a backtracking engine takes the square of the length or worse: what begins a match again
and again, what a repetition repeats without the end that it waits for, behind what leads there. Each is tried in
growing lengths, and the processor's own time of this process is compared, so that a busy machine changes little.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import kedge
from kedge.answer.sheets.cells import LONGEST_CELL
from kedge.core.values.query import MAX_QUERY_CHARS
from kedge.kinds.courses.asking import LONGEST as LONGEST_OF_STRUCTURE
from kedge.text.compared import LONGEST, squeezed

SRC = Path(kedge.__file__).parent
ANCHORED = {"match", "fullmatch"}
METHODS = ("match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer")
SHORTEST, SHORTER, LONGER = 625, 10_000, 40_000
"""Characters: enough for what is worse than a square, and the two lengths that are compared."""
NOISE = 0.015
"""Seconds for the shorter length below which nothing is compared: its square takes more."""
TRIES = 3
"""The least of so many measurements counts: a clock that ticks or a cold cache only ever adds."""
MOST_SECONDS = 2.0
BOUNDED_SECONDS = 0.25
"""For the longest text of those whose length is bounded: the square of it takes a tenth."""
BOUNDED = {
    "kedge.ingest.parse.code._CALLED": 400,
    "kedge.answer.sheets.cells._NOTES": LONGEST_CELL,
    "kedge.answer.sheets.cells._BRACKETS": LONGEST_CELL,
    "kedge.kinds.courses.asking": LONGEST_OF_STRUCTURE,
    "kedge.text.compared": LONGEST,
    "kedge.text.sentences._LAST_WORD": 40,
    **dict.fromkeys(
        (
            "kedge.answer.spelling",
            "kedge.kinds.courses.learning",
            "kedge.kinds.graphs.asking",
            "kedge.kinds.tables.asking",
            "kedge.retrieve.channels.related._PATTERNS",
            "kedge.retrieve.when",
            *(f"kedge.text.{name}" for name in ("amounts", "asked", "form", "leaning", "question", "slots", "topics")),
        ),
        MAX_QUERY_CHARS,
    ),
}
"""Patterns, by the beginning of their name, that see no longer texts than this."""
PREPARED: dict[str, Callable[[str], str]] = {
    "kedge.text.compared": squeezed,
    "kedge.kinds.courses.asking": lambda text: " ".join(text.split()),
}
"""What the code does to a text before such patterns see it."""
SQUARE = 0.6
"""Of the factor by which a square would have grown, from which on it counts as one."""
ALPHABET = " \n\t\xa0aAzZé1.,;:-_=#*'\"`~|/\\()[]{}<>$%&@!?^+\u2028\r\x00жß中"
REPRESENTATIVES = 3
"""Of a class of characters so many are tried."""
MOST_TEXTS = 48
"""For one pattern."""


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern as the code uses it."""

    where: str
    """Module and line, or name."""
    pattern: re.Pattern[Any]
    anchored: bool
    """It is only ever tried at one place of a text."""


class Late(Exception):
    """It took far too long."""


def modules() -> list[ModuleType]:
    """Every module of Kedge that can be imported here."""
    found = []
    for one in pkgutil.walk_packages([str(SRC)], "kedge."):
        if one.name.endswith("__main__") or ".migrations" in one.name:
            continue
        try:
            found.append(importlib.import_module(one.name))
        except ImportError:  # an extra that is not installed here
            continue
    return found


def every_pattern() -> list[Found]:
    """Those that modules and classes hold, those inside of functions, and those made from parts where they can be."""
    found: dict[tuple[str | bytes, int], Found] = {}
    loaded = modules()
    trees = {module.__name__: ast.parse(Path(str(module.__file__)).read_text("utf-8")) for module in loaded}
    uses = {name: _uses(tree) for name, tree in trees.items()}
    everywhere: dict[str, set[str]] = {}
    for called in uses.values():
        for name, methods in called.items():
            everywhere.setdefault(name, set()).update(methods)
    for module in loaded:
        for name, pattern in _held(vars(module), module.__name__):
            short = name.rsplit(".", 1)[-1]
            methods = (uses[module.__name__] if short.startswith("_") else everywhere).get(short, {"search"})
            _add(found, Found(name, pattern, methods <= ANCHORED))
        for method, one in _inline(trees[module.__name__], module):
            if method != "compile" or (one.pattern.pattern, one.pattern.flags) not in found:
                _add(found, one)
    return list(found.values())


def _add(found: dict[tuple[str | bytes, int], Found], one: Found) -> None:
    """Once for each pattern, as it is used at worst."""
    key = (one.pattern.pattern, one.pattern.flags)
    if key not in found or (found[key].anchored and not one.anchored):
        found[key] = one


def _uses(tree: ast.AST) -> dict[str, set[str]]:
    """Names of patterns with the methods that are called on them; another use than a call counts as a search."""
    called: dict[str, set[str]] = {}
    owners = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in (*METHODS, "pattern"):
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
            if node.attr != "pattern":
                called.setdefault(name, set()).add(node.attr)
            owners.add(id(owner))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in owners:
            called.setdefault(node.id, set()).add("search")
    return called


def _held(values: dict[str, Any], where: str, depth: int = 0) -> Iterator[tuple[str, re.Pattern[Any]]]:
    for name, value in list(values.items()):
        yield from _in_value(value, f"{where}.{name}", depth)


def _in_value(value: Any, where: str, depth: int) -> Iterator[tuple[str, re.Pattern[Any]]]:
    if isinstance(value, re.Pattern):
        yield where, value
    elif depth > 3:
        return
    elif isinstance(value, dict):
        for key, one in list(value.items()):
            yield from _in_value(one, f"{where}[{key!r}]", depth + 1)
            yield from _in_value(key, f"{where}[]", depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for place, one in enumerate(value):
            yield from _in_value(one, f"{where}[{place}]", depth + 1)
    elif isinstance(value, type) and value.__module__.startswith("kedge"):
        yield from _held(dict(vars(value)), where, depth + 1)
    elif type(value).__module__.startswith("kedge") and hasattr(value, "__dict__"):
        yield from _held(vars(value), where, depth + 1)
    elif type(value).__module__.startswith("kedge") and hasattr(type(value), "__slots__"):
        slots = {name: getattr(value, name, None) for name in type(value).__slots__}
        yield from _held(slots, where, depth + 1)


def _inline(tree: ast.AST | None, module: ModuleType) -> Iterator[tuple[str, Found]]:
    """`re.sub("…", …)` and `re.compile` inside of functions."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)] if tree is not None else []
    for node in {id(node): node for function in functions for node in ast.walk(function)}.values():
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        owner = node.func.value
        if not (isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr in (*METHODS, "compile")):
            continue
        text = _evaluated(node.args[0], module)
        if text is None:
            continue
        flags = 0
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "re":
                flags |= int(getattr(re.RegexFlag, part.attr, 0)) if part.attr.isupper() else 0
        found = Found(f"{module.__name__}:{node.lineno}", re.compile(text, flags), node.func.attr in ANCHORED)
        yield node.func.attr, found


def _evaluated(node: ast.expr, module: ModuleType) -> Any:
    """The text of a pattern; in place of what only a call knows stands a word."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str | bytes) else None
    if isinstance(node, ast.JoinedStr):
        parts = [_evaluated(part, module) for part in node.values]
        return "".join(part if isinstance(part, str) else "word" for part in parts)
    if isinstance(node, ast.FormattedValue):
        return _evaluated(node.value, module) or "word"
    if isinstance(node, ast.Name):
        value = getattr(module, node.id, None)
        return value if isinstance(value, str) else value.pattern if isinstance(value, re.Pattern) else None
    if isinstance(node, ast.Attribute) and node.attr == "pattern":
        return _evaluated(node.value, module)
    return None


# ------------------------------------------------------------ texts


_FITTING: dict[tuple[str, int, tuple[str, ...]], list[str]] = {}


class Samples:
    """Texts that parts of one pattern match, found in its syntax tree."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self._flags = pattern.flags
        self._bytes = isinstance(pattern.pattern, bytes)
        self._tree = re._parser.parse(pattern.pattern, pattern.flags)  # type: ignore[attr-defined]
        self._groups: dict[int, Any] = {}
        own = pattern.pattern.decode("latin-1") if self._bytes else pattern.pattern
        self._letters = list(dict.fromkeys(ALPHABET + own))

    def texts(self) -> Iterator[tuple[str, str, str]]:
        """(what comes first, what is repeated, what comes last)."""
        seen: set[tuple[str, str, str]] = set()
        for before, unit, after in itertools.islice(self._shapes(), 4000):
            if unit and (before, unit, after) not in seen and len(unit) < 60 and len(before) < 400:
                seen.add((before, unit, after))
                yield before, unit, after

    def _shapes(self) -> Iterator[tuple[str, str, str]]:
        for before, body in self._repeated(self._tree, ""):
            for pick in range(REPRESENTATIVES):
                unit = self._sample(body, pick)
                for after in ("", "\x00", "\n", "b"):
                    yield before, unit, after
                yield "", before + unit, ""
                yield "", unit, ""
        for end in range(1, len(self._tree) + 1):
            for pick in range(REPRESENTATIVES):
                yield "", self._sample(self._tree[:end], pick), ""
                yield "", self._sample(self._tree[:end], pick) + "\n", ""

    def _repeated(self, tree: Any, before: str) -> Iterator[tuple[str, Any]]:
        """What leads to each repetition without a narrow bound, and what it repeats."""
        for place, (operation, value) in enumerate(tree):
            lead = before + self._sample(tree[:place], 0)
            kind = str(operation)
            if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                if value[1] > 200:
                    yield lead, value[2]
                yield from self._repeated(value[2], lead)
            elif kind == "SUBPATTERN":
                yield from self._repeated(value[3], lead)
            elif kind == "ATOMIC_GROUP":
                yield from self._repeated(value, lead)
            elif kind == "BRANCH":
                for branch in value[1]:
                    yield from self._repeated(branch, lead)
            elif kind in ("ASSERT", "ASSERT_NOT"):
                yield from self._repeated(value[1], lead)

    def _sample(self, tree: Any, pick: int) -> str:
        return "".join(self._one(operation, value, pick) for operation, value in tree)

    def _one(self, operation: Any, value: Any, pick: int) -> str:
        kind = str(operation)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._sample(value[2], pick) * min(max(value[0], 1 if value[1] > 0 else 0), 40)
        if kind == "SUBPATTERN":
            self._groups[value[0]] = value[3]
        inner = {
            "SUBPATTERN": lambda: value[3],
            "ATOMIC_GROUP": lambda: value,
            "BRANCH": lambda: value[1][pick % len(value[1])],
            "GROUPREF": lambda: self._groups.get(value, ()),
        }.get(kind)
        if inner is not None:
            return self._sample(inner(), pick)
        if kind in ("LITERAL", "NOT_LITERAL", "IN", "ANY", "RANGE", "CATEGORY"):
            fitting = self._fitting(operation, value)
            return fitting[pick % len(fitting)] if fitting else ""
        return ""

    def _fitting(self, operation: Any, value: Any) -> list[str]:
        """A few characters of the class, of different kinds."""
        if str(operation) == "LITERAL":
            return [chr(value)]
        key = (repr((operation, value)), self._flags, tuple(self._letters))
        if key not in _FITTING:
            _FITTING[key] = self._tried(operation, value)
        return _FITTING[key]

    def _tried(self, operation: Any, value: Any) -> list[str]:
        single = re._parser.SubPattern(self._tree.state, [(operation, value)])  # type: ignore[attr-defined]
        compiled = re._compiler.compile(single, self._flags & ~re.VERBOSE)  # type: ignore[attr-defined]
        fits = []
        for letter in self._letters:
            try:
                if compiled.fullmatch(letter.encode("latin-1") if self._bytes else letter):
                    fits.append(letter)
            except UnicodeEncodeError:
                continue
        return fits[:: max(1, len(fits) // REPRESENTATIVES)][:REPRESENTATIVES]


# ------------------------------------------------------------ measuring


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Late after so many seconds of the processor."""

    def late(_number: int, _frame: FrameType | None) -> None:
        raise Late

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def seconds_of(work: Callable[[], object]) -> float:
    """Of the processor; `Late` counts as very many."""
    started = time.process_time()
    try:
        with limited(MOST_SECONDS):
            work()
    except Late:
        return float("inf")
    return time.process_time() - started


def used(found: Found, text: str) -> Callable[[], object]:
    """The pattern over the text, as the code uses it at worst."""
    given: Any = text.encode("latin-1", "replace") if isinstance(found.pattern.pattern, bytes) else text
    if found.anchored:
        return lambda: (found.pattern.match(given), found.pattern.fullmatch(given))
    return lambda: sum(1 for _ in found.pattern.finditer(given))


def grows(found: Found, before: str, unit: str, after: str) -> bool:
    """Whether the time grows about with the square of the length, or faster; with its cube where that is bounded."""

    prepared = next((way for name, way in PREPARED.items() if found.where.startswith(name)), str)

    def seconds(length: int) -> float:
        return seconds_of(used(found, prepared(before + unit * (length // len(unit)) + after)))

    bound = next((most for name, most in BOUNDED.items() if found.where.startswith(name)), None)
    if bound is not None:
        return all(seconds(bound) > BOUNDED_SECONDS for _ in range(TRIES))
    if seconds(SHORTEST) == float("inf"):
        return True
    shorter = MOST_SECONDS
    for _ in range(TRIES):
        shorter = min(shorter, seconds(SHORTER))
        if shorter < NOISE:
            return False
    square = SQUARE * (LONGER / SHORTER) ** 2
    return all(seconds(LONGER) > min(MOST_SECONDS, square * shorter) for _ in range(TRIES - 1))


def faults(found: Found) -> Iterator[str]:
    """The texts on which the pattern grows too fast, told; the first is enough."""
    for before, unit, after in itertools.islice(Samples(found.pattern).texts(), MOST_TEXTS):
        if grows(found, before, unit, after):
            yield f"{found.where}: {found.pattern.pattern!r} on {before!r} + {unit!r} * n + {after!r}"
            return


if __name__ == "__main__":
    every = every_pattern()
    for one in every if len(sys.argv) < 2 else [one for one in every if sys.argv[1] in one.where]:
        for told in faults(one):
            print(told, flush=True)
    print(f"{len(every)} patterns looked at", flush=True)
