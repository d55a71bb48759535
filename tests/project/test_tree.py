"""The pages show the tree as it is: one line a folder, each saying what the folder itself says.

`python -m tests.project.test_tree` writes the trees anew.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.paths import ROOT

SOURCE = ROOT / "src" / "kedge"
ORDER = ("core", "text", "models", "stores", "ingest", "retrieve", "answer", "kinds", "engine", "evals", "testing")
PAGES = {ROOT / "docs" / "explanation" / "how-it-works.md": 2, ROOT / "CONTRIBUTING.md": 1}
"""Each page with how deep its tree goes."""
BEGIN, END = "<!-- tree -->\n```\n", "```\n<!-- end of tree -->"
NO_CODE = {"data": "The handbook of `kedge demo`."}


def job_of(folder: Path) -> str:
    """What a package says of itself, in one sentence."""
    if folder.name in NO_CODE and folder.parent == SOURCE:
        return NO_CODE[folder.name]
    doc = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    return " ".join(doc.split("\n\n")[0].split())


def rank(folder: Path) -> tuple[int, str]:
    return (ORDER.index(folder.name) if folder.name in ORDER else len(ORDER), folder.name)


def below(folder: Path) -> list[Path]:
    """Its packages, in the order of the architecture."""
    found = [path for path in folder.iterdir() if (path / "__init__.py").exists()]
    if folder == SOURCE:
        found += [folder / name for name in NO_CODE]
    return sorted(found, key=rank if folder == SOURCE else lambda path: (0, path.name))


def lines(folder: Path, depth: int, indent: str = "  ") -> list[str]:
    made = []
    for path in below(folder):
        made.append(f"{indent + path.name + '/':<18} {job_of(path)}")
        if depth > 1:
            made += lines(path, depth - 1, indent + "  ")
    return made


def tree(depth: int) -> str:
    return "\n".join(["src/kedge/", *lines(SOURCE, depth)]) + "\n"


def shown(page: Path) -> str:
    text = page.read_text("utf-8")
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)]


@pytest.mark.parametrize(("page", "depth"), PAGES.items(), ids=[page.stem for page in PAGES])
def test_the_page_shows_the_tree(page: Path, depth: int) -> None:
    assert shown(page) == tree(depth)


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_files_and_folders_that_the_page_names_are_there(page: Path) -> None:
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", page.read_text("utf-8")))
    assert len(named) > 10
    places = (SOURCE, ROOT, ROOT / "tests")
    assert sorted(name for name in named if not any((place / name).exists() for place in places)) == []


def write() -> None:
    for page, depth in PAGES.items():
        page.write_text(page.read_text("utf-8").replace(shown(page), tree(depth), 1), "utf-8")


if __name__ == "__main__":
    write()
