"""The concept graph without a language model: names, titles, headings and links become concepts and typed edges.

Pure functions: passages in, a `GraphBatch` out. Edges must be precise rather than many, because a wrong edge leads
retrieval astray; so a concept is a name the author marked (title, heading, link, capitalised name) or a title that
the collection knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from kedge.core.values import (
    Concept,
    Document,
    DocumentStatus,
    GraphBatch,
    GraphChunk,
    GraphDocument,
    MentionKind,
    Passage,
    PassageConcept,
    Triple,
)
from kedge.ingest.extract.claims import RelationJudge
from kedge.ingest.extract.relations import find_relations
from kedge.ingest.extract.said import SaidOf, said_of
from kedge.text.concepts import Discussed, candidate_keys, concept_key, discussed, short_titles, title_aliases
from kedge.text.sentences import sentences

Known = Callable[[Collection[str]], set[str]]
"""Answers which of these keys are titles in the collection."""

PREVIEW_CHARS = 200
FIRST_SENTENCE_CHARS = 1200
"""Of a passage, that are looked at for its first sentence."""
MAX_HEADING_WORDS = 6
MAX_DOCUMENT_MENTIONS = 64
"""MENTIONS edges kept per document, the most frequent first; passages keep all of theirs."""


@dataclass(slots=True)
class EarlierRuns:
    """What earlier runs of a long document held."""

    counts: Counter[str] = field(default_factory=Counter)
    """How often they named each concept."""
    last: GraphChunk | None = None
    passages: int = 0
    """How many there were."""


def extract(
    documents: Mapping[str, Document],
    passages: Sequence[Passage],
    known: Known,
    before: MutableMapping[str, EarlierRuns] | None = None,
    judge: RelationJudge | None = None,
) -> GraphBatch:
    """Graph of these passages and of the documents they belong to; `judge` reads what sentences may state.

    `passages` holds whole documents or runs of them; with runs, hand the same `before` (by document id) to each call.
    """
    names: dict[str, str] = {}
    edges: list[PassageConcept] = []
    triples: list[Triple] = []
    said: dict[str, SaidOf] = {}
    earlier = before if before is not None else {}
    per_document = {key: earlier.setdefault(key, EarlierRuns()).counts for key in documents}
    for passage in passages:
        earlier[passage.document_id].passages += 1
        found = discussed(passage.text, known)
        edges += _edges(passage, found)
        edges += _topic_edges(passage, names)
        stated = find_relations(passage, [place for item in found.values() for place in item.places], judge)
        triples += stated.triples
        per_document[passage.document_id].update({key: item.count for key, item in found.items()})
        for key, item in found.items():
            names.setdefault(key, item.mention.surface)
            said[key] = said.get(key, SaidOf()).joined(said_of(passage.text, item.places))
        for key, name in stated.names.items():
            names.setdefault(key, name)
    described = _described(documents, passages)
    for document in documents.values():
        for key in aliases(document.title):
            names.setdefault(key, document.title)
    return GraphBatch(
        documents=tuple(_document(document, earlier[document.id]) for document in documents.values()),
        chunks=tuple(_chunks(passages, earlier)),
        concepts=tuple(_concept(key, name, described, said) for key, name in names.items()),
        mentions=tuple(edges),
        triples=tuple(triples),
    )


@lru_cache(maxsize=4096)
def aliases(title: str) -> tuple[str, ...]:
    """`title_aliases`, remembered: a title is looked at by several steps of an ingest."""
    return tuple(title_aliases(title))


def link_titles(
    passages: Sequence[Passage], known: Known, new: Known, judge: RelationJudge | None = None
) -> GraphBatch:
    """Edges to new titles and relations with them alone: for passages that were taken in before those titles were."""
    edges: list[PassageConcept] = []
    triples: list[Triple] = []
    for passage in passages:
        if new(candidate_keys(passage.text)):
            found = discussed(passage.text, known)
            fresh = new(found.keys())
            edges += [edge for edge in _edges(passage, found) if edge.concept_key in fresh]
            stated = find_relations(passage, [place for item in found.values() for place in item.places], judge)
            triples += [triple for triple in stated.triples if {triple.subject, triple.object} & fresh]
    return GraphBatch(mentions=tuple(edges), triples=tuple(triples))


def _edges(passage: Passage, found: Mapping[str, Discussed]) -> list[PassageConcept]:
    return [PassageConcept(passage.id, key, frequency=item.count, role=item.role) for key, item in found.items()]


def _topic_edges(passage: Passage, names: dict[str, str]) -> list[PassageConcept]:
    """Ties a passage to what its heading is about, and its code and formulas too."""
    heading = next((part for part in reversed((passage.title, *passage.section_path)) if part), "")
    if not heading or len(heading.split()) > MAX_HEADING_WORDS:
        return []
    key = concept_key(heading)
    if len(key) < 2 or key.isdigit():
        return []
    names.setdefault(key, heading)
    kinds = []
    if passage.section_path and heading != passage.title:
        kinds.append(MentionKind.DISCUSSES)
    if passage.has_code:
        kinds.append(MentionKind.CODE_EXAMPLE_FOR)
    if passage.has_formula:
        kinds.append(MentionKind.FORMULA_FOR)
    return [PassageConcept(passage.id, key, kind) for kind in kinds]


def _document(document: Document, run: EarlierRuns) -> GraphDocument:
    counts = run.counts
    most = max(counts.values(), default=1)
    return GraphDocument(
        document_id=document.id,
        url=document.url,
        title=document.title,
        format=document.format,
        author=document.author,
        chunk_count=run.passages,
        status=DocumentStatus.ACTIVE.value
        if document.status is DocumentStatus.ACTIVE
        else DocumentStatus.PENDING.value,
        title_keys=aliases(document.title),
        mentions=tuple((key, count, count / most) for key, count in counts.most_common(MAX_DOCUMENT_MENTIONS)),
    )


def _chunks(passages: Sequence[Passage], before: Mapping[str, EarlierRuns]) -> list[GraphChunk]:
    following = {(passage.document_id, passage.index - 1): passage.id for passage in passages if passage.index > 0}
    ended = [run.last for run in before.values() if run.last is not None]
    joined = [
        replace(chunk, next_passage_id=following[chunk.document_id, chunk.index])
        for chunk in ended
        if (chunk.document_id, chunk.index) in following
    ]
    chunks = [
        GraphChunk(
            passage_id=passage.id,
            document_id=passage.document_id,
            hash=passage.content_hash,
            preview=passage.text[:PREVIEW_CHARS],
            index=passage.index,
            token_count=passage.token_count,
            has_code=passage.has_code,
            has_formula=passage.has_formula,
            has_table=passage.has_table,
            next_passage_id=following.get((passage.document_id, passage.index)),
        )
        for passage in passages
    ]
    for chunk in chunks:
        before[chunk.document_id].last = chunk
    return joined + chunks


def _described(documents: Mapping[str, Document], passages: Sequence[Passage]) -> dict[str, Concept]:
    """Concepts that a document is about, with its first sentence as description and its tags."""
    described = {}
    for passage in passages:
        document = documents.get(passage.document_id)
        if passage.index != 0 or document is None:
            continue
        tags = document.metadata.get("tags")
        category = document.metadata.get("category")
        difficulty = document.metadata.get("difficulty")
        for key in aliases(document.title)[:1]:
            described[key] = Concept(
                key=key,
                name=document.title,
                description=_first_sentence(passage.text),
                aliases=short_titles(document.title),
                category=category if isinstance(category, str) else "",
                difficulty=difficulty if isinstance(difficulty, str) else "",
                tags=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
            )
    return described


def _first_sentence(text: str) -> str:
    for start, end in sentences(text[:FIRST_SENTENCE_CHARS]):
        sentence = text[start:end].strip()
        if sentence and not sentence.startswith(("#", "```", "---", "|", "<")):
            return " ".join(sentence.split())[:400]
    return ""


def _concept(key: str, name: str, described: Mapping[str, Concept], said: Mapping[str, SaidOf]) -> Concept:
    concept = described.get(key) or Concept(key=key, name=" ".join(name.split()))
    return said.get(key, SaidOf()).told(concept)
