"""What stands as it was typed: code, what a program printed, and tables in it."""

from __future__ import annotations

import pytest

from kedge.core.values import BlockKind
from kedge.ingest.parse.html import parse_html
from kedge.ingest.parse.typed import typed_parts
from kedge.text.statements.cut import statements

OUTPUT = """\
## Summary of Balance for All Data:
##            Means Treated Means Control Var. Ratio
## age              25.8162       28.0303     0.4400
## educ             10.3459       10.2354     0.4959
##
## Sample Sizes:
##           Control Treated
## All           429     185
## Matched       185     185
"""


@pytest.mark.req("D-02")
def test_what_a_program_printed_on_a_page_is_tables_with_their_columns() -> None:
    document = parse_html(f"<p>Balance is seen with summary():</p><pre>{OUTPUT}</pre>")
    tables = [document.text[one.start : one.end] for one in document.blocks if one.kind is BlockKind.TABLE]
    assert tables == [
        "| | Means Treated | Means Control | Var. Ratio |\n"
        "age | 25.8162 | 28.0303 | 0.4400\n"
        "educ | 10.3459 | 10.2354 | 0.4959",
        "| | Control | Treated |\nAll | 429 | 185\nMatched | 185 | 185",
    ]
    read = [one.read for one in statements(document.text)]
    assert any("age" in one and "Means Control: 28.0303" in one for one in read)


@pytest.mark.req("D-02")
def test_code_on_a_page_is_one_statement_with_what_announces_it() -> None:
    code = "fit &lt;- match(treat ~ age,\n             data = lalonde)\n# Checking balance\nsummary(fit)"
    document = parse_html(f"<p>First the model is fitted:</p><pre><code>{code}</code></pre><p>That is all of it.</p>")
    said = statements(document.text)
    assert [one.kind for one in said] == ["sentence", "code", "sentence"]
    assert said[1].read.startswith("First the model is fitted: fit <- match")
    assert said[1].read.endswith("summary(fit)")


@pytest.mark.req("D-02")
def test_a_rule_inside_code_is_no_heading() -> None:
    said = statements("It prints:\n\n```\n---\nSignif. codes: 0.001\n```\n\nThe effect is clear in all of them.")
    assert [one.kind for one in said] == ["sentence", "code", "sentence"]


@pytest.mark.req("D-02")
def test_names_that_are_figures_and_rows_without_names() -> None:
    shares = "           2.5%    50%\nClemente  0.242  0.302\nRobinson  0.238  0.297"
    assert list(typed_parts(shares)) == [
        (BlockKind.TABLE, "| | 2.5% | 50% |\nClemente | 0.242 | 0.302\nRobinson | 0.238 | 0.297")
    ]
    rest = "Tide:Wisk    1.05396  0.30\nWisk:Wisk    2.58761  0.55\nSurf:Wisk    1.01614  0.36"
    assert list(typed_parts(rest)) == [
        (BlockKind.TABLE, "Tide:Wisk | 1.05396 | 0.30\nWisk:Wisk | 2.58761 | 0.55\nSurf:Wisk | 1.01614 | 0.36")
    ]


@pytest.mark.req("D-02")
@pytest.mark.parametrize(
    "text",
    [
        "x = [1, 2, 3]\ny = [4, 5, 6]\nz = [7, 8, 9]",
        "$ make -j 4\n$ make install 2\n$ make check 3",
        "plot(x, type = 1,\n     lty = 2,\n     lwd = 3)",
        "Return code: 1\nMessage:  Normal EM convergence 5",
    ],
)
def test_code_is_no_table(text: str) -> None:
    assert [kind for kind, _ in typed_parts(text)] == [BlockKind.CODE]


@pytest.mark.req("D-02")
def test_sentences_and_lists_in_a_font_of_code_have_no_fences() -> None:
    assert list(typed_parts("This file is read first.\nIt says where the others are.")) == [
        (BlockKind.CODE, "This file is read first.\nIt says where the others are.")
    ]
    listed = "* cd-hit-2d  Compare 2 databases\n* psi-cd-hit  Cluster proteins at <40%\n* cd-hit-454  Find duplicates"
    assert list(typed_parts(listed)) == [(BlockKind.CODE, listed)]
