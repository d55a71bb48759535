"""`kedge backup` and `kedge restore`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from kedge.core.errors import ConflictError, HomeBusyError, NotFoundError
from kedge.core.outside import to_json
from kedge.core.settings import Settings
from kedge.core.values import BackupRestored, BackupVerified, BackupWritten
from kedge.engine.backup.archive import Archive, OnPhase
from kedge.engine.backup.manifest import Manifest
from kedge.engine.backup.restoring import Restored, restore_backup
from kedge.engine.backup.taking import separate_graph, take_backup
from kedge.engine.engine import Engine
from kedge.stores import registry
from kedge.surfaces.cli.common import CommandRun
from kedge.surfaces.cli.progress import phase_progress


def backup(
    run: CommandRun,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write, or to verify.")],
    verify: Annotated[bool, typer.Option("--verify", help="Write nothing: read FILE and compare every sum.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
    url: Annotated[
        str | None, typer.Option(help="Have a running server make it (with its vectors); the key is api_key.")
    ] = None,
) -> None:
    """Write everything into one file, also while a server uses the home and writes."""
    if verify:
        _verify(run, file)
        return
    if file.exists() and not force:
        raise ConflictError(f"{file} is there already.", hint="Name another file, or add --force to replace it.")
    settings = run.settings()
    with phase_progress(run) as on_phase:
        made = _from_server(settings, file, url, on_phase) if url else asyncio.run(_take(settings, file, on_phase))
    if run.json:
        run.emit(to_json(BackupWritten(made.summary, str(file), file.stat().st_size)))
        return
    run.out.print(Text(f"{file}: {_held(made)}, {file.stat().st_size / 1e6:.1f} MB", style="green"))
    for what in made.left_out:
        run.note(f"left out {what}")


def restore(
    run: CommandRun,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Backup to restore.")],
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Put a backup back as the home (`--home`), or into the stores that the settings name; then check everything."""
    settings = run.settings()
    with phase_progress(run) as on_phase:
        done = asyncio.run(restore_backup(settings, file, force=force, on_phase=on_phase))
    if run.json:
        restored = BackupRestored(
            done.manifest.summary,
            home=str(settings.home),
            vectors_restored=done.vectors,
            vectors_embedded=done.embedded,
            passages=done.report.passages,
            ok=done.report.ok,
        )
        run.emit(to_json(restored))
        return
    run.out.print(Text(f"restored {settings.home}: {_held(done.manifest)}", style="green"))
    _tell(run, done)


async def _take(settings: Settings, file: Path, on_phase: OnPhase) -> Manifest:
    if not settings.catalog_url and not (settings.home / "catalog.db").exists():
        raise NotFoundError(f"There is nothing to back up in {settings.home}.", hint="Name the home with --home.")
    try:
        async with Engine.open(settings) as engine:
            stores = engine.stores
            return await take_backup(settings, file, vectors=stores.vectors, nodes=stores.nodes, on_phase=on_phase)
    except HomeBusyError:
        nodes = registry.open_nodes(settings) if separate_graph(settings) else None
        try:
            return await take_backup(settings, file, nodes=nodes, on_phase=on_phase)
        finally:
            if nodes is not None:
                await nodes.close()


def _from_server(settings: Settings, file: Path, url: str, on_phase: OnPhase) -> Manifest:
    from kedge.surfaces.client import KedgeClient

    key = settings.api_key.get_secret_value() if settings.api_key else None
    with KedgeClient(url, key=key) as client:
        client.backup(file, on_bytes=lambda done, total: on_phase("fetching", done, total))
    with Archive(file) as archive:
        archive.verify(on_phase)
        return archive.manifest


def _verify(run: CommandRun, file: Path) -> None:
    with phase_progress(run) as on_phase, Archive(file) as archive:
        archive.verify(on_phase)
    held = archive.manifest
    if run.json:
        run.emit(to_json(BackupVerified(held.summary, str(file), ok=True)))
        return
    run.out.print(Text(f"{file} is whole: {_held(held)}; made {held.created_at} by Kedge {held.kedge}", style="green"))


def _held(manifest: Manifest) -> str:
    counts = manifest.counts
    shown = ("collections", "documents", "passages", "vectors", "sessions", "keys")
    return ", ".join(f"{counts.get(name, 0)} {name}" for name in shown if counts.get(name)) or "nothing yet"


def _tell(run: CommandRun, done: Restored) -> None:
    jobs = done.manifest.counts.get("jobs", 0)
    embedded = f", {done.embedded} embedded again" if done.embedded else ""
    run.note(f"catalog, vectors and graph agree: {done.report.passages} passages{embedded}")
    if jobs:
        run.note(f"{jobs} unfinished jobs go on when a server or worker starts")
