"""What is read of a graph: each node with its type, its text, its steps on a path and some neighbours by title."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kedge.core.values import Citation, Json, Passage, SearchHit
from kedge.kinds.graphs.indexing import node_of, node_text
from kedge.kinds.graphs.naming import readable, relation_name
from kedge.stores.graph.nodes import Node

Edges = Mapping[str, Mapping[str, None]]
"""By node: sentences of its edges, in order."""
SNIPPET_CHARS = 240
SENTENCE = 8
"""Words from which on a property's value is read as text."""
_PROPERTY = re.compile(r"[\w.-]+: ")


def edges_of(nodes: Mapping[str, Node], described: Sequence[Json], paths: Sequence[Json] = ()) -> Edges:
    """Subject, relation and object of every edge, as a sentence, for both ends; `described` comes from `Neighbours`."""
    names = {key: node.title or key for key, node in nodes.items()}
    names |= {str(one["node_id"]): str(one["title"]) for _, one in _neighbours(described)}
    said: dict[str, dict[str, None]] = defaultdict(dict)
    for source, type, target in (*_steps(paths), *_beside(described)):
        name = relation_name(type)
        first, last = (target, source) if name.inverse else (source, target)
        sentence = f"{_name(first, names)} {name.words} {_name(last, names)}."
        said[source][sentence] = said[target][sentence] = None
    return said


def hits_of(citations: Sequence[Citation], nodes: Mapping[str, Node], edges: Edges) -> list[SearchHit]:
    """One hit for each citation, in their order."""
    hits = []
    for rank, citation in enumerate(citations, start=1):
        node = node_of(citation.url)
        own = node_text(nodes[node]) if node in nodes else citation.title
        passage = Passage(
            id=citation.passage_id,
            document_id=citation.document_id,
            version_id="",
            index=0,
            text=own,
            start=0,
            end=len(own),
            content_hash="",
            token_count=0,
            title=citation.title,
            url=citation.url,
            external_id=node,
        )
        hits.append(with_edges(SearchHit(rank, passage, citation.relevance_score), nodes, edges))
    return hits


def with_edges(hit: SearchHit, nodes: Mapping[str, Node], edges: Edges) -> SearchHit:
    """The hit as it is read: its title in words, its type as its section, its edges below its own text."""
    named = typed(hit, nodes)
    text = "\n".join((hit.passage.text, *edges.get(hit.passage.external_id, ())))
    return replace(named, passage=replace(named.passage, text=text, end=named.passage.start + len(text)))


def typed(hit: SearchHit, nodes: Mapping[str, Node]) -> SearchHit:
    """The hit under its title in words and, as its section, its type."""
    key = hit.passage.external_id
    type = nodes[key].type if key in nodes else ""
    kind = (relation_name(type).words,) if type else ()
    return replace(hit, passage=replace(hit.passage, title=readable(hit.passage.title), section_path=kind))


def prose(hit: SearchHit) -> SearchHit:
    """The hit with its sentences alone, each where it was: a property that is a name or a number is left to paths.

    What is left out is blanked, so that whatever is quoted stands where the index has it.
    """
    lines = hit.passage.text.split("\n")
    title = readable(hit.passage.title)
    kept = [
        line if not _PROPERTY.match(line) or len(line.split()) > SENTENCE else " " * len(line)
        for line in lines
        if line != title or len(lines) > 1
    ]
    return replace(hit, passage=replace(hit.passage, text="\n".join(kept), title=title))


def cited_node(mark: str, hit: SearchHit, own: str) -> Citation:
    """The node of a hit as a whole; `own` is the text that the index has of it, or of the piece that was found."""
    passage = hit.passage
    end = min(len(own), SNIPPET_CHARS)
    return Citation(
        id=mark,
        passage_id=passage.id,
        document_id=passage.document_id,
        title=passage.title,
        url=passage.url,
        snippet=own[:end],
        start=passage.start,
        end=passage.start + end,
        relevance_score=hit.score,
    )


def _steps(paths: Sequence[Json]) -> Iterator[tuple[str, str, str]]:
    for path in paths:
        edges = path.get("edges") if isinstance(path, dict) else None
        for edge in edges if isinstance(edges, list) else ():
            if isinstance(edge, dict):
                yield str(edge["source"]), str(edge["type"]), str(edge["target"])


def _neighbours(described: Sequence[Json]) -> Iterator[tuple[str, dict[str, Json]]]:
    for node in described:
        near = node.get("neighbours") if isinstance(node, dict) else None
        for one in near if isinstance(near, list) else ():
            if isinstance(node, dict) and isinstance(one, dict):
                yield str(node["node_id"]), one


def _beside(described: Sequence[Json]) -> Iterator[tuple[str, str, str]]:
    for node, one in _neighbours(described):
        ends = node, str(one["node_id"])
        source, target = ends if one["outgoing"] else ends[::-1]
        yield source, str(one["relation"]), target


def _name(node: str, names: Mapping[str, str]) -> str:
    return readable(names.get(node) or node.partition("#")[0])
