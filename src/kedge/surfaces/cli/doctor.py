"""`kedge doctor`."""

from __future__ import annotations

import asyncio
import platform
import sys
from collections.abc import Sequence

import typer
from rich.text import Text

from kedge._version import __version__
from kedge.core.errors import ConfigError
from kedge.core.outside import to_json
from kedge.core.plugins import everything, needed_packages
from kedge.core.settings import Settings
from kedge.core.values import DoctorReport, Finding, FindingStatus, InstalledPlugin
from kedge.engine.doctor import examine, unusable
from kedge.surfaces.cli.common import FAILED, CommandRun

MARKS = {
    FindingStatus.OK: ("ok      ", "green"),
    FindingStatus.WARNING: ("warning ", "yellow"),
    FindingStatus.FAILED: ("failed  ", "bold red"),
    FindingStatus.SKIPPED: ("skipped ", "dim"),
}


def doctor(run: CommandRun) -> None:
    """Check every configured part and say what is wrong and what to do; exit 1 when something is."""
    settings: Settings | None = None
    try:
        settings = run.settings_alone()
        findings = asyncio.run(examine(settings))
    except ConfigError as error:
        findings = unusable(error)
    failed = sum(finding.status is FindingStatus.FAILED for finding in findings)
    if run.json:
        run.emit(to_json(_report(settings, findings, ok=not failed)))
    else:
        _show(run, findings)
    if failed:
        raise typer.Exit(FAILED)


def _report(settings: Settings | None, findings: Sequence[Finding], *, ok: bool) -> DoctorReport:
    return DoctorReport(
        ok=ok,
        kedge=__version__,
        python=sys.version.split()[0],
        platform=platform.platform(),
        home=str(settings.home.resolve()) if settings else None,
        checks=tuple(findings),
        plugins=tuple(InstalledPlugin(one.group, one.name, one.package, one.version) for one in everything()),
        packages=needed_packages(),
        settings=settings.shown() if settings else None,
    )


def _show(run: CommandRun, findings: Sequence[Finding]) -> None:
    run.out.print(
        f"kedge {__version__}, Python {sys.version.split()[0]}, {platform.platform()}", markup=False, soft_wrap=True
    )
    for one in findings:
        run.out.print(Text.assemble(MARKS[one.status], (f"{one.name}: ", "bold"), one.found), soft_wrap=True)
        if one.todo:
            run.out.print(Text.assemble("         → ", one.todo), soft_wrap=True)
