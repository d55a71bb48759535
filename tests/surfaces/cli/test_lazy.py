"""Commands are known by name and loaded when they are run: what is shown, what is found, and what is broken."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kedge.kinds import installed
from kedge.surfaces.cli.lazy import LazyCommand
from kedge.surfaces.cli.main import COMMANDS, command_line
from tests.support.forked import ran
from tests.surfaces.cli.conftest import Kedge

OWN = [command.name for command in COMMANDS]
OF_KINDS = [noun.name for kind in installed().values() for noun in kind.surfaces.commands]

STRANGER = """
from kedge.kinds.documents.kind import DocumentsKind
from kedge.kinds.ports import CommandGroup, Surfaces

class FaqKind(DocumentsKind):
    name = "faq"
    surfaces = Surfaces(
        commands=(
            CommandGroup("faq", "Questions that were asked before.", "faq_commands:app"),
            CommandGroup("gone", "In a module that is not there.", "faq_gone:app"),
            CommandGroup("falls", "In a module that fails.", "faq_falls:app"),
            CommandGroup("number", "No command at all.", "faq_commands:NUMBER"),
            CommandGroup("job", "A name that is taken.", "faq_commands:app"),
        )
    )

KIND = FaqKind()
"""
COMMANDS_OF_STRANGER = """
import typer
from kedge.surfaces.cli.common import CommandRun, command

NUMBER = 7
app = typer.Typer(no_args_is_help=True)

@command(app, "list")
def list_(session: CommandRun) -> None:
    \"\"\"List them.\"\"\"
    session.out.print("none yet")

@command(app, "count")
def count(session: CommandRun) -> None:
    \"\"\"Count them.\"\"\"
"""


def shown(help_text: str) -> dict[str, str]:
    """Name → its line, of the commands in a help, in their order."""
    panel = help_text.split("Commands ─")[1]
    return dict(re.findall(r"^│ (\w+) +(\S.*?) *│$", panel, re.MULTILINE))


def loaded(path: tuple[str, ...] = (), group: Any = None) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every verb by its path."""
    group = group or command_line()
    for name in list(group.commands):
        if not path:
            group.load(name)
        command = group.commands[name]
        if hasattr(command, "commands"):
            yield from loaded((*path, name), command)
        else:
            yield (*path, name), command


def test_help_shows_every_command_in_order(kedge: Kedge) -> None:
    ran = kedge("--help")
    assert (ran.code, ran.err) == (0, "")
    assert list(shown(ran.out)) == [*OWN, *OF_KINDS]
    assert set(OF_KINDS) == {"course", "graph", "session"}


def test_the_line_of_a_command_is_what_it_says_of_itself(kedge: Kedge) -> None:
    lines = shown(kedge("--help").out)
    group = command_line()
    for name in lines:
        group.load(name)
        command = group.commands[name]
        assert not isinstance(command, LazyCommand)
        assert (name, lines[name]) == (name, (command.help or "").split("\n\n")[0].replace("\n", " "))


def test_every_command_is_found_and_shows_its_help(kedge: Kedge) -> None:
    verbs = [path for path, _ in loaded()]
    assert ("ask",) in verbs
    assert ("collection", "reindex") in verbs
    assert ("graph", "node", "add") in verbs
    for path in verbs:
        ran = kedge(*path, "--help")
        assert (ran.code, ran.err) == (0, "")
        assert f"Usage: kedge {' '.join(path)} " in ran.out
        assert "--home" in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fly"], "error: No such command 'fly'.\nhint:  Try: kedge --help\n"),
        (["colection"], "error: No such command 'colection'. Did you mean 'collection'?\nhint:  Try: kedge --help\n"),
        (["sesion"], "error: No such command 'sesion'. Did you mean 'session'?\nhint:  Try: kedge --help\n"),
        (["collection", "fly"], "error: No such command 'fly'.\nhint:  Try: kedge collection --help\n"),
        (["--home", "x"], "error: Missing command.\nhint:  Try: kedge --help\n"),
    ],
)
def test_an_unknown_command_is_named(kedge: Kedge, arguments: list[str], message: str) -> None:
    ran = kedge(*arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", message)


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A folder with an installed package that brings a kind, some of whose commands are broken."""
    described = tmp_path / "stranger-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n", "utf-8")
    (described / "entry_points.txt").write_text("[kedge.kinds]\nfaq = faq_kind:KIND\nlost = lost_kind:KIND\n", "utf-8")
    (tmp_path / "faq_kind.py").write_text(STRANGER, "utf-8")
    (tmp_path / "faq_commands.py").write_text(COMMANDS_OF_STRANGER, "utf-8")
    (tmp_path / "faq_falls.py").write_text("raise ValueError('on its nose')\n", "utf-8")
    return tmp_path


def ran_beside(stranger: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(stranger), *filter(None, [os.environ.get("PYTHONPATH")])])
    return ran(["--home", str(stranger / "home"), *arguments], {**os.environ, "PYTHONPATH": path})


def test_a_kind_of_another_package_brings_commands(stranger: Path) -> None:
    helped = ran_beside(stranger, "--help")
    assert helped.returncode == 0
    assert shown(helped.stdout)["faq"] == "Questions that were asked before."
    assert list(shown(helped.stdout))[: len(OWN)] == OWN
    assert ran_beside(stranger, "faq", "list").stdout == "none yet\n"


def test_a_broken_kind_is_named_and_left_out(stranger: Path) -> None:
    helped = ran_beside(stranger, "--help")
    assert helped.returncode == 0
    assert "lost" in helped.stderr
    assert "stranger" in helped.stderr
    assert "No module named 'lost_kind'" in helped.stderr


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gone", "faq_gone:app is left out: ModuleNotFoundError: No module named 'faq_gone'"),
        ("falls", "faq_falls:app is left out: ValueError: on its nose"),
        ("number", "faq_commands:NUMBER is left out: it is no command"),
    ],
)
def test_a_broken_command_is_named_and_left_out(stranger: Path, name: str, why: str) -> None:
    done = ran_beside(stranger, name, "list")
    assert done.returncode == 2
    assert why in done.stderr
    assert f"No such command '{name}'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_kind_takes_no_name_that_is_taken(stranger: Path) -> None:
    done = ran_beside(stranger, "job", "list")
    assert done.returncode == 0
    assert "the command job of faq_commands:app is left out" in done.stderr
    assert "none yet" not in done.stdout
