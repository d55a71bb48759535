"""Hits made by hand."""

from __future__ import annotations

from kedge.core.values import Passage, SearchHit


def hit(
    title: str,
    text: str,
    *,
    score: float = 0.5,
    document: str = "",
    index: int = 0,
    start: int = 0,
    version: str = "v1",
) -> SearchHit:
    """A hit on a passage with that text."""
    document = document or title
    passage = Passage(
        id=f"{document}/{index}",
        document_id=document,
        version_id=version,
        index=index,
        text=text,
        start=start,
        end=start + len(text),
        content_hash="",
        token_count=len(text.split()),
        title=title,
        url=f"{document}.md",
        external_id=document,
    )
    return SearchHit(rank=1, passage=passage, score=score)
