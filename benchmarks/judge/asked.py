"""Questions of open sets with the evidence that Kedge finds for them and what the reader makes of it, kept in a cache.

Beside each question as it is asked stands, where the set tells what answers it, the same question without that: the
passages that hold the answer are taken out of what was read.
"""

from __future__ import annotations

import json
import pickle
import random
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from benchmarks.judge import written
from benchmarks.real_questions import program, take_in
from kedge.answer.cite.spans import cite
from kedge.answer.evidence import ReadPassage
from kedge.answer.judge.reading import Signs
from kedge.answer.judge.verdict import composed
from kedge.core.ids import new_id
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope, SearchHit
from kedge.engine.blocking import Kedge
from kedge.engine.engine import Engine
from kedge.evals.dataset import load
from kedge.text.form import Form, ShapeKind, shape_of
from kedge.text.question import Question

SETS = {"real_questions": 1000, "squad2": 700, "clapnq": 303, "hotpotqa_train100": 100, "written": 1098}
"""Set and how many of its questions are used; `written` are those of `benchmarks.asked`."""
SEED = 7
_PLAIN = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Gathered:
    """One question with its evidence, read."""

    id: str
    group: str
    """What is left out together: a collection of the real questions, an article of squad2, else the set."""
    question: Question
    form: Form
    hits: tuple[SearchHit, ...]
    read: tuple[ReadPassage, ...]
    answerable: bool
    known: Any
    """The question as its set has it."""


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """What the judge would see, and what it should say."""

    source: str
    group: str
    form: ShapeKind
    signs: Signs
    answerable: bool
    right: bool
    """Whether what would be answered is right."""
    held: bool
    """Whether the evidence that was read holds the answer."""
    made: Literal["", "removed", "other time"] = ""
    """How a question was spoilt: what holds the answer was taken out, or it is asked for another time."""


async def gathered(name: str, data: Path, cache: Path, home: Path | None, sources: Path | None) -> list[Gathered]:
    """The questions of one set, from the cache if they were read before.

    `sources` holds the documents of the written questions, which are not in the bench data.
    """
    kept = cache / f"read_{name}.pickle"
    if not kept.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        if name == "written":
            if sources is None:
                sys.exit("--sources: name the folder that `python -m benchmarks.asked.sources` laid out.")
            questions = _written(sources)
        else:
            questions = _real(data, home) if name == "real_questions" else _open_set(name, data)
        found: list[Gathered] = []
        async for one in questions:
            found.append(one)
            if len(found) % 50 == 0:
                print(f"{name}: {len(found)} questions read", file=sys.stderr, flush=True)
        kept.write_bytes(pickle.dumps(found))
    return list(pickle.loads(kept.read_bytes()))  # written above


async def _open_set(name: str, data: Path) -> AsyncIterator[Gathered]:
    scope = Scope(DEFAULT_TENANT, "judge")
    dataset = load(data / name)
    queries = list(dataset.queries)
    with tempfile.TemporaryDirectory(prefix="kedge-judge-") as home:
        async with Engine.open(load_settings(home=Path(home))) as engine:
            await engine.ingest(IngestRequest(scope, (str(dataset.corpus),)))
            for query in random.Random(SEED).sample(queries, min(SETS[name], len(queries))):
                article = min(query.gains, default="").partition("_")[0]
                group = f"{name} {article}" if name == "squad2" else name
                yield await _asked(engine, Query(query.text, scope), (query.id, group, not query.unanswerable, query))


async def _real(data: Path, home: Path | None) -> AsyncIterator[Gathered]:
    asked = data / "real_questions"
    work = Path(".bench-cache/real_questions")
    questions = [json.loads(line) for line in (asked / "questions.jsonl").read_text("utf-8").splitlines()]
    home = home or work / "home"
    with Kedge(home) as kedge:
        take_in(kedge, asked, work, sorted({one["collection"] for one in questions}))
    async with Engine.open(load_settings(home=home)) as engine:
        for one in questions:
            scope, session = Scope(DEFAULT_TENANT, one["collection"]), new_id()
            query = Query(one["question"], scope, session_id=session)
            if one.get("previous"):
                before = one["previous"] if isinstance(one["previous"], list) else [one["previous"]]
                for earlier in before:
                    await engine.ask(Query(earlier, scope, session_id=session))
                resolved = (await engine.ask(query)).metadata.get("resolved_question")
                query = Query(str(resolved or one["question"]), scope)
            yield await _asked(engine, query, (one["id"], one["collection"], not one["unanswerable"], one))


