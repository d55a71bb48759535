"""The second step: which questions take it, and what it does to the order."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from kedge import Kedge
from kedge.core.settings import Settings
from kedge.models.carried.files import carried
from kedge.models.carried.tensors import read_tensors
from kedge.models.read.chain import WORDS, open_chain_reader
from kedge.models.read.reader import FILE as READER
from kedge.retrieve.fuse import Fused
from kedge.retrieve.second import READ, best_cover, by_steps, takes_steps
from kedge.text.sketch import sketches
from tests.support.passages import passage

QUESTION = "Who runs the port of the town where the ferry Alda was built?"
PASSAGES = {
    "Alda": "Alda is a ferry of 1931. The ferry Alda was built in Norvik by a small yard and is now a museum.",
    "Norvik": "Norvik is known for its cherries. Since 1950 the harbour company Brandt has run its port.",
    "Ferries": "A ferry takes people and vehicles across water. Ferries are built in many towns.",
    "Ports": "A port is run by a harbour company or by a town. Ports have cranes and quays.",
    "Sundal": "Sundal is a town with a market. The ferry to Sundal runs twice a day from the pier.",
    "Cherry": "Cherries are fruits of trees. They ripen in summer and are eaten fresh.",
}
WORDS_DIGEST = "bd374cfeaef1f4b791b9f310423b74d0ed8471dac04c4a0790d15421aa70b912"


@pytest.mark.parametrize(
    ("question", "covered", "words", "expected"),
    [
        (QUESTION, 0.5, 6, True),
        (QUESTION, 0.95, 6, False),
        ("Who built the Alda?", 0.5, 2, False),
        ("similarity laws of aeroelastic models that are heated", 0.4, 6, False),
        ("¿Quién dirige el puerto de la ciudad donde se construyó el Alda?", 0.4, 6, False),
        ("建造阿尔达号渡轮的城镇的港口由谁 Alda 经营，其港口在哪里？", 0.4, 9, False),
    ],
)
def test_only_a_question_that_describes_what_no_passage_covers_takes_steps(
    question: str, covered: float, words: int, expected: bool
) -> None:
    assert takes_steps(question, covered, words) is expected


def test_cover_is_the_best_single_passage() -> None:
    weights = {1: 3.0, 2: 1.0}
    assert best_cover(weights, [{1: 0.5}, {2: 0.9}]) == pytest.approx(0.75)
    assert best_cover({}, [{1: 1.0}]) == 1.0
    assert best_cover(weights, []) == 0.0


def test_a_sketch_keeps_what_was_asked_and_what_leads_on() -> None:
    shown = {one.title: one.sentences for one in sketches(QUESTION, list(PASSAGES.items()))}
    assert shown["Alda"][0].startswith("The ferry Alda was built in Norvik")
    assert shown["Norvik"][0].startswith("Since 1950")


def test_the_chain_reader_tells_steps_from_what_merely_shares_words() -> None:
    odds = open_chain_reader(Settings()).read(QUESTION, list(PASSAGES.items()))
    found = dict(zip(PASSAGES, odds.tolist(), strict=True))
    steps = ("Alda", "Norvik")
    assert min(found[title] for title in steps) > max(found[title] for title in found if title not in steps) + 2
    assert len(open_chain_reader(Settings()).read(QUESTION, [])) == 0


@pytest.mark.parametrize(("words", "read"), [(6, READ), (30, 22)])
def test_a_long_question_whose_steps_are_missing_is_held_against_the_next_candidates_too(words: int, read: int) -> None:
    """The first step leads to a passage that stands behind those that are read at first."""
    others = {f"Harbour {number}": f"Harbour {number} has a quay and a crane." for number in range(20)}
    texts = {"Alda": PASSAGES["Alda"], **others, "Norvik": PASSAGES["Norvik"]}
    ranked = [Fused(title, 1 - place / 100, None, None, None) for place, title in enumerate(texts)]
    passages = {title: passage(text, key=title, title=title) for title, text in texts.items()}
    moved, sure = by_steps(open_chain_reader(Settings()), QUESTION, words, ranked, passages)
    assert len(sure) == read
    assert ({item.passage_id for item in moved[:2]} == {"Alda", "Norvik"}) is (read > READ)


def test_its_words_are_those_of_the_reader() -> None:
    """Trained with words near them; with another reader its figures are measured again (benchmarks/README.md)."""
    words = read_tensors(carried(READER), WORDS)
    assert hashlib.sha256(b"".join(words[name].tobytes() for name in WORDS)).hexdigest() == WORDS_DIGEST


def test_a_search_takes_the_step_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for title, text in PASSAGES.items():
        (folder / f"{title.lower()}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    with Kedge(home=tmp_path / "home") as kedge:
        kedge.ingest(folder)
        stepped, plain = kedge.search(QUESTION), kedge.search("What is a ferry?")
    assert {hit.passage.title for hit in stepped.hits[:2]} == {"Alda", "Norvik"}
    assert all(hit.step is not None for hit in stepped.hits)
    assert all(hit.step is None for hit in plain.hits)
