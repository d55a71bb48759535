"""What all commands share: global options, output, errors and exit codes.

A command is a function whose first argument is a `CommandRun`; `command(app)` adds `--home`, `--json` and `--config` to
it, so that they work before and after the verb, and turns errors into messages and exit codes.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, TextIO, TypeVar

import typer
from rich.console import Console

from kedge.core.acting import acting_as
from kedge.core.errors import KedgeError, UsageError
from kedge.core.values import DEFAULT_TENANT, Json, Scope, parse_actor
from kedge.engine.home import Lasts
from kedge.surfaces.cli.options import AsOption, ConfigOption, Globals, HomeOption, JsonOption

if TYPE_CHECKING:
    from kedge.core.settings import Check, Settings
    from kedge.engine.engine import Engine
    from kedge.surfaces.cli.beside import Answers

P = ParamSpec("P")
T = TypeVar("T")

FAILED = 1
WRONG_USAGE = 2
PIPE_WIDTH = 500
INTERRUPTED = "interrupted; run the same command again to continue"

CollectionOption = Annotated[str | None, typer.Option("--collection", "-c", help="Collection to use.")]


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One run of a command: its global options and where it writes."""

    options: Globals
    out: Console = field(default_factory=lambda: _console(sys.stdout))
    notes: Console = field(default_factory=lambda: _console(sys.stderr))

    @property
    def json(self) -> bool:
        return self.options.json

    def settings(self, **overrides: object) -> Settings:
        """Settings from all places; overrides of None do not count. ConfigError names every fault at once."""
        from kedge.stores import registry

        return self._settings(registry.faults, **overrides)

    def settings_alone(self) -> Settings:
        """Without a look at what they name: for the doctor, who looks at each by itself."""
        return self._settings(None)

    def _settings(self, also: Check | None, **overrides: object) -> Settings:
        from kedge.core import logs
        from kedge.core.settings import load_settings

        settings = load_settings(self.options.config, None, also, home=self.options.home, **overrides)
        logs.configure(settings)
        return settings

    def emit(self, value: Json) -> None:
        """Print one JSON value on stdout."""
        sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Say something that is not the result, on stderr."""
        self.notes.print(text, markup=False)

    def with_engine(
        self, settings: Settings, work: Callable[[Engine], Coroutine[Any, Any, T]], lasts: Lasts = Lasts.SHORTLY
    ) -> T:
        """Open the engine, do the work, close it. Waits, with a note, for another command that has the home."""
        from kedge.surfaces.cli.beside import held

        async def opened() -> T:
            async with held(settings, lasts, self.note) as engine:
                return await work(engine)

        return asyncio.run(opened())

    def with_answers(
        self, settings: Settings, work: Callable[[Answers], Coroutine[Any, Any, T]], lasts: Lasts = Lasts.SHORTLY
    ) -> T:
        """Do the work with the engine of this home, which may be that of a server or of a long command that runs.

        A command that lasts goes to another process only if that one runs queued jobs, and waits otherwise.
        """
        from kedge.surfaces.cli.beside import asked

        async def opened() -> T:
            async with asked(settings, lasts, self.note) as engine:
                return await work(engine)

        return asyncio.run(opened())


def scope(settings: Settings, collection: str | None) -> Scope:
    """The scope of the local user."""
    return Scope(DEFAULT_TENANT, collection or settings.collection)


def command(
    app: typer.Typer, name: str | None = None
) -> Callable[[Callable[Concatenate[CommandRun, P], None]], Callable[Concatenate[CommandRun, P], None]]:
    """Register a function as a command with the global options. The function itself stays as it is."""

    def register(function: Callable[Concatenate[CommandRun, P], None]) -> Callable[Concatenate[CommandRun, P], None]:
        app.command(name)(_with_globals(function))
        return function

    return register


def _with_globals(function: Callable[Concatenate[CommandRun, P], None]) -> Callable[..., None]:
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    shared = list(inspect.signature(_shared, eval_str=True).parameters.values())

    @functools.wraps(function)
    def called(
        *args: Any,
        ctx: typer.Context,
        home: Path | None,
        json_: bool,
        config: Path | None,
        acting: str | None,
        **values: Any,
    ) -> None:
        options = Globals(home, json_, config, acting).over(ctx.ensure_object(Globals))

        def work(run: CommandRun) -> None:
            with acting_as(None if options.acting is None else parse_actor(options.acting)):
                function(run, *args, **values)

        with_errors(CommandRun(options), work)

    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*own, *shared)]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _shared(
    ctx: typer.Context,
    home: HomeOption = None,
    json_: JsonOption = False,
    config: ConfigOption = None,
    acting: AsOption = None,
) -> None:
    """The parameters that every command has."""


def with_errors(run: CommandRun, work: Callable[[CommandRun], None]) -> None:
    """Do the work; say what went wrong and exit with the right code."""
    try:
        work(run)
    except KedgeError as error:
        show_error(run, error)
        raise typer.Exit(WRONG_USAGE if isinstance(error, UsageError) else FAILED) from error
    except KeyboardInterrupt as interrupt:
        run.note(INTERRUPTED)
        raise typer.Exit(130) from interrupt


def show_error(run: CommandRun, error: KedgeError) -> None:
    """The error as text on stderr, or as the one error JSON on stdout."""
    if run.json:
        run.emit(error.as_json())
        return
    run.notes.print(f"[bold red]error:[/] {_escape(error.message)}", soft_wrap=True)
    if error.hint:
        run.notes.print(f"[bold]hint:[/]  {_escape(error.hint)}", soft_wrap=True)


def _console(stream: TextIO) -> Console:
    """Fits the terminal; pipes and files get long lines that nothing breaks."""
    return Console(file=stream, highlight=False, width=None if stream.isatty() else PIPE_WIDTH)


def _escape(text: str) -> str:
    return text.replace("[", r"\[")
