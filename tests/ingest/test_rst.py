"""reStructuredText becomes clean text: structure stays, roles and directives become what a page shows."""

from __future__ import annotations

import pytest

from kedge.core.errors import EmptySourceError, SourceTooLargeError
from kedge.core.values import BlockKind, ParsedDocument
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.parse.formats import detect_format
from kedge.ingest.parse.own import MAX_RST_BYTES, RST
from kedge.ingest.parse.reading import open_document
from kedge.ingest.sources.discovery import uploaded
from kedge.ingest.sources.source import Source
from kedge.text.statements.cut import statements

pytestmark = pytest.mark.req("D-02")
LIMITS = ParseLimits(seconds=60, memory=1 << 30, output=32 << 20)


def parsed(text: str) -> ParsedDocument:
    source = uploaded("a.rst", text.encode())
    return next(RST.segments(source)).document


def kinds(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind.value, document.text[block.start : block.end]) for block in document.blocks]


def test_sections_lists_and_code_are_blocks_with_their_path() -> None:
    document = parsed(
        "Anchors\n=======\n\nA kedge is *light*.\nIt is carried out::\n\n    boat.row(kedge)\n\nParts\n-----\n\n"
        "1. the shank\n2. the stock\n\n   - of wood\n   - of iron\n"
    )
    assert kinds(document) == [
        ("heading", "# Anchors"),
        ("paragraph", "A kedge is light. It is carried out:"),
        ("code", "```\nboat.row(kedge)\n```"),
        ("heading", "## Parts"),
        ("list", "1. the shank\n2. the stock\n  - of wood\n  - of iron"),
    ]
    assert document.title == "Anchors"
    assert document.blocks[-1].section == ("Anchors", "Parts")
    assert [block.level for block in document.blocks if block.kind is BlockKind.HEADING] == [1, 2]


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        (":class:`~kedge.core.Anchor` holds", "`Anchor` holds"),
        (":meth:`Anchor.drop` and :py:func:`haul`", "`Anchor.drop` and `haul`"),
        (":ref:`the list <anchors-list>`", "the list"),
        (":ref:`mooring-lines`", "mooring lines"),
        (":doc:`/howto/heavy-weather`", "heavy weather"),
        (":doc:`/topics/mooring/index`", "mooring"),
        (":pep:`8` and :rfc:`2822`", "PEP 8 and RFC 2822"),
        (":file:`{home}/.kedge`", "`home/.kedge`"),
        (":term:`fluke` of :unheard-of:`it`", "fluke of it"),
        ("``a`` and `b` and **c**", "`a` and `b` and c"),
        ("`load <Schema.load>` and `~Schema.dump`", "`load` and `~Schema.dump`"),
        ("`Kedge <https://example.org>`_ and anchors_", "Kedge and anchors"),
        ("|boat| floats\n\n.. |boat| replace:: The *Skua*", "The Skua floats"),
        ("A note [#n]_ here\n\n.. [#n] said below", "A note here\n\nsaid below"),
        ("x\n\n.. math:: a^2", "x\n\n$$\na^2\n$$"),
    ],
)
def test_roles_and_references_become_what_a_page_shows(markup: str, shown: str) -> None:
    assert parsed(markup + "\n").text == shown


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        (".. note:: Mind the tide.\n\n   It turns.", "Note: Mind the tide.\n\nIt turns."),
        (".. warning::\n\n   Deep.", "Warning: Deep."),
        (".. admonition:: On chains\n\n   Heavy.", "On chains: Heavy."),
        (".. versionadded:: 3.2", "Added in version 3.2."),
        (".. versionchanged:: 3.2\n   Now of `iron`.", "Changed in version 3.2: Now of `iron`."),
        (".. deprecated:: 4.0 Use rope.", "Deprecated since version 4.0: Use rope."),
        (".. code-block:: python\n   :linenos:\n\n   drop()", "```python\ndrop()\n```"),
        (">>> drop()\nTrue", "```python\n>>> drop()\nTrue\n```"),
        (".. only:: html\n\n   Seen.", "Seen."),
        (".. tab-set::\n\n   .. tab-item:: Linux\n\n      apt", "Linux: apt"),
        (".. unheard-of::\n\n   Kept.", "Kept."),
        (".. figure:: x.png\n\n   The anchor.", "The anchor."),
        ("term\n    What it means.\n\nother : kind\n    More.", "- term: What it means.\n- other (kind): More."),
        ("x\n\n:param int size: in kg\n:returns: a rope", "x\n\n- `size` (int): in kg\n- Returns: a rope"),
        ("-v, --verbose  say more", "- `-v`, `--verbose`: say more"),
        ("| one\n| two", "one\ntwo"),
        ("b. two\nc. three", "b. two\nc. three"),
        (
            ".. glossary::\n\n   kedge\n   stream anchor\n      A light anchor.",
            "- kedge, stream anchor: A light anchor.",
        ),
        (".. option:: --deep\n\n   Goes deep.", "- `--deep`: Goes deep."),
        (".. django-admin-option:: --deep\n\nGoes deep.", "- `--deep`: Goes deep."),
    ],
)
def test_directives_become_clean_text(markup: str, shown: str) -> None:
    assert parsed(markup + "\n").text == shown


