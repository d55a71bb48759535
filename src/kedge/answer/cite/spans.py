"""Citations: every quoted sentence gets a mark, and every mark a span that is verified to exist."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kedge.answer.compose.quote import ExtractedAnswer, Quote
from kedge.core.values import Citation, CitedCell, SearchHit

_BREAK = "\n\n"
_LISTED = re.compile(r"(?:-|\d{1,3}\.) ")


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
        parts.append(_part(quote, citation.id, parts))
    if extracted.verdict and parts:
        parts.insert(0, f"{extracted.verdict}.{_BREAK if _LISTED.match(parts[0]) else ' '}")
    return "".join(parts), tuple(citations)


def _part(quote: Quote, mark: str, before: Sequence[str]) -> str:
    """A quote with its mark, behind what parts it from those before: a blank, a line of a list, an empty line."""
    words = f"{quote.shown or one_line(quote.text)} {mark}"
    said = f"{quote.bullet} {words}" if quote.bullet else words
    gap = ""
    if before:
        listed = _LISTED.match(before[-1].lstrip()) is not None
        blocked = "\n\n" in before[-1].strip("\n")
        gap = " "
        if blocked or quote.block or listed != bool(quote.bullet):
            gap = "\n\n"
        elif listed:
            gap = "\n"
    return f"{gap}{said}\n\n{quote.block}" if quote.block else f"{gap}{said}"


def only_cited(
    extracted: ExtractedAnswer | None, hits: Sequence[SearchHit], first: int
) -> tuple[ExtractedAnswer | None, tuple[SearchHit, ...]]:
    """The `first` hits and those behind them that are quoted; the quotes refer to these."""
    quoted = {quote.passage for quote in extracted.quotes} if extracted else set()
    kept = [place for place in range(len(hits)) if place < first or place in quoted]
    moved = {old: new for new, old in enumerate(kept)}
    shown = tuple(replace(hits[place], rank=number) for number, place in enumerate(kept, 1))
    if extracted is None:
        return None, shown
    quotes = tuple(replace(quote, passage=moved[quote.passage]) for quote in extracted.quotes)
    return replace(extracted, quotes=quotes), shown


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
        section_path=passage.section_at(quote.start),
        identity=passage.identity,
        cells=tuple(
            CitedCell(
                cell.header,
                cell.text,
                passage.start + cell.start,
                passage.start + cell.end,
                place == quote.marked or place in quote.counted,
            )
            for place, cell in enumerate(quote.cells)
        ),
    )


def one_line(text: str) -> str:
    """A wrapped sentence reads on; a formula or code block keeps its lines."""
    if "```" in text or "$$" in text or "\\[" in text:
        return text
    return " ".join(text.split())
