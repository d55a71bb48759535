"""Docs and surface are the same: commands, options, settings, errors, metrics and addresses, both ways."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kedge.core import telemetry
from kedge.core.errors import KedgeError
from kedge.core.settings import Settings, load_settings
from kedge.core.stages import STAGES
from kedge.surfaces.cli.main import command_line
from kedge.surfaces.server.app import create_app
from tests.support.paths import ROOT

REFERENCE = ROOT / "docs" / "reference"
COMMON = {"--home", "--json", "--config", "--as", "--help"}


def page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text("utf-8")


def first_cells(text: str) -> list[list[str]]:
    """For every row of every table, the code spans in its first cell."""
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return [re.findall(r"`([^`]+)`", row) for row in rows]


def commands() -> dict[str, set[str]]:
    """Every command with its own options."""
    group = command_line()
    for name in list(group.commands):
        group.load(name)
    return dict(_commands(group, "kedge"))


def _commands(command: Any, path: str) -> Iterator[tuple[str, set[str]]]:
    if hasattr(command, "commands"):
        for name, child in command.commands.items():
            yield from _commands(child, f"{path} {name}")
        return
    flags = {flag for parameter in command.params if parameter.param_type_name == "option" for flag in parameter.opts}
    yield path, flags - COMMON


def documented_commands() -> dict[str, set[str]]:
    sections = re.split(r"^## `(kedge [^`]+)`$", page("cli"), flags=re.MULTILINE)
    return {
        name: {flag for cell in first_cells(text) for flag in cell}
        for name, text in zip(sections[1::2], sections[2::2], strict=True)
    }


def test_every_command_and_option_is_documented_and_the_reverse() -> None:
    assert documented_commands() == commands()


def test_common_options_are_documented_and_on_every_command() -> None:
    head = page("cli").split("\n## ")[0]
    assert {cell[0] for cell in first_cells(head)} == COMMON
    root = command_line()
    assert {"--home", "--json", "--config", "--as", "--version"} <= {flag for one in root.params for flag in one.opts}


def test_every_setting_is_documented_and_the_reverse() -> None:
    assert [cell[0] for cell in first_cells(page("settings"))] == list(Settings.model_fields)


def test_documented_defaults_are_true() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (?:`([^`]*)`)? ?\|", page("settings"), re.MULTILINE)
    documented = {name: default for name, default in rows if default}
    given = {
        name: field.default for name, field in Settings.model_fields.items() if field.default not in ("", None, ())
    }
    assert documented == {name: _written(value) for name, value in given.items()}


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tree(kind: type[KedgeError]) -> Iterator[type[KedgeError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _tree(child)


def test_every_error_is_documented_and_the_reverse() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| `(\w+)` \|", page("errors"), re.MULTILINE)
    assert sorted(rows) == sorted((kind.code, str(kind.status), kind.__name__) for kind in _tree(KedgeError))


def test_every_metric_is_documented_and_the_reverse() -> None:
    rows = re.findall(r"^\| `(kedge_\w+)` \| (\w+) \| ([^|]*)\|", page("metrics"), re.MULTILINE)
    documented = [(name, kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows]
    assert documented == [(metric.name, metric.kind, metric.labels) for metric in telemetry.METRICS]


def test_every_stage_is_documented_and_the_reverse() -> None:
    section = page("metrics").split("\n## Stages\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([a-z.]+)` \| (.+) \|$", section, re.MULTILINE)
    assert dict(rows) == dict(STAGES)


def test_every_declared_metric_is_in_the_list() -> None:
    declared = {value for value in vars(telemetry).values() if isinstance(value, telemetry.Metric)}
    assert declared == set(telemetry.METRICS)


def test_every_address_is_documented_and_the_reverse(tmp_path: Path) -> None:
    schema = create_app(load_settings(environ={}, home=tmp_path / "home")).openapi()
    served = {f"{method.upper()} {path}" for path, methods in schema["paths"].items() for method in methods}
    assert {cell[0] for cell in first_cells(page("http"))} == served


@pytest.mark.parametrize("name", ["cli", "settings", "errors", "metrics", "http"])
def test_links_between_the_pages_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page(name)):
        assert (REFERENCE / target).exists(), f"{name}.md links to {target}"
