"""What IRIS SQL refuses, as InterSystems documents it, for the statements that a vector store needs.

Not the whole language: `refusal` knows the statements below and refuses every other one, so that a new statement has to
be looked up and added here before a test can run it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

ESCALATION = 1000
"""Rows of a table whose locks in one transaction become a lock of the table."""
SYNTAX, TYPES_DIFFER, NOT_FOUND = -1, -259, -400
_TYPES = ("DECIMAL", "DOUBLE", "FLOAT", "INTEGER", "STRING", "TIMESTAMP")
_TOKEN = re.compile(r"\s*(?:('[^']*')|([A-Za-z_][\w.]*)|(\d+(?:\.\d+)?)|(<=|>=|<>|[(),?*=<>+-]))")
_BEGINNINGS = (
    ("SELECT",),
    ("INSERT", "INTO"),
    ("DELETE", "FROM"),
    ("CREATE", "TABLE"),
    ("CREATE", "INDEX"),
    ("DROP", "TABLE"),
    ("SET", "TRANSACTION", "ISOLATION", "LEVEL", "READ", "COMMITTED"),
)
_NOT_IRIS = {"LIMIT", "OFFSET", "RETURNING", "ILIKE", "IF"}
_FIRST_HNSW = (2025, 1)
Refusal = tuple[int, str]
Check = Callable[[list[str]], Refusal | None]


def refusal(statement: str, columns: Mapping[str, str], version: tuple[int, int]) -> Refusal | None:
    """SQLCODE and why; None for a statement that the server takes. `columns`: vector column → type of its elements."""
    tokens = list(_tokens(statement))
    if None in tokens:
        return SYNTAX, "a character that the language has not"
    words = [token.upper() for token in tokens if token is not None]
    if not any(tuple(words[: len(start)]) == start for start in _BEGINNINGS):
        return SYNTAX, f"no statement begins with {' '.join(words[:3])}"
    if words.count("(") != words.count(")"):
        return SYNTAX, "brackets"
    for check in (_words, _top, _types, _one_type(columns), _hnsw(version)):
        fault = check(words)
        if fault is not None:
            return fault
    return None


def _tokens(statement: str) -> Iterator[str | None]:
    at = 0
    while at < len(statement.rstrip()):
        found = _TOKEN.match(statement, at)
        if found is None:
            yield None
            return
        at = found.end()
        yield next(part for part in found.groups() if part is not None)


def _words(words: list[str]) -> Refusal | None:
    foreign = _NOT_IRIS.intersection(words)
    return (SYNTAX, f"no word of the language: {', '.join(sorted(foreign))}") if foreign else None


def _top(words: list[str]) -> Refusal | None:
    """`TOP n` stands right behind `SELECT` or `SELECT DISTINCT`, and n is a number or one value."""
    for place, word in enumerate(words):
        if word == "TOP":
            before, after = words[max(0, place - 1)], words[place + 1] if place + 1 < len(words) else ""
            if before not in ("SELECT", "DISTINCT") or not (after == "?" or after.isdigit()):
                return SYNTAX, "TOP belongs behind SELECT, with a number"
    return None


def _types(words: list[str]) -> Refusal | None:
    """`TO_VECTOR(value [, TYPE [, length]])` and `VECTOR(TYPE [, length])`: the type is a keyword, never a string."""
    for place, word in enumerate(words):
        if word == "TO_VECTOR":
            inside = _arguments(words, place + 1)
            if len(inside) > 1 and inside[1] not in [[name] for name in _TYPES]:
                return SYNTAX, f"the type of TO_VECTOR is a keyword, not {' '.join(inside[1])}"
        elif word == "VECTOR" and words[place + 1 : place + 2] == ["("]:
            inside = _arguments(words, place + 1)
            if inside[0] not in [[name] for name in _TYPES] or len(inside) > 2:
                return SYNTAX, "VECTOR wants a keyword and a length"
    return None


def _one_type(columns: Mapping[str, str]) -> Check:
    """Two vectors in one function, and a vector and its column, are of one type."""

    def check(words: list[str]) -> Refusal | None:
        for place, word in enumerate(words):
            if word in ("VECTOR_DOT_PRODUCT", "VECTOR_COSINE"):
                kinds = {_kind(part, columns) for part in _arguments(words, place + 1)}
                if len(kinds) != 1:
                    return TYPES_DIFFER, f"vectors of different types: {', '.join(sorted(map(str, kinds)))}"
        if words[:2] == ["INSERT", "INTO"] and "TO_VECTOR" in words:
            named = _arguments(words, 3)
            given = _arguments(words, words.index("VALUES") + 1)
            for column, value in zip(named, given, strict=True):
                held = columns.get(column[0].lower())
                if held is not None and _kind(value, columns) != held.upper():
                    return TYPES_DIFFER, f"a vector of {_kind(value, columns)} for a column of {held}"
        return None

    return check


def _hnsw(version: tuple[int, int]) -> Check:
    """The index for vectors is there from 2025.1 on, in one spelling."""

    def check(words: list[str]) -> Refusal | None:
        if "HNSW" not in words:
            return None
        if version < _FIRST_HNSW:
            return SYNTAX, "AS is not expected here"
        made = words[words.index("HNSW") + 1 :]
        if words[3:5] != ["ON", "TABLE"] or made not in (
            ["(", "DISTANCE", "=", "'DOTPRODUCT'", ")"],
            ["(", "DISTANCE", "=", "'COSINE'", ")"],
        ):
            return SYNTAX, "CREATE INDEX name ON TABLE table (column) AS HNSW(Distance='DotProduct')"
        return None

    return check


def _kind(words: list[str], columns: Mapping[str, str]) -> str:
    if words[0] == "TO_VECTOR":
        inside = _arguments(words, 1)
        return inside[1][0] if len(inside) > 1 else "DOUBLE"
    return columns.get(words[0].lower(), "?").upper()


def _arguments(words: list[str], opening: int) -> list[list[str]]:
    """What stands between the bracket at `opening` and its end, parted at the commas of that level."""
    parts: list[list[str]] = [[]]
    depth = 0
    for word in words[opening:]:
        depth += (word == "(") - (word == ")")
        if not depth:
            break
        if word == "," and depth == 1:
            parts.append([])
        elif not (word == "(" and depth == 1 and parts == [[]]):
            parts[-1].append(word)
    return parts
