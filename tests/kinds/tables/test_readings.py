"""Questions over small tables: cells are read with tolerance, plans are enumerated and run, the likeliest is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge import Kedge
from kedge.answer.sheets.cells import canonical, day_of, numbers, plain, span
from kedge.answer.sheets.choice import Trees
from kedge.answer.sheets.enumerate import enumerate_readings
from kedge.answer.sheets.lines import MOST_READ
from kedge.answer.sheets.linking import link, unlinked_words
from kedge.answer.sheets.model import FILE, ReadingModel, read_model, save_model, shipped_model
from kedge.answer.sheets.read import left_words, read_question
from kedge.answer.sheets.sheet import Sheet, build_sheet
from kedge.answer.sheets.weigher import SLOTS
from kedge.core.errors import QueryError
from kedge.core.values import Answer
from tests.kinds.tables.conftest import Desk, Run

HEADER = ["Rank", "Swimmer", "Nation", "Time", "Points", "Year", "Result"]
ROWS = [
    ["1", "Anna Berg", "Norway", "1:02.50", "28", "2001", "3–1"],
    ["2", "Lea Moreau[a]", "France", "1:03.10", "21", "2003", "2–2"],
    ["3", "Ines Duval", "France", "1:03.90", "17", "2003", "0–4"],
    ["4", "Mary Kent (captain)", "Ireland", "1:04.00", "—", "2004", "1–0"],
    ["5", "Ruth Olsen", "Norway", "1:05.70", "9 (lost)", "2008", "5–2"],
]
CSV = "\n".join([",".join(HEADER), *(",".join(row) for row in ROWS)])


@pytest.fixture(scope="module")
def sheet() -> Sheet:
    return build_sheet(HEADER, ROWS)


@pytest.mark.req("T-10")
@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("how many swimmers are from france?", ["2"]),
        ("which swimmer has the most points?", ["Anna Berg"]),
        ("who came after lea moreau?", ["Ines Duval"]),
        ("what nation is ruth olsen from?", ["Norway"]),
        ("who was the last swimmer listed?", ["Ruth Olsen"]),
        ("how many points did ines duval have?", ["17"]),
    ],
)
def test_the_likeliest_reading_is_what_was_asked(sheet: Sheet, question: str, values: list[str]) -> None:
    answer = read_question(question, sheet, shipped_model())
    assert list(answer.readings[0].values) == values, [(one.values, one.steps) for one in answer.readings]
    assert answer.readings[0].steps


@pytest.mark.req("T-10")
def test_numbers_that_name_or_order_are_never_added_up(sheet: Sheet) -> None:
    made = enumerate_readings("what is the total of all ranks, years and points together?", sheet, frozenset())
    added = {HEADER[one.sight] for one in made.candidates if one.op in ("sum", "mean")}
    assert "Points" in added
    assert not added & {"Rank", "Year"}


def test_cells_are_read_with_tolerance(sheet: Sheet) -> None:
    kinds = {(HEADER[one.column], one.kind) for one in sheet.sights}
    assert {("Points", "num"), ("Time", "num"), ("Year", "year"), ("Result", "second"), ("Result", "margin")} <= kinds
    points = next(one.values for one in sheet.sights if HEADER[one.column] == "Points")
    assert np.array_equal(points, [28, 21, 17, np.nan, 9], equal_nan=True)


@pytest.mark.parametrize(
    ("cell", "found"),
    [("28 lost", [28.0]), ("1,234.5", [1234.5]), ("1:02.50", [62.5]), ("6 ft 2 in", [74.0]), ("n/a", [])],
)
def test_the_numbers_of_a_cell(cell: str, found: list[float]) -> None:
    assert numbers(cell) == found


def test_dates_spans_and_names_of_cells() -> None:
    assert day_of("May 3, 2004") == (2004, 5, 3)
    assert day_of("3 May") == (0, 5, 3)
    assert span("1998–2004") == 6
    assert span("2001–02") == 1
    assert plain("Lea Moreau[a]") == "lea moreau"
    assert plain("Mary Kent (captain)*") == "mary kent"
    assert canonical("1 234") == canonical("1,234") == "#1234"


@pytest.mark.parametrize(
    ("heading", "words"),
    [("dep_delay", "departure delay"), ("UnitPrice", "unit price"), ("Qty", "quantity"), ("Pts", "points")],
)
def test_short_and_compound_headings_are_known_by_their_words(heading: str, words: str) -> None:
    made = build_sheet(["Name", heading], [["a", "1"], ["b", "2"], ["c", "3"]])
    assert link(f"what is the highest {words}?", made).columns[1].level == 3


@settings(max_examples=40, deadline=None)
@given(
    st.text(max_size=60),
    st.lists(st.lists(st.text(max_size=8), min_size=2, max_size=2), min_size=0, max_size=5),
)
def test_no_text_and_no_table_break_it(question: str, rows: list[list[str]]) -> None:
    answer = read_question(question, build_sheet(["how many", ""], rows), shipped_model())
    chances = [one.chance for one in answer.readings]
    assert chances == sorted(chances, reverse=True)
    assert all(0 <= chance <= 1 for chance in chances)
    assert len(chances) <= 3


def test_readings_have_different_values(sheet: Sheet) -> None:
    answer = read_question("which is better overall?", sheet, shipped_model())
    values = [tuple(one.values) for one in answer.readings]
    assert len(values) == len(set(values)) > 1
    assert not answer.sure


def test_weights_ship_small_and_come_back_as_they_went(tmp_path: Path) -> None:
    shipped = Path(__file__).parents[3] / "src/kedge/answer/sheets/data" / FILE
    assert shipped.stat().st_size < 10_000_000
    weights = np.zeros(SLOTS, dtype=np.float32)
    weights[[3, 70, SLOTS - 1]] = [0.5, -0.25, 0.001]
    trees = Trees(
        np.zeros((1, 1), np.int16), np.full((1, 1), 0.5, np.float32), np.array([[-1.0, 1.0]], np.float32), 0.0
    )
    model = ReadingModel(weights, {"how many": 1, "who": 2}, frozenset({"how"}), ["who"], trees, 0.7)
    save_model(tmp_path / "kept.npz", model, 0.01)
    again = read_model(tmp_path / "kept.npz")
    assert again.weights[[3, 70, SLOTS - 1]] == pytest.approx([0.5, -0.25, 0.0], abs=0.01)
    assert (again.vocabulary, again.common, list(again.words), again.sure) == (
        model.vocabulary,
        model.common,
        ["who"],
        pytest.approx(0.7),
    )
    assert again.trees(np.array([[0.0], [1.0]])) == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e)], abs=1e-3)


class Partial:
    """A reader of plans that believes in the lines with one value, and keeps what it was shown."""

    def __init__(self, value: str, digest: str) -> None:
        self.digest = digest
        self.shown: list[str] = []
        self._value = value

    def support(self, question: str, identity: str, lines: Sequence[str]) -> Sequence[float]:
        self.shown = [question, identity, *lines]
        return [6.0 if line.endswith(f"→ {self._value}.") else -6.0 for line in lines]


@pytest.mark.req("T-10")
def test_a_reader_is_heard_if_the_weights_were_learned_with_it(sheet: Sheet) -> None:
    question = "who came after lea moreau?"
    model = shipped_model()
    heard, other = Partial("Mary Kent (captain)", model.reader), Partial("Mary Kent (captain)", "another one")
    alone = read_question(question, sheet, model)
    chances = {tuple(one.values): one.chance for one in read_question(question, sheet, model, heard).readings}
    before = {tuple(one.values): one.chance for one in alone.readings}
    kent = ("Mary Kent (captain)",)
    assert chances.get(kent, 0.0) > before.get(kent, 0.0)
    assert heard.shown[:2] == [question, "Table of 5 rows: Rank, Swimmer, Nation, Time, Points, Year, Result"]
    assert len(heard.shown) <= 2 + MOST_READ
    assert read_question(question, sheet, model, other) == alone
    assert not other.shown


@pytest.mark.req("T-10")
def test_a_session_answers_with_the_reading_its_steps_and_its_rows(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "swimmers.csv"
    path.write_text(CSV, "utf-8")

    async def scenario(desk: Desk) -> tuple[Answer, Answer]:
        await desk.feed(path)
        after = await desk.ask("which swimmer is listed after lea moreau?")
        return after, await desk.ask("how many points did ruth olsen have?")

    after, points = run(scenario)
    assert after.short_answer == "Ines Duval"
    assert "the row after" in after.answer
    assert after.citations[0].snippet.count("Ines Duval") == 1
    assert "9" in str(points.metadata["readings"][0]["values"])


@pytest.mark.req("T-10")
def test_unsure_readings_are_shown_and_picked_by_number(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "swimmers.csv"
    path.write_text(CSV, "utf-8")

    async def scenario(desk: Desk) -> tuple[Answer, Answer]:
        await desk.feed(path)
        unsure = await desk.ask("which nation is better overall?")
        with pytest.raises(QueryError, match="no reading 9"):
            await desk.ask("which nation is better overall?", reading=9)
        return unsure, await desk.ask("which nation is better overall?", reading=2)

    unsure, picked = run(scenario)
    readings = unsure.metadata["readings"]
    assert len(readings) >= 2
    assert unsure.metadata["plan"]["exact"] is False
    assert unsure.short_answer is None
    assert unsure.confidence in ("low", "insufficient")
    assert picked.metadata["plan"]["exact"] is True
    assert picked.short_answer == readings[1]["answer"]


@pytest.mark.req("T-10")
def test_the_library_picks_a_reading_by_number(tmp_path: Path) -> None:
    path = tmp_path / "swimmers.csv"
    path.write_text(CSV, "utf-8")
    with Kedge(tmp_path / "home", embedder="hash") as kedge:
        kedge.ingest(path, collection="swimmers", kind="table")
        unsure = kedge.ask("which nation is better overall?", collection="swimmers")
        picked = kedge.ask("which nation is better overall?", collection="swimmers", reading=2)
    assert picked.short_answer == unsure.metadata["readings"][1]["answer"]
    assert picked.metadata["plan"]["exact"] is True


@pytest.mark.req("T-10")
def test_what_is_not_understood_is_said(run: Run, csv: Path) -> None:
    async def scenario(desk: Desk) -> Answer:
        await desk.feed(csv)
        return await desk.ask("total amount in Atlantis")

    answer = run(scenario)
    assert answer.metadata["plan"]["exact"] is False
    assert "atlantis" in answer.answer.lower()
    assert "atlantis" in [word.lower() for word in answer.metadata["not_understood"]]


def test_dashes_and_escaped_quotes_cost_no_row(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "songs.csv"
    lines = ['"Title","Plays"', *(f'"Song {number}","{number}"' for number in range(1, 30))]
    path.write_text("\n".join([*lines, '"The \\"Best\\" One","—"']), "utf-8")

    async def scenario(desk: Desk) -> tuple[int, int, str | None]:
        await desk.feed(path)
        session = await desk.session()
        return session.rows, session.bad_rows, (await desk.ask("who has the most plays?")).short_answer

    rows, bad, _ = run(scenario)
    assert (rows, bad) == (30, 0)


def test_words_that_no_reading_can_use_are_known_before_readings_are_made(sheet: Sheet) -> None:
    question = "how many points did mary kent get for the yacht in 2012?"
    common = frozenset(("get",))
    linked = link(question, sheet)
    assert unlinked_words(linked, common) == ["yacht"]
    made = enumerate_readings(question, sheet, common)
    assert all("yacht" in left_words(made, one) for one in made.candidates)
