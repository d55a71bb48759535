"""The table of known models: what it finds, and that the documentation shows the same."""

from __future__ import annotations

import re

import pytest

from kedge.models.embed.openai import OPTIONS as EMBED_OPTIONS
from kedge.models.known import KNOWN, find
from kedge.models.registry import EMBEDDERS, RERANKERS
from kedge.models.rerank.endpoint import OPTIONS as RERANK_OPTIONS
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "how-to" / "models.md").read_text("utf-8")


@pytest.mark.req("D-20")
@pytest.mark.parametrize(
    ("name", "dimension"),
    [
        ("Qwen/Qwen3-Embedding-8B", 4096),
        ("qwen3-embedding:8b", 4096),
        ("bge-m3:latest", 1024),
        ("text-embedding-3-small", 1536),
        ("intfloat/multilingual-e5-small", 384),
    ],
)
def test_a_served_name_finds_its_model(name: str, dimension: int) -> None:
    found = find(name)
    assert found is not None
    assert found.dimension == dimension


def test_a_name_that_is_only_alike_finds_nothing() -> None:
    assert find("my-qwen3-embedding-8b-tuned") is None
    names = [name for one in KNOWN for name in one.names]
    assert len(names) == len(set(names))


def test_the_documented_table_is_the_table() -> None:
    section = PAGE.split("## Known models")[1].split("\n## ")[0]
    rows = re.findall(
        r"^\| (`.+?`) \| (\d+) \| (\d+) \| (yes)? ?\| (?:`(.*?)`)? ?\| (?:`(.*?)`)? ?\|$", section, re.MULTILINE
    )
    documented = [
        (tuple(re.findall(r"`(.+?)`", names)), int(dimension), int(window), cut == "yes", *map(_plain, prefixes))
        for names, dimension, window, cut, *prefixes in rows
    ]
    assert documented == [
        (one.names, one.dimension, one.window, one.cuttable, one.query_prefix, one.text_prefix) for one in KNOWN
    ]


def test_every_scheme_and_option_is_documented() -> None:
    cells = " ".join(re.findall(r"^\| (`[^|]*) \|", PAGE, re.MULTILINE))
    named = {name.partition(":")[0] for name in re.findall(r"`([^`]+)`", cells)}
    assert {*EMBEDDERS.schemes(), *RERANKERS.schemes(), *EMBED_OPTIONS, *RERANK_OPTIONS} <= named


def _plain(cell: str) -> str:
    return cell.replace("\\|", "|").replace("\\n", "\n")
