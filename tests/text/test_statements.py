"""Statements: what can be read, judged and cited, each in its exact place."""

from __future__ import annotations

import doctest
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.text.statements import markup
from kedge.text.statements.cut import statements
from kedge.text.statements.rows import TableHead, TableLine, rows, table_head

REPORT = """(In millions, except per share amounts)

Three Months Ended | Nine Months Ended
July 1, | June 25, | July 1, | June 25,
2023 | 2022 | 2023 | 2022
Net sales:
Products | $60,584 | $63,355 | $230,901 | $245,241
Total net sales | 81,797 | 82,959 | 293,787 | 304,182
Earnings per share:
Diluted | $1.26 | $1.20 | $4.67 | $4.82
"""
RESULTS = """Table 18: Full results.
| | Fluency | Citation | Citation | |
| | (MAUVE) | Rec. | Prec. | Length |
| ChatGPT |
Vanilla (5-psg) | 66.8 (2.0) | 73.6 (1.1) | 72.5 (1.8) | 40.0
w/ rerank | 77.0 | | | 40.8
| Open-source |
Large models:
Vicuna | 82.6† | n.s. | 37.9%
"""
PURCHASES = """Periods | Shares Purchased | Average Price | Part of Plans |
January 1, 2023 to February 4, 2023:
Open market | 36,980 | $135.21 | 36,980
February 5, 2023 to March 4, 2023:
Open market | 49,168 | $150.33 | 49,168
Total | 86,148
"""
PAGE = """# Install

To install, run these steps:

1. Download the [file](x.md).
2. Run `make`.

You can use pip:

```console
$ pip install kedge
```

| Option | Default | Meaning |
|---|---|---|
| `timeout` | 30 s | how long to wait |

- [Contents](contents.md)
"""
RST = """Channels
=
Use a nursery::

    async with open_nursery() as nursery:
        nursery.start_soon(work)

.. note::
   It waits for :meth:`~trio.Nursery.start`.

>>> asdict(C(1))
{'x': 1}
"""
LINES = st.sampled_from(
    (
        *("", "# Head", "Title", "=====", "A sentence. Another one.", "- an item", "  goes on", "1. first", "```"),
        *("    code", "| a | b |", "|---|---|", "| 1 | 2 |", "Label | 12 | 13", "2023 | 2022", ">>> f()", ".. note::"),
        "Ends with::",
    )
)


def test_the_doctests_hold() -> None:
    assert doctest.testmod(markup).failed == 0


def test_a_row_says_caption_unit_group_and_the_headers_over_each_cell() -> None:
    rows = [one for one in statements(REPORT, "Statements of operations") if one.kind == "row"]
    assert rows[0].read == (
        "Statements of operations (in millions). Net sales: Products — Three Months Ended July 1, 2023: $60,584; "
        "Three Months Ended June 25, 2022: $63,355; Nine Months Ended July 1, 2023: $230,901; "
        "Nine Months Ended June 25, 2022: $245,241"
    )
    assert "Earnings per share: Diluted —" in rows[2].read
    assert [REPORT[cell.start : cell.end] for cell in rows[1].cells] == [
        *("Total net sales", "81,797", "82,959", "293,787", "304,182")
    ]


def test_cells_stand_under_the_headers_of_their_own_columns_also_where_some_are_empty() -> None:
    read = [one.read for one in statements(RESULTS) if one.kind == "row"]
    assert read == [
        "Table 18: Full results. ChatGPT: Vanilla (5-psg) — Fluency (MAUVE): 66.8 (2.0); Citation Rec.: 73.6 (1.1); "
        "Citation Prec.: 72.5 (1.8); Length: 40.0",
        "Table 18: Full results. ChatGPT: w/ rerank — Fluency (MAUVE): 77.0; Length: 40.8",
        "Table 18: Full results. Open-source: Large models: Vicuna — Fluency (MAUVE): 82.6†; Citation Rec.: n.s.; "
        "Citation Prec.: 37.9%",
    ]


def test_a_group_that_is_named_by_a_period_is_no_header() -> None:
    read = [one.read for one in statements(PURCHASES) if one.kind == "row"]
    assert read[0] == (
        "January 1, 2023 to February 4, 2023: Periods: Open market — Shares Purchased: 36,980; "
        "Average Price: $135.21; Part of Plans: 36,980"
    )
    assert read[1].startswith("February 5, 2023 to March 4, 2023: Periods: Open market — Shares Purchased: 49,168;")
    assert read[2].endswith("Periods: Total — Shares Purchased: 86,148")


