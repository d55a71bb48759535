"""Commands that are known by name and one line of help, and loaded when they are run or their own help is wanted."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

log = logging.getLogger(__name__)


class LazyCommand(TyperCommand):
    """What `kedge --help` shows of a command."""

    def __init__(self, name: str, help: str, target: str, find: Callable[[str], Any] = resolve_name) -> None:
        """`target` is the `module:attribute` of a noun (a `typer.Typer`), or of a verb (a function, see `common`).

        `find` gets it, or None for what is to be left out.
        """
        super().__init__(name, help=help)
        self.target = target
        self._find = find

    def load(self) -> Any | None:
        """The command itself; None, told in the log, when the target is no command."""
        from kedge.surfaces.cli.common import command

        assert self.name is not None
        found = self._find(self.target)
        app = typer.Typer(callback=lambda: None, add_completion=False)  # with a callback it is a group, even of one
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=self.name, help=self.help)
        elif callable(found):
            command(app, self.name)(found)
        else:
            if found is not None:
                log.warning("%s is left out: it is no command", self.target)
            return None
        group = typer.main.get_command(app)
        assert isinstance(group, TyperGroup)
        return group.commands[self.name]


class LazyGroup(TyperGroup):
    """Shows lazy commands as they are, and loads the one that is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """As usual, with the command in the place of its line. One that cannot be loaded is unknown."""
        self.load(args[0])
        return super().resolve_command(ctx, args)

    def load(self, name: str) -> None:
        """Put the command of that name into the place of its line, or take the line away."""
        line = self.commands.get(name)
        if not isinstance(line, LazyCommand):
            return
        command = line.load()
        if command is None:
            del self.commands[name]
        else:
            self.commands[name] = command