async def _written(sources: Path) -> AsyncIterator[Gathered]:
    async for engine, query, about in written.asked(sources, SETS["written"]):
        yield await _asked(engine, query, about)


async def _asked(engine: Engine, query: Query, about: tuple[str, str, bool, Any]) -> Gathered:
    collection = await engine.collection(query.scope)
    query, _, hits = await engine.answerer.evidence(query, collection)
    question = await engine.judging.question(query, collection)
    form = shape_of(query.text)
    read = await engine.judging.readings.of(question, [hit.passage for hit in hits])
    identifier, group, answerable, known = about
    return Gathered(identifier, group, question, form, hits, tuple(read), answerable, known)


def rows_of(name: str, found: Sequence[Gathered], data: Path) -> list[JudgedRow]:
    """What the judge would see of each question, and of the same without what answers it."""
    score = program(data / "real_questions" / "score.py")
    rows: list[JudgedRow] = []
    for one in found:
        if name == "written":
            rows += _of_written(one)
            continue
        is_right, holds = (_of_real if name == "real_questions" else _of_set)(one, score)
        rows += _row(name, one, one.read, is_right, removed=False)
        rows += [_at_another_time(row) for row in rows[-1:] if row.held and row.signs.fits]
        left = [passage for passage in one.read if not holds(passage)]
        if one.answerable and 0 < len(left) < len(one.read) and name in ("real_questions", "hotpotqa_train100"):
            rows += _row(name, one, left, is_right, removed=True)
    return rows


def _at_another_time(row: JudgedRow) -> JudgedRow:
    """The same evidence for a question that names another time than it speaks of."""
    signs = replace(row.signs, fits=0.0, contradicts=1.0)
    return replace(row, signs=signs, answerable=False, right=False, held=False, made="other time")


Tests = tuple[Callable[[str], bool], Callable[[ReadPassage], bool]]
"""Whether a text is a right answer, and whether a passage holds one."""


def _of_real(one: Gathered, score: ModuleType) -> Tests:
    known = one.known

    def holds(passage: ReadPassage) -> bool:
        return any(re.search(gold, passage.passage.text, score.FLAGS) for gold in known["gold"])

    return lambda text: bool(score.is_right(known, text)), holds


def _of_set(one: Gathered, _score: ModuleType) -> Tests:
    wanted = [_words(answer) for answer in one.known.answers if answer.strip()]
    return (
        lambda text: any(answer in _words(text) for answer in wanted),
        lambda passage: passage.passage.external_id in one.known.gains,
    )


def _of_written(one: Gathered) -> list[JudgedRow]:
    verdict = composed(one.question, one.form, one.read, one.hits)
    if verdict.signs is None or verdict.extracted is None:
        return []
    right = written.is_right(one.known, verdict.extracted, one.hits)
    held = right or any(map(written.holds(one.known), one.read))
    return [JudgedRow("written", one.group, one.form.kind, verdict.signs, one.answerable, right, held)]


def _words(text: str) -> str:
    return f" {_PLAIN.sub(' ', text).casefold().strip()} "


def _row(
    name: str, one: Gathered, read: Sequence[ReadPassage], is_right: Callable[[str], bool], *, removed: bool
) -> list[JudgedRow]:
    verdict = composed(one.question, one.form, read, one.hits)
    if verdict.signs is None or verdict.extracted is None:
        return []
    text, _ = cite(verdict.extracted, one.hits)
    short = verdict.extracted.short.text if verdict.extracted.short else verdict.extracted.verdict
    made: Literal["", "removed"] = "removed" if removed else ""
    answerable = one.answerable and not removed
    right = answerable and is_right(f"{short}\n{text}".replace("**", ""))
    held = answerable and (name != "real_questions" or is_right("\n".join(passage.passage.text for passage in read)))
    return [JudgedRow(name, one.group, one.form.kind, verdict.signs, answerable, right, held or right, made)]
