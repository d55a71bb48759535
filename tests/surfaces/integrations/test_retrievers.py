"""LangChain's and LlamaIndex's own packages use Kedge, in this process and over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from llama_index.core.schema import MetadataMode, NodeWithScore

from kedge import Kedge
from kedge.core.errors import NotFoundError, UsageError
from kedge.surfaces.client import AsyncKedgeClient, KedgeClient
from kedge.surfaces.integrations import langchain, llama_index
from tests.support.forked import ran_script
from tests.support.surfaces import DOCUMENTS, EMBEDDER, QUESTION, write_corpus
from tests.surfaces.client.conftest import serving


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("retrieved")
    with Kedge(folder / "home", embedder=EMBEDDER) as kedge:
        kedge.ingest(write_corpus(folder / "sea"), collection="sea", topic="knots")
    return folder / "home"


@pytest.fixture
def local(filled: Path) -> Iterator[Kedge]:
    with Kedge(filled, embedder=EMBEDDER) as kedge:
        yield kedge


@pytest.fixture(scope="module")
def url(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    with serving(folder / "home") as address, KedgeClient(address) as client:
        files = sorted(write_corpus(folder / "sea").glob("*.md"))
        client.wait(client.ingest(files=files, collection="sea", topic="knots").job_id)
        yield address


def check_cited(text: str, metadata: dict[str, Any]) -> None:
    """The offsets lead to the very text in the very file."""
    source = next(text for name, text in DOCUMENTS.items() if metadata["url"].endswith(name))
    assert source[metadata["start"] : metadata["end"]] == text
    assert metadata["title"] in metadata["citation"]
    assert metadata["url"] in metadata["citation"]
    assert 0 < metadata["score"] <= 1


def titles(documents: list[Document]) -> list[str]:
    return [document.metadata["title"] for document in documents]


def test_langchain(local: Kedge, url: str) -> None:
    with KedgeClient(url) as client:
        for source in (local, client):
            retriever = langchain.KedgeRetriever(source=source, collection="sea", top_k=2)
            found: list[Document] = retriever.invoke(QUESTION)
            assert len(found) == 2
            for document in found:
                check_cited(document.page_content, document.metadata)
                assert document.id == document.metadata["passage_id"]
            assert asyncio.run(retriever.ainvoke(QUESTION)) == found
            chain = retriever | RunnableLambda(titles)
            assert "Kedge anchor" in chain.invoke(QUESTION)
            assert retriever.batch([QUESTION, "tides"])[0] == found


def test_llama_index(local: Kedge, url: str) -> None:
    with KedgeClient(url) as client:
        for source in (local, client):
            retriever = llama_index.KedgeRetriever(source, collection="sea", top_k=2)
            found: list[NodeWithScore] = retriever.retrieve(QUESTION)
            assert [node.node_id for node in found] == [
                one.node_id for one in asyncio.run(retriever.aretrieve(QUESTION))
            ]
            for node in found:
                check_cited(node.node.get_content(), node.metadata)
                assert node.score == node.metadata["score"]
                shown = node.node.get_content(MetadataMode.LLM)
                assert "passage_id" not in shown
                assert "title" in shown


def test_both_over_an_asyncio_client(url: str) -> None:
    async def ask() -> None:
        async with AsyncKedgeClient(url) as client:
            chain = langchain.KedgeRetriever(source=client, collection="sea", top_k=1)
            index = llama_index.KedgeRetriever(client, collection="sea", top_k=1)
            documents, nodes = await chain.ainvoke(QUESTION), await index.aretrieve(QUESTION)
            assert documents[0].id == nodes[0].node_id
            with pytest.raises(UsageError, match="AsyncKedgeClient"):
                chain.invoke(QUESTION)

    asyncio.run(ask())


def test_filters_and_errors_go_through(local: Kedge) -> None:
    make = langchain.KedgeRetriever
    assert make(source=local, collection="sea", topic="weather").invoke(QUESTION) == []
    assert make(source=local, collection="sea", where={"language": "xx"}).invoke(QUESTION) == []
    assert make(source=local, collection="sea", include_graph=False).invoke(QUESTION)
    with pytest.raises(NotFoundError):
        make(source=local, collection="nowhere").invoke(QUESTION)
    for wrong in (langchain.KedgeRetriever, llama_index.KedgeRetriever):
        with pytest.raises(UsageError, match="needs a Kedge"):
            wrong(source="http://127.0.0.1:8000")


@pytest.mark.parametrize(("module", "package"), [("langchain", "langchain_core"), ("llama_index", "llama_index")])
def test_a_missing_package_names_its_extra(module: str, package: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None\nimport kedge.surfaces.integrations.{module}"
    done = ran_script(code)
    assert f"kedge[{module.replace('_', '-')}]" in done.stderr
