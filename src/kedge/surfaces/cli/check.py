"""`kedge check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from kedge.core.outside import to_json
from kedge.surfaces.cli.common import FAILED, CommandRun

if TYPE_CHECKING:
    from kedge.ingest.check import CheckReport


def check(
    run: CommandRun,
    repair: Annotated[bool, typer.Option("--repair", help="Remove and rebuild what is wrong.")] = False,
) -> None:
    """Compare catalog, vectors and graph; exit 1 when something is wrong and was not repaired."""
    report = run.with_engine(run.settings(), lambda engine: engine.check(repair))
    if run.json:
        run.emit(to_json(report))
    else:
        _show_report(run, report)
    if not report.ok:
        raise typer.Exit(FAILED)


def _show_report(run: CommandRun, report: CheckReport) -> None:
    for problem in report.problems:
        mark = ("repaired ", "yellow") if problem.repaired else ("wrong    ", "bold red")
        where = f" in {problem.collection}" if problem.collection else ""
        run.out.print(Text.assemble(mark, f"{problem.kind}{where}: {problem.count}, {problem.detail}"))
    if report.ok:
        seen = f"{report.collections} collections, {report.passages} passages"
        run.out.print(Text(f"catalog, vectors and graph agree ({seen})", style="green"))
    else:
        run.note("repair with: kedge check --repair")
