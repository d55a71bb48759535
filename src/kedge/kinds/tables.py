"""Tables: CSV, JSONL and Parquet files in sessions; questions computed exactly or answered from rows (requirements T)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kedge.ingest.jobs import JobTracker
from kedge.ingest.parts import Target
from kedge.tables.feed import Feed
from kedge.tables.sessions import Sessions
from kedge.types import IngestRequest, Job

NAME = "table"


class TableKind:
    """Rows. They lie in DuckDB, not in the stores of passages."""

    name = NAME
    index_prefix = "table_rows"
    payload_indexes: Mapping[str, str] = {}

    def sole_document(self, request: IngestRequest) -> str | None:  # noqa: ARG002
        """A feed is about the whole table."""
        return None


@dataclass(frozen=True, slots=True)
class TableIntake:
    """The way in of tables."""

    sessions: Sessions

    async def take_in(self, target: Target, request: IngestRequest, tracker: JobTracker) -> Job:
        feed = Feed(
            target.settings, self.sessions, target.embedder, request=request, tracker=tracker, on_step=target.on_step
        )
        return await feed.run()
