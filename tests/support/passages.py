"""Passages made for tests."""

from __future__ import annotations

from typing import Any

from kedge.core.values import Passage, SearchHit


def passage(text: str, *, key: str = "p1", title: str = "", **more: Any) -> Passage:
    """A passage that begins its document."""
    fields: dict[str, Any] = {
        "document_id": f"d-{key}",
        "version_id": "v1",
        "index": 0,
        "start": 0,
        "end": len(text),
        "content_hash": "",
        "token_count": len(text.split()),
        "url": f"{key}.md",
        "external_id": key,
    }
    return Passage(id=key, text=text, title=title, **{**fields, **more})


def hit(found: Passage, rank: int = 1) -> SearchHit:
    """The passage as it was found."""
    return SearchHit(rank=rank, passage=found, score=1.0 / rank)
