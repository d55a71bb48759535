"""Two filings of one firm: a question's time chooses between them, and nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge import Kedge
from kedge.retrieve import order

FILING = """# FORM 10-Q

For the quarterly period ended {end}

Tidewater Instruments, Inc.

(Exact name of registrant as specified in its charter)

## Net sales

Net sales of tide gauges in Europe were ${sales} million during the reported months, and those of current meters were
${more} million, which the company explains by the weather, by exchange rates and by the strike of the pilots.

## Outlook

The company expects that net sales of tide gauges will follow the season, as they have done in all of its past.
"""
FILES = {
    "2023 Q1 TWI.md": FILING.format(end="December 31, 2022", sales="117", more="31"),
    "2023 Q2 TWI.md": FILING.format(end="April 1, 2023", sales="94", more="28"),
    "2023 Q3 TWI.md": FILING.format(end="July 1, 2023", sales="81", more="25"),
    "gauges.md": "# Tide gauges\n\nA tide gauge measures the net rise of the sea. Its sales are no matter here.\n",
}


@pytest.fixture(scope="module")
def kedge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kedge]:
    folder = tmp_path_factory.mktemp("filings")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    with Kedge(tmp_path_factory.mktemp("home"), embedder="hash") as opened:
        opened.ingest(str(folder))
        yield opened


def found(kedge: Kedge, question: str, top_k: int = 10) -> list[str]:
    return [Path(hit.passage.url).stem for hit in kedge.search(question, top_k=top_k).hits]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("in the quarter that ended 1 July 2023", "2023 Q3 TWI"),
        ("in the June 2023 quarter", "2023 Q3 TWI"),
        ("in Q2 fiscal 2023", "2023 Q2 TWI"),
        ("in the second quarter of 2023", "2023 Q2 TWI"),
        ("in the three months to April 1, 2023", "2023 Q2 TWI"),
        ("at the end of December 2022", "2023 Q1 TWI"),
        ("in the first quarter of fiscal 2023", "2023 Q1 TWI"),
        ("in the latest filing", "2023 Q3 TWI"),
        ("in the most recent quarter", "2023 Q3 TWI"),
    ],
)
def test_the_filing_of_that_time_comes_first(kedge: Kedge, asked: str, expected: str) -> None:
    assert found(kedge, f"net sales of tide gauges in Europe {asked}")[0] == expected


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("in the latest quarter", "in the quarter ended July 1, 2023"),
        ("in the most recent filing", "in the most recent filing (quarter ended July 1, 2023)"),
    ],
)
def test_the_newest_time_is_said_and_answered(kedge: Kedge, asked: str, meant: str) -> None:
    answer = kedge.ask(f"What were net sales of tide gauges in Europe {asked}?")
    assert answer.metadata["resolved_question"] == f"What were net sales of tide gauges in Europe {meant}?"
    assert answer.short_answer is not None
    assert "81" in answer.short_answer


def test_what_is_newest_of_other_things_stays_as_it_is(kedge: Kedge) -> None:
    assert "resolved_question" not in kedge.ask("What is the latest version of the tide gauge?").metadata


def test_nothing_is_dropped(kedge: Kedge) -> None:
    with_time = found(kedge, "net sales of tide gauges in Europe in Q2 fiscal 2023", top_k=20)
    assert set(with_time) == {Path(name).stem for name in FILES}


def test_without_a_time_nothing_is_looked_up_and_nothing_moves(kedge: Kedge, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "net sales of tide gauges in Europe"
    before = [(hit.passage.id, hit.score) for hit in kedge.search(question, top_k=20).hits]

    def never(*_args: object) -> None:
        raise AssertionError("a question without a time was put in order by time")

    monkeypatch.setattr(order, "by_time", never)
    assert [(hit.passage.id, hit.score) for hit in kedge.search(question, top_k=20).hits] == before


def test_a_time_that_no_document_states_moves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.md").write_text(
            f"# In 201{len(name)}\n\nThe {name} ferries went to sea in 201{len(name)}.\n"
        )
    question = "which ferries went to sea in 2013, and which in the latest quarter"
    with Kedge(tmp_path / "home", embedder="hash") as opened:
        opened.ingest(str(tmp_path / "*.md"))
        timed = [(hit.passage.id, hit.score) for hit in opened.search(question, top_k=10).hits]
        monkeypatch.setattr(order, "by_time", lambda _question, ranked, _passages: ranked)
        assert [(hit.passage.id, hit.score) for hit in opened.search(question, top_k=10).hits] == timed


def test_a_passage_is_found_by_the_name_of_its_file_and_by_its_organisation(kedge: Kedge) -> None:
    hits = kedge.search("TWI", top_k=10).hits
    assert {Path(hit.passage.url).stem for hit in hits if hit.keyword_rank} == {
        Path(n).stem for n in FILES if "TWI" in n
    }
    assert kedge.search("Q3", top_k=1).hits[0].passage.url.endswith("2023 Q3 TWI.md")


def test_a_changed_identity_is_indexed_anew(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Gauges\n\nNet sales fell.\n")
    with Kedge(tmp_path / "home", embedder="hash") as opened:
        opened.ingest(str(note))
        assert not [hit for hit in opened.search("zephyr").hits if hit.keyword_rank]
        note.write_text("---\norganisation: Zephyr Works\n---\n\n# Gauges\n\nNet sales fell.\n")
        opened.ingest(str(note))
        (hit,) = opened.search("zephyr").hits
        assert hit.keyword_rank == 1
        assert hit.passage.identity == "Gauges · Zephyr Works · note.md"


@pytest.mark.req("D-13")
def test_hits_documents_and_citations_say_which_document_it_is(kedge: Kedge) -> None:
    line = "Tidewater Instruments, Inc. · 10-Q · quarter ended July 1, 2023 · 2023 Q3 TWI.md"
    assert line in [one.identity for one in kedge.documents()]
    answer = kedge.ask("What were net sales of tide gauges in Europe in the quarter ended July 1, 2023?")
    assert {item.identity for item in (*answer.citations, *(hit.passage for hit in answer.hits))} >= {line}
    assert all(item.identity.startswith(("Tidewater", "Tide gauges")) for item in answer.citations)


POLICY = "---\ndate: {date}\n---\n# {title}\n\nA night in a hotel on a journey is paid up to {limit} euros.\n"
POLICIES = {
    "hotels 2021.md": POLICY.format(date="2021-03-01", title="Hotels on a journey", limit=90),
    "hotels 2025.md": POLICY.format(date="2025-02-01", title="Hotels on a journey", limit=140),
    "hotels 2023.md": POLICY.format(date="2023-03-01", title="Hotels on a journey", limit=110),
    "meals.md": "# Meals on a journey\n\nA meal in a hotel on a journey is paid up to 30 euros a night.\n",
}


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kedge]:
    folder = tmp_path_factory.mktemp("policies")
    for name, text in POLICIES.items():
        (folder / name).write_text(text)
    with Kedge(tmp_path_factory.mktemp("home"), embedder="hash") as opened:
        opened.ingest(str(folder))
        yield opened


@pytest.mark.parametrize(
    "question",
    [
        "What is the current limit for a night in a hotel?",
        "How much is currently paid for a night in a hotel?",
        "Is a night in a hotel still paid up to 90 euros?",
        "What is paid for a night in a hotel now?",
        "What is paid for a night in a hotel at present?",
    ],
)
def test_a_question_about_the_present_finds_the_newest_of_a_series_first(policies: Kedge, question: str) -> None:
    assert found(policies, question)[0] == "hotels 2025"
    assert sorted(found(policies, question)) == sorted(Path(name).stem for name in POLICIES)


def test_another_question_is_ordered_as_if_there_were_no_dates(
    policies: Kedge, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "What is paid for a night in a hotel?"
    before = found(policies, question)
    monkeypatch.setattr(order, "newest_first", lambda *_: pytest.fail("nobody asked about the present"))
    assert found(policies, question) == before


def test_a_question_about_the_present_is_ordered_by_relevance_where_nothing_is_dated(
    kedge: Kedge, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = "How does a tide gauge work"
    assert found(kedge, f"{asked} at present?")[0] == "gauges"
