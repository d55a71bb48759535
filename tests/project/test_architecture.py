"""The folder list is the architecture: nothing lies beside the folders, and imports point down the list, never up."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from kedge.core.plugins import found
from tests.support.paths import ROOT

SOURCE = ROOT / "src" / "kedge"
FOLDERS = (
    "core",
    "text",
    "models",
    "stores",
    "ingest",
    "retrieve",
    "answer",
    "kinds",
    "engine",
    "evals",
    "testing",
    "surfaces",
)
"""From the ground up: a folder may import those before it, and itself."""
NO_CODE = {"data"}
BESIDE = {("retrieve", "ingest"), ("answer", "ingest"), ("text", "models"), ("evals", "testing")}
"""A folder that may not import one below it: the two halves of the way know each other by the stores alone."""
PORTS = ("catalog", "vectors", "graph")
"""Folders of `stores` that hold a vendor a folder. Ports may share: the graph in SQL uses the catalog's database."""
OWN_KINDS = tuple(f"kedge.kinds.{path.name}." for path in (SOURCE / "kinds").iterdir() if path.is_dir())
LATE = {("kedge.core.outside", "kedge.core.described")}
"""Imported when pydantic asks what a value looks like, so that values themselves load no pydantic."""
PUBLIC = "kedge"
"""`from kedge import Kedge`: the public names, for those at the top alone."""


def modules() -> dict[str, Path]:
    """Every module and package of Kedge by its dotted name."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = ("kedge", *path.relative_to(SOURCE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def tree_of(path: Path) -> ast.Module:
    """A file, parsed."""
    return ast.parse(path.read_text("utf-8"))


def imported(path: Path, *, for_types: bool = True) -> Iterator[str]:
    """The modules of Kedge that a file imports, in whichever form, at its top or inside a function.

    `for_types`: those for type checkers alone as well.
    """
    tree = tree_of(path)
    unread = set() if for_types else {id(node) for node in _for_type_checkers(tree)}
    for node in (one for one in ast.walk(tree) if id(one) not in unread):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "kedge")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written out"
            if (node.module or "").split(".")[0] == "kedge":
                named = [f"{node.module}.{alias.name}" for alias in node.names]
                yield from (name if name in MODULES else str(node.module) for name in named)


def _for_type_checkers(tree: ast.Module) -> Iterator[ast.AST]:
    """All that stands below `if TYPE_CHECKING:`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from (inner for statement in node.body for inner in ast.walk(statement))


def folder_of(module: str) -> str:
    """Its folder below `kedge`; the package itself is at the top; what a kind adds to the surfaces is one of them."""
    parts = module.split(".")
    if parts[1:2] == ["kinds"] and parts[3:4] == ["surfaces"]:
        return "surfaces"
    return parts[1] if len(parts) > 1 else PUBLIC


def imports() -> Iterator[tuple[str, str, str]]:
    """(module, its folder, imported folder)."""
    for name, path in MODULES.items():
        for other in imported(path):
            if folder_of(other) != "_version":
                yield name, folder_of(name), folder_of(other)


def test_nothing_lies_beside_the_folders() -> None:
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {*FOLDERS, *NO_CODE}
    loose = {path.name for path in SOURCE.iterdir() if path.is_file()}
    assert loose == {"__init__.py", "_version.py", "py.typed"}


def test_imports_point_down() -> None:
    level = {name: number for number, name in enumerate((*FOLDERS, PUBLIC))}
    upward = {
        f"{name} → {other}"
        for name, own, other in imports()
        if own != PUBLIC and level[other] > level[own] and not (own == "surfaces" and other == PUBLIC)
    }
    assert sorted(upward) == []


def test_no_modules_import_each_other() -> None:
    """At their top or late, directly or by way of others; CycleError names them."""
    known = {
        name: {other for other in imported(path, for_types=False) if other != name and (name, other) not in LATE}
        for name, path in MODULES.items()
    }
    TopologicalSorter(known).prepare()


def test_the_halves_do_not_know_each_other() -> None:
    crossed = {f"{name} → {other}" for name, own, other in imports() if (own, other) in BESIDE}
    assert sorted(crossed) == []


