"""Graphs: nodes and edges that users make; each node is one passage (requirements G)."""

from __future__ import annotations

from collections.abc import Mapping

from kedge.graphs.importing import GraphImport
from kedge.ingest.jobs import JobTracker
from kedge.ingest.parts import Target
from kedge.types import IngestRequest


class GraphKind:
    """Typed nodes with properties, and typed edges between them."""

    name = "graph"
    index_prefix = "graph_nodes"
    payload_indexes: Mapping[str, str] = {"document_id": "keyword", "node_id": "keyword", "node_type": "keyword"}

    def sole_document(self, request: IngestRequest) -> str | None:  # noqa: ARG002 (a file is never one node)
        return None

    def way_in(self, target: Target, request: IngestRequest, tracker: JobTracker) -> GraphImport:
        """Files of nodes and edges are written to the node store before anything is indexed."""
        return GraphImport(target, request, tracker)
