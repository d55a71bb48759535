"""Kill the process (SIGKILL) at every step of a re-index; what is left answers, and the next run does only the rest."""

from __future__ import annotations

import asyncio
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from kedge.models.embed.hashed import HashEmbedder
from kedge.models.ports import Vectors
from tests.consistency import reindex_victim
from tests.support.forked import run_victim

SCOPE = Scope(DEFAULT_TENANT, "default")
NEW = "hash:128"
DOCUMENTS = 5


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts that were embedded with the new model in this process."""
    texts: list[str] = []
    plain = HashEmbedder.embed

    async def counted(self: HashEmbedder, batch: Sequence[str]) -> Vectors:
        if self.name == NEW:
            texts.extend(batch)
        return await plain(self, batch)

    monkeypatch.setattr(HashEmbedder, "embed", counted)
    return texts


async def prepare(home: Path, folder: Path) -> None:
    folder.mkdir()
    for number in range(DOCUMENTS):
        (folder / f"d{number}.md").write_text(f"# Word{number}\n\nThe text of document word{number}.\n")
    async with Engine.open(load_settings(environ={}, home=home, embedder="hash")) as engine:
        await engine.ingest(IngestRequest(SCOPE, (str(folder),)))


async def look(home: Path, embedded: list[str]) -> None:
    """The killed re-index is not visible; the next one embeds what is missing in the new index, and nothing else."""
    async with Engine.open(load_settings(environ={}, home=home)) as engine:
        found = (await engine.search(Query("word3", SCOPE))).hits
        assert found[0].passage.title == "Word3"
        before = await engine.collection(SCOPE)
        assert (before.embedder, before.generation) in (("hash:64", 1), (NEW, 2))
        held = {one.embedder: one for one in await engine.spare_indexes(SCOPE)}
        missing = 0
        if before.generation == 1:
            missing = DOCUMENTS
            if NEW in held:
                missing -= await engine.stores.vectors.count(held[NEW].index_name, DEFAULT_TENANT)
            embedded.clear()
            await engine.reindex(SCOPE, NEW)
            assert len(embedded) == missing
        after = await engine.collection(SCOPE)
        assert (after.embedder, after.dimension, after.generation) == (NEW, 128, 2)
        assert (await engine.search(Query("word3", SCOPE))).hits[0].passage.title == "Word3"
        assert (await engine.check()).problems == ()
        assert [(one.embedder, one.state.value) for one in await engine.spare_indexes(SCOPE)] == [("hash:64", "kept")]


@pytest.mark.slow
@pytest.mark.req("D-19")
def test_killed_at_every_step_a_reindex_goes_on(tmp_path: Path, embedded: list[str]) -> None:
    template = tmp_path / "template" / "home"
    asyncio.run(prepare(template, tmp_path / "folder"))
    shutil.copytree(template.parent, tmp_path / "count")
    code, steps = run_victim(reindex_victim.main, tmp_path / "count" / "home", NEW, die_at=0)
    assert code == 0
    assert steps[-1] == "index switched"
    assert steps.count("index marked") == 3, "three batches of two"
    for number in range(1, len(steps) + 1):
        home = tmp_path / f"kill-{number}" / "home"
        shutil.copytree(template.parent, home.parent)
        assert run_victim(reindex_victim.main, home, NEW, die_at=number)[0] == -signal.SIGKILL
        asyncio.run(look(home, embedded))
        shutil.rmtree(home.parent)
