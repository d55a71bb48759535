"""How answers and search results look in a terminal. Plain text when stdout is none."""

from __future__ import annotations

import re
from itertools import groupby

from rich.padding import Padding
from rich.text import Text

from kedge.core.excerpt import excerpt
from kedge.core.values import Answer, Citation, Json, Passage, SearchHit, SearchResult, page_named
from kedge.surfaces.cli.common import CommandRun
from kedge.surfaces.cli.tables import plain_table
from kedge.surfaces.cli.wrapped import Flow
from kedge.surfaces.lead import lead
from kedge.text.statements.markup import plain

COLOURS = {"high": "green", "medium": "yellow", "low": "red", "insufficient": "red"}
SHOWN_ROWS = 20
_SHORT_WORDS = 3
_WORD = re.compile(r"\w+")


def show_answer(run: CommandRun, answer: Answer) -> None:
    """The short answer, the answer with its marks, then its sources; a refusal says itself what was found nearest."""
    short = lead(answer)
    if short:
        run.out.print(Text(short, style="" if run.out.no_color else "bold"), "", sep="\n")
    flow = Flow(run.out)
    flow.write(answer.answer)
    flow.end()
    show_rest(run, answer)


def show_rest(run: CommandRun, answer: Answer) -> None:
    """What stands below the text: computed rows, the verdict, the sources."""
    show_rows(run, answer)
    run.out.print(_verdict(answer))
    _show_notes(run, answer)
    for _, group in groupby(answer.citations, key=lambda citation: citation.id):
        _show_source(run, list(group))


def show_rows(run: CommandRun, answer: Answer) -> None:
    """The computed rows of an answer over a table, where there are several."""
    plan, columns, rows = (answer.metadata.get(name) for name in ("plan", "columns", "rows"))
    if not (isinstance(plan, dict) and plan.get("exact") and isinstance(columns, list) and isinstance(rows, list)):
        return
    if len(rows) < 2:
        return
    table = plain_table(*(str(name) for name in columns))
    for row in rows[:SHOWN_ROWS]:
        if isinstance(row, list):
            table.add_row(*map(_cell, row))
    run.out.print("")
    run.out.print(table)
    if len(rows) > SHOWN_ROWS:
        run.out.print(f"… and {len(rows) - SHOWN_ROWS:,} more (--json has all)")


def _cell(value: Json) -> Text:
    if isinstance(value, float):
        return Text(f"{value:,.2f}")
    return Text("" if value is None else str(value))


def _show_notes(run: CommandRun, answer: Answer) -> None:
    """How the question was understood, who wrote the answer, and what went wrong on the way."""
    resolved = answer.metadata.get("resolved_question")
    if isinstance(resolved, str):
        run.note(f"understood as: {resolved}")
    written = answer.metadata.get("generation")
    if isinstance(written, dict) and written.get("fallback") is None:
        run.note(f"written by {written['model']}; sentences without support: {written['unsupported']}")
    warnings = answer.metadata.get("warnings")
    for warning in warnings if isinstance(warnings, list) else ():
        run.note(f"note: {warning}")


def _verdict(answer: Answer) -> Text:
    text = Text("\nconfidence: ", style="dim")
    text.append(answer.confidence, style=COLOURS[answer.confidence])
    text.append(f"   evidence probability: {answer.evidence_probability:.2f}", style="dim")
    if answer.short_answer and not answer.refused and lead(answer) is None:
        text.append("   short answer: ", style="dim")
        text.append(answer.short_answer, style="bold")
    return text


def _show_source(run: CommandRun, citations: list[Citation]) -> None:
    first = citations[0]
    head = Text.assemble("\n", (first.id, "bold cyan"), " ", (first.identity, "bold"), _place(first))
    run.out.print(head)
    run.out.print(Padding.indent(Text(first.url, style="dim"), 4))
    for citation in citations:
        run.out.print(Padding.indent(Text(f"“{excerpt(_quoted(citation))}”", style="italic"), 4))


def _quoted(citation: Citation) -> str:
    """The cited words without markup; of a row of a table, its cells."""
    if citation.cells:
        return " · ".join(cell.text for cell in citation.cells if cell.text)
    return plain(citation.snippet)


def show_results(run: CommandRun, result: SearchResult) -> None:
    """Ranked results with the channels that found them and an excerpt."""
    if not result.hits:
        run.out.print("Nothing found.")
    words = query_words(result.query)
    for hit in result.hits:
        run.out.print(_result_head(hit))
        run.out.print(Padding.indent(highlighted(around(hit.passage.text, words), words), 4), "")
    show_warnings(run, result)
    total = result.timings_ms.get("total")
    if total is not None:
        run.note(f"results: {len(result.hits)}, in {total:.0f} ms")


def show_warnings(run: CommandRun, result: SearchResult) -> None:
    """What the search has to say about itself, such as why nothing was found."""
    for warning in result.warnings:
        run.note(f"note: {warning}")


def _result_head(hit: SearchHit) -> Text:
    ranks = {"vector": hit.vector_rank, "keyword": hit.keyword_rank, "graph": hit.graph_rank}
    channels = " ".join(f"{name}#{rank}" for name, rank in ranks.items() if rank is not None)
    return Text.assemble(
        (f"{hit.rank:>2}. ", "bold"),
        (hit.passage.identity, "bold"),
        _place(hit.passage),
        (f"  {hit.score:.3f}", "green"),
        (f"  {channels}", "dim"),
    )


def _place(at: Passage | Citation) -> Text:
    """Section and page, behind the title."""
    section = [part for part in at.section_path if part != at.title]
    text = " › ".join(["", *section])
    if at.page is not None:
        text += f" ({page_named(at.url, at.page)})"
    return Text(text, style="default")


def query_words(query: str) -> list[str]:
    """The words of a query that are worth highlighting."""
    return [word for word in dict.fromkeys(_WORD.findall(query.casefold())) if len(word) > _SHORT_WORDS]


def around(text: str, words: list[str], limit: int = 280) -> str:
    """The stretch of a text, on one line, that begins shortly before the first query word."""
    line = " ".join(text.split())
    places = [match.start() for word in words if (match := re.search(re.escape(word), line, re.IGNORECASE))]
    begin = max(0, min(places, default=0) - limit // 4)
    if begin == 0 or len(line) <= limit:
        return excerpt(line, limit)
    begin = line.find(" ", begin) + 1
    return "… " + excerpt(line[begin:], limit)


def highlighted(text: str, words: list[str]) -> Text:
    """The text with the words, and what begins with them, set bold."""
    shown = Text(text)
    if words:
        pattern = "|".join(rf"\b{re.escape(word)}\w*" for word in words)
        shown.highlight_regex(re.compile(pattern, re.IGNORECASE), "bold yellow")
    return shown
