"""How files are read: dialects, types, bad rows, hostile content. Nothing is lost, and every fault has its line."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.core.values import Query
from kedge.kinds.tables.values import TableSession
from tests.kinds.tables.conftest import SCOPE, Desk, Run, write_sales

Feed = Callable[..., TableSession]


def types(session: TableSession) -> dict[str, str]:
    return {column.name: column.type.value for column in session.columns}


def cells(run: Run, *questions: str) -> Any:
    """All rows of the fed table, as it stands in the home."""

    async def scenario(desk: Desk) -> list[tuple[Any, ...]]:
        async with desk.engine.kinds.named("table").open_sessions.reading(SCOPE) as generation:
            fields = ", ".join(column.field for column in generation.table.columns)
            return generation.cursor().execute(f"SELECT {fields} FROM rows ORDER BY row_number").fetchall()

    return run(scenario)


@pytest.mark.req("T-01")
@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("name;price\nApple;1,50\nPear;2,25\n", "semicolons.csv"),
        ("name\tprice\nApple\t1.50\nPear\t2.25\n", "tabs.tsv"),
        ("name|price\r\nApple|1.50\r\nPear|2.25\r\n", "pipes.csv"),
        ("name,price\nApple,$1.50\nPear,$2.25\n".encode("utf-16"), "utf16.csv"),
        ("name,price\nApple,€1.50\nPear,€2.25\n".encode("utf-16-be"), "no-mark.csv"),
        ('"name","price"\n"Apple","1.50"\n"Pear","2.25"', "quoted.csv"),
        ('{"name": "Apple", "price": 1.5}\n{"name": "Pear", "price": 2.25}\n', "lines.jsonl"),
        ('[{"name": "Apple", "price": 1.5}, {"name": "Pear", "price": 2.25}]', "array.json"),
    ],
)
def test_dialects_give_the_same_table(table: Feed, run: Run, content: str | bytes, name: str) -> None:
    session = table(content, name)
    assert types(session) == {"name": "category", "price": "real"}
    assert cells(run) == [("Apple", 1.5), ("Pear", 2.25)]


def test_parquet_is_read(tmp_path: Path, run: Run, csv: Path) -> None:
    path = tmp_path / "sales.parquet"
    duckdb.connect().execute("COPY (SELECT * FROM read_csv(?)) TO '" + str(path) + "' (FORMAT parquet)", [str(csv)])

    async def scenario(desk: Desk) -> tuple[TableSession, Any]:
        await desk.feed(path)
        return await desk.session(), await desk.figure("How many rows are there?")

    session, count = run(scenario)
    assert types(session)["date"] == "date"
    assert types(session)["amount"] == "real"
    assert count == 500


@pytest.mark.req("T-01")
def test_the_sheets_of_a_workbook_are_files_of_their_own(tmp_path: Path, run: Run) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "spring"
    for row in (["Sales of the year"], [], ["name", "price"], ["Apple", 1.5], ["Pear", 2.25]):
        book.active.append(row)
    for name, rows in (("autumn", [["name", "price"], ["Plum", 3]]), ("empty", [])):
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    path = tmp_path / "fruit.xlsx"
    book.save(path)

    async def scenario(desk: Desk) -> tuple[Any, TableSession, Any]:
        return await desk.feed(path), await desk.session(), await desk.figure("How many rows are there?")

    job, session, count = run(scenario)
    assert not job.errors
    assert types(session) == {"name": "category", "price": "real"}
    assert count == 3
    assert cells(run) == [("Apple", 1.5), ("Pear", 2.25), ("Plum", 3.0)]


def test_legacy_encoding(table: Feed, run: Run) -> None:
    table("name,city\nJosé,München\nZoë,Malmö\n".encode("latin-1"))
    assert cells(run) == [("José", "München"), ("Zoë", "Malmö")]


def test_numbers_as_people_write_them(table: Feed, run: Run) -> None:
    session = table(
        "eu;us;money;loss;share;mixed\n"
        "1.234,50;1,234;$1,234.50;(12.50);5 %;7\n"
        "2,25;99;$5.00;3.00;12 %;n/a\n"
        "1.000.000,00;1,000,000;-$7.10;0.00;7 %;9\n"
    )
    assert cells(run) == [
        (1234.5, 1234, 1234.5, -12.5, 5, 7),
        (2.25, 99, 5.0, 3.0, 12, None),
        (1_000_000.0, 1_000_000, -7.1, 0.0, 7, 9),
    ]
    assert types(session)["us"] == "integer"
    assert types(session)["money"] == "real"


def test_dates_day_first_and_month_first(table: Feed, run: Run) -> None:
    session = table(
        "european,american,dotted,named,moment\n"
        "31/01/2024,01/31/2024,31.01.2024,31 Jan 2024,2024-01-31T10:20:30Z\n"
        "02/03/2024,03/02/2024,02.03.2024,2 Mar 2024,2024-03-02T11:00:00+02:00\n"
    )
    assert cells(run)[1] == (*(date(2024, 3, 2),) * 4, datetime(2024, 3, 2, 9))
    assert set(types(session).values()) == {"date", "time"}


def test_moments_that_are_all_midnight_are_dates(table: Feed, run: Run) -> None:
    session = table("a,b\n2024-01-31 00:00:00.000,2024-01-31 00:00\n2024-02-01 00:00:00.000,2024-02-01 00:01\n")
    assert types(session) == {"a": "date", "b": "time"}
    assert cells(run)[0][0] == date(2024, 1, 31)


def test_a_first_column_that_numbers_the_rows_is_no_amount(table: Feed) -> None:
    session = table("Bestellung,Menge\n1001,4\n1002,5\n1004,6\n")
    assert types(session) == {"Bestellung": "id", "Menge": "integer"}


def test_ids_without_digits(table: Feed) -> None:
    session = table("customerID,name\nALFKI,Alfreds Futterkiste\nANATR,Ana Trujillo\n")
    assert types(session) == {"customerID": "id", "name": "category"}


def test_dates_that_say_nothing_are_noted(table: Feed) -> None:
    session = table("d,n\n01/02/2024,1\n03/04/2024,2\n")
    assert any("month/day/year; no value says" in note for note in session.notes)


def test_ids_are_told_from_amounts(table: Feed, run: Run) -> None:
    session = table("customer_id,zip,orderNo,count\n7,00501,A-1,3\n8,90210,A-2,4\n9,10001,A-3,5\n")
    assert types(session) == {"customer_id": "id", "zip": "id", "orderNo": "id", "count": "integer"}
    assert cells(run)[0][1] == "00501"


@pytest.mark.req("T-01")
def test_every_broken_row_is_put_aside_with_its_line(table: Feed, run: Run) -> None:
    lines = ["id,name,amount"] + [f"{number},item {number},{number}.5" for number in range(1, 101)]
    lines[10] = "10,item 10"  # too few
    lines[20] = "20,item 20,20.5,surplus"  # too many
    lines[30] = '30,"item 30,30.5'  # a quote that is never closed
    lines[40] = "40,item 40,forty"  # no number
    lines[50] = '50,"item" 50,50.5'  # something behind a quote
    session = table("\n".join(lines))
    assert (session.rows, session.bad_rows) == (95, 5)

    async def scenario(desk: Desk) -> tuple[list[Any], Any]:
        return await desk.engine.kinds.named("table").sessions.bad_rows(SCOPE), await desk.figure("sum of amount")

    bad, total = run(scenario)
    assert [(row.line, row.reason.split(":")[0]) for row in bad] == [
        (11, "2 fields instead of 3"),
        (21, "4 fields instead of 3"),
        (31, "a quote is opened and never closed"),
        (41, "amount"),
        (51, "a quoted value is followed by something else than a delimiter"),
    ]
    assert bad[3].text == "40,item 40,forty"
    assert total == sum(number + 0.5 for number in range(1, 101) if number not in (10, 20, 30, 40, 50))


def test_row_numbers_are_those_of_the_file(table: Feed, run: Run) -> None:
    table("name,n\nAda,1\nbroken\nGrace,3\n")
    answer = run(lambda desk: desk.ask("Grace", threshold=0.1))
    assert answer.citations[0].title == "data row 3"


def test_quoted_newlines_and_quotes(table: Feed, run: Run) -> None:
    session = table('name,note\nAda,"first\nsecond, with comma"\nBob,"said ""hi"""\nCarl,5" pipe\n')
    assert session.bad_rows == 0
    assert cells(run) == [("Ada", "first\nsecond, with comma"), ("Bob", 'said "hi"'), ("Carl", '5" pipe')]


