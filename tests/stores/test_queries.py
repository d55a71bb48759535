"""Named statements: every one is used, every used name exists, and none of fixed text stands in a Python string."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge.stores.queries import filled, load_queries, parse
from tests.support.paths import ROOT

SOURCE = ROOT / "src" / "kedge"
FILES = sorted(path for path in SOURCE.rglob("*") if path.suffix in (".sql", ".cypher"))


def trees() -> Iterator[tuple[Path, ast.Module]]:
    """Every module of the source; one at a time, since all of them together slow down every collection of garbage."""
    for path in sorted(SOURCE.rglob("*.py")):
        yield path, ast.parse(path.read_text("utf-8"))


def loaded(tree: ast.Module) -> dict[str, str]:
    """Name in the module → file of its package, for every `NAME = load_queries(__package__, "file")`."""
    found = {}
    for node in tree.body:
        match node:
            case ast.Assign(
                [ast.Name(name)], ast.Call(ast.Name("load_queries"), [ast.Name("__package__"), ast.Constant(file)])
            ):
                found[name] = str(file)
    return found


def asked(tree: ast.Module, names: set[str]) -> Iterator[tuple[str, str]]:
    """(name in the module, statement) for every `NAME["statement"]`."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(ast.Name(name), ast.Constant(statement)) if name in names:
                yield name, str(statement)


def used() -> dict[Path, set[str]]:
    """File → statements that modules of its folder ask for."""
    found: dict[Path, set[str]] = defaultdict(set)
    for path, tree in trees():
        files = loaded(tree)
        for name, statement in asked(tree, set(files)):
            found[path.parent / files[name]].add(statement)
    return found


def test_every_statement_is_used_and_every_used_name_exists() -> None:
    asked_for = used()
    assert set(asked_for) == set(FILES)
    for path in FILES:
        package = ".".join(path.parent.relative_to(SOURCE.parent).parts)
        assert asked_for[path] == set(load_queries(package, path.name).statements), path


def test_statements_are_asked_for_by_a_literal_name() -> None:
    for path, tree in trees():
        names = set(loaded(tree))
        mentions = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names]
        assert len(mentions) == len(names) + len(list(asked(tree, names))), path


FIXED = re.compile(
    r"\s*(SELECT|DESCRIBE|INSERT( OR \w+)? INTO|UPDATE \w+ SET|DELETE FROM|PRAGMA|VACUUM|SHOW|UNWIND|MATCH|MERGE|CALL"
    r"|(CREATE|ALTER|DROP)( OR REPLACE)?( TEMP)? (TABLE|INDEX|EXTENSION|CONSTRAINT)) [^a-z]*\w",
)
MIGRATIONS = SOURCE / "stores" / "catalog" / "sql" / "migrations"
"""Each is the schema at one moment, written out in Python, and never changes."""


def plain_strings(tree: ast.Module) -> Iterator[str]:
    """Strings that are no part of an f-string: what is put together there is not fixed."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


def test_no_statement_of_fixed_text_stands_in_python() -> None:
    found = {
        f"{path.relative_to(SOURCE)}: {text[:60]}"
        for path, tree in trees()
        if not path.is_relative_to(MIGRATIONS)
        for text in plain_strings(tree)
        if FIXED.match(text)
    }
    assert sorted(found) == []


# ---------------------------------------------------------------- the loader


def test_a_file_is_read_into_statements_of_one_line() -> None:
    text = "// The file.\n\n// name: one\n// What it does.\nMATCH (n)\n  // why\n  RETURN n\n\n// name: two\nRETURN 2\n"
    assert parse(text, "//") == {"one": "MATCH (n) RETURN n", "two": "RETURN 2"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT 1", "no name above it"),
        ("-- name: one\nSELECT 1\n-- name: one\nSELECT 2", "'one' stands twice"),
        ("-- name: one\n-- nothing else\n-- name: two\nSELECT 2", "nothing stands below one"),
        ("-- name: one\nSELECT 1 -- would hide what follows\nFROM t", "a comment behind it"),
    ],
)
def test_a_file_that_would_mislead_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse(text, "--")


def test_an_unknown_name_is_an_error_that_names_the_file() -> None:
    with pytest.raises(KeyError, match=r"nodes\.cypher has no statement named 'put_everything'"):
        load_queries("kedge.stores.graph.neo4j", "nodes.cypher")["put_everything"]
    with pytest.raises(FileNotFoundError):
        load_queries("kedge.stores.graph.neo4j", "missing.cypher")


def test_only_the_names_that_are_given_are_filled_in() -> None:
    statement = "MATCH (n:{label} {id: $id}) WHERE n.x = '{x}'"
    assert filled(statement, label="Chunk") == "MATCH (n:Chunk {id: $id}) WHERE n.x = '{x}'"
    with pytest.raises(KeyError, match="table"):
        filled(statement, table="t")