def test_nobody_knows_a_kind_but_itself() -> None:
    kinds = {path.name for path in (SOURCE / "kinds").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert kinds == {"documents", "courses", "tables", "graphs", "foreign"}
    known = set()
    for name, path in MODULES.items():
        own = name.split(".")[2:3] if name.startswith("kedge.kinds.") else []
        for other in imported(path):
            kind = other.split(".")[2:3] if other.startswith("kedge.kinds.") else []
            if kind and kind[0] in kinds and kind != own:
                known.add(f"{name} → {other}")
    assert sorted(known) == []


def kind_said(node: ast.AST) -> Iterator[ast.expr | None]:
    """What stands for a kind: a default or an argument `kind`, and what a kind is compared with."""
    match node:
        case ast.keyword("kind", value) | ast.AnnAssign(ast.Name("kind"), _, value):
            yield value
        case ast.arguments():
            places = [*node.posonlyargs, *node.args]
            yield from (
                value
                for arg, value in [
                    *zip(places[len(places) - len(node.defaults) :], node.defaults, strict=True),
                    *zip(node.kwonlyargs, node.kw_defaults, strict=True),
                ]
                if arg.arg == "kind"
            )
        case ast.Compare(left, _, others) if any("kind" in ast.unparse(one) for one in (left, *others)):
            yield from (part for one in (left, *others) for part in ast.walk(one) if isinstance(part, ast.expr))


def test_nobody_says_the_name_of_a_kind() -> None:
    names = set(found("kedge.kinds"))
    assert {"documents", "course", "table", "graph"} <= names
    said = [
        f"{name}:{value.lineno}: {value.value}"
        for name, path in MODULES.items()
        if name.split(".")[1:2] != ["testing"] and not name.startswith(OWN_KINDS)
        for node in ast.walk(tree_of(path))
        for value in kind_said(node)
        if isinstance(value, ast.Constant) and value.value in names
    ]
    assert said == []


def vendor_of(module: str) -> tuple[str, str] | None:
    """(port, vendor) of a module below a port's folder: a folder with a store in it, or a module that is one by itself.

    >>> vendor_of("kedge.stores.vectors.qdrant.encode"), vendor_of("kedge.stores.vectors.rules")
    (('vectors', 'qdrant'), None)
    """
    match module.split("."):
        case ["kedge", "stores", port, vendor, *_] if port in PORTS and _is_vendor(port, vendor):
            return port, vendor
    return None


def _is_vendor(port: str, name: str) -> bool:
    """Every folder is, and the memory stores, which may be one module."""
    return name == "memory" or (SOURCE / "stores" / port / name).is_dir()


def test_a_vendor_knows_no_other_vendor_of_its_port() -> None:
    crossed = set()
    for name, path in MODULES.items():
        own = vendor_of(name)
        others = {vendor_of(other) for other in imported(path)} if own else set()
        crossed |= {f"{name} → {other[1]}" for other in others if own and other and other[0] == own[0] and other != own}
    assert sorted(crossed) == []


def test_every_port_has_vendors() -> None:
    found = {vendor for name in MODULES if (vendor := vendor_of(name))}
    assert {("vectors", "edge"), ("vectors", "memory"), ("graph", "neo4j"), ("catalog", "sql")} <= found
    assert ("vectors", "rules") not in found


@pytest.mark.parametrize(
    "written",
    [
        "import kedge.engine.engine",
        "from kedge import engine",
        "from kedge.engine import engine",
        "from kedge.engine.engine import Engine",
        "def late():\n    from kedge.engine.engine import Engine",
    ],
)
def test_every_form_of_import_is_seen(written: str, tmp_path: Path) -> None:
    path = tmp_path / "any.py"
    path.write_text(written)
    assert [folder_of(name) for name in imported(path)] == ["engine"]


def test_every_folder_says_its_job_in_one_sentence() -> None:
    silent = []
    for name, path in MODULES.items():
        doc = ast.get_docstring(tree_of(path))
        if path.name == "__init__.py" and (not doc or not doc.split("\n\n")[0].rstrip().endswith(".")):
            silent.append(name)
    assert silent == []


def test_only_the_settings_read_the_environment() -> None:
    readers = [name for name, path in MODULES.items() if "os.environ" in path.read_text("utf-8")]
    assert readers == ["kedge.core.settings"]
