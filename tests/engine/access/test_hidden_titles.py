"""The concept graph is built of all documents: what a hidden one is called, or begins with, is told to nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.core.acting import acting_as
from kedge.core.values import Actor, Query, SearchResult
from kedge.engine.engine import Engine
from tests.engine.access.test_readers import SCOPE, take, told

BOB = Actor("bob")
MEMORY = {"catalog_url": "memory:", "vector_url": "memory:", "graph_url": "memory:"}
HEAD = "---\nreaders: [group:board]\n---\n"


def plant(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


async def shown(engine: Engine, who: Actor | None, words: str) -> SearchResult:
    with acting_as(who):
        return await engine.search(Query(words, SCOPE, top_k=20))


def ways(result: SearchResult) -> list[str]:
    return [step for hit in result.hits for step in hit.path]


@pytest.mark.parametrize("stores", [{}, MEMORY], ids=["embedded", "memory"])
def test_a_concept_is_not_called_by_a_hidden_title(tmp_path: Path, stores: dict[str, str]) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        hidden = plant(folder, "plan.md", f"{HEAD}# Nightingale (sale of Quibble)\n\nNightingale is the sale.\n")
        memo = plant(folder, "memo.md", "# Memo\n\nWe meet for Nightingale in room four.\n")
        await take(engine, hidden, memo)
        assert "Nightingale (sale of Quibble)" in ways(await shown(engine, None, "What is Nightingale?"))
        steps = ways(await shown(engine, BOB, "What is Nightingale?"))
        assert "Nightingale" in steps
        assert not [one for one in steps if "Quibble" in one]

    told(tmp_path, story, **stores)


@pytest.mark.parametrize("stores", [{}, MEMORY], ids=["embedded", "memory"])
def test_words_are_no_concept_for_a_hidden_title(tmp_path: Path, stores: dict[str, str]) -> None:
    """Else whoever may write finds out what is called how: by a document that holds the words."""

    async def story(engine: Engine, folder: Path) -> None:
        hidden = plant(folder, "plan.md", f"{HEAD}# Winter layoffs\n\nThey begin in May.\n")
        guess = plant(folder, "guess.md", "# Memo\n\nIt is said that winter layoffs are near.\n")
        await take(engine, hidden)
        await take(engine, guess)
        assert "Winter layoffs" in ways(await shown(engine, None, "What of winter layoffs?"))
        assert ways(await shown(engine, BOB, "What of winter layoffs?")) in ([], ["Memo"])

    told(tmp_path, story, **stores)


@pytest.mark.parametrize("stores", [{}, MEMORY], ids=["embedded", "memory"])
def test_a_concept_is_not_described_by_a_hidden_document(tmp_path: Path, stores: dict[str, str]) -> None:
    """Else words of its first sentence lead to an open document of the same title, and so can be guessed."""

    async def story(engine: Engine, folder: Path) -> None:
        hidden = plant(folder, "a.md", f"{HEAD}# Nightingale\n\nXylophage pays ninety crowns for Quibble.\n")
        other = plant(folder, "b.md", "# Nightingale\n\nThe bird sings at night.\n")
        kestrel = plant(folder, "c.md", "# Kestrel\n\nThe bird hunts at noon.\n")
        await take(engine, hidden)
        await take(engine, other, kestrel)
        graph = engine.stores.graph
        assert "Xylophage" in (await graph.search_concepts(SCOPE, "nightingale", 5))[0].description
        with acting_as(BOB):
            birds = {one.name: one.description for one in await graph.search_concepts(SCOPE, "nightingale kestrel", 5)}
        assert birds == {"Nightingale": "", "Kestrel": "The bird hunts at noon."}

    told(tmp_path, story, **stores)
