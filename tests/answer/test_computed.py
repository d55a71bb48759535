"""Questions that are computed over tables inside documents: the whole table is read, and the cells are cited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kedge import Kedge
from kedge.answer.computed.answering import computed
from kedge.answer.computed.tables import DocumentRow, DocumentTable
from kedge.answer.computed.wanted import asks_computation
from kedge.answer.sheets.model import shipped_model
from kedge.core.stages import heard
from kedge.core.values import Answer
from kedge.text.statements.cut import statements
from tests.answer.made import hit

REPORT = """# Harbour report

The harbour board publishes its accounts every year.

## Operating expenses

Expenses of the harbour for the years ended December 31, 2022 and December 31, 2021 (in thousands):

| | Year Ended December 31, 2022 | Year Ended December 31, 2021 |
|---|---|---|
| Dredging and surveying | 7,442 | 6,797 |
| Pilots | 5,973 | 6,012 |
| Lights and buoys | 1,180 | 990 |
| Total operating expenses | 14,595 | 13,799 |

## Moorings

| Mooring | Depth | Boats | Material |
|---|---|---|---|
| North quay | 9 m | 41 | Stone |
| Ferry pier | 12 m | 6 | Timber |
| Fish dock | 5 m | 63 | Stone |
| Old basin | 3 m | 118 | Brick |
"""
CARGO = 240


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kedge]:
    folder = tmp_path_factory.mktemp("harbour")
    files = folder / "files"
    files.mkdir()
    (files / "report.md").write_text(REPORT, "utf-8")
    rows = "\n".join(
        f"| Consignment {place} of the winter season | {'Timber' if place % 3 else 'Granite'} | {place} |"
        for place in range(1, CARGO + 1)
    )
    head = "| Consignment | Goods | Crates |\n|---|---|---|\n"
    (files / "cargo.md").write_text(f"# Cargo ledger\n\n## Consignments\n\n{head}{rows}\n", "utf-8")
    with Kedge(folder / "home") as kedge:
        kedge.ingest(files, collection="harbour")
        yield kedge


def ask(kedge: Kedge, question: str) -> Answer:
    return kedge.ask(question, collection="harbour")


def marked(answer: Answer) -> list[str]:
    return [cell.text for one in answer.citations for cell in one.cells if cell.answers]


@pytest.mark.req("D-13")
def test_a_change_between_two_periods_cites_both_cells_at_their_places(harbour: Kedge) -> None:
    asked = "By how much did dredging and surveying grow from 2021 to 2022?"
    answer = ask(harbour, asked)
    assert not answer.refused
    assert "645" in answer.answer
    assert {"7,442", "6,797"} <= set(marked(answer))
    for cell in (cell for one in answer.citations for cell in one.cells if cell.answers):
        assert REPORT[cell.start : cell.end] == cell.text


@pytest.mark.req("D-13")
@pytest.mark.parametrize(
    ("question", "short", "cells"),
    [
        ("Which mooring has the most boats?", "Old basin", ["Old basin", "118"]),
        ("Which mooring has the fewest boats?", "Ferry pier", ["Ferry pier", "6"]),
        ("What is the total of all boats?", "228", ["41", "6", "63", "118"]),
        ("How many more boats does Fish dock have than North quay?", "22", ["63", "41"]),
    ],
)
def test_figures_are_computed_from_the_rows_that_are_cited(
    harbour: Kedge, question: str, short: str, cells: list[str]
) -> None:
    answer = ask(harbour, question)
    assert answer.short_answer == short
    assert sorted(marked(answer)) == sorted(cells)
    plan = answer.metadata["plan"]
    assert isinstance(plan, dict)
    assert plan["exact"] is True


@pytest.mark.req("D-13")
def test_rows_that_add_up_the_others_are_not_counted_twice(harbour: Kedge) -> None:
    answer = ask(harbour, "What was the average operating expense in 2022?")
    assert answer.short_answer == "4,865"
    assert marked(answer) == ["7,442", "5,973", "1,180"]


@pytest.mark.req("D-13")
def test_a_table_that_was_cut_is_read_whole(harbour: Kedge) -> None:
    highest = ask(harbour, "Which consignment had the most crates?")
    assert highest.short_answer == f"Consignment {CARGO} of the winter season"


@pytest.mark.req("D-13")
@pytest.mark.parametrize("question", ["What is the depth of the Ferry pier?", "Who publishes the accounts?"])
def test_a_look_up_stays_with_the_reader(harbour: Kedge, question: str) -> None:
    answer = ask(harbour, question)
    assert not answer.refused
    assert "plan" not in answer.metadata


@pytest.mark.req("D-13")
@pytest.mark.parametrize("question", ["Which mooring has the most electricity?", "Which mooring has the most cranes?"])
def test_nothing_is_computed_where_a_word_stands_nowhere_in_the_table(harbour: Kedge, question: str) -> None:
    assert "plan" not in ask(harbour, question).metadata


class _NeverAsked:
    """A reader of plans that fails the test where it is asked."""

    digest = shipped_model().reader

    def support(self, question: str, identity: str, lines: Sequence[str]) -> Sequence[float]:
        raise AssertionError(f"read for {question!r}: {lines}")


def test_no_plan_is_read_where_the_answer_could_not_be_sure() -> None:
    text = REPORT[REPORT.index("| Mooring") :]
    passage = hit("Moorings", text).passage
    table = DocumentTable(tuple(DocumentRow(passage, one) for one in statements(text)))
    model, asked = shipped_model(), "Which mooring has the most {}?"
    assert computed(asked.format("electricity"), [table], model, _NeverAsked()) is None
    with pytest.raises(AssertionError, match="Old basin"):
        computed(asked.format("boats"), [table], model, _NeverAsked())


def test_a_question_over_tables_is_searched_for_twice(harbour: Kedge) -> None:
    """Once among all passages, once among those with tables: who computes sees what was found for the figure."""
    stages: list[str] = []
    with heard(stages.append):
        ask(harbour, "How many boats do all moorings have in total?")
    assert stages.count("vectors") == 2
    assert stages.count("rerank") == 2
    assert "compute" in stages


def test_tables_are_not_searched_for_where_there_are_none(tmp_path: Path) -> None:
    (tmp_path / "quay.md").write_text(
        "# Quay\n\nThe north quay has 41 boats and the fish dock has 63 boats.\n", "utf-8"
    )
    stages: list[str] = []
    with Kedge(tmp_path / "home") as kedge:
        kedge.ingest(tmp_path / "quay.md", collection="harbour")
        with heard(stages.append):
            answer = ask(kedge, "How many boats has the fish dock?")
    assert answer.short_answer == "63"
    assert stages.count("vectors") == 1


def test_words_of_computing_are_known() -> None:
    asked = ["By how much did sales grow?", "Which is the oldest boat?", "What are the fees of A and B combined?"]
    assert [asks_computation(one) for one in asked] == [True] * 3
    assert not any(asks_computation(one) for one in ("Where is the latest report?", "What interest is paid?"))


def test_a_total_that_the_table_states_is_quoted(harbour: Kedge) -> None:
    answer = ask(harbour, "What were the total operating expenses in 2022?")
    assert answer.short_answer == "14,595"
    assert marked(answer) == ["14,595"]
    assert "Pilots" not in answer.answer
