"""The reader that comes with Kedge: it tells what a passage answers from what it only speaks of."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.answer.read import Readings
from kedge.core.errors import ModelError
from kedge.core.settings import Settings
from kedge.models.carried import files
from kedge.models.read.reader import FILE, Reader, open_reader
from kedge.text.evidence import EvidencePassage

MILL = (
    "Harrow Mill",
    "The mill at Harrow was built in 1784 by the brothers Thorne. It ground barley for the garrison until a flood "
    "tore its wheel away in 1822. Today a family of potters works in the building.",
)
BRIDGE = (
    "Iron Bridge",
    "The bridge over the Wend is 212 metres long and carries two lanes. Its arches were cast in Solen, shipped down "
    "the river in parts, and put together by 340 workers.",
)


@pytest.fixture(scope="module")
def reader() -> Reader:
    return open_reader(Settings())


@pytest.mark.parametrize(
    ("passage", "answered", "unanswered"),
    [
        (MILL, "When was the mill at Harrow built?", "When was the mill at Harrow sold?"),
        (MILL, "What did the mill grind?", "How many sacks did the mill grind in a day?"),
        (MILL, "Who works in the building today?", "Who owns the building today?"),
        (MILL, "When was the wheel of the mill destroyed?", "When was the wheel of the mill rebuilt?"),
        (BRIDGE, "How long is the bridge over the Wend?", "How high is the bridge over the Wend?"),
        (BRIDGE, "Where were the arches of the bridge cast?", "Where were the railings of the bridge cast?"),
        (BRIDGE, "How many workers put the bridge together?", "How many workers were paid in Solen?"),
    ],
)
def test_what_is_answered_scores_above_what_is_only_spoken_of(
    reader: Reader, passage: tuple[str, str], answered: str, unanswered: str
) -> None:
    (yes,), (no,) = reader.read(answered, [passage]), reader.read(unanswered, [passage])
    assert yes.score > no.score


def test_the_answers_place_is_in_the_text(reader: Reader) -> None:
    (reading,) = reader.read("When was the mill at Harrow built?", [MILL])
    assert MILL[1][reading.start : reading.end] == "1784"


def test_a_pair_scores_the_same_alone_and_among_others(reader: Reader) -> None:
    question = "Who built the mill at Harrow?"
    alone = [reader.read(question, [passage])[0] for passage in (BRIDGE, MILL)]
    assert reader.read(question, [BRIDGE, MILL]) == alone


def test_the_end_of_a_long_passage_is_read_too(reader: Reader) -> None:
    filler = "The hills around the town are green and quiet in every season of the year. " * 60
    question = "When was the mill at Harrow built?"
    (without,) = reader.read(question, [("Harrow", filler)])
    (within,) = reader.read(question, [("Harrow", filler + MILL[1])])
    assert within.score > without.score
    assert (filler + MILL[1])[within.start : within.end] == "1784"


@settings(max_examples=15)
@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=200))
def test_any_text_can_be_read(question: str, title: str, text: str) -> None:
    (reading,) = _shared().read(question, [(title, text)])
    assert 0 <= reading.start <= reading.end <= len(text)


_kept: list[Reader] = []


def _shared() -> Reader:
    if not _kept:
        _kept.append(open_reader(Settings(threads=1)))
    return _kept[0]


PASSAGES = [
    EvidencePassage(MILL[1], MILL[0]),
    EvidencePassage("El molino de Harrow fue construido en 1784 por los hermanos.", "Molino"),
]


def test_only_english_questions_are_read() -> None:
    readings = Readings(Settings())

    def read(question: str, *wanted: int) -> set[int]:
        return set(asyncio.run(readings.of(question, PASSAGES, wanted)))

    assert read("When was the mill built?", 0) == {0}
    assert read("¿Cuándo fue construido el molino de Harrow?", 0) == set()
    assert read("When was the mill built?", 0, 1) == set()
    assert read("The mill at Harrow ground barley.", 0) == set()
    assert read("磨坊是什么时候建的?", 0) == set()


def test_it_can_be_left_out() -> None:
    assert asyncio.run(Readings(Settings(reader="none")).of("When was the mill built?", PASSAGES, [0])) == {}


def test_another_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = bytearray((files.FOLDER / FILE).read_bytes())
    raw[len(raw) // 2] ^= 1
    (tmp_path / FILE).write_bytes(raw)
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    with pytest.raises(ModelError, match="not the file") as caught:
        open_reader(Settings(threads=3))
    assert "Reinstall kedge==" in caught.value.hint


def test_a_file_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    with pytest.raises(ModelError, match=r"reader\.onnx cannot be read") as caught:
        open_reader(Settings(threads=3))
    assert "Reinstall kedge==" in caught.value.hint