def test_broken_bytes_cost_their_line_only(table: Feed, run: Run) -> None:
    rows = "".join(f"Zoë {number},{number}\n" for number in range(20))
    session = table(f"name,n\n{rows}".encode() + b"bro\xffken,5\n" + b"Ada,6\nnul\0,7\n")
    assert (session.rows, session.bad_rows) == (21, 2)
    assert cells(run)[0] == ("Zoë 0", 0)


def test_lines_above_the_header_and_blank_lines(table: Feed) -> None:
    session = table("Report of March\n\nname,n\nAda,1\n\n,\nBob,2\n")
    assert (session.rows, session.bad_rows) == (2, 1)
    assert list(types(session)) == ["name", "n"]


def test_no_header_and_names_that_are_no_names(table: Feed) -> None:
    assert list(types(table("1,2.5\n3,4.5\n"))) == ["column 1", "column 2"]
    session = table("amount,amount,\n1,2,x\n3,4,y\n", "other.csv", mode="recreate")
    assert list(types(session)) == ["amount", "amount (2)", "column 3"]
    assert len(session.notes) == 2


def test_hostile_column_names_and_cells(table: Feed, run: Run) -> None:
    session = table('"""; DROP TABLE rows; --",n\n=cmd|\' /C calc\'!A0,1\n@SUM(1+1),2\nsafe,3\n')
    assert list(types(session)) == ['"; DROP TABLE rows; --', "n"]
    assert [row[0] for row in cells(run)] == ["=cmd|' /C calc'!A0", "@SUM(1+1)", "safe"]
    assert run(lambda desk: desk.figure("sum of n")) == 6
    total = run(lambda desk: desk.figure("sum of n", where=_eq('"; DROP TABLE rows; --', "safe")))
    assert total == 3


