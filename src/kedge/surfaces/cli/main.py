"""`kedge`: nouns and verbs over the Engine. Results on stdout, notes on stderr; exit 0 done, 1 failed, 2 usage.

The commands are listed here by name; what they do is loaded when one is run, so that `kedge --help` loads no engine.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from kedge._version import __version__
from kedge.core.errors import UsageError
from kedge.core.plugins import resolved
from kedge.kinds import installed
from kedge.surfaces.cli.interrupted import end_when_interrupted
from kedge.surfaces.cli.lazy import LazyCommand, LazyGroup
from kedge.surfaces.cli.options import AsOption, ConfigOption, Globals, HomeOption, JsonOption

log = logging.getLogger(__name__)

COMMANDS = (
    LazyCommand(
        "demo",
        "Take in a small bundled handbook and ask it three questions; the last one it must refuse.",
        "kedge.surfaces.cli.demo:demo",
    ),
    LazyCommand(
        "ingest",
        "Take documents in. Unchanged files are skipped; an interrupted run goes on where it stopped.",
        "kedge.surfaces.cli.ingest:ingest",
    ),
    LazyCommand(
        "search",
        "Find passages by meaning, by words and through the graph, best first.",
        "kedge.surfaces.cli.query:search",
    ),
    LazyCommand(
        "ask",
        "Answer a question with citations, or say that there is not enough evidence.",
        "kedge.surfaces.cli.query:ask",
    ),
    LazyCommand(
        "chat",
        "Answer one question after the other, each understood from the ones before. An empty line ends it.",
        "kedge.surfaces.cli.query:chat",
    ),
    LazyCommand(
        "serve",
        "Serve the HTTP API until interrupted, and run queued ingestions.",
        "kedge.surfaces.cli.serve:serve",
    ),
    LazyCommand(
        "worker",
        "Run queued and unfinished ingestions; several at a time may share them where every store is a server.",
        "kedge.surfaces.cli.worker:worker",
    ),
    LazyCommand(
        "mcp",
        "Serve search, ask and ingest to an agent by the Model Context Protocol, over stdin and stdout.",
        "kedge.surfaces.cli.mcp:mcp",
    ),
    LazyCommand(
        "check",
        "Compare catalog, vectors and graph; exit 1 when something is wrong and was not repaired.",
        "kedge.surfaces.cli.check:check",
    ),
    LazyCommand(
        "backup",
        "Write everything into one file, also while a server uses the home and writes.",
        "kedge.surfaces.cli.backup:backup",
    ),
    LazyCommand(
        "restore",
        "Put a backup back as the home (`--home`), or into the stores that the settings name; then check everything.",
        "kedge.surfaces.cli.backup:restore",
    ),
    LazyCommand(
        "doctor",
        "Check every configured part and say what is wrong and what to do; exit 1 when something is.",
        "kedge.surfaces.cli.doctor:doctor",
    ),
    LazyCommand(
        "eval",
        "Ingest a labelled corpus into a temporary home, run every query and print the measures.",
        "kedge.surfaces.cli.eval:eval_",
    ),
    LazyCommand("analytics", "Figures of all queries, and forgetting them.", "kedge.surfaces.cli.analytics:app"),
    LazyCommand("collection", "List, show, re-index and delete collections.", "kedge.surfaces.cli.collection:app"),
    LazyCommand("document", "List, show and delete documents.", "kedge.surfaces.cli.document:app"),
    LazyCommand(
        "access",
        "Who may read what: say it, explain it, hold documents, and see what is kept of their use.",
        "kedge.surfaces.cli.access:app",
    ),
    LazyCommand(
        "source", "Connect sources, so that collections stay in step with them.", "kedge.surfaces.cli.source:app"
    ),
    LazyCommand("key", "Make, list and revoke keys of the HTTP API.", "kedge.surfaces.cli.key:app"),
    LazyCommand("job", "List and show ingestion jobs.", "kedge.surfaces.cli.job:app"),
)
"""In the order of `kedge --help`. What is said of a verb here is the first paragraph of its docstring."""

app = typer.Typer(
    name="kedge",
    help="Answers questions over your own documents, each sentence anchored to its source.",
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kedge {__version__}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
]


@app.callback()
def options(
    ctx: typer.Context,
    *,
    home: HomeOption = None,
    json_: JsonOption = False,
    config: ConfigOption = None,
    acting: AsOption = None,
    version: VersionOption = False,  # noqa: ARG001 (handled by its callback)
) -> None:
    """Answers questions over your own documents, each sentence anchored to its source."""
    ctx.obj = Globals(home, json_, config, acting)


def command_line() -> LazyGroup:
    """`kedge` with its own commands and those that the installed kinds bring."""
    group = typer.main.get_command(app)
    assert isinstance(group, LazyGroup)
    for command in (*COMMANDS, *_of_kinds()):
        assert command.name is not None
        if group.commands.setdefault(command.name, command) is not command:
            log.warning("the command %s of %s is left out: there is one already", command.name, command.target)
    return group


def _of_kinds() -> Iterator[LazyCommand]:
    for kind in installed().values():
        for noun in kind.surfaces.commands:
            yield LazyCommand(noun.name, noun.help, noun.target, resolved)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the `kedge` command. What it writes is for its user alone; Ctrl-C ends it within seconds."""
    os.umask(0o077)
    # numpy computes small products alone here: threads that wait for each other would take more than the work.
    os.putenv("OPENBLAS_NUM_THREADS", "1")  # read by the library when it is loaded, with numpy
    end_when_interrupted()
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    group = command_line()
    try:
        code = group(list(arguments), standalone_mode=False, prog_name="kedge")
    except typer.TyperException as error:
        return _wrong_usage(error, arguments, group)
    except typer.Abort:
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code if isinstance(code, int) else 0


def _wrong_usage(error: typer.TyperException, arguments: Sequence[str], group: LazyGroup) -> int:
    from kedge.surfaces.cli.common import CommandRun, show_error

    message = error.format_message()
    if message:  # empty when the help has been shown instead
        failed = CommandRun(Globals(json="--json" in arguments))
        show_error(failed, UsageError(message, hint=f"Try: kedge {_noun(arguments, group)}--help"))
    return error.exit_code


def _noun(arguments: Sequence[str], group: LazyGroup) -> str:
    words = [word for word in arguments[:2] if word.isalpha() and word.islower()]
    return f"{words[0]} " if words and words[0] in group.commands else ""


if __name__ == "__main__":
    main()
