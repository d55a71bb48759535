"""Kedge as a LlamaIndex retriever (`pip install 'kedge[llama-index]'`).

from kedge import Kedge
from kedge.surfaces.integrations.llama_index import LlamaIndexRetriever

retriever = LlamaIndexRetriever(Kedge("./.kedge"), collection="handbook", top_k=8)
nodes = retriever.retrieve("How do I kedge off a sandbank?")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kedge.core.errors import MissingExtraError
from kedge.core.values import Json, SearchResult
from kedge.surfaces.integrations.searching import Search, metadata_of

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
except ImportError as error:
    raise MissingExtraError("The LlamaIndex retriever", "llama-index") from error

QUIET = ["passage_id", "document_id", "external_id", "start", "end", "rank", "score", "language", "source", "citation"]
"""Metadata that neither a model nor an embedder has any use for."""


class LlamaIndexRetriever(BaseRetriever):
    """Passages by meaning, words and graph, best first, with what there is to cite in their metadata."""

    def __init__(
        self,
        source: Any,
        *,
        collection: str | None = None,
        top_k: int = 5,
        include_graph: bool = True,
        topic: str | None = None,
        where: Mapping[str, Json] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """`source` is a `Kedge`, a `KedgeClient`, or an `AsyncKedgeClient` (for `aretrieve` alone)."""
        self._search = Search(source, collection, top_k, include_graph, topic, dict(where or {}))
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._search.run(query_bundle.query_str))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(await self._search.arun(query_bundle.query_str))


KedgeRetriever = LlamaIndexRetriever
"""Its former name."""


def _nodes(found: SearchResult) -> list[NodeWithScore]:
    return [
        NodeWithScore(
            node=TextNode(
                id_=hit.passage.id,
                text=hit.passage.text,
                metadata=metadata_of(hit),
                start_char_idx=hit.passage.start,
                end_char_idx=hit.passage.end,
                excluded_llm_metadata_keys=list(QUIET),
                excluded_embed_metadata_keys=list(QUIET),
                relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=hit.passage.document_id)},
            ),
            score=hit.score,
        )
        for hit in found.hits
    ]
