"""What is shown beside an answer: the graph of its evidence."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.core.values import Citation, Json, SearchHit

QUESTION = "question"
"""Id of the question's node; passages have their own ids and concepts `concept:<name>`."""


def evidence_json(question: str, hits: Sequence[SearchHit], citations: Sequence[Citation]) -> dict[str, Json]:
    """Question, concepts and passages as `nodes`, and how each was reached as labelled `edges`.

    A passage that the graph led to hangs on the concepts and passages of its path; any other, and one from which a path
    starts, on the question, by the channels that found it.
    """
    return _Evidence(question, hits, citations).json()


class _Evidence:
    def __init__(self, question: str, hits: Sequence[SearchHit], citations: Sequence[Citation]) -> None:
        self._hits = {hit.passage.id: hit for hit in hits}
        self._marks: dict[str, list[Json]] = {}
        for citation in citations:
            self._marks.setdefault(citation.passage_id, []).append(citation.id)
        self._nodes: dict[str, dict[str, Json]] = {}
        self._edges: dict[tuple[str, str], str] = {}
        self._node(QUESTION, question, "question")

    def json(self) -> dict[str, Json]:
        for hit in self._hits.values():
            self._add(hit)
        edges: list[Json] = [
            {"source": source, "target": target, "label": label} for (source, target), label in self._edges.items()
        ]
        return {"nodes": list(self._nodes.values()), "edges": edges}

    def _add(self, hit: SearchHit) -> None:
        names = hit.path or (hit.passage.title,)
        steps = hit.path_ids or (hit.passage.id,)
        before, was_concept = QUESTION, False
        for place, (name, step) in enumerate(zip(names, steps, strict=True), start=1):
            concept = (len(steps) - place) % 2 == 1  # concepts and passages in turn, a passage last
            here = f"concept:{name.casefold()}" if concept else step
            if concept:
                self._node(here, name, "concept")
                self._edge(before, here, "names" if before == QUESTION else "mentions")
            else:
                self._passage(here, name)
                self._edge(before, here, "found in" if was_concept else _channels(self._hits.get(step)))
            before, was_concept = here, concept

    def _passage(self, passage_id: str, title: str) -> None:
        self._node(passage_id, title, "passage")
        node = self._nodes[passage_id]
        hit = self._hits.get(passage_id)
        node["passage_id"] = passage_id
        node["citations"] = self._marks.get(passage_id, [])
        node["found_by"] = _found_by(hit) if hit else []
        node["section_path"] = list(hit.passage.section_path) if hit else []
        node["page"] = hit.passage.page if hit else None

    def _node(self, node_id: str, label: str, kind: str) -> None:
        self._nodes.setdefault(node_id, {"id": node_id, "label": label, "type": kind})

    def _edge(self, source: str, target: str, label: str) -> None:
        if (target, source) not in self._edges:  # two passages that lead to each other are tied once
            self._edges.setdefault((source, target), label)


def _found_by(hit: SearchHit) -> list[Json]:
    ranks = {"meaning": hit.vector_rank, "words": hit.keyword_rank, "graph": hit.graph_rank}
    return [channel for channel, rank in ranks.items() if rank is not None]


def _channels(hit: SearchHit | None) -> str:
    """How the question itself led to a passage. One that is no hit was near enough to start a path."""
    if hit is None:
        return "is near"
    ways = [f"by {way}" for way in _found_by(hit) if way != "graph"]
    return " and ".join(ways) or "stands beside"
