"""Questions of several parts, and documents that are asked for by name, through the whole engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, Answer, IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from tests.support.surfaces import EMBEDDER

SCOPE = Scope(DEFAULT_TENANT, "measuring")
FILES = {
    "closeness.md": "# Trueness\n\nTrueness is how close the mean of many readings is to the true value. A scale "
    "that was never set to zero has none.",
    "scatter.md": "# Repeatability\n\nRepeatability is how close readings of the same thing lie to each other. It says "
    "nothing about the true value.",
    "harbour-survey.md": "# Silting of the inner harbour at Skagen\n\n## Abstract\n\nWe measured the depth of "
    "the inner harbour every month for six years. Dredging each second year keeps it at four metres. Rarer dredging "
    "closes it to ferries within three years.\n\n## Method\n\nA lead line was used in the first year, since the echo "
    "sounder was in repair. The survey boat went out on the first Monday of each month.",
    "crew.md": "# Crew\n\nNansen set out from Oslo in 1893. The cook came from Bergen.",
    "south.md": "# South\n\nAmundsen set out from Oslo in 1910. Ninety-seven dogs were on board.",
}


async def asked(home: Path, questions: Iterable[str]) -> list[Answer]:
    folder = home / "files"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    async with Engine.open(load_settings(home=home / "home", embedder=EMBEDDER)) as engine:
        await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        return [await engine.ask(Query(one, SCOPE)) for one in questions]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    questions = (
        "What is the difference between trueness and repeatability?",
        "In which years did Nansen and Amundsen set out from Oslo?",
        "What is the harbour survey about?",
        "What is the difference between trueness and a spinnaker?",
    )
    found = asyncio.run(asked(tmp_path_factory.mktemp("parts"), questions))
    return dict(zip(("difference", "names", "gist", "unknown"), found, strict=True))


def test_what_tells_two_things_apart_is_what_each_of_them_is(answers: dict[str, Answer]) -> None:
    answer = answers["difference"]
    assert "Trueness is how close the mean" in answer.answer
    assert "Repeatability is how close readings" in answer.answer
    assert {one.title for one in answer.citations} == {"Trueness", "Repeatability"}
    assert answer.short_answer is None
    assert "**" not in answer.answer


def test_two_that_are_named_are_answered_from_two_documents(answers: dict[str, Answer]) -> None:
    answer = answers["names"]
    assert "1893" in answer.answer
    assert "1910" in answer.answer
    assert {one.title for one in answer.citations} == {"Crew", "South"}


def test_a_document_that_is_named_is_summed_up_by_its_abstract(answers: dict[str, Answer]) -> None:
    answer = answers["gist"]
    assert answer.answer.startswith("We measured the depth of the inner harbour every month for six years. [1]")
    assert "closes it to ferries" in answer.answer
    assert "lead line" not in answer.answer


def test_a_side_that_nothing_speaks_of_is_not_made_up(answers: dict[str, Answer]) -> None:
    answer = answers["unknown"]
    assert answer.refused or all(one.title == "Trueness" for one in answer.citations)
