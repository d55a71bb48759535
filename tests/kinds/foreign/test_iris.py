"""A `RAG.SourceDocuments` that another program fills is searched and asked as it is, and never written to.

No IRIS server took part: statements are read by the documented grammar and run on SQLite
(`tests/stores/iris_sqlite.py`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iris import dbapi

from kedge.core.errors import DimensionMismatchError, KedgeError, NotFoundError, UsageError
from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, IngestMode, IngestRequest, Query, Scope
from kedge.core.values.filters import parse_terms
from kedge.engine.engine import Engine
from kedge.models.registry import open_embedder
from kedge.stores.vectors.iris.encode import vector_text
from kedge.surfaces.cli.main import run
from tests.stores.iris_sqlite import Connection
from tests.support.serving import served
from tests.support.surfaces import events_of, follow, http_client

URL = "iris://reader@db.example:1972/USER"
HERE = Scope(DEFAULT_TENANT, "pubmed")
TEXTS = {
    "PMC100": ("Diabetes", "The symptoms of diabetes mellitus are increased thirst, frequent urination and fatigue."),
    "PMC200": ("Asthma", "Asthma is treated with inhaled corticosteroids such as budesonide."),
    "PMC300": ("Anaemia", "Iron deficiency anaemia was described by Johannes Lange in 1554."),
    "PMC400": ("Gout", "Gout is caused by crystals of uric acid in the joints."),
    "PMC500": ("Malaria", "Malaria is transmitted by the bite of the female Anopheles mosquito."),
}
TABLE = """CREATE TABLE RAG.SourceDocuments (id VARCHAR(255) PRIMARY KEY, text_content LONGVARCHAR,
embedding VECTOR(DOUBLE, {dimension}), metadata VARCHAR(5000), created_timestamp TIMESTAMP)"""
INSERT = """INSERT INTO RAG.SourceDocuments (id, text_content, embedding, metadata, created_timestamp)
VALUES (?, ?, TO_VECTOR(?, DOUBLE), ?, ?)"""
ADDED = "2025-10-06 12:00:00"


class Owner:
    """The program that fills the table, and what was asked of it meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log: list[tuple[str, list[Any]]] = []
        folder.mkdir()

    def connect(self, **_options: Any) -> Connection:
        return Connection(self.folder, self.log)

    def make(self, dimension: int = 384) -> None:
        self._run(TABLE.format(dimension=dimension), [])

    def add(self, rows: Sequence[tuple[str, str, str, dict[str, Any]]]) -> None:
        self._run(INSERT, *([id, text, vector, json.dumps(more), ADDED] for id, text, vector, more in rows))

    def add_without_vector(self, id: str, text: str) -> None:
        self._run("INSERT INTO RAG.SourceDocuments (id, text_content) VALUES (?, ?)", [id, text])

    def remove(self, id: str) -> None:
        self._run("DELETE FROM RAG.SourceDocuments WHERE id = ?", [id])

    def _run(self, statement: str, *rows: list[Any]) -> None:
        connection = Connection(self.folder)
        for values in rows:
            connection.cursor().execute(statement, values)
            connection.commit()
        connection.close()


@pytest.fixture
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Owner:
    """With a table of five texts, embedded by the model of the design, and one without a vector."""
    found = Owner(tmp_path / "iris")
    monkeypatch.setattr(dbapi, "connect", found.connect)
    found.make()
    found.add(
        [(id, text, vector, {"title": TEXTS[id][0], "year": 2020 + place}) for place, (id, text, vector) in embedded()]
    )
    found.add_without_vector("PMC900", "A text that nobody has embedded yet.")
    return found


