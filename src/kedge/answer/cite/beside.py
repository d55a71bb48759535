"""What stands before a quote: a sentence that points back across its passage's border brings the one it points to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kedge.answer.compose.extract import points_back
from kedge.answer.compose.quote import ExtractedAnswer, Quote
from kedge.core.values import Passage, Query, SearchHit
from kedge.core.values.filters import Eq, all_of, evaluate
from kedge.stores.catalog.ports import ReadPassages
from kedge.text.evidence import quotable_spans


async def join_before(
    passages: ReadPassages, query: Query, hits: Sequence[SearchHit], extracted: ExtractedAnswer
) -> tuple[ExtractedAnswer, tuple[SearchHit, ...]]:
    """The answer with the last sentence of the passage before, where a quote opens its passage and points back.

    Returns also the passages that were read for it, as further hits: quotes refer to them behind `hits`. A passage that
    was found anyway is quoted as such; one that the query's filter hides is not read out.
    """
    quotes: list[Quote] = []
    joined: list[SearchHit] = []
    for quote in extracted.quotes:
        hit = hits[quote.passage]
        before = await _before(passages, query, hit.passage) if _opens(quote, hit.passage) else None
        spans = quotable_spans(before.text) if before else []
        if before and spans:
            places = {known.passage.id: place for place, known in enumerate((*hits, *joined))}
            if before.id not in places:
                places[before.id] = len(places)
                joined.append(SearchHit(rank=len(places), passage=before, score=hit.score))
            start, end = spans[-1]
            earlier = Quote(places[before.id], start, end, before.text[start:end])
            if earlier not in (*quotes, *extracted.quotes):
                quotes.append(earlier)
        quotes.append(quote)
    return replace(extracted, quotes=tuple(quotes)), tuple(joined)


async def around(passages: ReadPassages, query: Query, hits: Sequence[SearchHit], best: int) -> tuple[SearchHit, ...]:
    """The neighbours of the `best` first hits, as further hits: of the same version and section, within the filter."""
    known = {hit.passage.id for hit in hits}
    found: list[SearchHit] = []
    for hit in hits[:best]:
        place = hit.passage.index
        near = await passages.of_document(
            query.scope.tenant, hit.passage.document_id, first=max(0, place - 1), last=place + 1
        )
        for passage in near:
            if passage.id not in known and shown_beside(query, hit.passage, passage):
                known.add(passage.id)
                found.append(SearchHit(rank=len(hits) + len(found) + 1, passage=passage, score=hit.score / 2))
    return tuple(found)


def _opens(quote: Quote, passage: Passage) -> bool:
    """Whether the quote points back and nothing before it in its passage can be meant."""
    first = min((start for start, _ in quotable_spans(passage.text)), default=0)
    return passage.index > 0 and quote.start <= first and points_back(quote.text)


async def _before(passages: ReadPassages, query: Query, passage: Passage) -> Passage | None:
    """The passage before, if it is of the same version, under the same heading, and the query's filter shows it."""
    place = passage.index - 1
    found = await passages.of_document(query.scope.tenant, passage.document_id, first=place, last=place)
    return next((before for before in found if shown_beside(query, passage, before)), None)


def shown_beside(query: Query, passage: Passage, other: Passage) -> bool:
    """Whether a neighbour is of the same version, under the same heading, and not hidden by the query's filter."""
    topic = Eq("topic_tag", query.topic_filter) if query.topic_filter is not None else None
    where = all_of(topic, query.where)
    same = (other.version_id, other.section_path) == (passage.version_id, passage.section_path)
    return same and (where is None or evaluate(where, other.payload()))
