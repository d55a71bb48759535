"""LlamaIndex: vector and BM25 retrievers under QueryFusionRetriever, without generated queries (those need an LLM)."""

from __future__ import annotations

from collections.abc import Sequence

import Stemmer
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import TextNode
from llama_index.retrievers.bm25 import BM25Retriever
from pydantic import PrivateAttr

from benchmarks.peers.base import Encoder, Passage


class KedgeEmbedding(BaseEmbedding):
    """The hook for own embedders."""

    _encoder: Encoder = PrivateAttr(default_factory=Encoder)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [row.tolist() for row in self._encoder.texts(texts)]

    def _get_query_embedding(self, query: str) -> list[float]:
        return [float(value) for value in self._encoder.query(query)]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class LlamaIndexPeer:
    llm_calls = 0

    def __init__(self, mode: FUSION_MODES) -> None:
        self._embedding = KedgeEmbedding()
        self._mode = mode
        self._retrievers: dict[int, QueryFusionRetriever] = {}

    def ingest(self, passages: Sequence[Passage]) -> None:
        self._nodes = [TextNode(id_=str(at), text=passage.whole) for at, passage in enumerate(passages)]
        self._index = VectorStoreIndex(self._nodes, embed_model=self._embedding)
        self._retriever(10)

    def search(self, query: str, k: int) -> list[int]:
        return [int(found.node.node_id) for found in self._retriever(k).retrieve(query)]

    def _retriever(self, k: int) -> QueryFusionRetriever:
        if k not in self._retrievers:
            keyword = BM25Retriever.from_defaults(
                nodes=self._nodes, similarity_top_k=k, stemmer=Stemmer.Stemmer("english"), language="english"
            )
            self._retrievers[k] = QueryFusionRetriever(
                [self._index.as_retriever(similarity_top_k=k), keyword],
                llm=MockLLM(),
                mode=self._mode,
                similarity_top_k=k,
                num_queries=1,
                use_async=False,
            )
        return self._retrievers[k]


def fused_by_rank() -> LlamaIndexPeer:
    """The mode that its guides use for vector + BM25."""
    return LlamaIndexPeer(FUSION_MODES.RECIPROCAL_RANK)


def fused_by_default() -> LlamaIndexPeer:
    """The mode of the constructor: the better of the two raw scores."""
    return LlamaIndexPeer(FUSION_MODES.SIMPLE)