@cache
def embedded(scale: float = 1.0) -> list[tuple[int, tuple[str, str, str]]]:
    async def vectors() -> Any:
        model = open_embedder("minilm", load_settings(environ={}))
        try:
            return await model.embed([text for _, text in TEXTS.values()])
        finally:
            await model.close()

    made = asyncio.run(vectors())
    texts = [
        vector_text(one) if scale == 1.0 else "[" + ",".join(f"{scale * x:.9f}" for x in one) + "]" for one in made
    ]
    return list(enumerate((id, TEXTS[id][1], text) for id, text in zip(TEXTS, texts, strict=True)))


def settings(tmp_path: Path, **more: Any) -> Settings:
    """With the model that the table's owner embeds by."""
    return load_settings(environ={}, home=tmp_path / "home", **{"embedder": "minilm", **more})


def request(url: str = URL, **more: Any) -> IngestRequest:
    return IngestRequest(HERE, (url,), kind="foreign", **more)


@pytest.mark.req("Q-09")
def test_rows_are_found_and_cited_by_their_id_and_nothing_is_written(owner: Owner, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Engine.open(settings(tmp_path)) as engine:
            job = await engine.ingest(request())
            assert (job.files_processed, job.passages_created) == (1, 0)
            said = " ".join(job.warnings)
            assert "5 rows" in said
            assert "1 rows have no vector" in said
            assert "do not look as if" not in said
            found = await engine.search(Query("What are the symptoms of diabetes?", HERE))
            assert len(found.hits) == 5
            first = found.hits[0]
            assert (first.passage.id, first.passage.external_id, first.passage.title) == (
                "PMC100",
                "PMC100",
                "Diabetes",
            )
            assert first.passage.text == TEXTS["PMC100"][1]
            assert first.passage.document_updated_at is not None
            assert first.cosine is not None and 0.5 < first.cosine <= 1.0  # noqa: PT018
            answer = await engine.ask(Query("What are the symptoms of diabetes mellitus?", HERE))
            assert answer.citations[0].passage_id == "PMC100"
            assert answer.citations[0].snippet in TEXTS["PMC100"][1]
            assert "increased thirst" in answer.answer
            foreign = await engine.ask(Query("Who painted the ceiling of the Sistine Chapel?", HERE))
            assert foreign.refused
            pieces = [event async for event in engine.stream(Query("What causes gout?", HERE))]
            assert any("PMC400" in str(event) for event in pieces)
            assert (await engine.check()).problems == ()

    asyncio.run(scenario())
    asked = [statement for statement, _ in owner.log]
    assert all(statement.startswith(("SELECT", "SET TRANSACTION")) for statement in asked)
    searches = [statement for statement in asked if "VECTOR_DOT_PRODUCT" in statement]
    assert searches[0] == (
        "SELECT TOP ? id, VECTOR_DOT_PRODUCT(embedding, TO_VECTOR(?, DOUBLE)) AS score "
        "FROM RAG.SourceDocuments WHERE embedding IS NOT NULL ORDER BY score DESC"
    )


@pytest.mark.req("Q-09")
def test_what_its_owner_changes_is_seen_at_once(owner: Owner, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Engine.open(settings(tmp_path)) as engine:
            await engine.ingest(request())
            assert (await engine.search(Query("gout", HERE))).hits[0].passage.id == "PMC400"
            owner.remove("PMC400")
            assert "PMC400" not in {hit.passage.id for hit in (await engine.search(Query("gout", HERE))).hits}
        async with Engine.open(settings(tmp_path)) as engine:  # it knows its table
            assert (await engine.search(Query("malaria", HERE))).hits[0].passage.id == "PMC500"

    asyncio.run(scenario())


@pytest.mark.req("Q-09")
def test_filters_see_the_rows_metadata(owner: Owner, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Engine.open(settings(tmp_path)) as engine:
            await engine.ingest(request())
            late = await engine.search(Query("diabetes", HERE, where=parse_terms(["year>=2023"])))
            assert {hit.passage.id for hit in late.hits} == {"PMC400", "PMC500"}
            two = await engine.search(Query("diabetes", HERE, top_k=2))
            assert len(two.hits) == 2

    asyncio.run(scenario())


@pytest.mark.req("Q-09", "Q-03")
def test_the_best_of_all_rows_of_a_large_table_are_found(owner: Owner, tmp_path: Path) -> None:
    """Of 2,376 rows the thousand that an exact search by numpy finds too, whichever were added last."""
    drawn = np.random.default_rng(7).normal(size=(2371, 384))
    owner.add([(f"PMC1{at:05}", f"Note {at}.", vector_text(one), {}) for at, one in enumerate(drawn)])
    held = {id: np.array([float(x) for x in text.strip("[]").split(",")]) for _, (id, _, text) in embedded()}
    held |= {f"PMC1{at:05}": one / np.linalg.norm(one) for at, one in enumerate(drawn)}
    question = "What causes gout?"

    async def scenario() -> None:
        more = {"candidates": 1000, "max_top_k": 1000, "reranker": "none"}
        async with Engine.open(settings(tmp_path, **more)) as engine:
            job = await engine.ingest(request())
            assert "2,376 rows" in " ".join(job.warnings)
            found = await engine.search(Query(question, HERE, top_k=1000))
        model = open_embedder("minilm", load_settings(environ={}))
        vector = await model.embed_query(question)
        await model.close()
        scores = {id: float(one @ vector) for id, one in held.items()}
        assert found.hits[0].passage.id == "PMC400"
        assert len(found.hits) == 1000
        least = min(hit.cosine or 0.0 for hit in found.hits)
        assert {id for id, score in scores.items() if score > least + 1e-5} <= {hit.passage.id for hit in found.hits}
        assert all(abs((hit.cosine or 0.0) - scores[hit.passage.id]) < 1e-4 for hit in found.hits)

    asyncio.run(scenario())


@pytest.mark.req("Q-09", "Q-02")
def test_stored_vectors_of_another_length_are_found_before_the_first_search(owner: Owner, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Engine.open(settings(tmp_path, embedder="hash:64")) as engine:
            with pytest.raises(DimensionMismatchError) as caught:
                await engine.ingest(request())
            assert "384 dimensions" in caught.value.message
            assert "gives 64: re-indexing required" in caught.value.message
            with pytest.raises(NotFoundError):
                await engine.search(Query("gout", HERE))
        async with Engine.open(settings(tmp_path)) as engine:
            await engine.ingest(request(mode=IngestMode.RECREATE))
        for id in TEXTS:
            owner.remove(id)
        owner.add([("PMC100", "A text.", vector_text(np.ones(8)), {})])
        owner.log.clear()
        async with Engine.open(settings(tmp_path)) as engine:
            with pytest.raises(DimensionMismatchError, match="8 dimensions"):
                await engine.search(Query("gout", HERE))
        assert not any("VECTOR_DOT_PRODUCT" in statement for statement, _ in owner.log)

    asyncio.run(scenario())


@pytest.mark.req("Q-09")
def test_vectors_of_another_model_or_length_are_told(owner: Owner, tmp_path: Path) -> None:
    for id in TEXTS:
        owner.remove(id)
    owner.add([(id, text, vector, {}) for _, (id, text, vector) in embedded(scale=3.0)])

    async def scenario() -> None:
        async with Engine.open(settings(tmp_path)) as engine:
            job = await engine.ingest(request())
            assert any("not of length 1" in warning for warning in job.warnings)
            hit = (await engine.search(Query("What causes gout?", HERE))).hits[0]
            assert hit.passage.id == "PMC400"
            assert hit.cosine is not None and hit.cosine <= 1.0  # noqa: PT018
        assert any("VECTOR_COSINE" in statement for statement, _ in owner.log)
        async with Engine.open(settings(tmp_path, embedder="hash:384")) as engine:
            job = await engine.ingest(request(mode=IngestMode.RECREATE))
            assert any("do not look as if 'hash:384' made them" in warning for warning in job.warnings)

    asyncio.run(scenario())


@pytest.mark.req("Q-09")
@pytest.mark.parametrize(
    ("sources", "error", "words"),
    [
        (("notes.md",), UsageError, "one table in a database"),
        ((URL, URL), UsageError, "one table in a database"),
        ((f"{URL}?table=RAG.Absent",), NotFoundError, "no table RAG.Absent"),
        ((f"{URL}?table=a;drop",), KedgeError, "no name of a table"),
        ((f"{URL}?colour=red",), KedgeError, "unknown options"),
    ],
)
def test_bad_addresses_say_what_to_write(
    owner: Owner, tmp_path: Path, sources: tuple[str, ...], error: type[KedgeError], words: str
) -> None:
    async def scenario() -> None:
        async with Engine.open(settings(tmp_path)) as engine:
            with pytest.raises(error) as caught:
                await engine.ingest(IngestRequest(HERE, sources, kind="foreign"))
            assert words in caught.value.message
            assert caught.value.hint

    asyncio.run(scenario())
    assert owner.log == [] or all(statement.startswith(("SELECT", "SET")) for statement, _ in owner.log)


@pytest.mark.req("Q-09")
def test_a_collection_is_one_table(owner: Owner, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Engine.open(settings(tmp_path)) as engine:
            await engine.ingest(request())
            with pytest.raises(UsageError, match="already"):
                await engine.ingest(request(f"{URL}?table=RAG.Other"))
            assert (await engine.search(Query("gout", HERE))).hits[0].passage.id == "PMC400"

    asyncio.run(scenario())


@pytest.mark.req("Q-09")
def test_on_the_command_line_and_without_the_password_in_the_home(
    owner: Owner, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(tmp_path / "home")]
    with_password = URL.replace("reader@", "reader:s3cret@")
    assert run(["ingest", with_password, "--kind", "foreign", "--collection", "pubmed", *home]) == 0
    told = capsys.readouterr()
    assert "password in the address is not kept" in told.err + told.out
    assert "s3cret" not in told.err + told.out
    assert run(["ask", "How is asthma treated?", "--collection", "pubmed", *home, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["citations"][0]["passage_id"] == "PMC200"
    assert run(["document", "list", "--collection", "pubmed", *home, "--json"]) == 0
    (table,) = json.loads(capsys.readouterr().out)
    assert (table["url"], table["metadata"]["rows"]) == (URL, 6)

    async def kept() -> list[Any]:
        async with Engine.open(settings(tmp_path)) as engine:
            return [job.request for job in await engine.stores.catalog.jobs.recent(DEFAULT_TENANT)]

    (told_of_job,) = asyncio.run(kept())
    assert told_of_job["sources"] == [URL]


@pytest.mark.req("Q-09")
def test_over_http(owner: Owner, tmp_path: Path) -> None:
    with served(settings(tmp_path)) as address, http_client(address) as client:
        body = {"sources": [URL], "kind": "foreign", "collection": "pubmed"}
        job = follow(client, client.post("/api/ingest", json=body).raise_for_status().json()["job_id"])
        assert job["status"] == "complete"
        found = client.post("/api/search", json={"query": "uric acid", "collection": "pubmed"}).json()
        assert found["results"][0]["external_id"] == "PMC400"
        asked = {"query": "What transmits malaria?", "collection": "pubmed"}
        assert client.post("/api/query", json=asked).json()["citations"][0]["passage_id"] == "PMC500"
        streamed = client.post("/api/query/stream", json=asked).text
        assert any(kind == "citation" and "PMC500" in data for kind, data in events_of(streamed))
        bad = client.post("/api/ingest", json={**body, "sources": ["iris://db"], "collection": "other"})
        failed = follow(client, bad.json()["job_id"])
        assert failed["status"] == "failed"
        assert "names no user" in json.dumps(failed)
