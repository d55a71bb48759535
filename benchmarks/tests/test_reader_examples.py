"""Examples that the reader is trained on (`benchmarks.reader`): well-formed from every set, and made ones true."""

from __future__ import annotations

import io
import json
import lzma
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reader import made, prose, tables, train
from benchmarks.reader.example import Example, restyled
from benchmarks.reader.language import names
from benchmarks.reader.spoil import CHANGES, AskedQuestion, Change, spoilt

OTHER = "In Bergen, Greta Holm moved the old harbour in 1871. The mayor welcomed Karl Brandt with three ships."
TOWER = (
    "Many visitors come every year. Ada Stone designed the large tower for Oslo in 1905 near the old harbour. "
    "It was painted in white colour by Peter Lund in 1911. The builders needed 40 wagons for the stones."
)
ASKED = AskedQuestion("In 1905, who was asked to design the large tower for Oslo?", TOWER, "Ada Stone")


def words_at(example: Example) -> str:
    """The short answer."""
    assert example.span is not None
    number, start, end = example.span
    return example.statements[number][start:end]


def well_formed(examples: Iterable[Example]) -> list[Example]:
    """The same, after what must hold for each."""
    found = list(examples)
    for one in found:
        assert one.question.strip()
        assert one.statements
        assert one.about in (0, 1, -1)
        assert one.trick in (0, 1, -1)
        assert one.yes in (0, 1, -1)
        assert one.support <= set(range(len(one.statements)))
        if one.span is not None:
            assert words_at(one).strip()
            assert one.about == 1
            assert one.trick == 0
            assert one.span[0] in one.support
        if one.about == 0:
            assert one.span is None
            assert not one.support
            assert one.support_known
        if one.trick == 1:
            assert one.about == -1
            assert one.span is None
    return found


