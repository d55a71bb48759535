"""Large tables: readings are weighed over some rows and run over all; a plan is seconded by them, or doubted."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.core.values import Answer
from kedge.kinds.tables.asking.answer import Computed
from kedge.kinds.tables.asking.understand import UnderstoodTable
from kedge.kinds.tables.choosing import Offer
from kedge.kinds.tables.plans.execute import PlanResult
from kedge.kinds.tables.plans.plan import Func, Group, Measure, Order, TablePlan, Task
from kedge.kinds.tables.schema import Column, ColumnType, Table
from kedge.kinds.tables.seconding import choose_large, says_what_is_computed
from tests.kinds.tables.conftest import Desk, Run

ROWS = 2400
CITIES = ("Oslo", "Rome", "Lima")


def trips() -> str:
    """Trips with a departure as a number of the clock, a trip's number that means nothing, and a price."""
    lines = ["trip,city,dep_time,price,passengers"]
    for row in range(ROWS):
        clock = (row * 7 % 24) * 100 + row * 13 % 60
        lines.append(f"{1000 + row * 17 % 900},{CITIES[row % 3]},{clock},{10 + row % 50},{row % 5}")
    return "\n".join(lines)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "trips.csv"
    path.write_text(trips(), "utf-8")
    return path


def ask(run: Run, file: Path, question: str) -> Answer:
    async def scenario(desk: Desk) -> Answer:
        await desk.feed(file)
        return await desk.ask(question)

    return run(scenario)


@pytest.mark.req("T-10")
def test_an_answer_is_computed_over_all_rows_not_over_some(run: Run, file: Path) -> None:
    answer = ask(run, file, "What is the average price in Oslo?")
    prices = [10 + row % 50 for row in range(ROWS) if row % 3 == 0]
    assert answer.metadata["plan"]["exact"]  # type: ignore[index,call-overload]
    assert float(str(answer.short_answer)) == pytest.approx(sum(prices) / len(prices))


@pytest.mark.req("T-10")
@pytest.mark.parametrize("question", ["What is the total dep_time?", "What is the average dep time in Rome?"])
def test_times_of_day_are_not_added_up(run: Run, file: Path, question: str) -> None:
    answer = ask(run, file, question)
    readings = answer.readings
    plans = [str(one["plan"]) for one in readings if isinstance(one, dict)]
    assert not any("sum of dep_time" in plan or "average of dep_time" in plan for plan in plans)


@pytest.mark.req("T-10")
def test_what_is_not_sure_is_shown_with_its_values(run: Run, file: Path) -> None:
    answer = ask(run, file, "Which city is the nicest by far?")
    assert answer.short_answer is None
    assert answer.confidence in ("low", "insufficient")


