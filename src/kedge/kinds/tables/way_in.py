"""The way in of tables: a feed replaces the session's table in one step."""

from __future__ import annotations

from kedge.core.values import IngestRequest, Job
from kedge.ingest.batch import Target
from kedge.ingest.tracker import JobTracker
from kedge.kinds.tables.feeding.feed import Feed
from kedge.kinds.tables.sessions import Sessions


class TablesWayIn:
    """Files become the rows of a session."""

    empties_itself = True

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def sole_document(self, request: IngestRequest) -> str | None:  # noqa: ARG002
        """A feed is about the whole table."""
        return None

    def run(self, target: Target, request: IngestRequest, tracker: JobTracker) -> FeedRun:
        return FeedRun(
            Feed(
                target.settings,
                self._sessions,
                target.embedder,
                request=request,
                tracker=tracker,
                on_step=target.on_step,
            )
        )


class FeedRun:
    """One feed."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._ended: Job | None = None

    async def take_in(self) -> None:
        self._ended = await self._feed.run()

    async def finish(self, document_id: str | None = None) -> Job:  # noqa: ARG002
        """Nothing is left to do."""
        assert self._ended is not None
        return self._ended
