"""`kedge`: nouns and verbs over the Engine. Results on stdout, notes on stderr; exit 0 done, 1 failed, 2 usage."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from kedge import __version__
from kedge.cli import (
    analytics,
    backup,
    check,
    collection,
    course,
    demo,
    doctor,
    document,
    graph,
    ingest,
    job,
    key,
    mcp,
    query,
    serve,
    session,
    worker,
)
from kedge.cli import eval as evaluation
from kedge.cli.common import ConfigOption, Globals, HomeOption, JsonOption, Session, show_error
from kedge.errors import UsageError

app = typer.Typer(
    name="kedge",
    help="Answers questions over your own documents, each sentence anchored to its source.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (demo, ingest, query, serve, worker, mcp, check, backup, doctor, evaluation):
    module.register(app)
app.add_typer(analytics.app, name="analytics", help="Figures of all queries, and forgetting them.")
app.add_typer(collection.app, name="collection", help="List, show, re-index and delete collections.")
app.add_typer(course.app, name="course", help="Lessons, what they need, and searching for a reader.")
app.add_typer(document.app, name="document", help="List, show and delete documents.")
app.add_typer(graph.app, name="graph", help="Nodes and edges of your own graphs.")
app.add_typer(key.app, name="key", help="Make, list and revoke keys of the HTTP API.")
app.add_typer(job.app, name="job", help="List and show ingestion jobs.")
app.add_typer(session.app, name="session", help="Make, list, show, change and delete table sessions.")


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
    home: HomeOption = None,
    json_: JsonOption = False,
    config: ConfigOption = None,
    version: VersionOption = False,  # noqa: ARG001 (handled by its callback)
) -> None:
    """Answers questions over your own documents, each sentence anchored to its source."""
    ctx.obj = Globals(home, json_, config)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the `kedge` command."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        code = app(list(arguments), standalone_mode=False, prog_name="kedge")
    except typer.TyperException as error:
        return _wrong_usage(error, arguments)
    except typer.Abort:
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code if isinstance(code, int) else 0


def _wrong_usage(error: typer.TyperException, arguments: Sequence[str]) -> int:
    message = error.format_message()
    if message:  # empty when the help has been shown instead
        session = Session(Globals(json="--json" in arguments))
        show_error(session, UsageError(message, hint=f"Try: kedge {_noun(arguments)}--help"))
    return error.exit_code


def _noun(arguments: Sequence[str]) -> str:
    words = [word for word in arguments[:2] if word.isalpha() and word.islower()]
    known = {command.name or "" for command in app.registered_commands} | {
        group.name for group in app.registered_groups
    }
    return f"{words[0]} " if words and words[0] in known else ""


if __name__ == "__main__":
    main()