@pytest.mark.req("T-10")
def test_columns_that_a_word_fits_alike_are_readings_to_be_picked(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "repairs.csv"
    lines = [f"{('Hull', 'Sail', 'Mast')[row % 3]},{row % 90},{row * 3 % 70}" for row in range(ROWS)]
    path.write_text("\n".join(["part,Cost Travel,Cost Repair", *lines]), "utf-8")

    async def scenario(desk: Desk) -> list[Answer]:
        await desk.feed(path)
        asked = "total cost by part"
        return [await desk.ask(asked), await desk.ask(asked, reading=1), await desk.ask(asked, reading=2)]

    unsure, *picked = run(scenario)
    totals = [
        {
            part: sum(float(line.split(",")[place]) for line in lines if line.startswith(part))
            for part in ("Hull", "Sail")
        }
        for place in (1, 2)
    ]
    assert unsure.short_answer is None
    told = [{str(row[0]): float(str(row[-1])) for row in answer.metadata["rows"]} for answer in picked]
    for total in totals:
        assert any(total.items() <= one.items() for one in told)


TABLE = Table(
    "meets",
    "rows",
    (
        Column("name", "c0", ColumnType.CATEGORY, 900),
        Column("meet_name", "c1", ColumnType.CATEGORY, 30),
        Column("population", "c2", ColumnType.INTEGER, 500),
        Column("orderID", "c3", ColumnType.ID, 800),
    ),
    1000,
)


def computed(question: str, plan: TablePlan, sure: float, value: object) -> Computed:
    result = PlanResult(("figure",), ((value,),), 10, ())
    return Computed(UnderstoodTable(question, plan, sure, ""), result, text=str(value))


COUNT = TablePlan()
ORDERS = TablePlan(measures=(Measure(Func.DISTINCT, "c3"),))


def reading(chance: float, value: object, plan: TablePlan = COUNT) -> Offer:
    return Offer(chance, computed("q", plan, chance, value))


def test_what_plan_and_reading_say_alike_is_sure() -> None:
    offers = choose_large(computed("how many?", COUNT, 0.65, 5), [reading(0.5, 5), reading(0.3, 7)], False, (), TABLE)
    assert offers.sure
    assert offers.all[0].chance > 0.8


def test_a_likely_reading_that_uses_every_word_puts_a_plan_in_doubt() -> None:
    total = TablePlan(measures=(Measure(Func.SUM, "c2"),))
    rival = [reading(0.9, 7, total)]
    assert not choose_large(computed("how many?", COUNT, 1.0, 5), rival, False, (), TABLE).sure
    assert choose_large(computed("how many?", COUNT, 1.0, 5), rival, False, ("nicest",), TABLE).sure
    assert not choose_large(computed("how many?", COUNT, 0.7, 5), [reading(0.6, 7, total)], False, (), TABLE).sure


def test_counting_rows_is_no_rival_of_counting_what_a_noun_names() -> None:
    assert choose_large(computed("how many orders?", ORDERS, 0.9, 5), [reading(0.95, 99)], False, (), TABLE).sure


def test_readings_alone_are_sure_only_with_every_word_used() -> None:
    nothing = Computed(UnderstoodTable("q", None, 0.0, "no plan"))
    assert choose_large(nothing, [reading(0.95, 7)], True, (), TABLE).sure
    assert not choose_large(nothing, [reading(0.95, 7)], True, ("nicest",), TABLE).sure
    assert not choose_large(nothing, [reading(0.7, 7)], True, (), TABLE).sure


def test_what_cannot_be_meant_is_not_sure() -> None:
    from kedge.kinds.tables.plans.plan import Filter, Op

    vienna = TablePlan(filters=(Filter("c0", Op.IS, ("Vienna",)),), measures=(Measure(Func.SUM, "c2"),))
    assert not says_what_is_computed("What is the population of Vienna?", vienna, TABLE)
    assert says_what_is_computed("What is the total population of Vienna?", vienna, TABLE)
    figures = TablePlan(Task.LIST, columns=("c2",), distinct=True)
    assert not says_what_is_computed("What is the population?", figures, TABLE)
    meets = TablePlan(groups=(Group("c1"),), order=Order(), limit=1)
    assert not says_what_is_computed("Who was in the most meets?", meets, TABLE)
    assert says_what_is_computed("Which meet has the most entries?", meets, TABLE)


@pytest.mark.req("T-04")
@pytest.mark.parametrize("question", ["Which city has the highest total price?", "top 2 cities by price"])
def test_a_total_or_the_first_few_are_never_surely_one_row(run: Run, file: Path, question: str) -> None:
    answer = ask(run, file, question)
    plan = str(answer.metadata["plan"]["text"])  # type: ignore[index,call-overload]
    unsure = not answer.metadata["plan"]["exact"]  # type: ignore[index,call-overload]
    assert unsure or "sum of price" in plan or "the first 2" in plan


@pytest.mark.req("T-04")
def test_a_name_as_it_is_written_is_not_another_of_the_same_root(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    names = ("Emily", "Emilie", "Emili", "Anna")
    lines = [f"{names[row % 4]},{1 + row % 4}" for row in range(1600)]
    path.write_text("\n".join(["name,births", *lines]), "utf-8")
    answer = ask(run, path, "total births of Emily")
    assert answer.short_answer == "400"


def crossings(zone: str = "") -> str:
    """Crossings with an empty boat now and then, and a moment; `zone` as databases write it."""
    lines = ["boat,late,left_at"]
    for row in range(ROWS):
        boat, late = ("NA", "NA") if row % 10 == 0 else (f"B{row % 7}", str(row % 30))
        lines.append(f"{boat},{late},2021-{row % 12 + 1:02}-0{row % 9 + 1} 0{row % 9}:30:00{zone}")
    return "\n".join(lines)


@pytest.mark.req("T-10")
@pytest.mark.parametrize(
    ("question", "value"),
    [("How many different boats are there?", "7"), ("How many rows have no boat?", str(ROWS // 10))],
)
def test_what_stands_for_no_number_stands_for_no_name(run: Run, tmp_path: Path, question: str, value: str) -> None:
    path = tmp_path / "crossings.csv"
    path.write_text(crossings(), "utf-8")
    answer = ask(run, path, question)
    assert answer.metadata["plan"]["exact"]  # type: ignore[index,call-overload]
    assert answer.short_answer == value


@pytest.mark.req("T-03")
def test_a_league_called_na_stays_where_no_number_is_missing(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "leagues.csv"
    path.write_text("\n".join(["league,wins", *(f"{('NA', 'AL', 'NL')[row % 3]},{row}" for row in range(ROWS))]))

    async def scenario(desk: Desk) -> dict[str, int]:
        await desk.feed(path)
        return {column.name: column.distinct for column in (await desk.session()).columns}

    assert run(scenario)["league"] == 3


@pytest.mark.req("T-03")
def test_a_moment_with_a_short_zone_is_a_moment(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "crossings.csv"
    path.write_text(crossings("+00"), "utf-8")

    async def scenario(desk: Desk) -> dict[str, str]:
        await desk.feed(path)
        return {column.name: column.holds for column in (await desk.session()).columns}

    assert run(scenario)["left_at"] == "time"
