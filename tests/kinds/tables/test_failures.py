"""T-07: what fails of the model, the index or the search never costs the rows, and says what to do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kedge.core.errors import EmbedderMismatchError, ModelError, StoreError
from kedge.kinds.tables.state import FILE
from kedge.models.embed.hashed import HashEmbedder
from tests.kinds.tables.conftest import SCOPE, Desk, Run, write_sales


class Flaky(HashEmbedder):
    """Fails for as long as it is told to."""

    broken = True

    async def embed(self, texts: Any) -> Any:
        if self.broken:
            raise ModelError("The model is out of memory.", hint="Try a smaller one.")
        return await super().embed(texts)

    async def embed_query(self, text: str) -> Any:
        if self.broken:
            raise ModelError("The model is out of memory.", hint="Try a smaller one.")
        return await super().embed_query(text)


def flaky(desk: Desk) -> Flaky:
    """Let the engine use a model that fails."""
    model = Flaky(256)
    desk.engine._keeper._embedders["hash:256"] = model
    return model


def current(desk: Desk) -> Path:
    """The folder of the generation that readers see."""
    folders = desk.engine.kinds.named("table").open_sessions.folders
    return folders.generation(SCOPE, folders.get(SCOPE).generation)


@pytest.mark.req("T-07")
def test_embedding_failure_keeps_the_rows_and_a_retry_mends_it(run: Run, csv: Path) -> None:
    async def scenario(desk: Desk) -> None:
        model = flaky(desk)
        with pytest.raises(ModelError):
            await desk.feed(csv)
        session = await desk.session()
        assert (session.status, session.rows) == ("failed", 500)
        assert "out of memory" in (session.error or "")
        (job,) = await desk.engine.jobs("default")
        assert job.status.value == "failed"
        assert await desk.figure("How many rows are there?") == 500
        (warning,) = (await desk.search("pretzels")).warnings
        assert "out of memory" in warning
        assert "Feed the session again" in warning
        model.broken = False
        await desk.feed(csv)
        assert (await desk.session()).status == "ready"
        assert (await desk.search("pretzels party")).hits

    run(scenario)


@pytest.mark.req("T-07")
def test_embedding_failure_does_not_replace_an_older_table(run: Run, tmp_path: Path) -> None:
    path = write_sales(tmp_path / "sales.csv", 100)

    async def scenario(desk: Desk) -> None:
        model = flaky(desk)
        model.broken = False
        await desk.feed(path)
        model.broken = True
        write_sales(path, 30)
        path.write_text(path.read_text().replace("Corn chips", "Brand new words"))
        with pytest.raises(ModelError):
            await desk.feed(path)
        assert (await desk.session()).status == "failed"
        assert await desk.figure("How many rows are there?") == 100
        model.broken = False
        assert (await desk.search("corn chips")).hits
        await desk.feed(path)
        assert (await desk.session()).status == "ready"
        assert await desk.figure("How many rows are there?") == 30

    run(scenario)


@pytest.mark.req("T-07", "T-12", "T-13", "T-20", "T-08")
def test_index_failure_leaves_a_session_that_answers(run: Run, csv: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(desk: Desk) -> None:
        def obstruct(step: str) -> None:
            if step == "table built":
                (generation,) = desk.engine.kinds.named("table").open_sessions.folders.of(SCOPE).glob("g*")
                (generation / "index").write_text("a file where the folder should be")

        intake = desk.engine._intake
        before, intake._on_step = intake._on_step, obstruct
        job = await desk.feed(csv)
        intake._on_step = before
        assert job.status.value == "complete"
        assert any("index could not be built" in warning for warning in job.warnings)
        session = await desk.session()
        assert session.status == "ready"
        assert session.index is not None
        assert (session.index["status"], session.index["transaction_count"]) == ("failed", 0)
        assert "index could not be built" in str(session.index["error"])
        assert await desk.figure("How many rows are there?") == 500
        hits = (await desk.search("pretzels", 3)).hits
        assert "pretzel" in hits[0].passage.text.casefold()
        with caplog.at_level("WARNING", logger="kedge.kinds.tables"):
            answer = await desk.ask("crispy salted pretzels for a party", threshold=0.2)
        assert answer.citations
        assert all("pretzel" in one.snippet.casefold() for one in answer.citations)
        assert "every row was read" in str(answer.metadata["warnings"])
        assert "every row was read" in caplog.text
        assert (await desk.ask("Where is Timbuktu?")).refused
        again = await desk.feed(csv)
        assert again.files_processed == 1
        index = (await desk.session()).index
        assert index is not None
        assert (index["status"], index["transaction_count"]) == ("ready", 500)
        assert index["indexed_at"] is not None

    run(scenario)


@pytest.mark.req("T-07")
def test_retrieval_failures_suggest_feeding_again(run: Run, csv: Path) -> None:
    async def scenario(desk: Desk) -> None:
        model = flaky(desk)
        model.broken = False
        await desk.feed(csv)
        model.broken = True
        with pytest.raises(ModelError) as caught:
            await desk.search("pretzels")
        assert "feed the session again" in caught.value.hint

    async def damaged(desk: Desk) -> None:
        folder = current(desk) / "index"
        (folder / "postings.npy").write_bytes(b"damaged")
        with pytest.raises(StoreError, match="cannot be read") as caught:
            await desk.search("pretzels")
        assert "Feed the session again" in caught.value.hint
        assert await desk.figure("How many rows are there?") == 500
        await desk.feed(csv)
        assert (await desk.search("pretzels")).hits

    run(scenario)
    run(damaged)


def test_lost_rows_are_told(run: Run, csv: Path) -> None:
    async def feed(desk: Desk) -> None:
        await desk.feed(csv)
        shutil.rmtree(current(desk))

    async def ask(desk: Desk) -> None:
        with pytest.raises(StoreError) as caught:
            await desk.ask("How many rows are there?")
        assert "Feed the session again" in caught.value.hint
        await desk.feed(csv)
        assert await desk.figure("How many rows are there?") == 500

    run(feed)
    run(ask)


@pytest.mark.req("T-14")
def test_a_re_index_builds_the_index_of_the_rows_with_the_other_model(run: Run, csv: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.feed(csv)
        await desk.engine.reindex(SCOPE, "hash:64")
        index = (await desk.session()).index
        assert index is not None
        assert (index["embedder"], index["embedding_dimensions"], index["status"]) == ("hash:64", 64, "ready")
        assert "pretzel" in (await desk.search("pretzels party")).hits[0].passage.text.casefold()
        assert await desk.figure("How many rows are there?") == 500
        await desk.engine.rollback(SCOPE)
        assert (await desk.session()).index["embedding_dimensions"] == 256  # type: ignore[index]
        assert (await desk.search("pretzels party")).hits

    run(scenario)


def test_an_index_of_another_model_asks_for_a_new_feed(run: Run, csv: Path) -> None:
    async def feed(desk: Desk) -> Path:
        await desk.feed(csv)
        return desk.engine.kinds.named("table").open_sessions.folders.of(SCOPE)

    async def look(desk: Desk) -> None:
        with pytest.raises(EmbedderMismatchError) as caught:
            await desk.search("pretzels")
        assert "Feed the session again" in caught.value.hint

    file = run(feed) / FILE
    state = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**state, "index": {**state["index"], "embedder": "hash:64"}}), "utf-8")
    run(look)
