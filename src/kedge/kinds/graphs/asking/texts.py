"""Answers from the text of nodes: what the shared reader finds there, or a node's own text where it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kedge.answer.cite.spans import cite, only_cited
from kedge.answer.judge.verdict import AnswerVerdict
from kedge.core.values import Citation, SearchHit
from kedge.kinds.graphs.asking.evidence import cited_node
from kedge.text.sentences import sentences

TOLD = 3
"""Sentences of a node's own text that tell what it is."""


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """An answer from texts, without a model."""

    text: str
    short: str | None
    citations: tuple[Citation, ...]


def quoted(verdict: AnswerVerdict, hits: Sequence[SearchHit], limit: int) -> TextAnswer:
    """What the judge chose, with marks `[Node 1]`; empty where nothing can be quoted."""
    extracted, kept = only_cited(verdict.extracted, hits, limit)
    if extracted is None:
        return TextAnswer("", None, ())
    text, citations = cite(extracted, kept)
    made = []
    for citation in citations:
        mark = f"[Node {citation.id.strip('[]')}]"
        text = text.replace(citation.id, mark)
        made.append(replace(citation, id=mark, section_path=()))
    return TextAnswer(text, extracted.short.text if extracted.short else None, tuple(made))


def told(hits: Sequence[SearchHit], owned: Sequence[str]) -> TextAnswer:
    """What each node says about itself: the first sentences of its text, or its edges where it has no text."""
    parts, citations = [], []
    for number, (hit, own) in enumerate(zip(hits, owned, strict=True), start=1):
        mark = f"[Node {number}]"
        edges = hit.passage.text[len(own) :].strip()
        source = own if speaks(hit, own) else edges
        spans = sentences(source)[:TOLD]
        if not spans:
            continue
        said = source[: spans[-1][1]].strip()
        citation = cited_node(mark, hit, own)
        if source is own:
            citation = replace(citation, snippet=own[: spans[-1][1]], end=citation.start + spans[-1][1])
        parts.append(f"{' '.join(said.split())} {mark}")
        citations.append(citation)
    return TextAnswer(" ".join(parts), None, tuple(citations))


def speaks(hit: SearchHit, own: str) -> bool:
    """Whether a node has more than a name."""
    return own.casefold() != hit.passage.title.casefold()
