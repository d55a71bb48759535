"""`kedge check`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from kedge.cli.common import FAILED, Session, command
from kedge.ingest.check import CheckReport
from kedge.types import Json


def register(app: typer.Typer) -> None:
    """Add the verb."""
    command(app, "check")(check)


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
