"""What a language model gets to read of a graph: each cited node with its text, its steps and some neighbours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from kedge.core.values import Citation, Json, Passage, SearchHit
from kedge.kinds.graphs.asking.answering import GraphAnswer
from kedge.kinds.graphs.indexing import node_of, node_text
from kedge.kinds.graphs.naming import readable, relation_name
from kedge.stores.graph.nodes import Node


def hits_of(written: GraphAnswer, nodes: Mapping[str, Node], described: Sequence[Json]) -> list[SearchHit]:
    """One hit for each citation, in their order; `described` are the nodes as `Neighbours` tells them."""
    said: dict[str, dict[str, None]] = defaultdict(dict)
    for source, type, target in (*_steps(written.paths), *_beside(described)):
        name = relation_name(type)
        first, last = (target, source) if name.inverse else (source, target)
        sentence = f"{_name(first, nodes)} {name.words} {_name(last, nodes)}."
        said[source][sentence] = said[target][sentence] = None
    return [_hit(rank, citation, nodes, said) for rank, citation in enumerate(written.citations, start=1)]


def _hit(rank: int, citation: Citation, nodes: Mapping[str, Node], said: Mapping[str, Mapping[str, None]]) -> SearchHit:
    node = node_of(citation.url)
    own = node_text(nodes[node]) if node in nodes else citation.title
    text = "\n".join((own, *said.get(node, ())))
    passage = Passage(
        id=citation.passage_id,
        document_id=citation.document_id,
        version_id="",
        index=0,
        text=text,
        start=0,
        end=len(text),
        content_hash="",
        token_count=0,
        title=readable(citation.title),
        url=citation.url,
        external_id=node,
    )
    return SearchHit(rank, passage, citation.relevance_score)


def _steps(paths: Sequence[Json]) -> Iterator[tuple[str, str, str]]:
    for path in paths:
        edges = path.get("edges") if isinstance(path, dict) else None
        for edge in edges if isinstance(edges, list) else ():
            if isinstance(edge, dict):
                yield str(edge["source"]), str(edge["type"]), str(edge["target"])


def _beside(described: Sequence[Json]) -> Iterator[tuple[str, str, str]]:
    for node in described:
        if not isinstance(node, dict):
            continue
        near = node.get("neighbours")
        for one in near if isinstance(near, list) else ():
            if isinstance(one, dict):
                ends = str(node["node_id"]), str(one["node_id"])
                source, target = ends if one["outgoing"] else ends[::-1]
                yield source, str(one["relation"]), target


def _name(node: str, nodes: Mapping[str, Node]) -> str:
    held = nodes.get(node)
    plain = node.partition("#")[0] if held is None and "#" in node else node
    return readable((held.title if held else "") or plain)