def test_a_function_that_much_is_said_about_is_a_section_of_its_own() -> None:
    document = parsed(
        "Tools\n=====\n\n.. function:: haul(rope, *, fast=False)\n\n   Hauls.\n\n   .. note:: Slowly.\n\nAfter it.\n"
    )
    assert kinds(document)[1:] == [
        ("heading", "## haul(rope, *, fast=False)"),
        ("paragraph", "Hauls."),
        ("paragraph", "Note: Slowly."),
        ("paragraph", "After it."),
    ]
    assert document.blocks[2].section == ("Tools", "haul(rope, *, fast=False)")
    assert document.blocks[-1].section == ("Tools",)


GRID = """
+-------+-----------------+
| kind  | weights         |
|       +--------+--------+
|       | small  | large  |
+=======+========+========+
| kedge | 5      | 40     |
+       +--------+--------+
|       | 6      | 50     |
+-------+--------+--------+
"""
SIMPLE = "=====  ======\nkind   weight\n=====  ======\nkedge  5 kg\nbower  ``9|9``\n=====  ======\n"
LIST_TABLE = """
.. list-table:: Anchors
   :header-rows: 1
   :widths: 1 2

   * - kind
     - weight
   * - kedge
     - - 5 kg
       - dry
"""
CSV_TABLE = '.. csv-table::\n   :header: "kind", "weight"\n\n   kedge, "5,5 kg"\n'
BROKEN = "=====  ======\nkind   weight\n=====  ======\nlong kedge  :ref:`5 kg`\nbower  9\n=====  ======\n"


@pytest.mark.parametrize(
    ("markup", "rows"),
    [
        (GRID, ["| kind | weights small | weights large |", "| kedge | 5 | 40 |", "| kedge | 6 | 50 |"]),
        (SIMPLE, ["| kind | weight |", "| kedge | 5 kg |", "| bower | `9∣9` |"]),
        (LIST_TABLE, ["Anchors", "| kind | weight |", "| kedge | 5 kg; dry |"]),
        (CSV_TABLE, ["| kind | weight |", "| kedge | 5,5 kg |"]),
        (BROKEN, ["| kind | weight |", "| long kedge | 5 kg |", "| bower | 9 |"]),
    ],
)
def test_tables_of_every_kind_are_rows_between_bars(markup: str, rows: list[str]) -> None:
    document = parsed(markup)
    assert [block.kind for block in document.blocks] == [BlockKind.TABLE]
    assert [line for line in document.text.split("\n") if "---" not in line] == rows


