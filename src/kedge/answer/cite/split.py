"""Lists that a passage's border cuts: an answer that ends in a list at the end of its passage goes on in the next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kedge.answer.cite.beside import shown_beside
from kedge.answer.compose.company import LONGEST_LIST, Pick, items_from
from kedge.answer.compose.quote import ExtractedAnswer, Quote
from kedge.answer.compose.show import items_in, quote_of
from kedge.answer.evidence import cut
from kedge.core.values import Passage, Query, SearchHit
from kedge.stores.catalog.ports import ReadPassages

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
LEAST = 2
"""Items that an answer must have of a list for the rest of it to be wanted: one alone was chosen for itself."""


async def join_rest(
    passages: ReadPassages, query: Query, hits: Sequence[SearchHit], extracted: ExtractedAnswer
) -> tuple[ExtractedAnswer, tuple[SearchHit, ...]]:
    """The answer with the items of its last list that stand at the beginning of the next passage.

    Returns also that passage as a further hit, unless it was found anyway: quotes refer to it behind `hits`. A passage
    of another version or section, or one that the query's filter hides, is not read out.
    """
    last = extracted.quotes[-1] if extracted.quotes else None
    known = sum(items_in(quote) for quote in extracted.quotes)
    if last is None or known < LEAST or not items_in(last):
        return extracted, ()
    here = hits[last.passage].passage
    if here.text[last.end :].strip():
        return extracted, ()
    after = await _after(passages, query, here)
    if after is None:
        return extracted, ()
    places = {hit.passage.id: place for place, hit in enumerate(hits)}
    place = places.get(after.id, len(hits))
    quotes = [quote for quote in _opening(after, place) if quote not in extracted.quotes][: LONGEST_LIST - known]
    if not quotes or any(quote.passage == place for quote in extracted.quotes):
        return extracted, ()
    joined = (
        () if after.id in places else (SearchHit(rank=len(hits) + 1, passage=after, score=hits[last.passage].score),)
    )
    return replace(extracted, quotes=(*extracted.quotes, *quotes)), joined


def _opening(passage: Passage, place: int) -> list[Quote]:
    """The items with which a passage begins, behind the end of one that its border cuts."""
    made = cut(passage)
    first = next((at for at, one in enumerate(made) if one.kind == "item"), None)
    if first is None or made[first].lead or any(one.kind != "sentence" for one in made[:first]):
        return []
    before = passage.text[: made[first].start].rstrip(".)-*+•‣▪0123456789 ")
    if before.strip() and (first == 0 or _PARAGRAPH.search(before.lstrip()) or not before.endswith("\n")):
        return []
    return [
        quote_of(Pick(place, pick.statement, None, pick.with_code, in_list=True), passage.text)
        for pick in items_from(place, made, first)
    ]


async def _after(passages: ReadPassages, query: Query, passage: Passage) -> Passage | None:
    """The next passage, if it is of the same version, under the same heading, and the query's filter shows it."""
    place = passage.index + 1
    found = await passages.of_document(query.scope.tenant, passage.document_id, first=place, last=place)
    return next((after for after in found if shown_beside(query, passage, after)), None)
