"""Kedge as a LangChain retriever (`pip install 'kedge[langchain]'`).

from kedge import Kedge
from kedge.surfaces.integrations.langchain import LangChainRetriever

retriever = LangChainRetriever(source=Kedge("./.kedge"), collection="handbook", top_k=8)
documents = retriever.invoke("How do I kedge off a sandbank?")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kedge.core.errors import MissingExtraError
from kedge.core.values import SearchResult
from kedge.surfaces.integrations.searching import Search, metadata_of

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise MissingExtraError("The LangChain retriever", "langchain") from error


class LangChainRetriever(BaseRetriever):
    """Passages by meaning, words and graph, best first, with what there is to cite in their metadata."""

    source: Any
    """A `Kedge`, a `KedgeClient`, or an `AsyncKedgeClient` (for `ainvoke` alone)."""
    collection: str | None = None
    top_k: int = 5
    include_graph: bool = True
    topic: str | None = None
    where: Mapping[str, Any] = {}

    def model_post_init(self, context: Any, /) -> None:
        """Whether it can search is told now, not at the first question."""
        super().model_post_init(context)
        self._search()

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002
        return _documents(self._search().run(query))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002
    ) -> list[Document]:
        return _documents(await self._search().arun(query))

    def _search(self) -> Search:
        return Search(self.source, self.collection, self.top_k, self.include_graph, self.topic, self.where)


KedgeRetriever = LangChainRetriever
"""Its former name."""


def _documents(found: SearchResult) -> list[Document]:
    return [Document(id=hit.passage.id, page_content=hit.passage.text, metadata=metadata_of(hit)) for hit in found.hits]