def _eq(name: str, value: str) -> Any:
    from kedge.core.values.filters import Eq

    return Eq(name, value)


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        (b"", "empty.csv", "empty_source"),
        (b"  \n \n", "blank.csv", "empty_source"),
        (b"name,amount\n", "header.csv", "empty_source"),
        (b"\x00\x01\x02\x03" * 100, "binary.csv", "not_text"),
        (b"PK\x03\x04", "book.xlsx", "unreadable"),
        (b"words", "book.doc", "unsupported_format"),
        (b"not parquet", "broken.parquet", "unreadable"),
        (b"not json\n", "broken.jsonl", "empty_source"),
    ],
)
def test_files_without_a_table_are_refused(run: Run, tmp_path: Path, content: bytes, name: str, code: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    async def scenario(desk: Desk) -> tuple[Any, str]:
        job = await desk.feed(path)
        return job.errors[0], (await desk.session()).status

    error, status = run(scenario)
    assert (error.code, status) == (code, "failed")
    assert error.hint


def test_a_file_over_the_limit_is_refused_before_it_is_read(run: Run, csv: Path) -> None:
    job = run(lambda desk: desk.feed(csv), max_source_bytes=1000)
    assert job.errors[0].code == "too_large"
    assert "max_source_bytes" in job.errors[0].hint


def test_options_win_over_what_is_seen(table: Feed) -> None:
    session = table("1;2\n3;4\n", "plain.csv", header=True, delimiter=";")
    assert list(types(session)) == ["1", "2"]


def test_files_with_the_same_columns_follow_each_other(run: Run, tmp_path: Path) -> None:
    one, two = tmp_path / "jan.csv", tmp_path / "feb.csv"
    one.write_text("name,n\nAda,1\nBob,2\n")
    two.write_text("n,name\n2.5,Carl\n")

    async def scenario(desk: Desk) -> tuple[Any, Any, Any]:
        await desk.feed(one)
        await desk.feed(two)
        added = await desk.figure("sum of n")
        carl = (await desk.ask("Carl", threshold=0.1)).citations[0]
        one.write_text("name,n\nAda,10\n")
        await desk.feed(one)
        return added, carl, await desk.figure("sum of n")

    added, carl, again = run(scenario)
    assert added == 5.5
    assert (carl.title, carl.url) == ("feb row 1", two.resolve().as_posix())
    assert again == 12.5


def test_a_file_that_cannot_be_read_any_more_keeps_its_old_rows(run: Run, tmp_path: Path) -> None:
    one, two = tmp_path / "jan.csv", tmp_path / "feb.csv"
    one.write_text("name,n\nAda,1\n")
    two.write_text("name,n\nBob,2\nbroken\n")

    async def scenario(desk: Desk) -> tuple[Any, ...]:
        await desk.feed(one, two)
        one.write_text("")
        two.write_text("name,n\nBob,20\nworse,1,2\nbroken\n")
        job = await desk.feed(one, two)
        bad = await desk.engine.kinds.named("table").sessions.bad_rows(SCOPE)
        return job.errors[0].code, await desk.figure("sum of n"), [row.line for row in bad]

    assert run(scenario) == ("empty_source", 21, [3, 4])


def test_many_broken_rows(table: Feed) -> None:
    lines = [f"{number},item,{number}" if number % 20 else f"{number},item" for number in range(1, 40_001)]
    session = table("id,name,n\n" + "\n".join(lines))
    assert (session.rows, session.bad_rows) == (38_000, 2000)


def test_a_file_with_a_key_is_joined_and_others_are_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "products.csv").write_text("product_id,department\n1,DELI\n2,MEAT\n")
    (tmp_path / "sales.csv").write_text("order_id,product_id,amount\n1,1,5\n2,2,7\n3,1,4\n4,3,1\n")
    (tmp_path / "weather.csv").write_text("day,rain\nMonday,3\nTuesday,4\n")

    async def scenario(desk: Desk) -> tuple[Any, Any, Any]:
        names = ("products.csv", "sales.csv", "weather.csv")
        job = await desk.feed(*(tmp_path / name for name in names))
        return job, await desk.figure("sum of amount for DELI"), await desk.session()

    job, deli, session = run(scenario)
    assert deli == 9
    assert session.rows == 4
    assert [(error.code, Path(error.url).name) for error in job.errors] == [("unfitting", "weather.csv")]
    assert {part.name: part.role for part in session.files} == {"sales.csv": "rows", "products.csv": "lookup"}