def test_the_rest_of_a_table_is_read_with_the_head_of_its_beginning() -> None:
    begin, rest = RESULTS.split("Vicuna")
    head = table_head(begin)
    assert head.split("\n") == [
        "Table 18: Full results.",
        "| | Fluency | Citation | Citation | |",
        "| | (MAUVE) | Rec. | Prec. | Length |",
        "| Open-source |",
        "Large models:",
    ]
    (row,) = rows([TableLine(0, f"Vicuna{rest}".strip())], "Appendix", "", head)
    assert row.read == (
        "Table 18: Full results. Open-source: Large models: Vicuna — Fluency (MAUVE): 82.6†; "
        "Citation Rec.: n.s.; Citation Prec.: 37.9%"
    )
    assert table_head(head) == head
    markdown = "| Option | Default |\n|---|---|\n| `timeout` | 30 s |\n"
    assert table_head(markdown) == "| Option | Default |\n|---|---|"
    (option,) = rows([TableLine(0, "| `retries` | 3 |")], "", "", table_head(markdown))
    assert option.read == "Option: retries — Default: 3"


def test_a_heading_right_above_a_list_leads_in() -> None:
    first, second, third = statements(
        "# Bowline\n\n## How it is tied\n\n1. Form an eye.\n2. Pass the end.\n\nDone so.\n\n- Rest"
    )[:3]
    assert (first.read, second.read) == ("How it is tied: Form an eye.", "How it is tied: Pass the end.")
    assert third.read == "Done so."
    assert statements("Steps\n=====\n\n- Stop\n")[0].read == "Steps: Stop"
    assert statements("## Steps\n\nSay why.\n\n- Stop\n")[-1].read == "Stop"


def test_items_and_code_come_with_what_leads_in() -> None:
    read = {one.kind: one.read for one in statements(PAGE, "Install")}
    assert read["item"] == "To install, run these steps: Run make."
    assert read["code"] == "You can use pip: $ pip install kedge"
    assert read["row"] == "Install. Option: timeout — Default: 30 s; Meaning: how long to wait"


def test_below_a_blank_header_row_every_row_is_read_and_nothing_names_the_columns() -> None:
    text = "The hosts file:\n\n|  |  |\n| --- | --- |\n| Windows | C:\\hosts |\n| Linux | /etc/hosts |"
    found = [one for one in statements(text, "Hosts") if one.kind == "row"]
    assert [one.read for one in found] == ["Hosts. Windows — C:\\hosts", "Hosts. Linux — /etc/hosts"]
    assert all(not cell.header for one in found for cell in one.cells)


def test_rows_called_by_a_year_are_rows_and_rows_of_years_are_headers() -> None:
    due = "Payments (in millions):\n\n2025 (remaining nine months) | $2,899\n2026 | 3,079\nThereafter | 348"
    assert [one.read for one in statements(due, "Payments") if one.kind == "row"] == [
        "Payments (in millions). 2025 (remaining nine months) — $2,899",
        "Payments (in millions). 2026 — 3,079",
        "Payments (in millions). Thereafter — 348",
    ]
    sales = "Three Months Ended | Nine Months Ended\n2023 | 2022 | 2023 | 2022\nProducts | 1 | 2 | 3 | 4"
    [row] = [one for one in statements(sales) if one.kind == "row"]
    assert [cell.header for cell in row.cells[1:3]] == ["Three Months Ended 2023", "Three Months Ended 2022"]


def test_bars_inside_code_and_formulas_part_no_columns() -> None:
    text = "A port is `int | None`, and $P(A | B)$ is a chance. Run `ls | grep x` first."
    assert [(one.kind, one.read) for one in statements(text)] == [
        ("sentence", "A port is int | None, and $P(A | B)$ is a chance."),
        ("sentence", "Run ls | grep x first."),
    ]


def test_footnotes_are_said_without_their_marks() -> None:
    text = (
        "Slots save memory[^pypy]. They are fast.\n\n[^pypy]: On PyPy they save nothing at all.\n[^b]: Nor elsewhere."
    )
    assert [one.read for one in statements(text)] == [
        "Slots save memory.",
        "They are fast.",
        "On PyPy they save nothing at all.",
        "Nor elsewhere.",
    ]


def test_headings_and_entries_of_a_table_of_contents_are_no_statements() -> None:
    assert not [one for one in statements(PAGE) if "Install" in one.read[len(one.lead) :] or "Contents" in one.read]
    assert not [one for one in statements(RST) if "Channels" in one.read]


