"""Markdown blocks, titles, links, and exact offsets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.core.values import BlockKind, ParsedDocument
from kedge.ingest.parse.markdown import MarkdownParser

ARTICLE = """\
---
title: "Suffix Automaton"
tags: [Translated, strings]
author: [Ann, Bob]
date: 2024-05-01
---
# Heading one {#anchor}

First paragraph with a [relative link](../tree.md#x) and `code`.

Setext heading
--------------

- item one
- item two

  ```cpp
  int x = 1;

  int y = 2;
  ```

- item three

> quoted

$$
a - b
- c
$$

Text before
$$x = y$$
and after.

| a | b |
|---|---|
| 1 | 2 |

    indented code

<div>shown <b>html</b></div>

<script>var hidden = 1;</script>

<!-- a comment -->

### Deep

\\[ e = mc^2 \\]
"""


def shown(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind.value, document.text[block.start : block.end]) for block in document.blocks]


@pytest.mark.req("D-01", "D-02")
def test_blocks_are_slices_of_the_file() -> None:
    document = MarkdownParser().parse(ARTICLE)
    assert document.text == ARTICLE
    assert shown(document) == [
        ("heading", "# Heading one {#anchor}"),
        ("paragraph", "First paragraph with a [relative link](../tree.md#x) and `code`."),
        ("heading", "Setext heading\n--------------"),
        ("list", "- item one\n- item two"),
        ("code", "```cpp\n  int x = 1;\n\n  int y = 2;\n  ```"),
        ("list", "- item three"),
        ("quote", "> quoted"),
        ("formula", "$$\na - b\n- c\n$$"),
        ("paragraph", "Text before"),
        ("formula", "$$x = y$$"),
        ("paragraph", "and after."),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("code", "    indented code"),
        ("paragraph", "<div>shown <b>html</b></div>"),
        ("heading", "### Deep"),
        ("formula", "\\[ e = mc^2 \\]"),
    ]


@pytest.mark.req("D-01", "D-02")
def test_front_matter_and_sections() -> None:
    document = MarkdownParser().parse(ARTICLE)
    assert (document.title, document.author) == ("Suffix Automaton", "Ann, Bob")
    assert document.metadata["tags"] == ["Translated", "strings"]
    assert document.metadata["date"] == "2024-05-01"
    assert document.blocks[-1].section == ("Heading one", "Setext heading", "Deep")
    assert document.blocks[0].section == ("Heading one",)


@pytest.mark.req("D-01")
@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From front matter\n---\n# Heading\n", "From front matter"),
        ("+++\ntitle = 'From TOML'\n+++\n# Heading\n", "From TOML"),
        ("<!--?title Calculating the hash -->\n# Heading\n", "Calculating the hash"),
        ("## Second\n\n# First\n", "First"),
        ("text\n\n## Only second *level* `x`\n", "Only second level x"),
        ('End positions $p$ {data-toc-label="End"}\n===\n', "End positions $p$"),
        ("no heading at all\n", None),
        ("---\nnot: [closed\n---\n# Heading\n", "Heading"),
        ("---\n\n# After a rule\n\n---\n\ntext\n", "After a rule"),
    ],
)
def test_title(text: str, title: str | None) -> None:
    assert MarkdownParser().parse(text).title == title


@pytest.mark.req("D-01")
def test_front_matter_that_cannot_be_read_is_a_warning() -> None:
    document = MarkdownParser().parse("---\nnot: [closed\n---\ntext\n")
    assert "front matter" in document.warnings[0]
    assert shown(document) == [("paragraph", "text")]


@pytest.mark.req("D-01")
def test_links_know_their_place() -> None:
    text = (
        'See [one](a.md), `[not](code.md)` and **[two *bold*](../b.md "title")**, <https://x.org>.\n\n- [three](c.md)\n'
    )
    links = MarkdownParser().parse(text).links
    assert [(link.text, link.target) for link in links] == [
        ("one", "a.md"),
        ("two bold", "../b.md"),
        ("https://x.org", "https://x.org"),
        ("three", "c.md"),
    ]
    assert [text[link.start :][:5] for link in links] == ["[one]", "[two ", "https", "[thre"]


@pytest.mark.req("D-02")
def test_admonitions_and_tabs_are_not_code() -> None:
    document = MarkdownParser().parse('!!! note "Hint"\n\n    Some prose.\n\n    ```py\n    x = 1\n    ```\n\nAfter.\n')
    assert [kind for kind, _ in shown(document)] == ["paragraph", "paragraph", "code", "paragraph"]


@pytest.mark.req("D-02")
def test_windows_line_ends_keep_their_offsets() -> None:
    text = "# One\r\n\r\npara\r\nmore\r\n\r\n```\r\ncode\r\n```\r\n"
    assert shown(MarkdownParser().parse(text)) == [
        ("heading", "# One"),
        ("paragraph", "para\r\nmore"),
        ("code", "```\r\ncode\r\n```"),
    ]


LINES = st.sampled_from(
    (
        "# H;## H2;text here.;more $x$ text;- item;  nested;1. one;> quote;```;~~~py;    indented;$$;$$a$$;"
        "\\[;\\];;;---;===;<div>;</div>;<!-- c -->;\t;- ```;!!! note;[a]: b;+++;\u2028;\x0c;* * *;![i](j);[l](m.md)"
        ";| a | b |;|---|---|"
    ).split(";")
)


@pytest.mark.req("D-02")
@given(st.lists(LINES, max_size=30), st.sampled_from(["\n", "\r\n", "\r"]))
def test_blocks_are_ordered_and_lose_no_words(lines: list[str], newline: str) -> None:
    text = newline.join(lines)
    document = MarkdownParser().parse(text)
    at = 0
    for block in document.blocks:
        assert at <= block.start < block.end <= len(text)
        assert (block.level > 0) == (block.kind is BlockKind.HEADING)
        at = block.end
    covered = "".join(text[block.start : block.end] for block in document.blocks)
    unframed = not any(line in ("---", "+++", "<!-- c -->", "<div>", "</div>") for line in lines)
    if unframed:
        for word in ("text here.", "- item", "> quote"):
            assert covered.count(word) == text.count(word)
