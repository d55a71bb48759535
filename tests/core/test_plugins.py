"""Stores and models of other packages come in by entry point; what is broken is named, and the rest works."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge.core.errors import ConfigError, MissingExtraError, PluginError
from kedge.core.plugins import GROUPS, KINDS, MODELS, STORES, found, loaded, needed_packages
from kedge.core.settings import Settings, load_settings
from kedge.models.registry import open_embedder
from kedge.stores import registry
from kedge.stores.registry import open_vectors
from kedge.stores.vectors.memory import MemoryVectors
from tests.support.packages import on_path, put_package

PACKAGE = "their-parts"
MODULES = {
    "their_parts/__init__.py": "",
    "their_parts/good.py": """
from kedge.models.embed.hashed import HashEmbedder
from kedge.stores.vectors.memory import MemoryVectors

def open_vectors(url, settings):
    if "fail" in url:
        raise KeyError(url)
    return "no store" if "wrong" in url else MemoryVectors()

def open_embedder(name, settings):
    return HashEmbedder(8)

NUMBER = 7
""",
    "their_parts/raises.py": "raise RuntimeError('not today')",
    "their_parts/leaves.py": "import sys; sys.exit(3)",
    "their_parts/driven.py": "import a_driver_that_nobody_has",
    "their_parts/astray.py": "import their_parts.nowhere",
}
ENTRIES = {
    STORES: {
        "vectors.theirs": "their_parts.good:open_vectors",
        "vectors.memory": "their_parts.raises:hides_ours",
        "vectors.raises": "their_parts.raises:open_vectors",
        "vectors.leaves": "their_parts.leaves:open_vectors",
        "vectors.nothing": "their_parts.good:nothing",
        "vectors.nowhere": "their_parts.nowhere:open_vectors",
        "vectors.number": "their_parts.good:NUMBER",
        "vectors.nonsense": "their parts!",
        "vectors.driven": "their_parts.driven:open_vectors [fast-driver]",
        "vectors.undeclared": "their_parts.driven:open_vectors",
        "vectors.astray": "their_parts.astray:open_vectors [fast-driver]",
    },
    MODELS: {"embed.theirs": "their_parts.good:open_embedder"},
    "another.group": {"x": "their_parts.raises:x"},
}


@pytest.fixture(scope="module", autouse=True)
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with on_path(put_package(tmp_path_factory.mktemp("path"), PACKAGE, ENTRIES, MODULES)):
        yield


def vectors(url: str) -> object:
    return open_vectors(Settings(vector_url=url))


def test_a_store_and_a_model_of_another_package_are_opened_by_name() -> None:
    assert isinstance(vectors("theirs://host/x"), MemoryVectors)
    embedder = open_embedder("theirs:any", Settings())
    assert asyncio.run(embedder.embed_query("word")).shape == (8,)


def test_settings_may_name_them_and_faults_list_them() -> None:
    load_settings(None, {}, registry.faults, vector_url="theirs:", embedder="theirs")
    with pytest.raises(ConfigError, match=r"there is no 'ours', known are .*theirs"):
        load_settings(None, {}, registry.faults, embedder="ours")
    with pytest.raises(ConfigError, match=r"Known: .*memory.*theirs"):
        vectors("ours:")


def test_kedges_own_part_counts_where_two_bring_the_same_and_the_other_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert found(STORES)["vectors.memory"].package == "kedge"
    assert "'vectors.memory' of their-parts 1.0 is left out: kedge " in caplog.text
    assert isinstance(vectors("memory:"), MemoryVectors)


@pytest.mark.parametrize(
    ("scheme", "why"),
    [
        ("raises", "cannot be loaded: RuntimeError: not today."),
        ("leaves", "cannot be loaded: SystemExit: 3."),
        ("nothing", "cannot be loaded: AttributeError: "),
        ("nowhere", "cannot be loaded: ModuleNotFoundError: "),
        ("undeclared", "cannot be loaded: ModuleNotFoundError: No module named 'a_driver_that_nobody_has'."),
        ("astray", "cannot be loaded: ModuleNotFoundError: No module named 'their_parts.nowhere'."),
        ("number", "cannot be used: what it names is of the type int, no function."),
        ("nonsense", "cannot be "),
        ("theirs://wrong", "cannot be used: what it made is of the type str, no VectorStore."),
        ("theirs://user:s3cret@fail", "cannot be opened: KeyError: "),
    ],
)
def test_what_is_broken_is_named_with_its_package(scheme: str, why: str) -> None:
    with pytest.raises(PluginError) as caught:
        vectors(scheme if ":" in scheme else f"{scheme}:")
    name = f"vectors.{scheme.partition(':')[0]}"
    assert caught.value.message.startswith(f"The plug-in '{name}' of their-parts 1.0 {why}")
    assert "uninstall their-parts" in caught.value.hint
    assert caught.value.details == {"plugin": name, "group": STORES, "package": PACKAGE}
    assert "s3cret" not in str(caught.value)


def test_a_missing_driver_names_the_extra_of_its_package() -> None:
    with pytest.raises(MissingExtraError, match=r"vector store 'driven'.*pip install 'their-parts\[fast-driver\]'"):
        vectors("driven:")


def test_what_can_be_loaded_is_and_the_rest_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        usable = loaded(STORES, lambda _name, thing: "" if callable(thing) else "it is no function")
    theirs = {name for name, plugin in found(STORES).items() if not plugin.own}
    assert theirs & usable.keys() == {"vectors.theirs"}
    for name in theirs - usable.keys():
        assert name.partition(".")[2] in caplog.text


def test_all_that_kedge_itself_declares_is_there() -> None:
    for group in GROUPS:
        assert any(plugin.own for plugin in found(group).values()), group
    assert found(STORES)["vectors.qdrant"].extra == "qdrant"
    assert next(iter(found(STORES).values())).own, "Kedge's own come first"


def test_a_checkout_that_is_not_installed_says_what_to_do(tmp_path: Path) -> None:
    """Older metadata of the same name, first on the path, hides that of today."""
    with on_path(put_package(tmp_path, "kedge", {KINDS: {"documents": "kedge.kinds.documents.kind:KIND"}}, {})):
        with pytest.raises(ConfigError, match="install it again"):
            registry.open_catalog(Settings())
        with pytest.raises(ConfigError, match=r"embedder: .* install it again"):
            load_settings(None, {}, registry.faults)


def test_a_package_whose_metadata_is_garbage_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = put_package(tmp_path, "garbage", {MODELS: {"embed.garbage": "x:y"}}, {})
    (file,) = folder.glob("*.dist-info/entry_points.txt")
    file.write_text(file.read_text() + "no equals sign\n")
    with caplog.at_level(logging.WARNING), on_path(folder):
        assert "embed.minilm" in found(MODELS)
        assert "embed.garbage" not in found(MODELS)
    assert "cannot be read" in caplog.text


def test_the_packages_that_are_needed_follow_from_the_plug_ins(tmp_path: Path) -> None:
    folder = put_package(tmp_path, "good-lines", {"kedge.formats": {"lines": "good_lines:LINES [fast]"}}, {})
    asked = ("numpy>=1", "lines-driver[all]>=2; extra == 'fast'", "others; extra == 'slow'")
    with (folder / "good_lines-1.0.dist-info" / "METADATA").open("a") as described:
        described.writelines(f"Requires-Dist: {line}\n" for line in asked)
    with on_path(folder):
        needed = needed_packages()
    assert needed["numpy"]
    assert needed["lines-driver"] is None
    assert {"SQLAlchemy", "qdrant-client", "neo4j", "psycopg"} <= set(needed)
    assert {"others", "mypy", "pytest"}.isdisjoint(needed)
