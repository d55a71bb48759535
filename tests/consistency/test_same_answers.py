"""One corpus in every store, the same questions: the same passages in the same order with the same scores."""

from __future__ import annotations

import asyncio
import os
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import IngestRequest, Query, Scope, SearchResult
from kedge.core.values.filters import Eq
from kedge.engine.engine import Engine
from tests.campaigns.places import own_places, parts_of
from tests.services import need

DOCUMENTS = 80
QUESTIONS = 30
TOLERANCE = 1e-4
"""Of scores: stores add and round 32-bit numbers in their own order."""
STORES = ("postgresql", "milvus", "qdrant", "neo4j", "milvus+neo4j+postgresql")
SUBJECTS = "anchor ballast capstan davit estuary fairlead galley halyard inlet jetty keel lagoon mast narrows".split()
VERBS = "holds lifts guides turns carries marks stops follows meets secures".split()
THINGS = "rope chain tide cargo current lantern signal harbour crew pilot storm chart buoy reef deck hull".split()
ADJECTIVES = "light heavy northern old tidal wooden narrow quiet second outer".split()


@dataclass(frozen=True)
class Seen:
    """What one store answered to one question."""

    ids: tuple[str, ...]
    scores: tuple[float, ...]


def corpus(folder: Path) -> None:
    """Documents of several passages that name each other, with words of very different frequency."""
    rng = random.Random(18)
    folder.mkdir()
    for number in range(DOCUMENTS):
        lines = [f"# {title(number)}", ""]
        for part in range(rng.randint(3, 6)):
            said = " ".join(sentence(rng) for _ in range(14))
            lines += [
                f"## {rng.choice(ADJECTIVES).title()} part {part}",
                "",
                f"{said} See {title(rng.randrange(DOCUMENTS))}.",
                "",
            ]
        (folder / f"doc-{number:03d}.md").write_text("\n".join(lines), "utf-8")


def title(number: int) -> str:
    return f"{ADJECTIVES[number % 10].title()} {SUBJECTS[number % 14].title()} {number}"


def sentence(rng: random.Random) -> str:
    """Some words are in every passage, some in one of a hundred."""
    rare = f" near pier{rng.randrange(150)}" if rng.random() < 0.2 else ""
    subject = rng.choices(SUBJECTS, range(len(SUBJECTS), 0, -1))[0]
    return f"The {rng.choice(ADJECTIVES)} {subject} {rng.choice(VERBS)} the {rng.choice(THINGS)}{rare}."


def questions() -> list[str]:
    rng = random.Random(19)
    asked = [f"Which {rng.choice(THINGS)} {rng.choice(VERBS)} the {rng.choice(SUBJECTS)}?" for _ in range(12)]
    asked += [f"Where does the {sentence(rng)[4:-1]}?" for _ in range(8)]
    asked += [f"pier{rng.randrange(150)} {rng.choice(THINGS)}" for _ in range(5)]
    return asked + [f"What is said about {title(rng.randrange(DOCUMENTS))}?" for _ in range(5)]


async def answers(folder: Path, home: Path, scope: Scope, urls: dict[str, str]) -> dict[str, Seen]:
    settings = load_settings(environ={}, home=home, embedder="hash:96", chunk_tokens=100, **urls)
    found: dict[str, Seen] = {}
    async with Engine.open(settings) as engine:
        job = await engine.ingest(IngestRequest(scope, (str(folder),), topic="harbour"))
        assert job.errors == ()
        assert job.passages_created > 200
        for text in questions():
            found[text] = seen(await engine.search(Query(text, scope, top_k=10)))
        for text in questions()[:6]:
            narrow = Query(text, scope, top_k=10, where=Eq("topic_tag", "harbour"), include_graph=False)
            found[f"{text} (filtered)"] = seen(await engine.search(narrow))
        await engine.stores.graph.drop(scope)
    return found


def seen(result: SearchResult) -> Seen:
    return Seen(tuple(hit.passage.id for hit in result.hits), tuple(hit.score for hit in result.hits))


@dataclass(frozen=True)
class Oracle:
    """The embedded stores' answers, and what they were asked about."""

    folder: Path
    scope: Scope
    answers: dict[str, Seen]


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    root = tmp_path_factory.mktemp("same")
    corpus(root / "docs")
    scope = Scope(f"same-{os.getpid()}", "default")
    return Oracle(root / "docs", scope, asyncio.run(answers(root / "docs", root / "home", scope, {})))


@pytest.mark.store("all", "same answers")
@pytest.mark.req("D-11", "D-18")
@pytest.mark.parametrize("stores", STORES)
def test_every_store_gives_the_answers_of_the_embedded_ones(oracle: Oracle, stores: str, tmp_path: Path) -> None:
    for part in parts_of(stores):
        if part != "qdrant":  # its engine runs in this process, behind its REST API
            need(part)
    with own_places(parts_of(stores), f"same{os.getpid()}") as urls:
        found = asyncio.run(answers(oracle.folder, tmp_path / "home", oracle.scope, urls))
    assert len(oracle.answers) == QUESTIONS + 6
    for text, expected in oracle.answers.items():
        assert found[text].ids == expected.ids, text
        assert found[text].scores == pytest.approx(expected.scores, abs=TOLERANCE), text
