"""A quote that points back across its passage's border brings the sentence it points to, with its own citation."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from kedge.answer.cite.beside import join_before
from kedge.answer.compose.quote import ExtractedAnswer, Quote
from kedge.core.values import Passage, Query, Scope, SearchHit
from kedge.core.values.filters import Eq, Filter

TEXTS = (
    "The harbour has two piers. The older pier was built by Anna Berg in 1903.",
    "She also built the lighthouse beside it. Visitors may climb it on Sundays.",
)


def passage(index: int, text: str, section: str = "Harbour") -> Passage:
    return Passage(
        id=str(index), document_id="d", version_id="v", index=index, text=text, start=0, end=len(text),
        content_hash=str(index), token_count=10, title="Town", url="town.md", external_id="town.md",
        section_path=(section,),
    )  # fmt: skip


class Document:
    """The one document, as the catalog gives it out."""

    def __init__(self, *passages: Passage) -> None:
        self.passages = passages

    async def of_document(
        self, tenant: str, document_id: str, *, first: int = 0, last: int | None = None
    ) -> list[Passage]:
        return [one for one in self.passages if first <= one.index <= (99 if last is None else last)]


def joined(
    start: int, *, section: str = "Harbour", where: Filter | None = None, found: bool = False, version: str = "v"
) -> tuple[ExtractedAnswer, tuple[SearchHit, ...]]:
    earlier, later = replace(passage(0, TEXTS[0], section), version_id=version), passage(1, TEXTS[1])
    hits = [SearchHit(1, later, 0.9), *([SearchHit(2, earlier, 0.8)] if found else [])]
    end = later.text.index(".", start) + 1
    quote = Quote(0, start, end, later.text[start:end])
    query = Query("Who built the lighthouse?", Scope("t", "c"), where=where)
    document: Any = Document(earlier, later)
    return asyncio.run(join_before(document, query, hits, ExtractedAnswer((quote,), None)))


def test_a_quote_that_points_back_brings_the_sentence_before() -> None:
    answer, hits = joined(0)
    assert [quote.text for quote in answer.quotes] == [
        "The older pier was built by Anna Berg in 1903.",
        "She also built the lighthouse beside it.",
    ]
    assert [(hit.rank, hit.passage.index) for hit in hits] == [(2, 0)]
    assert answer.quotes[0].passage == 1


def test_a_passage_that_was_found_anyway_is_quoted_as_such() -> None:
    answer, hits = joined(0, found=True)
    assert hits == ()
    assert [quote.passage for quote in answer.quotes] == [1, 0]


def test_a_quote_inside_its_passage_or_under_another_heading_stays_alone() -> None:
    assert len((joined(TEXTS[1].index("Visitors")))[0].quotes) == 1
    assert len((joined(0, section="Station"))[0].quotes) == 1


def test_what_the_filter_hides_is_not_quoted() -> None:
    assert len((joined(0, where=Eq("chunk_index", 1)))[0].quotes) == 1


def test_a_document_that_was_replaced_meanwhile_brings_nothing() -> None:
    assert len((joined(0, version="newer"))[0].quotes) == 1
