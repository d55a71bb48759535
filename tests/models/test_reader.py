"""The reader that comes with Kedge: it tells what a passage answers from what it only speaks of."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.answer.read import Readings
from kedge.core.errors import ModelError
from kedge.core.settings import Settings
from kedge.models.carried import files
from kedge.models.read.reader import FILE, Readable, Reader, Reading, open_reader
from tests.support.passages import passage

MILL = Readable(
    "Harrow Mill",
    [
        "The mill at Harrow was built in 1784 by the brothers Thorne.",
        "It ground barley for the garrison until a flood tore its wheel away in 1822.",
        "Today a family of potters works in the building.",
    ],
)
BRIDGE = Readable(
    "Iron Bridge",
    [
        "The bridge over the Wend is 212 metres long and carries two lanes.",
        "Its arches were cast in Solen, shipped down the river in parts, and put together by 340 workers.",
    ],
)


def best(reading: Reading) -> int:
    """The statement that carries the answer."""
    return max(range(len(reading.statements)), key=lambda at: reading.statements[at].support)


def few_words(reading: Reading, read: Readable) -> str:
    span = reading.statements[best(reading)].span
    assert span is not None
    return read.statements[best(reading)][span.start : span.end]


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
    reader: Reader, passage: Readable, answered: str, unanswered: str
) -> None:
    (yes,), (no,) = reader.read(answered, [passage]), reader.read(unanswered, [passage])
    assert yes.about - yes.trick > no.about - no.trick


def test_the_statement_and_the_few_words_that_answer(reader: Reader) -> None:
    (reading,) = reader.read("When was the mill at Harrow built?", [MILL])
    assert best(reading) == 0
    assert few_words(reading, MILL) == "1784"
    (reading,) = reader.read("What did the mill grind?", [MILL])
    assert best(reading) == 1


def test_the_cell_of_a_row_that_answers(reader: Reader) -> None:
    row = "Net sales. Europe — Three Months Ended July 1, 2023: 20,205; Three Months Ended June 25, 2022: 19,287"
    slots = [(row.index(value), row.index(value) + len(value)) for value in ("20,205", "19,287")]
    asked = Readable("Acme Inc. · 10-Q", [row], [slots])
    (newer,) = reader.read("How much was sold in Europe in the three months ended July 1, 2023?", [asked])
    (older,) = reader.read("How much was sold in Europe in the three months ended June 25, 2022?", [asked])
    assert newer.statements[0].slots[0] > newer.statements[0].slots[1]
    assert older.statements[0].slots[1] > older.statements[0].slots[0]


def test_a_passage_is_read_the_same_alone_and_among_others(reader: Reader) -> None:
    question = "Who built the mill at Harrow?"
    alone = [reader.read(question, [passage])[0] for passage in (BRIDGE, MILL)]
    assert reader.read(question, [BRIDGE, MILL]) == alone


def test_the_end_of_a_long_passage_is_read_too(reader: Reader) -> None:
    filler = ["The hills around the town are green and quiet in every season of the year."] * 60
    question = "When was the mill at Harrow built?"
    (without,) = reader.read(question, [Readable("Harrow", filler)])
    within = Readable("Harrow", [*filler, *MILL.statements])
    (reading,) = reader.read(question, [within])
    assert reading.about > without.about
    assert best(reading) == 60
    assert few_words(reading, within) == "1784"


@settings(max_examples=15)
@given(st.text(max_size=60), st.text(max_size=20), st.lists(st.text(max_size=100), max_size=4))
def test_any_text_can_be_read(question: str, identity: str, texts: list[str]) -> None:
    (reading,) = _shared().read(question, [Readable(identity, texts)])
    assert len(reading.statements) == len(texts)
    for one, text in zip(reading.statements, texts, strict=True):
        assert one.span is None or 0 <= one.span.start <= one.span.end <= len(text)


_kept: list[Reader] = []


def _shared() -> Reader:
    if not _kept:
        _kept.append(open_reader(Settings(threads=1)))
    return _kept[0]


ENGLISH = passage(text=" ".join(MILL.statements))
SPANISH = passage(
    text="El molino de Harrow fue construido en 1784 por los hermanos y hoy es de una familia de alfareros."
)


def test_only_english_is_read() -> None:
    readings = Readings(Settings())
    assert readings.can("When was the mill built?", [ENGLISH])
    assert readings.can("mill at Harrow, year", [ENGLISH, ENGLISH, SPANISH])
    assert not readings.can("¿Cuándo fue construido el molino de Harrow por los hermanos?", [ENGLISH])
    assert not readings.can("When was the mill built?", [SPANISH])
    assert not readings.can("磨坊是什么时候建的?", [ENGLISH])


def test_it_can_be_left_out() -> None:
    assert not Readings(Settings(reader="none")).can("When was the mill built?", [ENGLISH])


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
