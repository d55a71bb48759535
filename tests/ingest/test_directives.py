"""Directives of MyST and MkDocs in markdown are read as what they show, in the places of the file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.core.values import BlockKind
from kedge.ingest.parse.directives import shown
from kedge.ingest.parse.markdown import MarkdownParser
from kedge.text.statements.cut import statements

pytestmark = pytest.mark.req("D-02")


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        ("```{note}\nMind the tide.\n```", "Note: Mind the tide."),
        (":::{warning}\n:class: big\nMind the tide.\n:::", "Warning: Mind the tide."),
        (":::{admonition} On chains\nThey are heavy.\n:::", "On chains: They are heavy."),
        ("```{versionchanged} 8.2\nIt is of iron.\n```", "Changed in version 8.2: It is of iron."),
        ("```{deprecated} 8.0\nUse a rope.\n```", "Deprecated 8.0: Use a rope."),
        ("::::{tab-set}\n:::{tab-item} Linux\nUse apt there.\n:::\n::::", "Linux: Use apt there."),
        ("It holds well.\n\n```{toctree}\n:maxdepth: 2\n\nanchors\nropes\n```", "It holds well."),
        ("(anchors)=\nIt holds well.", "It holds well."),
        ("!!! note\n    Mind the tide.", "Note: Mind the tide."),
        ('??? tip "On chains"\n    They are heavy.', "Tip: On chains They are heavy."),
        ('=== "Linux"\n\n    Use apt there.', "Linux: Use apt there."),
    ],
)
def test_they_become_what_a_page_shows(markup: str, said: str) -> None:
    document = MarkdownParser().parse(markup + "\n")
    assert len(document.text) == len(markup) + 1
    assert " ".join(document.text.split()) == said
    assert {one.kind for one in statements(document.text)} == {"sentence"}
    assert BlockKind.CODE not in {block.kind for block in document.blocks}


def test_code_stays_code_without_its_options() -> None:
    text = "Do this:\n\n```{code-block} python\n:linenos:\n\nanchor.drop()\n```\n\n```\n:::{note}\n!!! kept\n```\n"
    found = [one.read for one in statements(MarkdownParser().parse(text).text)]
    assert found[1].split() == ["Do", "this:", "anchor.drop()"]
    assert ":::{note}\n!!! kept" in found[2]


@pytest.mark.parametrize("name", ["eval-rst", "math", "list-table", "unheard-of"])
def test_what_may_be_anything_stays_as_it_was(name: str) -> None:
    text = f"It is so:\n\n```{{{name}}}\n.. code:: python\n\n    x = 1\n```\n"
    assert shown(text) == text


def test_text_without_directives_is_the_file_itself() -> None:
    text = "# A\n\n```python\nx = 1\n```\n\n* a :: b\n\n::: x\n"
    assert shown(text) == text


@given(
    st.lists(st.sampled_from(["```{note} x", ":::{tip}", ":::", "```", "```py", "!!! note", "(a)=", ":o: v", "t", ""]))
)
def test_every_line_keeps_its_place(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert list(map(len, shown(text).split("\n"))) == list(map(len, text.split("\n")))