def test_rows_and_items_are_statements_as_in_markdown() -> None:
    said = [(one.kind, one.read) for one in statements(parsed(f"Weights\n=======\n\n{SIMPLE}").text, "Weights")]
    assert ("row", "Weights. kind: kedge — weight: 5 kg") in said
    text = parsed("It has:\n\n- a shank\n- a stock\n\nUse it::\n\n   drop()\n").text
    assert [one.read for one in statements(text)] == [
        "It has:", "It has: a shank", "It has: a stock", "Use it:", "Use it: drop()",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "vanishing",
    [
        ".. toctree::\n   :maxdepth: 2\n\n   a\n   b",
        ".. image:: a.png\n   :alt: x",
        ".. automodule:: kedge\n   :members:",
        ".. autofunction:: kedge.ask",
        ".. index:: single: anchor",
        ".. include:: /etc/passwd",
        ".. literalinclude:: /etc/passwd",
        ".. csv-table::\n   :file: /etc/passwd",
        ".. raw:: html\n\n   <script>x</script>",
        ".. a comment\n   of two lines",
        ".. _label:",
        ":orphan:",
    ],
)
def test_what_shows_nothing_vanishes_and_no_file_is_read(vanishing: str) -> None:
    assert parsed(f"{vanishing}\n\nText.\n").text == "Text."
    with pytest.raises(EmptySourceError):
        parsed(vanishing + "\n")


@pytest.mark.parametrize(
    "broken",
    [
        "Title\n===\n\nText.",
        "Text.\n\nUnder\n~~~~~\n\nUpper\n=====\n\nAgain\n^^^^^\n",
        "**open and ``never closed\n\nText.",
        ".. note::\n  a\n\n b\n\nText.",
        "* a\nb\n* c\n\nText.",
        "|undefined| Text. `gone`_ [9]_ ",
        "Text.\n\n.. list-table::\n   :widths: 1 x\n\n   * - a\n     - b\n   * - c\n",
        "=====\nText.\n" + "x" * 30_000,
        "\n".join(f"{'  ' * depth}* Text." for depth in range(60)),
    ],
)
def test_broken_markup_loses_no_words_and_says_nothing_of_its_own(broken: str) -> None:
    document = parsed(broken + "\n")
    assert "Text." in document.text
    assert "docutils" not in document.text
    assert "System Message" not in document.text
    assert "rror" not in document.text
    ends = [0, *(block.end for block in document.blocks)]
    assert all(block.start >= end for block, end in zip(document.blocks, ends, strict=False))


def test_what_is_said_above_the_text_is_metadata() -> None:
    document = parsed(":author: A. Sailor\n:orphan:\n:revised: 2024-05-01\n\nT\n=\n\nText.\n")
    assert (document.author, document.metadata) == ("A. Sailor", {"revised": "2024-05-01"})


def test_links_are_kept_with_their_words() -> None:
    document = parsed("See `the docs <https://example.org/a>`_.\n")
    assert [(link.text, link.target) for link in document.links] == [("the docs", "https://example.org/a")]


DJANGO = b"=====\nModels\n=====\n\n.. module:: django.db\n\nA :class:`~django.Model` is here.\n"


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a.txt", DJANGO, "rst"),
        ("README", DJANGO, "rst"),
        ("a.md", DJANGO, "markdown"),
        ("a.txt", b"Minutes\n=======\n\nWe met at 10:30::\n", "text"),
        ("a.txt", b"Just words, and ``one`` literal.", "text"),
        ("a.rst", b"Just words.", "rst"),
    ],
)
def test_text_that_can_only_be_rst_is_read_as_such(name: str, head: bytes, expected: str) -> None:
    format = detect_format(name, head)
    assert format is not None
    assert format.name == expected


def test_it_is_read_in_the_other_process_and_has_a_cap() -> None:
    reader = open_document(uploaded("a.txt", DJANGO), LIMITS)
    assert reader.format == "rst"
    assert [segment.document.text for segment in reader.segments] == ["# Models\n\nA `Model` is here."]
    with pytest.raises(SourceTooLargeError):
        next(RST.segments(Source("a", "a", "a.rst", b"x", MAX_RST_BYTES + 1)))
