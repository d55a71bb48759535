"""One word, one meaning: the glossary is used, no two classes share a name, no two modules differ by their ending."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import Stemmer

from tests.support.paths import ROOT

SOURCE = ROOT / "src" / "kedge"
WORDS = ROOT / "docs" / "explanation" / "words.md"


def glossary() -> list[str]:
    rows = re.findall(r"^\| ([a-z][a-z -]*) \|", WORDS.read_text("utf-8"), re.MULTILINE)
    return [row for row in rows if row != "word"]


def test_every_word_stands_once() -> None:
    words = glossary()
    assert len(words) > 30
    assert sorted(set(words)) == sorted(words)


def test_every_word_is_used() -> None:
    text = "\n".join(path.read_text("utf-8").lower() for path in SOURCE.rglob("*.py"))
    assert [word for word in glossary() if not re.search(rf"\b{re.escape(word)}s?\b", text)] == []


def test_no_two_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def modules_of(folder: Path) -> Iterator[str]:
    """Modules and packages of one folder, by name."""
    for path in folder.iterdir():
        if path.suffix == ".py" or any(path.glob("*.py")):
            yield path.stem


def test_no_two_modules_of_a_folder_are_told_apart_by_an_ending() -> None:
    """`wrapped` and `wraps`, `source` and `sources`: which of them is it?"""
    stemmer = Stemmer.Stemmer("english")
    alike: dict[str, set[str]] = {}
    for folder in sorted({path.parent for path in SOURCE.rglob("*.py")}):
        by_stem = defaultdict(set)
        for name in modules_of(folder):
            by_stem[" ".join(stemmer.stemWords(name.split("_")))].add(name)
        for names in by_stem.values():
            if len(names) > 1:
                alike[str(folder.relative_to(SOURCE))] = names
    assert alike == {}
