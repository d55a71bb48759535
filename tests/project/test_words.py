"""One word, one meaning: the glossary is used, and no two classes share a name."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

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
