"""The hostile file set through the engine: each refused with a reason or harmless, and the engine goes on.

`python -m benchmarks.hostile_files` runs all of it with memory measured; here are those that take no longer than a
moment, with small caps.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import pytest

from kedge.core.errors import KedgeError
from kedge.core.values import IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from tests.campaigns.hostile.files import Hostile, hostile_set
from tests.campaigns.hostile.taking import Outcome, main, settings_for, take_in

LONG = {
    "bomb-nested.zip",
    "rows-endless.parquet",
    "lists.json",
    "lists-graph.json",
    "open-quote.csv",
    "one-word.txt",
    "brackets.md",
    "emphasis.md",
    "formulas.md",
    "accents.txt",
    "nested-lists.html",
    "nested-tables.html",
    "letters-million.pdf",
    "stream-in-stream.pdf",
    "draws-itself.pdf",
    "paths-many.pdf",
    "table-wide.md",
    "wide.csv",
    "cell-long.csv",
    "unseen.txt",
    "one-line.csv",
    "million-columns.csv",
    "spaces-endless.docx",
    "paragraphs-endless.docx",
    "tables-deep.docx",
    "slides-many.pptx",
    "cells-repeated.ods",
    "chapter-again.epub",
}
"""Left to the benchmark: seconds each."""
SET = [case for case in hostile_set() if case.name not in LONG]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """All cases, one after the other, through one engine."""
    folder = tmp_path_factory.mktemp("hostile")

    async def run() -> dict[str, Outcome]:
        async with Engine.open(settings_for(folder / "home", 3.0, 512, 32)) as engine:
            return {case.name: await take_in(engine, case, _made(folder, case)) for case in SET}

    return asyncio.run(run())


def _made(folder: Path, case: Hostile) -> Path:
    place = folder / "files" / case.name
    place.mkdir(parents=True)
    return place


def test_the_long_ones_are_in_the_set() -> None:
    assert {case.name for case in hostile_set()} > LONG


@pytest.mark.parametrize("case", SET, ids=[case.name for case in SET])
def test_every_hostile_file_is_refused_or_harmless(case: Hostile, outcomes: dict[str, Outcome]) -> None:
    outcome = outcomes[case.name]
    assert case.taken or not outcome.taken, outcome
    assert outcome.taken or outcome.message, outcome
    assert "error" not in outcome.codes, outcome
    assert outcome.after, outcome


def test_archives_and_programs_are_known_by_content(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["archive-named.md"].codes == ("unsupported_format",)
    assert "ZIP" in outcomes["archive-named.md"].message
    assert "a program" in outcomes["program-named.md"].message
    assert "a picture" in outcomes["picture-named.html"].message
    assert outcomes["archive-named.csv"].codes
    assert outcomes["archive-named.json"].codes


def test_the_campaign_measures_a_file_in_a_process_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """It called every file crashed once, because its processes did nothing."""
    with pytest.raises(SystemExit) as ended:
        main(["--only", "nul.txt"])
    assert ended.value.code == 0
    assert "all refused or harmless" in capsys.readouterr().out


def test_links_that_lead_out_show_nothing_of_what_is_there(tmp_path: Path) -> None:
    case = next(one for one in SET if one.name == "links-out.documents")

    async def run() -> list[str]:
        async with Engine.open(settings_for(tmp_path / "home", 3.0, 512, 32)) as engine:
            folder = tmp_path / "files"
            case.make(folder)
            (folder / "own.md").write_text("# Own\n\nThe outside is not read by anybody here.")
            for kind in ("documents", "table", "graph"):
                with suppress(KedgeError):  # where the folder holds nothing else
                    await engine.ingest(IngestRequest(Scope("default", kind), (str(folder),), kind=kind))
            found = await engine.search(Query("outside secret password root", Scope("default", "documents")))
            rows = [str(one) for one in await engine.kinds.named("table").sessions.all("default")]
            return [hit.passage.text for hit in found.hits] + rows

    assert not any("outside-secret" in text for text in asyncio.run(run()))


def test_entities_of_markup_are_not_resolved(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["outside-entity.html"].seconds < 60
    assert "root:" not in outcomes["outside-entity.html"].message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_pipes_and_devices_are_not_opened(outcomes: dict[str, Outcome]) -> None:
    for kind in ("documents", "table", "graph"):
        assert not outcomes[f"no-files.{kind}"].taken


def test_odd_names_of_files_are_taken_or_told(outcomes: dict[str, Outcome]) -> None:
    outcome = outcomes["odd-names.documents"]
    assert outcome.taken
    assert outcome.codes == ("unreadable",)
    assert "not valid UTF-8" in outcome.message
