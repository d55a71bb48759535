"""Haystack: the hybrid retrieval pipeline of its tutorials, without the cross-encoder at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore

from benchmarks.peers.base import Encoder, Passage


@component
class DocumentEmbedder:
    """The hook for own embedders, on the way in."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        vectors = self._encoder.texts([document.content or "" for document in documents])
        pairs = zip(documents, vectors, strict=True)
        return {"documents": [replace(document, embedding=vector.tolist()) for document, vector in pairs]}


@component
class QueryEmbedder:
    """The hook for own embedders, on the way out."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        return {"embedding": self._encoder.query(text).tolist()}


class HaystackPeer:
    llm_calls = 0

    def __init__(self, join_mode: str) -> None:
        encoder = Encoder()
        store = InMemoryDocumentStore(embedding_similarity_function="cosine")
        self._indexing = Pipeline()
        self._indexing.add_component("embedder", DocumentEmbedder(encoder))
        self._indexing.add_component("writer", DocumentWriter(store))
        self._indexing.connect("embedder.documents", "writer.documents")
        self._search = Pipeline()
        self._search.add_component("embedder", QueryEmbedder(encoder))
        self._search.add_component("dense", InMemoryEmbeddingRetriever(store))
        self._search.add_component("keyword", InMemoryBM25Retriever(store))
        self._search.add_component("joiner", DocumentJoiner(join_mode=join_mode))
        self._search.connect("embedder.embedding", "dense.query_embedding")
        self._search.connect("dense", "joiner")
        self._search.connect("keyword", "joiner")

    def ingest(self, passages: Sequence[Passage]) -> None:
        documents = [Document(id=str(at), content=passage.whole) for at, passage in enumerate(passages)]
        self._indexing.run({"embedder": {"documents": documents}})

    def search(self, query: str, k: int) -> list[int]:
        inputs = {
            "embedder": {"text": query},
            "dense": {"top_k": k},
            "keyword": {"query": query, "top_k": k},
            "joiner": {"top_k": k},
        }
        return [int(document.id) for document in self._search.run(inputs)["joiner"]["documents"]]


def joined_by_rank() -> HaystackPeer:
    """The mode for results that no ranker sorts afterwards."""
    return HaystackPeer("reciprocal_rank_fusion")


def joined_by_default() -> HaystackPeer:
    """The mode of the constructor: all results by their raw scores."""
    return HaystackPeer("concatenate")