@pytest.mark.req("T-01")
@given(
    rows=st.lists(
        st.tuples(st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12), st.integers(0, 10**6)),
        min_size=1,
        max_size=15,
    )
)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int]]) -> None:
    """Whatever a CSV writer puts into quotes comes back, or its row is put aside: none vanishes."""
    import csv as writer
    import io

    from kedge.kinds.tables.feeding.clean import clean
    from kedge.kinds.tables.feeding.dialect import FileDialect

    folder = tmp_path_factory.mktemp("written")
    path = folder / "x.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        made = writer.writer(file, quoting=writer.QUOTE_ALL)
        made.writerow(("text", "number"))
        made.writerows(rows)
    target = io.StringIO(newline="")
    cleaned = clean(path, target, FileDialect("utf-8", ",", 2, ("text", "number")), lambda _bytes: None)
    read = list(writer.reader(io.StringIO(target.getvalue(), newline="")))
    assert cleaned.rows == len(rows)
    assert cleaned.bad == []
    assert [(text, int(number)) for _, _, text, number in read] == rows


@pytest.mark.req("T-01")
@given(
    damage=st.lists(st.sampled_from(['"', ",", "\n", "x,y,z", '""', "5"]), min_size=1, max_size=3),
    seed=st.integers(0, 999),
)
def test_damage_never_takes_good_rows_with_it(
    tmp_path_factory: pytest.TempPathFactory, damage: list[str], seed: int
) -> None:
    """One damaged line among a hundred: at most it and what it touches is put aside."""
    import io
    import random

    from kedge.kinds.tables.feeding.clean import clean
    from kedge.kinds.tables.feeding.dialect import FileDialect

    lines = [f"item {number},{number},{number}.5" for number in range(100)]
    victim = random.Random(seed).randrange(100)
    place = random.Random(seed + 1).randrange(len(lines[victim]))
    lines[victim] = lines[victim][:place] + "".join(damage) + lines[victim][place:]
    path = tmp_path_factory.mktemp("damaged") / "x.csv"
    path.write_text("a,b,c\n" + "\n".join(lines) + "\n", newline="")
    target = io.StringIO(newline="")
    clean(path, target, FileDialect("utf-8", ",", 3, ("a", "b", "c")), lambda _bytes: None)
    kept = {line.split(",", 2)[2] for line in target.getvalue().splitlines() if line.count(",") == 4}
    lost = [number for number in range(100) if number != victim and lines[number] not in kept]
    assert len(lost) <= 2, (lines[victim], lost)


def test_generated_files_of_any_size_are_whole(run: Run, tmp_path: Path) -> None:
    path = write_sales(tmp_path / "many.csv", 3000)

    async def scenario(desk: Desk) -> tuple[Any, Any]:
        await desk.feed(path)
        found = await desk.engine.ask(Query("How many rows are there?", SCOPE))
        return found.metadata["row_count"], json.dumps(found.metadata["rows"])

    assert run(scenario) == (3000, "[[3000]]")
