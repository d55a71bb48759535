"""`kedge doctor`."""

from __future__ import annotations

import asyncio
import platform
import sys
from collections.abc import Sequence
from importlib import metadata

import typer
from rich.text import Text

from kedge._version import __version__
from kedge.core.errors import ConfigError
from kedge.core.plugins import everything
from kedge.core.settings import Settings
from kedge.core.values import Json
from kedge.engine.doctor import Finding, Status, examine, unusable
from kedge.surfaces.cli.common import FAILED, CommandRun

PACKAGES = ("qdrant-edge-py", "SQLAlchemy", "onnxruntime", "tokenizers", "pypdfium2", "fastapi", "uvicorn")
EXTRAS = ("qdrant-client", "pymilvus", "psycopg", "pgvector", "neo4j", "intersystems-irispython", "redis")
MARKS = {
    Status.OK: ("ok      ", "green"),
    Status.WARNING: ("warning ", "yellow"),
    Status.FAILED: ("failed  ", "bold red"),
    Status.SKIPPED: ("skipped ", "dim"),
}


def doctor(run: CommandRun) -> None:
    """Check every configured part and say what is wrong and what to do; exit 1 when something is."""
    settings: Settings | None = None
    try:
        settings = run.settings_alone()
        findings = asyncio.run(examine(settings))
    except ConfigError as error:
        findings = unusable(error)
    failed = sum(finding.status is Status.FAILED for finding in findings)
    if run.json:
        run.emit(_report(settings, findings, ok=not failed))
    else:
        _show(run, findings)
    if failed:
        raise typer.Exit(FAILED)


def _report(settings: Settings | None, findings: Sequence[Finding], *, ok: bool) -> dict[str, Json]:
    return {
        "ok": ok,
        "kedge": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "home": str(settings.home.resolve()) if settings else None,
        "checks": [
            {"name": one.name, "status": one.status.value, "found": one.found, "todo": one.todo} for one in findings
        ],
        "plugins": [
            {"group": one.group, "name": one.name, "package": one.package, "version": one.version}
            for one in everything()
        ],
        "packages": {name: _version(name) for name in PACKAGES + EXTRAS},
        "settings": settings.shown() if settings else None,
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _show(run: CommandRun, findings: Sequence[Finding]) -> None:
    run.out.print(
        f"kedge {__version__}, Python {sys.version.split()[0]}, {platform.platform()}", markup=False, soft_wrap=True
    )
    for one in findings:
        run.out.print(Text.assemble(MARKS[one.status], (f"{one.name}: ", "bold"), one.found), soft_wrap=True)
        if one.todo:
            run.out.print(Text.assemble("         → ", one.todo), soft_wrap=True)
