"""Answers from paths: what they say, what they cite, and the path as evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kedge.core.values import Citation, Json, Scope
from kedge.kinds.graphs.asking.finding import GraphReading, UnderstoodGraph
from kedge.kinds.graphs.asking.matching import Path
from kedge.kinds.graphs.asking.walking import FoundPath
from kedge.kinds.graphs.indexing import cited_piece, node_text, property_line
from kedge.kinds.graphs.naming import readable, relation_name
from kedge.models.ports import Embedder
from kedge.stores.graph.nodes import Node

LISTED = 20
"""Answers that are named one by one."""
PATHS = 10
"""Paths shown as evidence."""
SNIPPET_CHARS = 240
REFUSAL = "I don't have enough information in this graph to answer that."


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """An answer in words."""

    text: str
    short: str
    citations: tuple[Citation, ...]
    paths: list[Json]


def needed(understood: UnderstoodGraph) -> list[str]:
    """Ids of all nodes that the answer speaks of."""
    ids: dict[str, None] = {}
    for node, reading in understood.ranked()[:LISTED]:
        ids.setdefault(node)
        for found in reading.found:
            ids.update(dict.fromkeys(one for one, _ in found.nodes_to(node)))
    return list(ids)


def write(
    scope: Scope, understood: UnderstoodGraph, nodes: Mapping[str, Node], probability: float, embedder: Embedder
) -> GraphAnswer:
    """The answer; `nodes` holds those of `needed` that are still there."""
    ranked = [(node, reading) for node, reading in understood.ranked() if node in nodes]
    best = ranked[0][1]
    shown = ranked[:LISTED]
    order = list(dict.fromkeys([node for node, _ in shown] + [node for node in needed(understood) if node in nodes]))
    marks = {node: f"[Node {number}]" for number, node in enumerate(order, 1)}
    text = _Text(nodes, marks)
    main = [node for node, reading in shown if reading is best]
    others = [(node, reading) for node, reading in shown if reading is not best]
    total = len(best.answers)
    counted = understood.counts and not best.values  # `how many` may ask for a value that is there
    sentences = [text.listed(main, best, total, counted=counted), text.way(best, main[0])]
    sentences += [
        f"Or, read otherwise: {text.named(node, reading)}. {text.way(reading, node)}" for node, reading in others
    ]
    relevance = {node: probability * _share(reading, best) for node, reading in shown}
    citing = _Citing(scope, ranked, embedder)
    return GraphAnswer(
        text=" ".join(sentences),
        short=str(total) if counted else text.plain(main[0], best),
        citations=tuple(citing.citation(nodes[node], marks[node], relevance.get(node, 0.0)) for node in order),
        paths=[path for node, reading in shown[:PATHS] for path in text.paths(reading, node)],
    )


def _share(reading: GraphReading, best: GraphReading) -> float:
    return max(0.0, min(1.0, reading.score / best.score)) if best.score > 0 else 0.0


@dataclass(frozen=True, slots=True)
class _Citing:
    scope: Scope
    ranked: Sequence[tuple[str, GraphReading]]
    embedder: Embedder
    """Whose window decides into which passages a long text is cut."""

    def citation(self, node: Node, mark: str, relevance: float) -> Citation:
        """The node's text, or the line of it that holds the value that was asked for."""
        text = node_text(node)
        start, end = 0, min(len(text), SNIPPET_CHARS)
        values = next((reading for key, reading in self.ranked if key == node.id and node.id in reading.values), None)
        if values is not None:
            line = property_line(values.found[0].path[-1].type, values.values[node.id])
            place = text.find(line)
            if place >= 0:
                start, end = place, place + len(line)
        piece = cited_piece(self.scope, node, self.embedder, start)
        return Citation(
            id=mark,
            passage_id=piece.passage_id,
            document_id=piece.document_id,
            title=node.title or node.id,
            url=f"node:{node.id}",
            snippet=text[start:end],
            start=start,
            end=end,
            relevance_score=relevance,
        )


class _Text:
    """Puts nodes and steps into words."""

    def __init__(self, nodes: Mapping[str, Node], marks: Mapping[str, str]) -> None:
        self._nodes = nodes
        self._marks = marks

    def plain(self, node: str, reading: GraphReading) -> str:
        """The answer itself: a value, or the node's name."""
        if node in reading.values:
            return str(reading.values[node])
        return readable(self._nodes[node].title or node) if node in self._nodes else readable(node)

    def named(self, node: str, reading: GraphReading | None = None) -> str:
        name = self.plain(node, reading) if reading else readable(self._nodes[node].title or node)
        return f"{name} {self._marks[node]}"

    def listed(self, main: Sequence[str], reading: GraphReading, total: int, *, counted: bool) -> str:
        names = ", ".join(self.named(node, reading) for node in main)
        more = f" and {total - len(main)} more" if total > len(main) else ""
        return f"{total}: {names}{more}." if counted else f"{names}{more}."

    def way(self, reading: GraphReading, node: str) -> str:
        """How the answer was reached, from every entity of the question."""
        return " ".join(f"({self._steps(found, node)})" for found in reading.found)

    def _steps(self, found: FoundPath, node: str) -> str:
        way = [(one, edge) for one, edge in found.nodes_to(node) if one in self._nodes]
        parts = [self.named(way[0][0])] if way else []
        steps = _named_steps(found.path)
        for (one, _), step in zip(way[1:], steps, strict=False):
            parts += [step, self.named(one)]
        if found.values:
            parts += [steps[-1], str(found.values[node])]
        return " › ".join(parts)

    def paths(self, reading: GraphReading, node: str) -> list[Json]:
        """The evidence: nodes and typed edges from each entity to the answer."""
        return [self._path(found, node) for found in reading.found]

    def _path(self, found: FoundPath, node: str) -> Json:
        way = [one for one, _ in found.nodes_to(node)]
        nodes: list[Json] = [self._node(one) for one in way]
        edges: list[Json] = []
        for (near, far), step in zip(pairwise(way), found.path, strict=False):
            source, target = (near, far) if step.outgoing else (far, near)
            edges.append({"source": source, "target": target, "type": step.type})
        if found.values:
            name, value = found.path[-1].type, found.values[node]
            key = f"{node}#{name}"
            nodes.append({"id": key, "title": str(value), "type": "value"})
            edges.append({"source": node, "target": key, "type": name})
        return {"nodes": nodes, "edges": edges}

    def _node(self, node: str) -> Json:
        held = self._nodes.get(node)
        return {"id": node, "title": (held.title if held else "") or node, "type": held.type if held else ""}


def _named_steps(path: Path) -> list[str]:
    """The relations as words; one that was taken backwards is marked."""
    named = []
    for step in path:
        name = relation_name(step.type)
        backwards = step.outgoing == name.inverse
        named.append(f"← {name.words}" if backwards else name.words)
    return named
