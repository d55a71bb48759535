"""Opens models by name: those of Kedge and of other packages, by the entry point `kedge.models`."""

from __future__ import annotations

from kedge.core.opening import Opener
from kedge.core.plugins import MODELS
from kedge.core.settings import Settings
from kedge.models.ports import Embedder, LanguageModel, Reranker

EMBEDDERS: Opener[Embedder] = Opener(MODELS, "embed", "embedder", Embedder)
RERANKERS: Opener[Reranker] = Opener(MODELS, "rerank", "reranker", Reranker)
LANGUAGE_MODELS: Opener[LanguageModel] = Opener(MODELS, "write", "language model", LanguageModel)
EXTRACTIVE = "extractive"
"""The default: answers are verbatim sentences, and no model is asked."""


def open_embedder(name: str, settings: Settings) -> Embedder:
    """An embedder by name (`minilm`) or by scheme (`onnx:/path/to/folder`, `openai:MODEL`)."""
    return EMBEDDERS.open(name, settings)


def open_reranker(name: str, settings: Settings) -> Reranker:
    """A reranker by scheme (`endpoint:http://host:8080?api=tei`, `onnx-rerank:/path/to/folder`)."""
    return RERANKERS.open(name, settings)


def open_language_model(name: str, settings: Settings) -> LanguageModel:
    """A language model by scheme (`anthropic:claude-…`, `openai:MODEL`, `ollama:MODEL`, `local`), within its limits."""
    return LANGUAGE_MODELS.open(name, settings)


def open_writer(settings: Settings) -> LanguageModel | None:
    """The language model of the settings; None when answers are extractive."""
    return None if settings.llm == EXTRACTIVE else open_language_model(settings.llm, settings)


def faults(settings: Settings) -> list[str]:
    """Models that the settings name and nobody knows, with those that are known."""
    return [
        *EMBEDDERS.faults("embedder", settings.embedder),
        *RERANKERS.faults("reranker", settings.reranker, ("default", "none")),
        *LANGUAGE_MODELS.faults("llm", settings.llm, (EXTRACTIVE,)),
    ]
