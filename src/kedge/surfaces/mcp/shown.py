"""What agents read: small by default, because a model pays for every word of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kedge.core.excerpt import excerpt
from kedge.core.values import Answer, Citation, Document, Json, Passage, SearchHit, SearchResult
from kedge.core.values.identity import heading
from kedge.surfaces.lead import led

MOST_BYTES = 2000
"""Of an answer without its evidence, written as JSON."""
TEXT_CHARS = 1000
LEAST_CHARS = 100
"""Of the text of an answer, whatever else there is."""
SOURCES = 5
NEAREST = 2
READINGS = 3
PREVIEW_CHARS = 160
TITLE_CHARS = 80
MORE = "Ask again with evidence=true for all of it."
READ_CHARS = 6000
"""Of a document, read at once."""


def short_answer(answer: Answer) -> dict[str, Any]:
    """The answer, how sure it is, and where each source can be read."""
    text = led(answer)
    cited: dict[str, Json] = {item.id: _source(item) for item in answer.citations}
    told: dict[str, Any] = {
        "answer": _cut(text, TEXT_CHARS),
        "confidence": answer.confidence,
        "sources": list(cited.values())[:SOURCES],
    }
    if len(text) > TEXT_CHARS or len(cited) > SOURCES:
        told["shortened"] = MORE
    if resolved := answer.metadata.get("resolved_question"):
        told["resolved_question"] = resolved
    if answer.refused and answer.hits:
        told["nearest"] = [_found(hit, chars=0) for hit in answer.hits[:NEAREST]]
    if answer.readings:
        told["readings"] = [_reading(one) for one in answer.readings[:READINGS]]
    return _fitted(told)


def _fitted(told: dict[str, Any]) -> dict[str, Any]:
    """Within the size, in whichever letters: sources that nothing else names go first, then the end of the text."""
    while (over := len(json.dumps(told, ensure_ascii=False, indent=2).encode()) - MOST_BYTES) > 0:
        told["shortened"] = MORE
        if "nearest" in told or "readings" in told:
            told.pop("nearest", None)
            told.pop("readings", None)
        elif len(told["sources"]) > 1:
            told["sources"] = told["sources"][:-1]
        elif len(told["answer"]) > LEAST_CHARS:
            told["answer"] = _cut(told["answer"], len(told["answer"]) - max(1, over // 3))
        else:
            break
    return told


def short_search(result: SearchResult) -> dict[str, Any]:
    """The hits, best first, each by a few of its words."""
    chars = min(PREVIEW_CHARS, MOST_BYTES // (2 * max(1, len(result.hits))))
    return {"results": [_found(hit, chars=chars) for hit in result.hits], "warnings": list(result.warnings)}


def part_of(document: Document, passages: Sequence[Passage], first: int = 0) -> dict[str, Any]:
    """The document's text from these passages on, as much as is read at once, and where it goes on."""
    read: list[Passage] = []
    for passage in passages:
        if read and passage.end - read[0].start > READ_CHARS:
            break
        read.append(passage)
    after = read[-1].index + 1 if read else first
    return {
        "document_id": document.id,
        "title": document.identity,
        "text": joined(read),
        "from": read[0].index if read else first,
        "next": after if after < document.chunk_count else None,
        "passages": document.chunk_count,
    }


def joined(passages: Sequence[Passage]) -> str:
    """Their text as it stands in the document; what two of them share is said once."""
    text, end = "", 0
    for passage in passages:
        shared = max(0, end - passage.start) if text else 0
        gap = "\n\n" if text and passage.start > end else ""
        text += gap + passage.text[shared:]
        end = max(end, passage.end)
    return text


def _source(item: Citation) -> Json:
    return {
        "id": item.id,
        "title": _cut(heading(item.identity, item.title, item.section_path), PREVIEW_CHARS),
        "passage_id": item.passage_id,
        **({"page": item.page} if item.page is not None else {}),
    }


def _reading(found: Json) -> Json:
    return _cut(str(found.get("reading", "")), PREVIEW_CHARS) if isinstance(found, dict) else None


def _found(hit: SearchHit, chars: int) -> Json:
    found: dict[str, Json] = {
        "passage_id": hit.passage.id,
        "title": _cut(heading(hit.passage.title, hit.passage.title, hit.passage.section_path), TITLE_CHARS),
    }
    if chars:
        found["preview"] = _cut(excerpt(hit.passage.text), chars)
    return found


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1].rstrip() + "…"
