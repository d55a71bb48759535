"""Citations: every quoted sentence gets a mark, and every mark a span that is verified to exist."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.answer.compose.extract import ExtractedAnswer, Quote
from kedge.core.values import Citation, SearchHit


def cite(
    extracted: ExtractedAnswer, hits: Sequence[SearchHit], known: Sequence[Citation] = ()
) -> tuple[str, tuple[Citation, ...]]:
    """The answer's text with marks `[1]`, `[2]`, …, and what they point to. Quotes whose span differs are left out.

    The marks go on behind those of `known` citations, and what these cite already is not quoted.
    """
    cited = {(one.passage_id, one.start) for one in known}
    parts: list[str] = []
    citations: list[Citation] = []
    for quote in extracted.quotes:
        hit = hits[quote.passage]
        if not _exists(quote, hit) or (hit.passage.id, hit.passage.start + quote.start) in cited:
            continue
        citation = citation_of(f"[{len(known) + len(citations) + 1}]", quote, hit)
        citations.append(citation)
        parts.append(f"{one_line(quote.text)} {citation.id}")
    return " ".join(parts), tuple(citations)


def _exists(quote: Quote, hit: SearchHit) -> bool:
    return bool(quote.text) and hit.passage.text[quote.start : quote.end] == quote.text


def citation_of(mark: str, quote: Quote, hit: SearchHit) -> Citation:
    """The citation with that mark of a quote from a hit."""
    passage = hit.passage
    return Citation(
        id=mark,
        passage_id=passage.id,
        document_id=passage.document_id,
        title=passage.title,
        url=passage.url,
        snippet=quote.text,
        start=passage.start + quote.start,
        end=passage.start + quote.end,
        relevance_score=hit.score,
        page=passage.page_at(quote.start),
        section_path=passage.section_path,
        identity=passage.identity,
    )


def one_line(text: str) -> str:
    """A wrapped sentence reads on; a formula or code block keeps its lines."""
    if "```" in text or "$$" in text or "\\[" in text:
        return text
    return " ".join(text.split())
