"""From an engine to what the surfaces of tables work with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kedge.kinds.tables.kind import KIND

if TYPE_CHECKING:
    from kedge.engine.engine import Engine
    from kedge.kinds.tables.keeping import TableSessions


def sessions_of(engine: Engine) -> TableSessions:
    """Table sessions."""
    return engine.kinds.opened(KIND).sessions
