"""The way in of graphs: files of nodes and edges go into the node store before anything is indexed."""

from __future__ import annotations

from kedge.core.values import IngestRequest
from kedge.ingest.batch import Target
from kedge.ingest.tracker import JobTracker
from kedge.kinds.graphs.importing import GraphImport


class GraphsWayIn:
    """Files become nodes and edges, and nodes passages."""

    empties_itself = False

    def sole_document(self, request: IngestRequest) -> str | None:  # noqa: ARG002
        """A file is never one node."""
        return None

    def run(self, target: Target, request: IngestRequest, tracker: JobTracker) -> GraphImport:
        return GraphImport(target, request, tracker)
