"""`kedge mcp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kedge.core.errors import MissingExtraError
from kedge.engine.home import Lasts
from kedge.surfaces.cli.common import CommandRun

if TYPE_CHECKING:
    from kedge.surfaces.cli.beside import Answers


def mcp(run: CommandRun) -> None:
    """Serve search, ask and ingest to an agent by the Model Context Protocol, over stdin and stdout."""
    try:
        from kedge.surfaces.mcp.server import mcp_server
    except ImportError as error:
        if (error.name or "").startswith("kedge"):
            raise
        raise MissingExtraError("`kedge mcp`", "mcp") from error

    async def work(engine: Answers) -> None:
        engine.start_worker()  # others on this home use this process: it runs what they queue
        await mcp_server(engine).run_stdio_async()

    run.with_answers(run.settings(), work, Lasts.WORKING)
