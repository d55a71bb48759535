"""`kedge check` and `kedge doctor`."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from importlib import metadata
from typing import Annotated

import typer
from rich.text import Text

from kedge import __version__
from kedge.cli.common import FAILED, Session, command
from kedge.config import Settings
from kedge.engine import Engine
from kedge.errors import KedgeError
from kedge.ingest.check import CheckReport
from kedge.shapes import all_ok
from kedge.types import Json

PARTS = ("qdrant-edge-py", "SQLAlchemy", "onnxruntime", "tokenizers", "pypdfium2", "fastapi", "uvicorn")


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    command(app, "check")(check)
    command(app, "doctor")(doctor)


def check(
    session: Session,
    repair: Annotated[bool, typer.Option("--repair", help="Remove and rebuild what is wrong.")] = False,
) -> None:
    """Compare catalog, vectors and graph; exit 1 when something is wrong and was not repaired."""
    report = session.with_engine(session.settings(), lambda engine: engine.check(repair))
    if session.json:
        session.emit(_report_json(report))
    else:
        _show_report(session, report)
    if not report.ok:
        raise typer.Exit(FAILED)


def doctor(session: Session) -> None:
    """Say what this installation consists of and whether each part works."""
    settings = session.settings()
    state = _state(session, settings)
    if session.json:
        session.emit(state)
    else:
        _show_state(session, state)
    if not state["ok"]:
        raise typer.Exit(FAILED)


def _report_json(report: CheckReport) -> dict[str, Json]:
    return {
        "ok": report.ok,
        "collections": report.collections,
        "passages": report.passages,
        "repaired": report.repaired,
        "problems": [
            {
                "kind": problem.kind,
                "tenant": problem.tenant,
                "collection": problem.collection,
                "count": problem.count,
                "detail": problem.detail,
                "ids": list(problem.ids),
                "repaired": problem.repaired,
            }
            for problem in report.problems
        ],
    }


def _show_report(session: Session, report: CheckReport) -> None:
    for problem in report.problems:
        mark = ("repaired ", "yellow") if problem.repaired else ("wrong    ", "bold red")
        where = f" in {problem.collection}" if problem.collection else ""
        session.out.print(Text.assemble(mark, f"{problem.kind}{where}: {problem.count}, {problem.detail}"))
    if report.ok:
        seen = f"{report.collections} collections, {report.passages} passages"
        session.out.print(Text(f"catalog, vectors and graph agree ({seen})", style="green"))
    else:
        session.note("repair with: kedge check --repair")


def _state(session: Session, settings: Settings) -> dict[str, Json]:
    async def health(engine: Engine) -> Mapping[str, Json]:
        return await engine.health()

    parts: dict[str, Json]
    try:
        parts = dict(session.with_engine(settings, health))
    except KedgeError as error:
        parts = {"engine": {"ok": False, "message": str(error)}}
    return {
        "ok": all_ok(parts),
        "kedge": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "home": str(settings.home.resolve()),
        "parts": parts,
        "packages": {name: _version(name) for name in PARTS},
        "settings": settings.model_dump(mode="json"),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _show_state(session: Session, state: Mapping[str, Json]) -> None:
    session.out.print(f"kedge {state['kedge']}, Python {state['python']}, {state['platform']}", markup=False)
    session.out.print(f"home: {state['home']}", markup=False)
    for group in ("parts", "packages"):
        found = state[group]
        for name, value in found.items() if isinstance(found, dict) else ():
            _show_part(session, name, value)


def _show_part(session: Session, name: str, value: Json) -> None:
    if isinstance(value, dict):
        mark = ("ok  ", "green") if value.get("ok") else ("FAIL", "bold red")
        session.out.print(Text.assemble(mark, f" {name}: {value.get('message') or 'works'}"))
    else:
        mark = ("ok  ", "green") if value else ("none", "yellow")
        session.out.print(Text.assemble(mark, f" {name} {value or 'not installed'}"))
