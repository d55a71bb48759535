"""`kedge course state|lessons|lesson|prerequisites|expand|search`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from kedge.core.outside import to_json
from kedge.core.values import Passage
from kedge.core.values.filters import parse_terms
from kedge.kinds.courses.learning import path_text
from kedge.kinds.courses.query import Learner
from kedge.kinds.courses.shelf import DEFAULT_TOKENS
from kedge.kinds.courses.surfaces.opened import courses_of
from kedge.kinds.courses.values import Lesson, Prerequisites
from kedge.surfaces.cli.common import CommandRun, command, scope
from kedge.surfaces.cli.query import FilterOption
from kedge.surfaces.cli.render import around, highlighted, query_words, show_warnings
from kedge.surfaces.cli.tables import plain_table

app = typer.Typer(no_args_is_help=True)
Book = Annotated[str, typer.Argument(metavar="BOOK", help="Collection that holds the course.")]
LessonName = Annotated[
    str, typer.Argument(metavar="LESSON", help="Its number (3.2, or 2/3.2 with the module), title, file or parent id.")
]


@command(app, "state")
def state(run: CommandRun, book: Book) -> None:
    """Show which files a course was made of, with their hashes and passages, and when."""
    settings = run.settings()
    found = run.with_engine(settings, lambda engine: courses_of(engine).state(scope(settings, book)))
    if run.json:
        run.emit(to_json(found))
        return
    for name, at in (("full", found.last_full_ingest), ("incremental", found.last_incremental_update)):
        run.out.print(f"last {name} ingest: {at.isoformat(timespec='seconds') if at else '-'}", markup=False)
    table = plain_table("module", "lesson", "file", "sha256", "passages", "taken in")
    for one in found.files:
        taken = one.ingested_at.isoformat(timespec="seconds") if one.ingested_at else "-"
        number = f"{one.chapter}.{one.lesson}"
        table.add_row(one.module, number, one.source_file, one.file_hash[:12], str(one.chunk_count), taken)
    run.out.print(table)
    run.out.print(f"{found.total_chunks} passages in {found.collection_name}", markup=False)


@command(app, "lessons")
def lessons(run: CommandRun, book: Book, filters: FilterOption = None) -> None:
    """List the lessons of a course in the order in which they are taught."""
    settings = run.settings()
    where = parse_terms(filters or [])
    found = run.with_engine(settings, lambda engine: courses_of(engine).lessons(scope(settings, book), where))
    if run.json:
        run.emit([to_json(lesson) for lesson in found])
        return
    table = plain_table("module", "lesson", "title", "tier", "level", "layer", "passages", "needs", "file")
    for one in found:
        needs = "-" if not one.needs else ", ".join(one.needs)
        codes = str(one.hardware_tier), one.proficiency_level, one.layer, str(one.passages)
        table.add_row(one.place.module, one.place.number, one.title, *codes, needs, one.source_file)
    run.out.print(table)


@command(app, "lesson")
def lesson(run: CommandRun, book: Book, name: LessonName, filters: FilterOption = None) -> None:
    """Show a lesson whole, its passages in order."""
    settings = run.settings()
    where = parse_terms(filters or [])
    whole = run.with_engine(settings, lambda engine: courses_of(engine).lesson(scope(settings, book), name, where))
    if run.json:
        run.emit(to_json(whole))
        return
    _head(run, whole.lesson)
    for passage in whole.passages:
        run.out.print(f"\n{passage.text}", markup=False)


@command(app, "prerequisites")
def prerequisites(run: CommandRun, book: Book, name: LessonName, filters: FilterOption = None) -> None:
    """Say what must be known before a lesson, in learning order, with the path to each."""
    settings = run.settings()
    where = parse_terms(filters or [])
    found = run.with_engine(
        settings, lambda engine: courses_of(engine).prerequisites(scope(settings, book), name, where)
    )
    if run.json:
        run.emit(to_json(found))
    else:
        _show_needs(run, found)


@command(app, "expand")
def expand(
    run: CommandRun,
    book: Book,
    passage_id: Annotated[str, typer.Argument(metavar="PASSAGE", help="Id of a passage, as search gives it.")],
    max_tokens: Annotated[int, typer.Option(help="Budget for the passage and its neighbours.")] = DEFAULT_TOKENS,
    filters: FilterOption = None,
) -> None:
    """Show a passage with what stands before and after it in its lesson."""
    settings = run.settings()
    where = parse_terms(filters or [])
    found = run.with_engine(
        settings, lambda engine: courses_of(engine).expand(scope(settings, book), passage_id, max_tokens, where)
    )
    if run.json:
        run.emit(to_json(found))
        return
    for passage in found.passages:
        style = "bold" if passage.id == passage_id else "default"
        run.out.print(Text(f"{passage.text}\n", style=style))
    run.note(f"{len(found.passages)} passages, {found.tokens} tokens")


@command(app, "search")
def search(
    run: CommandRun,
    book: Book,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to look for, 3 characters at least.")],
    *,
    limit: Annotated[int, typer.Option("--limit", "-k", help="How many passages, 1–20.")] = 5,
    hardware_tier: Annotated[int, typer.Option(help="Highest hardware tier that the reader has, 1–4.")] = 1,
    module: Annotated[str | None, typer.Option(help="Only this module.")] = None,
    chapter_min: Annotated[int | None, typer.Option(help="From this chapter on.")] = None,
    chapter_max: Annotated[int | None, typer.Option(help="Up to this chapter.")] = None,
    lesson_number: Annotated[int | None, typer.Option("--lesson", help="Only lessons with this number.")] = None,
    levels: Annotated[list[str] | None, typer.Option("--level", help="A1–C2; may be repeated.")] = None,
    layer: Annotated[str | None, typer.Option(help="L1–L4.")] = None,
    parent: Annotated[str | None, typer.Option(help="Only the lesson with this parent id.")] = None,
) -> None:
    """Find passages for a reader: nothing that needs hardware above the tier is shown."""
    settings = run.settings()
    reader = Learner(
        hardware_tier=hardware_tier,
        module=module,
        chapter_min=chapter_min,
        chapter_max=chapter_max,
        lesson=lesson_number,
        proficiency_levels=tuple(levels or ()),
        layer=layer,
        parent_doc_id=parent,
    )
    found = run.with_engine(
        settings, lambda engine: courses_of(engine).find(scope(settings, book), text, reader, limit)
    )
    if run.json:
        run.emit(to_json(found))
        show_warnings(run, found.result)
        return
    words = query_words(text)
    for hit in found.result.hits:
        run.out.print(Text.assemble(f"{hit.rank:>2}. ", _place(hit.passage), (f"  {hit.score:.3f}", "green")))
        run.out.print(Padding.indent(highlighted(around(hit.passage.text, words), words), 4))
    if not found.result.hits:
        run.note(f"Nothing found among {found.total_found} passages that pass the filters.")


def _place(passage: Passage) -> Text:
    meta = passage.metadata
    number = f"module {meta.get('module')}, lesson {meta.get('chapter')}.{meta.get('lesson')}"
    section = f" › {meta['section_title']}" if meta.get("section_title") else ""
    tier = f"  (tier {meta.get('hardware_tier')}, {meta.get('proficiency_level')}, {meta.get('layer')})"
    return Text.assemble((passage.title, "bold"), section, (f"  {number}{tier}", "dim"))


def _head(run: CommandRun, one: Lesson) -> None:
    run.out.print(Text(f"{one.name}", style="bold"))
    codes = f"hardware tier {one.hardware_tier}, {one.proficiency_level}, {one.layer}, {one.passages} passages"
    run.out.print(Text(f"module {one.place.module}, {codes}, {one.source_file}", style="dim"))


def _show_needs(run: CommandRun, found: Prerequisites) -> None:
    asked = found.lesson
    run.out.print(Text.assemble("before ", (asked.name, "bold"), f" (module {asked.place.module}):"))
    table = plain_table("module", "lesson", "title", "path", "by")
    for need in found.needed:
        place = need.lesson.place
        table.add_row(place.module, place.number, need.lesson.title, path_text(need), need.why)
    if found.needed:
        run.out.print(table)
    for module in found.modules:
        run.out.print(f"all of module {module}", markup=False)
    for name in found.outside:
        run.out.print(f"{name} (not in this course)", markup=False)
    if not (found.needed or found.modules or found.outside):
        run.out.print("nothing")
    if found.hidden:
        run.note(f"{found.hidden} more are left out by the filter")