def packed(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


# ------------------------------------------------------------ sets in the form of SQuAD


def question(number: str, text: str, paragraph: str, answer: str = "") -> dict[str, Any]:
    found = [[paragraph.index(answer), answer]] if answer else []
    return {"id": number, "text": text, "unanswerable": not answer, "answers": found, "plausible": []}


@pytest.fixture
def squad(tmp_path: Path) -> Path:
    harbour = "The harbour of Oslo is deep. Twelve cranes unload the ships there. Fishermen own the eastern pier."
    asked = [
        ("The_Tower", TOWER, [question("1", "Who designed the large tower for Oslo in 1905?", TOWER, "Ada Stone")]),
        ("The_Tower", harbour, [question("2", "Who paints the cranes?", harbour)]),
        ("Bergen", OTHER, [question("3", "Who moved the old harbour in 1871?", OTHER, "Greta Holm")]),
        ("Bergen", "It rains in Bergen.", [question("4", "Where does it rain?", "It rains in Bergen.", "Bergen")]),
    ]
    keys = ("title", "text", "questions")
    return packed(tmp_path / "squad.jsonl.xz", (dict(zip(keys, row, strict=True)) for row in asked))


def test_paragraphs_answer_do_not_or_only_seem_to(squad: Path) -> None:
    found = [one for seed in range(30) for one in well_formed(prose.squad(squad, Random(seed), 1.0, "squad", spoil=1))]
    answers = {one.question: words_at(one) for one in found if one.span}
    assert answers == {
        "Who designed the large tower for Oslo in 1905?": "Ada Stone",
        "Who moved the old harbour in 1871?": "Greta Holm",
        "Where does it rain?": "Bergen",
    }
    assert {one.question for one in found if one.source == "squad" and one.trick == 1} == {"Who paints the cranes?"}
    others = [one for one in found if one.source == "squad-not"]
    assert others
    for one in others:
        assert answers[one.question].lower() not in " ".join(one.statements).lower()
    made_tricks = {one.question for one in found if one.source == "squad-spoilt"}
    assert len(made_tricks) > 10
    assert not made_tricks & set(answers)
    assert any(len(one.statements) > 4 for one in found if one.span), "never beside another paragraph"


def test_shares_of_a_file_hold_each_question_once_in_order(squad: Path) -> None:
    """So that what is held back at the end has articles that the rest does not have."""
    parts = [prose.squad(squad, Random(1), 0.0, "squad", share=(part, 3)) for part in range(3)]
    whole = prose.squad(squad, Random(1), 0.0, "squad")
    assert [one.question for part in parts for one in part] == [one.question for one in whole]


# ------------------------------------------------------------ other sets of prose


def test_hotpot_gives_one_paragraph_both_and_others(tmp_path: Path) -> None:
    context = [
        ["Ada Stone", ["Ada Stone was born in Oslo.", " She built towers."]],
        ["Oslo", ["It is a city.", " Its river is the Akerselva."]],
        ["Rome", ["Rome lies on the Tiber."]],
        ["Paris", ["Paris lies on the Seine."]],
    ]
    facts = [["Ada Stone", 0], ["Oslo", 1], ["Oslo", 9]]
    asked = (("Which river is in the birthplace of Ada Stone?", "Akerselva"), ("Are Ada Stone and Oslo alike?", "no"))
    rows = [{"text": text, "answer": answer, "context": context, "supporting_facts": facts} for text, answer in asked]
    found = well_formed(prose.hotpot(packed(tmp_path / "hotpot.jsonl.xz", rows), Random(1)))
    both = [one for one in found if one.source == "hotpot-both"]
    assert [words_at(one) for one in found if one.span] == ["Akerselva", "Akerselva"]
    assert [(one.yes, len(one.support), len(one.statements)) for one in both] == [(-1, 2, 4), (0, 2, 4)]
    assert {one.identity for one in found if one.about == 0} == {"Rome", "Paris"}
    lone = next(one for one in found if one.source == "hotpot" and one.identity == "Ada Stone")
    assert (lone.about, lone.support) == (-1, {0})


def test_yes_and_no_over_the_right_and_another_paragraph(tmp_path: Path) -> None:
    rows = [
        {"question": "is oslo a city", "passage": "Oslo -- Oslo is a city. It lies on a fjord.", "answer": True},
        {"question": "is rome new", "passage": "Rome -- Rome is very old.", "answer": "False"},
        {"question": "is it known", "passage": "Nobody knows.", "answer": None},
    ]
    path = packed(tmp_path / "boolq.jsonl.xz", rows)
    found = [one for seed in range(20) for one in well_formed(prose.boolq(path, Random(seed)))]
    own = {(one.question.rstrip("?"), one.identity, one.yes) for one in found if one.about == 1}
    assert own == {("is oslo a city", "Oslo", 1), ("is rome new", "Rome", 0), ("is it known", "", -1)}
    assert {one.question[-1] == "?" for one in found} == {True, False}
    others = [one for one in found if one.about == 0]
    assert others
    assert not {(one.question.rstrip("?"), one.identity) for one in others} & {pair[:2] for pair in own}


def test_abstracts_lose_their_numbers(tmp_path: Path) -> None:
    said = "Context (1): We asked 12 people.\nContext (2): All of them agreed."
    rows = [{"question": "do people agree?", "passage": said, "answer": answer} for answer in ("yes", "no", "maybe")]
    found = well_formed(prose.pubmed(packed(tmp_path / "pubmed.jsonl.xz", rows)))
    assert [one.yes for one in found] == [1, 0, -1]
    assert [one.strip() for one in found[0].statements] == ["We asked 12 people.", "All of them agreed."]


def test_sentences_of_a_policy_matter_or_do_not(tmp_path: Path) -> None:
    rows = [
        {"question": "is my data sold? ", "sentence": f"Sentence {at}.", "relevant": at in (2, 9)} for at in range(10)
    ]
    found = well_formed(prose.privacy(packed(tmp_path / "privacy.jsonl.xz", rows), Random(1), times=2, window=4))
    assert len(found) == 6
    for one in found:
        assert {one.statements[at] for at in one.support} == {"Sentence 2.", "Sentence 9."} & set(one.statements)
        assert one.about == bool(one.support)
    assert sorted(said for one in found[:3] for said in one.statements) == [f"Sentence {at}." for at in range(10)]


def test_follow_ups_stand_behind_the_question_before(tmp_path: Path) -> None:
    text = "She was born in Oslo. She moved to Bergen in 1871 with her sister. There she built towers. CANNOTANSWER"
    row = {
        "passage": text,
        "question": "question1: Where was she born?\nquestion2: Then what?\nquestion3: Was she tall?\n",
        "answer": "possible answers for question1:\nin Oslo in Oslo. Oslo"
        "possible answers for question2:\nShe moved to Bergen in 1871 with her sister. There she built towers"
        "possible answers for question3:\nCANNOTANSWER CANNOTANSWER CANNOTANSWER No",
    }
    path = packed(tmp_path / "quac.jsonl.xz", [row])
    found = [one for seed in range(20) for one in well_formed(prose.quac(path, Random(seed)))]
    asked = {one.question for one in found}
    assert {"Where was she born?", "Then what?", "Where was she born? Then what?"} <= asked
    assert {one.question for one in found if one.trick == 1} == {"Was she tall?", "Then what? Was she tall?"}
    wide = next(one for one in found if one.question == "Then what?")
    assert wide.support == {1, 2}
    assert not any("CANNOTANSWER" in said for one in found for said in one.statements)


# ------------------------------------------------------------ tables


@pytest.fixture
def wikitables(tmp_path: Path) -> Path:
    towns = [["Town", "Founded", "Mayor"], ["Oslo", "1048", "A. Stone"], ["Bergen", "1070", "G. Holm"]]
    towns += [[f"Town {at}", f"{1100 + at}", f"Mayor | {at}"] for at in range(6)]
    lines = "\n".join(",".join(f'"{cell}"' for cell in row) for row in towns)
    asked = [
        ("nt-0", "when was bergen founded?", "csv/1-csv/0.csv", "1070"),
        ("nt-1", "how many towns are there?", "csv/1-csv/0.csv", "8"),
        ("nt-2", "which town is it?", "csv/1-csv/none.csv", "Oslo"),
    ]
    head = ("id", "utterance", "context", "targetValue")
    files = {"training.tsv": "\n".join("\t".join(row) for row in (head, *asked)), "csv/1-csv/0.csv": lines}
    path = tmp_path / "wikitablequestions.tar.xz"
    with tarfile.open(path, "w:xz") as archive:
        for name, text in files.items():
            raw = text.encode()
            info = tarfile.TarInfo(name)
            info.size = len(raw)
            archive.addfile(info, io.BytesIO(raw))
    return path


def test_cells_of_tables_are_asked_for_by_row_and_column(wikitables: Path) -> None:
    found = [one for seed in range(10) for one in well_formed(tables.wikitables(wikitables, Random(seed)))]
    real = [one for one in found if one.source == "wikitables"]
    assert {(one.question, words_at(one)) for one in real} == {("when was bergen founded?", "1070")}
    rows = [one for one in found if one.source == "rows"]
    assert len(rows) > 50
    for one in rows:
        label = next(
            name
            for name in ("Oslo", "Bergen", *(f"Town {at}" for at in range(6)))
            if name.lower() in one.question.lower()
        )
        assert one.span is not None
        assert label in one.statements[one.span[0]]
        assert "|" not in words_at(one)
    assert any(words_at(one) == "A. Stone" for one in rows)
    without = [one for one in found if one.source == "rows-not"]
    assert without
    assert not any("Bergen" in said for one in without if "bergen" in one.question.lower() for said in one.statements)


# ------------------------------------------------------------ made examples


def test_made_reports_hold_the_figure_that_is_asked_for() -> None:
    found = well_formed(made.companies(Random(3), 400))
    right = [one for one in found if one.span]
    assert len(right) > 300
    for one in right:
        assert any(sign.isdigit() for sign in words_at(one))
        assert one.span is not None
        assert one.support == {one.span[0]}
    kinds = {"companies-quarter", "companies-row", "companies-period", "companies-other"}
    assert kinds <= {one.source for one in found if one.about == 0}


def test_made_notes_hold_their_answer_or_the_sentence_that_says_no() -> None:
    found = well_formed(made.notes(Random(3), 400))
    right = [one for one in found if one.about == 1]
    assert len(right) > 300
    assert all(len(one.support) == 1 for one in right)
    assert any(one.yes == 0 and one.span is None for one in right)
    assert any(one.source == "notes-not" for one in found)
    assert not any("{" in text for one in found for text in (one.question, *one.statements))


@pytest.mark.parametrize("make", [made.companies, made.notes])
def test_the_same_seed_makes_the_same_examples(make: Any) -> None:
    first, again, other = (list(make(Random(seed), 50)) for seed in (7, 7, 8))
    assert first == again
    assert first != other


# ------------------------------------------------------------ questions


@pytest.mark.parametrize("change", list(CHANGES))
def test_every_change_of_a_question_changes_it(change: Change) -> None:
    found = {change(Random(seed), ASKED, OTHER) for seed in range(60)} - {None}
    assert found
    assert ASKED.question not in found


def test_a_spoilt_question_differs_from_the_one_that_was_asked() -> None:
    found = {spoilt(Random(seed), ASKED, OTHER) for seed in range(300)} - {None}
    assert len(found) > 20
    assert ASKED.question not in found


@given(st.text(max_size=60), st.text(max_size=80), st.text(max_size=20), st.text(max_size=60), st.integers(0, 99))
def test_nothing_or_another_question_comes_of_any_text(asked: str, text: str, answer: str, other: str, at: int) -> None:
    assert spoilt(Random(at), AskedQuestion(asked, text, answer), other) != asked


def test_questions_are_asked_as_people_type_them() -> None:
    asked = "What is the height of the tower?"
    found = {restyled(asked, Random(seed), 1.0) for seed in range(300)}
    assert "what is the height of the tower" in found
    assert "Tell me what is the height of the tower." in found
    assert "Give me the height of the tower." in found
    assert {restyled(asked, Random(seed), 0.0) for seed in range(9)} == {asked}
    assert all("height of the tower" in one.lower() for one in found)


def test_names_leave_out_openers_and_lone_first_words() -> None:
    text = "In Oslo, the Bank of Norway met Ada Stone."
    assert [text[start:end] for start, end in names(text)] == ["Oslo", "Bank of Norway", "Ada Stone"]
    assert names("Towers fall.", skip_first=True) == []


# ------------------------------------------------------------ where they are made


def test_examples_are_made_where_torch_is_and_little_else(squad: Path) -> None:
    """A machine with a GPU need not have what Kedge itself needs: no stemmer, no ONNX, no stores."""
    program = f"""
import sys
from random import Random
for name in ("Stemmer", "onnx", "onnxruntime", "pydantic", "qdrant_edge", "pypdfium2", "duckdb", "httpx", "yaml"):
    sys.modules[name] = None
from pathlib import Path
import benchmarks.reader.train
from benchmarks.reader import encode, made, prose, tables
found = [one for seed in range(40) for one in prose.squad(Path({str(squad)!r}), Random(seed), 0.5, "squad", spoil=1.0)]
asked = {{one.question for one in found}}
assert "Who designed the small tower for Oslo in 1905?" in asked, asked
assert list(made.companies(Random(1), 5))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_every_set_is_one_that_is_read_or_made() -> None:
    assert not set(train.FILES) & set(train.MADE)
    assert {*train.TIMES, *train.HELD, *train.AS_THEY_ARE} <= {*train.FILES, *train.MADE}
