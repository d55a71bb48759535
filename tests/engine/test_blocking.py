"""`from kedge import Kedge`: the blocking facade."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge import Kedge
from kedge.core.errors import HomeBusyError, NotFoundError, QueryError, UsageError
from kedge.core.values import Answer, JobStatus
from tests.support.surfaces import EMBEDDER, FOREIGN, QUESTION, write_corpus


@pytest.fixture(scope="module")
def kedge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kedge]:
    folder = tmp_path_factory.mktemp("sync")
    with Kedge(folder / "home", embedder=EMBEDDER) as opened:
        assert opened.ingest(write_corpus(folder / "corpus")).status is JobStatus.COMPLETE
        yield opened


@pytest.mark.req("D-13")
def test_ask_and_search(kedge: Kedge) -> None:
    answer = kedge.ask(QUESTION)
    assert isinstance(answer, Answer)
    assert answer.query_id
    assert kedge.ask(FOREIGN).refused
    assert kedge.search("anchor bend knot", top_k=1).hits[0].passage.title == "Anchor bend"


def test_options(kedge: Kedge) -> None:
    found = kedge.search("anchor", where={"has_table": True}, include_graph=False)
    assert {hit.passage.title for hit in found.hits} == {"Anchor bend"}
    assert kedge.search("anchor", topic="nothing").hits == ()


@pytest.mark.req("D-14")
def test_stream_and_leaving_it_early(kedge: Kedge) -> None:
    events = list(kedge.stream(QUESTION))
    assert events[0].type == "token"
    assert events[-1].type == "done"
    for event in kedge.stream(QUESTION):
        assert event.type == "token"
        break


@pytest.mark.req("D-15")
def test_errors_come_through(kedge: Kedge) -> None:
    with pytest.raises(QueryError, match="Query cannot be empty"):
        kedge.ask("")
    with pytest.raises(QueryError, match="top_k must be between 1 and 20"):
        list(kedge.stream("why", top_k=21))
    with pytest.raises(NotFoundError):
        kedge.document("nobody")


def test_a_list_is_no_source(kedge: Kedge) -> None:
    with pytest.raises(UsageError, match="path or an address"):
        kedge.ingest(["docs"])  # type: ignore[arg-type]


def test_documents_and_delete(tmp_path: Path) -> None:
    with Kedge(tmp_path / "home", embedder=EMBEDDER) as kedge:
        kedge.ingest(write_corpus(tmp_path / "corpus"), collection="sea", topic="sea")
        documents = kedge.documents("sea")
        assert len(documents) == 3
        document, passages = kedge.document(documents[0].id)
        assert document.id == documents[0].id
        assert passages
        kedge.delete(document.id)
        assert len(kedge.documents("sea")) == 2
        assert [one.scope.collection for one in kedge.collections()] == ["sea"]
        kedge.delete_collection("sea")
        assert kedge.collections() == []


@pytest.mark.req("D-17")
def test_feedback(kedge: Kedge) -> None:
    assert kedge.feedback(kedge.ask(QUESTION).query_id, 4, "good")


def test_closing_is_final_and_leaves_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    kedge = Kedge(tmp_path / "home", embedder=EMBEDDER)
    with pytest.raises(HomeBusyError):
        Kedge(tmp_path / "home", embedder=EMBEDDER)
    kedge.close()
    kedge.close()
    with pytest.raises(UsageError, match="closed"):
        kedge.collections()
    assert "kedge" not in {thread.name for thread in set(threading.enumerate()) - before}
    Kedge(tmp_path / "home", embedder=EMBEDDER).close()
