"""`kedge mcp`."""

from __future__ import annotations

import typer

from kedge.cli.common import Session, command
from kedge.engine import Engine
from kedge.errors import MissingExtraError


def register(app: typer.Typer) -> None:
    """Add the verb."""
    command(app, "mcp")(mcp)


def mcp(session: Session) -> None:
    """Serve search, ask and ingest to an agent by the Model Context Protocol, over stdin and stdout."""
    try:
        from kedge.mcp_server import mcp_server
    except ImportError as error:
        if (error.name or "").startswith("kedge"):
            raise
        raise MissingExtraError("`kedge mcp`", "mcp") from error

    async def work(engine: Engine) -> None:
        await mcp_server(engine).run_stdio_async()

    session.with_engine(session.settings(), work)
