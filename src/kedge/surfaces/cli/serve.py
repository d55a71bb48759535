"""`kedge serve`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated

import typer

from kedge.core.outside import to_json
from kedge.core.values import Access, ServerAddress
from kedge.surfaces.cli.common import CommandRun

if TYPE_CHECKING:
    from kedge.core.settings import Settings

log = logging.getLogger(__name__)

ACCESS = {
    "local": "No key is asked for, so only this machine can use it. `kedge key create NAME` lets others in.",
    "keys": "Every request needs a key: `kedge key list` shows who has one.",
    "tokens": "Every request needs a key or a token of the issuer (oidc_issuer).",
    "open": "No key is asked for (open_access): whoever reaches this address can use it.",
}


def serve(
    run: CommandRun,
    host: Annotated[str | None, typer.Option(help="Address to bind to; loopback by default.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, max=64, help="Processes; several need every store on a server.")
    ] = None,
) -> None:
    """Serve the HTTP API until interrupted, and run queued ingestions."""
    settings = run.settings(host=host, port=port, processes=processes)
    if settings.log_level != "error":
        logging.getLogger("kedge.queries").setLevel(logging.INFO)  # a line for each, whatever else is logged (G-30)

    def announce(url: str, access: Access) -> None:
        _announce(run, settings, url, access)

    if settings.processes > 1:
        from kedge.surfaces.server.processes import run_processes

        run_processes(settings, announce)
    else:
        from kedge.engine.home import Lasts
        from kedge.surfaces.cli.beside import held
        from kedge.surfaces.server.run import run_server

        opening = held(settings, Lasts.WORKING, run.note, reached=False)  # a server listens on the socket itself
        run_server(settings, announce, opening)


def _announce(run: CommandRun, settings: Settings, url: str, access: Access) -> None:
    if run.json:
        page = f"{url}/rag" if settings.enable_rag_search else None
        run.emit(to_json(ServerAddress(url, page, str(settings.home.resolve()), access)))
    else:
        run.out.print(f"Kedge serves {settings.home} at {url}  (API: {url}/docs)", markup=False)
        if settings.enable_rag_search:
            run.out.print(f"Ask and upload in a browser: {url}/rag", markup=False)
        if settings.log_format == "plain":
            run.note(ACCESS[access.value])
    log.info("access: %s", ACCESS[access.value])
