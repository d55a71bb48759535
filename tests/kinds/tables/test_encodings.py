"""Tables in wide encodings: marks are no part of a name, a broken character costs its row, a cut file is refused."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from kedge.core.values import Job
from tests.kinds.tables.conftest import SCOPE, Desk, Run

ROWS = "name,price\nApple,1\nPear,2\nFig,3\n"
MARKS = {
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
BEYOND = "name,price\nApple,1\n".encode("utf-32-le") + b"\xff\xff\xff\x7f" + ",2\n".encode("utf-32-le")


@pytest.mark.req("T-01")
@pytest.mark.parametrize("encoding", MARKS)
def test_half_a_character_costs_its_row_only(tmp_path: Path, run: Run, encoding: str) -> None:
    path = tmp_path / "fruit.csv"
    rows = "name,price\nApple,1\nPe\ud83dar,2\nFig,3\nPl\udc00um,4\n"
    path.write_bytes(MARKS[encoding] + rows.encode(encoding, "surrogatepass"))

    async def scenario(desk: Desk) -> tuple[Job, list[tuple[int, str]], object]:
        job = await desk.feed(path)
        bad = await desk.engine.kinds.named("table").sessions.bad_rows(SCOPE)
        return job, [(row.line, row.reason) for row in bad], await desk.figure("sum of price")

    job, bad, total = run(scenario)
    assert job.errors == ()
    assert bad == [(line, "it holds bytes that are no text") for line in (3, 5)]
    assert total == 4


@pytest.mark.req("T-01")
@pytest.mark.parametrize(
    "content",
    [
        *(MARKS[encoding] + ROWS.encode(encoding)[:-1] for encoding in MARKS),
        codecs.BOM_UTF16_LE + b"n",
        codecs.BOM_UTF32_LE + BEYOND,
        codecs.BOM_UTF16_LE + "name,price\nApple,1\n".encode("utf-16-le") + b"Pear,2\n",
    ],
    ids=[*(f"{encoding} cut" for encoding in MARKS), "one byte", "beyond Unicode", "joined with UTF-8"],
)
def test_a_file_that_ends_inside_a_character_says_what_to_do(tmp_path: Path, run: Run, content: bytes) -> None:
    path = tmp_path / "fruit.csv"
    path.write_bytes(content)

    async def scenario(desk: Desk) -> Job:
        return await desk.feed(path)

    (fault,) = run(scenario).errors
    assert fault.code == "bad_encoding"
    assert "fruit.csv is not valid utf-" in fault.message
    assert "save it as UTF-8" in fault.hint


@pytest.mark.req("T-01")
@pytest.mark.parametrize(
    ("written", "named"),
    [("utf-8-sig", "utf-8"), ("utf-16", "utf-16"), ("utf-32", "utf-32"), ("utf-16", "utf-16-le")],
)
def test_a_mark_is_no_part_of_the_first_name(tmp_path: Path, run: Run, written: str, named: str) -> None:
    path = tmp_path / "fruit.csv"
    path.write_bytes(ROWS.encode(written))

    async def scenario(desk: Desk) -> list[str]:
        await desk.feed(path, encoding=named)
        return [column.name for column in (await desk.session()).columns]

    assert run(scenario) == ["name", "price"]


@pytest.mark.parametrize("named", ["idna", "punycode", "rot13", "undefined"])
def test_what_is_no_encoding_of_files_is_refused(tmp_path: Path, run: Run, named: str) -> None:
    path = tmp_path / "fruit.csv"
    path.write_text(ROWS, "utf-8")

    async def scenario(desk: Desk) -> Job:
        return await desk.feed(path, encoding=named)

    (fault,) = run(scenario).errors
    assert fault.code == "bad_encoding"
    assert named in fault.message
