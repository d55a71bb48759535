"""A guard against rot: questions that nobody calibrated on, half of them without an answer in the sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.answer.judge.calibrated import THRESHOLD
from kedge.engine.blocking import Kedge
from kedge.evals.metrics import auroc

TEXTS = {
    "mill": (
        "The mill at Harrow was built in 1784 by the brothers Thorne. It ground barley for the garrison "
        "until a flood tore its wheel away in 1822. Today a family of potters works in the building."
    ),
    "bridge": (
        "The bridge over the Wend is 212 metres long and carries two lanes of traffic. Its arches were "
        "cast in Solen and put together by 340 workers. The bridge was opened by Queen Alda in 1911."
    ),
    "orchestra": (
        "The Lindholm Orchestra was founded by the violinist Marta Keel. It plays in a former sugar "
        "factory and gives about sixty concerts a year. Its first tour, in 1997, led through Portugal."
    ),
    "mine": (
        "Copper was found at Ardle Hill by a shepherd. The mine employed nine hundred people at its "
        "height and was closed in 1964 because the ore ran out. Its shafts are 480 metres deep."
    ),
    "library": (
        "The town library lends books for four weeks. Students may keep them for eight weeks. Who returns "
        "a book late pays twenty cents a day. Atlases and newspapers are not lent out."
    ),
    "bees": (
        "Mason bees nest in hollow stems and in holes in walls. The female closes each cell with mud. "
        "They fly from March to May and visit fruit trees first. They do not make honey."
    ),
    "server": (
        "The backup runs every night at two. It keeps thirty days of copies on the second machine. When "
        "the disk is full, the oldest copy is removed and the administrator gets a mail."
    ),
    "treaty": (
        "The Treaty of Osmar was signed by Grovia and the Republic of Tenn in 1878. It gave the island of "
        "Luss to Grovia and opened the strait to merchant ships of both countries."
    ),
}
ANSWERED = (
    "When was the mill at Harrow built?",
    "What did the mill at Harrow grind?",
    "How long is the bridge over the Wend?",
    "Who opened the bridge over the Wend?",
    "Who founded the Lindholm Orchestra?",
    "Where did the first tour of the Lindholm Orchestra lead?",
    "Why was the mine at Ardle Hill closed?",
    "How deep are the shafts at Ardle Hill?",
    "How long may students keep books of the library?",
    "What does it cost to return a book late?",
    "Where do mason bees nest?",
    "In which months do mason bees fly?",
    "When does the backup run?",
    "What happens when the disk is full?",
    "Which countries signed the Treaty of Osmar?",
    "Which island did Grovia get by the Treaty of Osmar?",
)
UNANSWERED = (
    "When was the mill at Harrow sold?",
    "Who repaired the wheel of the mill?",
    "What did the bridge over the Wend cost?",
    "Who designed the bridge over the Wend?",
    "Who conducts the Lindholm Orchestra?",
    "How many musicians play in the Lindholm Orchestra?",
    "Who owned the mine at Ardle Hill?",
    "When was copper found at Ardle Hill?",
    "When does the library open?",
    "How many books does the library have?",
    "How long do mason bees live?",
    "Which bees make the most honey?",
    "Who wrote the backup program?",
    "How large is the disk of the second machine?",
    "When was the Treaty of Osmar broken?",
    "Which island did Tenn get by the Treaty of Osmar?",
)


@pytest.fixture(scope="module")
def kedge(tmp_path_factory: pytest.TempPathFactory) -> Kedge:
    folder: Path = tmp_path_factory.mktemp("texts")
    for name, text in TEXTS.items():
        (folder / f"{name}.md").write_text(f"# {name.title()}\n\n{text}\n", "utf-8")
    opened = Kedge(home=tmp_path_factory.mktemp("home") / "kedge")
    opened.ingest(str(folder))
    return opened


@pytest.mark.req("D-11", "D-13")
def test_near_misses_are_told_from_answers(kedge: Kedge) -> None:
    answered = [kedge.ask(question).evidence_probability for question in ANSWERED]
    unanswered = [kedge.ask(question).evidence_probability for question in UNANSWERED]
    labels = [True] * len(answered) + [False] * len(unanswered)
    assert (auroc([*answered, *unanswered], labels) or 0.0) > 0.88
    assert sum(one >= THRESHOLD for one in answered) >= 13
    assert sum(one >= THRESHOLD for one in unanswered) <= 6
