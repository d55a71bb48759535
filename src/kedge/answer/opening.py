"""What a document says of itself: where one is named and its gist is asked for, its abstract or its first sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kedge.answer.compose.company import Pick
from kedge.answer.compose.quote import ExtractedAnswer, Quote
from kedge.answer.compose.show import quote_of
from kedge.answer.evidence import cut
from kedge.core.values import Passage, Query, SearchHit
from kedge.core.values.filters import Eq, all_of, evaluate
from kedge.stores.catalog.ports import ReadPassages
from kedge.text.analyze import terms
from kedge.text.statements.statement import Statement

LOOKED_AT = 6
"""First passages of a document among which its abstract is."""
MOST = 4
"""Most sentences."""
NAMED = 0.75
"""How probable it is that a document that is named so is meant, and that its opening says what it is about."""
_LONG_NAME = 5
"""Letters of a name from which on it is known again without its blanks: `GraphRAG` in `Graph RAG`."""
_WORDS = 6
"""Fewest words of a sentence that says something of a whole document."""
_WORDS_OF_POINT = 3
_OPENING = 2
"""First passages of a document that has no abstract."""
_ABSTRACT = re.compile(
    r"(?:\d[\d.]*\s+)?(?:abstract|summary|executive summary|overview|synopsis|in short|tl;?dr|key points)\W*", re.I
)
_ABSTRACT_INSIDE = re.compile(r"^\W{0,4}(?:abstract|summary)\b\W{0,4}", re.IGNORECASE | re.MULTILINE)
_ENDED = re.compile(r"[.!?…][\"”’)\]]{0,2}\Z")
_MARGIN = re.compile(
    r"(?:https?://|@|\bdoi\b|©|\bcopyright\b|\barxiv\b|\blicen[sc]e\b|\bcitation:|\breceived:|\baccepted:|\bpublished:|\bcorrespondence\b|"
    r"\buniversity\b|\bdepartment\b|\bkey\s?words\b|\ball rights\b)",
    re.IGNORECASE,
)
"""What stands beside a text on its first page."""


@dataclass(frozen=True, slots=True)
class OpeningAnswer:
    """The opening of a document."""

    extracted: ExtractedAnswer
    abstract: bool
    """Whether the document calls it its abstract or summary."""
    document_id: str
    joined: tuple[SearchHit, ...]
    """Its passages beside those that were found: the quotes refer to these behind them."""


async def opening_of(
    passages: ReadPassages, query: Query, hits: Sequence[SearchHit], thing: str
) -> OpeningAnswer | None:
    """What the document of that name opens with; None where none of the hits is of one."""
    best = _called(hits, thing)
    if best is None:
        return None
    found = await passages.of_document(query.scope.tenant, best.passage.document_id, last=LOOKED_AT - 1)
    first = [one for one in found if one.version_id == best.passage.version_id and _is_shown(query, one)]
    told, abstract = _abstract(first), True
    if not told:
        told, abstract = _lead(first), False
    if not told:
        return None
    places = {hit.passage.id: place for place, hit in enumerate(hits)}
    joined: list[SearchHit] = []
    quotes: list[Quote] = []
    for passage, statement in told[:MOST]:
        if passage.id not in places:
            places[passage.id] = len(places)
            joined.append(SearchHit(rank=len(places), passage=passage, score=best.score))
        pick = Pick(places[passage.id], statement, in_list=False)
        quotes.append(replace(quote_of(pick, passage.text, None, quotes), shown=statement.read[len(statement.lead) :]))
    return OpeningAnswer(ExtractedAnswer(tuple(quotes), None), abstract, best.passage.document_id, tuple(joined))


def _called(hits: Sequence[SearchHit], thing: str) -> SearchHit | None:
    """The first hit of the document that has the whole name in what it calls itself, and the least beside it; None
    where several have as much beside it: then no single one is meant."""
    wanted, squeezed = frozenset(terms(thing)), _squeezed(thing)
    found: dict[str, tuple[int, SearchHit]] = {}
    for hit in hits:
        called = f"{hit.passage.identity} {_parted(hit.passage.url)}"
        own = frozenset(terms(called))
        if wanted and (wanted <= own or (len(squeezed) >= _LONG_NAME and squeezed in _squeezed(called))):
            found.setdefault(hit.passage.document_id, (len(own - wanted), hit))
    best = sorted(found.values(), key=lambda one: one[0])
    return best[0][1] if best and (len(best) == 1 or best[0][0] < best[1][0]) else None


def _squeezed(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _parted(url: str) -> str:
    """The words of a file's name."""
    return re.sub(r"[\W_]+", " ", url.rpartition("/")[2].rpartition(".")[0])


def _is_shown(query: Query, passage: Passage) -> bool:
    topic = Eq("topic_tag", query.topic_filter) if query.topic_filter is not None else None
    where = all_of(topic, query.where)
    return where is None or evaluate(where, passage.payload())


Told = tuple[Passage, Statement]


def _abstract(first: Sequence[Passage]) -> list[Told]:
    """The sentences below a heading that names an abstract, on and in the passages behind it."""
    told: list[Told] = []
    for passage in first:
        for one in _sentences(passage):
            heading = passage.section_at(one.start)[-1:] or ("",)
            if _ABSTRACT.fullmatch(heading[0].strip()):
                told.append((passage, one))
        if told:
            if passage.section_path == told[0][0].section_path and told[-1][0] is not passage:
                told += [(passage, one) for one in _sentences(passage)]
            continue
        inside = _ABSTRACT_INSIDE.search(passage.text)
        if inside:
            told += [(passage, one) for one in _sentences(passage) if one.end > inside.end()]
    return told


def _lead(first: Sequence[Passage]) -> list[Told]:
    """The first sentences that say something, of the first passages; of slides, which have none, their items."""
    told = [(passage, one) for passage in first[:_OPENING] for one in _sentences(passage)]
    if told:
        return told
    return [(passage, one) for passage in first[:_OPENING] for one in cut(passage) if _is_point(one)]


def _sentences(passage: Passage) -> Iterator[Statement]:
    for one in cut(passage):
        said = one.read[len(one.lead) :].strip()
        whole = one.kind == "sentence" and _ENDED.search(said) and not said.endswith("?")
        if whole and len(said.split()) >= _WORDS and not _MARGIN.search(said):
            yield one


def _is_point(one: Statement) -> bool:
    said = one.read[len(one.lead) :]
    says = len(said.split()) >= _WORDS_OF_POINT and not said.rstrip().endswith("?")
    return one.kind == "item" and says and not _MARGIN.search(said)
