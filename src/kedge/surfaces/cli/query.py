"""`kedge search`, `kedge ask` and `kedge chat`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from kedge.core.errors import QueryError
from kedge.core.ids import new_id
from kedge.core.instants import instant
from kedge.core.outside import to_json
from kedge.core.settings import Settings
from kedge.core.values import ANSWER_TOP_K, Answer, Query
from kedge.core.values.filters import parse_terms
from kedge.surfaces.cli.common import CollectionOption, CommandRun, scope
from kedge.surfaces.cli.flow import answered
from kedge.surfaces.cli.render import show_results, show_warnings

if TYPE_CHECKING:
    from kedge.core.settings import Settings
    from kedge.surfaces.cli.beside import Answers

TopKOption = Annotated[
    int | None, typer.Option("--top-k", "-k", help="How many passages, up to max_top_k; rows of a table, 1–500.")
]
NoGraphOption = Annotated[bool, typer.Option("--no-graph", help="Leave the graph channel out.")]
FilterOption = Annotated[
    list[str] | None,
    typer.Option("--filter", "-f", help="key=value, key!=value, key>=3, key=a,b; several must all hold."),
]
SessionOption = Annotated[
    str | None, typer.Option("--session", help="Any name: questions under it are understood from the ones before.")
]
ReadingOption = Annotated[
    int | None, typer.Option("--reading", min=1, help="Tables: which of the readings shown before is meant.")
]
TopicOption = Annotated[str | None, typer.Option("--topic", help="Only passages with this topic tag.")]
AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", metavar="DATE", help="Ask what was live then: 2026-03-01 (end of day), or a time (UTC)."),
]


def search(
    run: CommandRun,
    *,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    collection: CollectionOption = None,
    top_k: TopKOption = None,
    no_graph: NoGraphOption = False,
    filters: FilterOption = None,
    topic: TopicOption = None,
    as_of: AsOfOption = None,
) -> None:
    """Find passages by meaning, by words and through the graph, best first."""
    settings = run.settings()
    wanted = _query(
        settings,
        query,
        collection=collection,
        top_k=top_k,
        no_graph=no_graph,
        filters=filters,
        topic=topic,
        as_of=as_of,
        usual=settings.top_k,
    )
    result = run.with_answers(settings, lambda engine: engine.search(wanted))
    if run.json:
        run.emit(to_json(result))
        show_warnings(run, result)
    else:
        show_results(run, result)


def ask(
    run: CommandRun,
    *,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")],
    collection: CollectionOption = None,
    top_k: TopKOption = None,
    no_graph: NoGraphOption = False,
    filters: FilterOption = None,
    topic: TopicOption = None,
    conversation: SessionOption = None,
    reading: ReadingOption = None,
    as_of: AsOfOption = None,
) -> None:
    """Answer a question with citations, or say that there is not enough evidence."""
    settings = run.settings(session_keep="home" if conversation else None)
    wanted = _query(
        settings,
        question,
        collection=collection,
        top_k=top_k,
        no_graph=no_graph,
        filters=filters,
        topic=topic,
        as_of=as_of,
    )
    wanted = replace(wanted, session_id=conversation, reading=reading)
    answer = run.with_answers(settings, lambda engine: answered(run, engine, wanted))
    if run.json:
        run.emit(to_json(answer))


def chat(
    run: CommandRun,
    *,
    collection: CollectionOption = None,
    top_k: TopKOption = None,
    no_graph: NoGraphOption = False,
    filters: FilterOption = None,
    topic: TopicOption = None,
) -> None:
    """Answer one question after the other, each understood from the ones before. An empty line ends it."""
    settings = run.settings()
    wanted = _query(settings, "", collection=collection, top_k=top_k, no_graph=no_graph, filters=filters, topic=topic)
    wanted = replace(wanted, session_id=new_id())

    async def talk(engine: Answers) -> list[Answer]:
        answers: list[Answer] = []
        for question in _questions(run):
            try:
                answers.append(await answered(run, engine, replace(wanted, text=question)))
            except QueryError as error:
                run.note(f"{error}")
        return answers

    answers = run.with_answers(settings, talk)
    if run.json:
        run.emit([to_json(answer) for answer in answers])


def _questions(run: CommandRun) -> Iterator[str]:
    """Lines of stdin until an empty one; a prompt on stderr for whoever types."""
    while True:
        if sys.stdin.isatty():
            run.notes.print("\n> ", end="")
        line = sys.stdin.readline()
        if not line.strip():
            return
        yield line.strip()


def _query(
    settings: Settings,
    text: str,
    *,
    collection: str | None,
    top_k: int | None,
    no_graph: bool,
    filters: list[str] | None,
    topic: str | None,
    as_of: str | None = None,
    usual: int = ANSWER_TOP_K,
) -> Query:
    return Query(
        text=text,
        scope=scope(settings, collection),
        top_k=usual if top_k is None else top_k,
        top_k_given=top_k is not None,
        include_graph=not no_graph,
        topic_filter=topic,
        where=parse_terms(filters or []),
        as_of=None if as_of is None else instant(as_of),
    )