def test_code_that_is_announced_or_typed_at_a_prompt() -> None:
    found = [(one.kind, RST[one.start : one.end].strip()) for one in statements(RST) if one.kind == "code"]
    assert found == [
        ("code", "async with open_nursery() as nursery:\n        nursery.start_soon(work)"),
        ("code", ">>> asdict(C(1))\n{'x': 1}"),
    ]
    assert "It waits for trio.Nursery.start." in [one.read for one in statements(RST)]


def test_the_end_of_the_passage_before_leads_in() -> None:
    (item,) = statements("- Oslo", before="Backups go to:")
    assert item.read == "Backups go to: Oslo"


def test_a_second_header_row_and_groups_below_the_rule_of_markdown() -> None:
    table = """
| | Three Months Ended | Three Months Ended |
|---|---|---|
| | April 1, 2023 | March 26, 2022 |
| Net sales: | | |
| Products | 612.4 | 598.1 |
| Total net sales | 801.1 | 762.3 |
| Cost of sales | 301.0 | 298.5 |

## Debt

| Year | Due |
|---|---|
| 2024 | 5 |
"""
    assert [one.read for one in statements(table, "Results")] == [
        "Results. Net sales: Products — Three Months Ended April 1, 2023: 612.4; "
        "Three Months Ended March 26, 2022: 598.1",
        "Results. Net sales: Total net sales — Three Months Ended April 1, 2023: 801.1; "
        "Three Months Ended March 26, 2022: 762.3",
        "Results. Cost of sales — Three Months Ended April 1, 2023: 301.0; Three Months Ended March 26, 2022: 298.5",
        "Debt. Year: 2024 — Due: 5",
    ]


def test_a_long_sentence_leads_in_from_the_beginning_of_a_word() -> None:
    lead = "This sentence " + "goes on and " * 40 + "then says:"
    (item,) = (one for one in statements(f"{lead}\n\n- first") if one.kind == "item")
    assert item.lead.split()[0] in ("goes", "on", "and")
    assert item.lead.endswith("then says: ")


def test_a_long_word_without_an_end_is_looked_at_once() -> None:
    assert [one.kind for one in statements(f"{'averylongname' * 4000} ends here, as it must.")] == ["sentence"]


@given(st.lists(LINES, max_size=30))
def test_statements_lie_in_order_and_never_overlap(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = statements(text, "Caption")
    places = [(one.start, one.end) for one in found]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(before[1] <= after[0] for before, after in pairwise(places))
    for one in found:
        assert all(one.start <= cell.start <= cell.end <= one.end for cell in one.cells)


@given(st.text(max_size=300))
def test_any_text_can_be_cut(text: str) -> None:
    assert all(text[one.start : one.end].strip() for one in statements(text))


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "```python"])
@pytest.mark.parametrize("gap", ["\n\n", "\n"])
def test_code_between_bare_fences_is_a_statement_and_no_heading(fence: str, gap: str) -> None:
    found = statements(f"Drop it like this:{gap}{fence}\nanchor.drop()\n{fence.rstrip('python')}\n\nIt holds now.")
    assert [(one.kind, one.read) for one in found] == [
        ("sentence", "Drop it like this:"),
        ("code", "Drop it like this: anchor.drop()"),
        ("sentence", "It holds now."),
    ]


@pytest.mark.parametrize("sign", "~`=-")
def test_a_line_as_long_as_the_one_above_it_makes_a_heading(sign: str) -> None:
    found = statements(f"The anchors\n{sign * 11}\n\nThey hold well.")
    assert [one.read for one in found] == ["They hold well."]


DIVISIONS = """## Divisions

| | Shops UK | | Shops Ireland | |
|---|---|---|---|---|
| £m | FY22 | FY21 | FY22 | FY21 |
| Sales | 903.1 | 811.0 | 148.2 | 129.5 |
| Staff | 120 | 118 | 31 | 29 |
"""
CAPTION = (
    "Table 2. Associations between tea and mortality from all causes, from diseases of the heart and from cancer among "
    "those who took part"
)
TRIAL = f"""{CAPTION}

|  | Tea drunk a day | Tea drunk a day |
|---|---|---|
|  | None | Two cups |
| At 6 Years: |  |  |
| All causes | 345 | 590 |
| Deaths, n | 33 | 45 |
| HR (95% CI): |  |  |
| Age adjusted | 1.00 | 0.81 |
| Cancer | 319 | 560 |
| Deaths, n | 7 | 12 |
| HR (95% CI): |  |  |
| Age adjusted | 1.00 | 0.93 |
"""


