"""Kedge through the engine: default settings, a JSONL file in, `search` out."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.base import Passage
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine

SCOPE = Scope(DEFAULT_TENANT, "peers")


class KedgePeer:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._scratch = tempfile.TemporaryDirectory()
        settings = load_settings(home=Path(self._scratch.name) / "home", embed_cache=None)
        self._opened = Engine.open(settings)
        self._engine = self._loop.run_until_complete(self._opened.__aenter__())
        self._loop.run_until_complete(self._engine.warm_up())

    @property
    def llm_calls(self) -> int:
        return self._engine.llm_calls

    def ingest(self, passages: Sequence[Passage]) -> None:
        corpus = Path(self._scratch.name) / "corpus.jsonl"
        rows = ({"_id": str(at), "title": p.title, "text": p.text} for at, p in enumerate(passages))
        corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        self._loop.run_until_complete(self._engine.ingest(IngestRequest(SCOPE, (str(corpus),))))

    def search(self, query: str, k: int) -> list[int]:
        result = self._loop.run_until_complete(self._engine.search(Query(query, SCOPE, top_k=k)))
        return list(dict.fromkeys(int(hit.passage.external_id) for hit in result.hits))
