"""`kedge eval`: measure retrieval and answers on a labelled set."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from kedge.surfaces.cli.common import CommandRun
from kedge.surfaces.cli.progress import phase_progress
from kedge.surfaces.cli.tables import plain_table


def eval_(
    run: CommandRun,
    *,
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", exists=True, file_okay=False, help="Folder with corpus.jsonl, queries.jsonl and qrels.tsv."
        ),
    ],
    answers: Annotated[bool, typer.Option("--answers", help="Measure answers and refusals too.")] = False,
    no_graph: Annotated[bool, typer.Option("--no-graph", help="Leave the graph channel out.")] = False,
    fusion: Annotated[str | None, typer.Option(help="How channels are combined: default or rrf.")] = None,
    embedder: Annotated[str | None, typer.Option(help="Embedding model.")] = None,
    reranker: Annotated[str | None, typer.Option(help="Reranker, or none.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N queries.")] = None,
) -> None:
    """Ingest a labelled corpus into a temporary home, run every query and print the measures."""
    from kedge.evals.run import evaluate

    settings = run.settings(fusion=fusion, embedder=embedder, reranker=reranker)
    with phase_progress(run) as on_progress:
        measures = asyncio.run(
            evaluate(
                directory,
                settings,
                answers=answers,
                include_graph=not no_graph,
                limit=limit,
                on_progress=on_progress,
            )
        )
    if run.json:
        run.emit(dict(measures))
        return
    table = plain_table("measure", "value")
    for name, value in measures.items():
        table.add_row(name, _shown(value))
    run.out.print(table)


def _shown(value: float | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