def test_a_second_header_row_may_stand_below_the_rule_with_the_unit_in_the_place_of_its_label() -> None:
    read = [one.read for one in statements(DIVISIONS) if one.kind == "row"]
    assert read == [
        "Divisions (£m). Sales — Shops UK FY22: 903.1; Shops UK FY21: 811.0; Shops Ireland FY22: 148.2; "
        "Shops Ireland FY21: 129.5",
        "Divisions (£m). Staff — Shops UK FY22: 120; Shops UK FY21: 118; Shops Ireland FY22: 31; "
        "Shops Ireland FY21: 29",
    ]


def test_rows_that_come_again_are_told_apart_by_the_row_above_them_and_what_all_share_is_said_short() -> None:
    made = [one for one in statements(TRIAL, "Results") if one.kind == "row"]
    lead = "Table 2. Associations between tea and mortality from all causes. At 6 Years: "
    assert [one.read.removeprefix(lead).replace("Tea drunk a day: ", "") for one in made] == [
        "All causes — None: 345; Two cups: 590",
        "All causes: Deaths, n — None: 33; Two cups: 45",
        "All causes: HR (95% CI): Age adjusted — None: 1.00; Two cups: 0.81",
        "Cancer — None: 319; Two cups: 560",
        "Cancer: Deaths, n — None: 7; Two cups: 12",
        "Cancer: HR (95% CI): Age adjusted — None: 1.00; Two cups: 0.93",
    ]
    assert made[0].caption == CAPTION
    assert "— Tea drunk a day: None: 345; Two cups: 590" in made[0].read
    assert made[1].cells[2].header == "Tea drunk a day Two cups"
    assert not [one for one in statements(TRIAL, "Results") if one.kind != "row"], "a caption is read with its rows"


def test_labels_that_come_again_without_a_row_of_their_own_above_them_stay_as_they_are() -> None:
    text = "| | 2022 |\n|---|---|\n| Basic | 1 |\n| Total | 2 |\n| Basic | 3 |\n| Total | 4 |\n"
    assert [one.read for one in statements(text) if one.kind == "row"] == [
        *("Basic — 2022: 1", "Total — 2022: 2", "Basic — 2022: 3", "Total — 2022: 4")
    ]


@pytest.mark.parametrize(
    ("heading", "said"),
    [
        ("## 1.4.0 (2024-07-05)", ["1.4.0 (2024-07-05)"]),
        ("Version 2, 3 May 2023\n---------------------", ["Version 2, 3 May 2023"]),
        ("## 3 May 2023", []),
        ("## What is new in 2024", []),
    ],
)
def test_a_heading_is_a_statement_only_where_it_says_on_which_day_something_was(heading: str, said: list[str]) -> None:
    text = f"{heading}\n\n- Lists may be cut.\n"
    made = [one for one in statements(text) if one.kind == "sentence"]
    assert [one.read for one in made] == said
    assert all(text[one.start : one.end] == one.read for one in made)


def test_rows_that_are_called_by_a_figure_are_rows_where_the_columns_are_named_right_above() -> None:
    lines = ("Mode | Rate | Passed | Band", "1600 | 64.5 | 8/10 | 1125 Hz", "20 | 2.1 | 9/10 | 16")
    read = [one.read for one in statements("\n".join(lines)) if one.kind == "row"]
    assert read[0] == "Mode: 1600 — Rate: 64.5; Passed: 8/10; Band: 1125 Hz"
    assert len(read) == 2


CELLS = st.sampled_from(
    (
        "",
        "5",
        "3,079",
        "2024",
        "Months Ended",
        "Net sales:",
        "Cost",
        "North",
        "(5)",
        "Q1 2023",
        "|",
        "---|---",
        "Table 3: a",
    )
)


@given(table=st.lists(st.lists(CELLS, min_size=1, max_size=4).map(" | ".join), min_size=1, max_size=12))
def test_a_head_is_the_same_read_at_once_and_read_on(table: list[str]) -> None:
    head = TableHead()
    for place, line in enumerate(table, 1):
        head.add(f"| {line} |\n"[:3])
        head.add(f"| {line} |\n"[3:])
        assert head.text() == table_head("\n".join(f"| {one} |" for one in table[:place]))
