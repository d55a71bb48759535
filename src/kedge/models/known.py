"""What is known of models that are served elsewhere: size and prefixes. Data, not checked against model cards."""

from __future__ import annotations

from dataclasses import dataclass

TASK = "Given a web search query, retrieve relevant passages that answer the query"
INSTRUCT = f"Instruct: {TASK}\nQuery:"
SEARCH = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class KnownModel:
    """An embedding model."""

    names: tuple[str, ...]
    """Lower-case names without the owner; Ollama's spelling too."""
    dimension: int
    window: int
    """Tokens it sees of one text."""
    query_prefix: str = ""
    text_prefix: str = ""
    cuttable: bool = False
    """Trained so that the first dimensions stand alone (Matryoshka)."""


KNOWN: tuple[KnownModel, ...] = (
    KnownModel(("text-embedding-3-small",), 1536, 8191, cuttable=True),
    KnownModel(("text-embedding-3-large",), 3072, 8191, cuttable=True),
    KnownModel(("text-embedding-ada-002",), 1536, 8191),
    KnownModel(("qwen3-embedding-8b", "qwen3-embedding:8b"), 4096, 32768, INSTRUCT, cuttable=True),
    KnownModel(("qwen3-embedding-4b", "qwen3-embedding:4b"), 2560, 32768, INSTRUCT, cuttable=True),
    KnownModel(("qwen3-embedding-0.6b", "qwen3-embedding:0.6b"), 1024, 32768, INSTRUCT, cuttable=True),
    KnownModel(("multilingual-e5-small",), 384, 512, "query: ", "passage: "),
    KnownModel(("multilingual-e5-base",), 768, 512, "query: ", "passage: "),
    KnownModel(("multilingual-e5-large",), 1024, 512, "query: ", "passage: "),
    KnownModel(("multilingual-e5-large-instruct",), 1024, 512, f"Instruct: {TASK}\nQuery: "),
    KnownModel(("e5-small-v2",), 384, 512, "query: ", "passage: "),
    KnownModel(("e5-base-v2",), 768, 512, "query: ", "passage: "),
    KnownModel(("e5-large-v2",), 1024, 512, "query: ", "passage: "),
    KnownModel(("bge-small-en-v1.5",), 384, 512, SEARCH),
    KnownModel(("bge-base-en-v1.5",), 768, 512, SEARCH),
    KnownModel(("bge-large-en-v1.5",), 1024, 512, SEARCH),
    KnownModel(("bge-m3",), 1024, 8192),
    KnownModel(("nomic-embed-text-v1.5",), 768, 8192, "search_query: ", "search_document: ", cuttable=True),
    KnownModel(("nomic-embed-text",), 768, 2048, "search_query: ", "search_document: ", cuttable=True),
    KnownModel(("mxbai-embed-large-v1", "mxbai-embed-large"), 1024, 512, SEARCH, cuttable=True),
    KnownModel(
        ("embeddinggemma-300m", "embeddinggemma"),
        768,
        2048,
        "task: search result | query: ",
        "title: none | text: ",
        cuttable=True,
    ),
    KnownModel(("granite-embedding-30m-english", "granite-embedding:30m"), 384, 512),
    KnownModel(("all-minilm-l6-v2", "all-minilm"), 384, 256),
)


def find(model: str) -> KnownModel | None:
    """The entry of a model by its served name: `Qwen/Qwen3-Embedding-8B`, `qwen3-embedding:8b`, `bge-m3:latest`."""
    name = model.rpartition("/")[2].casefold().removesuffix(":latest")
    return next((one for one in KNOWN if name in one.names), None)
