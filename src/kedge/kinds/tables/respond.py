"""Answers over a table: a computed figure with its plan, or the rows nearest to the question, each cited (T-06)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kedge.answer.judge.calibrated import confidence
from kedge.answer.sheets.read import SheetReading
from kedge.core.ids import document_id, new_id, passage_id, sha256
from kedge.core.values import Answer, Citation, Json, Passage, Scope, SearchHit
from kedge.kinds.tables.asking.answer import Computed
from kedge.kinds.tables.choosing import Offer, Offers
from kedge.kinds.tables.finding.retrieval import NOTHING, FoundRow, Retrieved
from kedge.kinds.tables.finding.rowtext import as_json, row_text
from kedge.kinds.tables.generation import Generation
from kedge.kinds.tables.schema import ROW, Table

CITED = 5
"""Rows that an answer quotes."""
SAMPLED = 3
"""Rows that a computed answer quotes of those that counted."""
NOT_UNDERSTOOD = "Not understood:"
_SURE, _LIKELY = 0.85, 0.8


def from_plan(generation: Generation, computed: Computed, samples: Sequence[FoundRow]) -> Answer:
    """A computed answer: the sentence, the plan that was run, how many rows counted and some of them."""
    result = computed.result
    assert result is not None
    scope, table = generation.state.scope, generation.table
    citations = tuple(
        _citation(scope, generation, row, number) for number, row in enumerate(samples[:SAMPLED], start=1)
    )
    counted = f"{result.row_count:,} of {table.rows:,} rows"
    lines = [computed.text, f"Plan: {computed.plan_text} ({counted} counted)"]
    if result.ignored:
        lines.append(f"{result.ignored:,} of them have no value there and do not count.")
    if computed.understood.ambiguities:
        lines.append("Note: " + "; ".join(computed.understood.ambiguities))
    if citations:
        lines.append("Rows: " + " ".join(citation.id for citation in citations))
    sure = computed.understood.sure
    return Answer(
        query_id=new_id(),
        answer="\n".join(lines),
        citations=citations,
        confidence="high" if sure >= _SURE else "medium",
        evidence_probability=sure,
        short_answer=_single(computed),
        metadata={
            "kind": "table",
            "plan": {"text": computed.plan_text, "steps": list(computed.steps), "exact": True},
            "why": computed.understood.why,
            "columns": list(result.columns),
            "rows": [[as_json(cell) for cell in row] for row in result.rows],
            "row_numbers": list(result.row_numbers),
            "row_count": result.row_count,
            "truncated": result.truncated,
            "chart": _chart(computed),
        },
    )


def from_reading(generation: Generation, reading: SheetReading, chance: float, samples: Sequence[FoundRow]) -> Answer:
    """An answer read from a small table: its value, the steps that lead to it, and some of the rows."""
    scope, table = generation.state.scope, generation.table
    citations = tuple(
        _citation(scope, generation, row, number) for number, row in enumerate(samples[:SAMPLED], start=1)
    )
    counted = f"{len(reading.rows):,} of {table.rows + table_misfits(generation):,} rows"
    lines = [reading.text, f"Plan: {'; '.join(reading.steps)} ({counted} counted)"]
    if citations:
        lines.append("Rows: " + " ".join(citation.id for citation in citations))
    return Answer(
        query_id=new_id(),
        answer="\n".join(lines),
        citations=citations,
        confidence="high" if chance >= _SURE else "medium",
        evidence_probability=round(chance, 4),
        short_answer=", ".join(reading.values),
        metadata={
            "kind": "table",
            "plan": {"text": "; ".join(reading.steps), "steps": list(reading.steps), "exact": True},
            "why": "",
            "columns": [reading.heading],
            "rows": [[value] for value in reading.values],
            "row_numbers": [row.number for row in samples],
            "row_count": len(reading.rows),
            "truncated": False,
            "chart": None,
        },
    )


def unsure(answer: Answer, offers: Offers) -> Answer:
    """Nothing is sure: the likeliest readings with their values, to be picked by number. `answer` is the first's."""
    lines = ["The question can be read in more than one way; none is sure enough to be the answer:"]
    for number, offer in enumerate(offers.all, start=1):
        told = offered(offer)
        lines.append(f"{number}. {told['answer']} — {told['plan']} ({offer.chance:.0%})")
    lines.append("Ask again with the number of the one you mean (reading=1, 2 …).")
    if offers.left:
        lines.append(f"{NOT_UNDERSTOOD} {', '.join(offers.left)}")
    return replace(
        answer,
        answer="\n".join(lines),
        citations=(),
        confidence="low",
        evidence_probability=round(offers.all[0].chance, 4),
        short_answer=None,
        metadata={
            **answer.metadata,
            "plan": {"text": "several readings, none of them sure", "steps": [], "exact": False},
            "rows": [],
            "row_numbers": [],
            "row_count": 0,
            "chart": None,
        },
    )


def with_readings(answer: Answer, offers: Offers) -> Answer:
    """The answer with what else could have been meant, and with the words that nothing was made of."""
    readings: list[Json] = [
        {"reading": number, "probability": round(offer.chance, 4), **offered(offer)}
        for number, offer in enumerate(offers.all, start=1)
    ]
    plan = answer.metadata.get("plan")
    exact = isinstance(plan, dict) and plan.get("exact")
    text = answer.answer
    if offers.left and not exact and NOT_UNDERSTOOD not in text:
        text = f"{text}\n{NOT_UNDERSTOOD} {', '.join(offers.left)}"
    return replace(
        answer,
        answer=text,
        metadata={**answer.metadata, "readings": readings, "not_understood": list(offers.left)},
    )


def offered(offer: Offer) -> dict[str, Json]:
    """One reading as it is shown: its value and its plan."""
    if offer.reading is not None:
        values: list[Json] = list(offer.reading.values)
        return {
            "answer": ", ".join(offer.reading.values),
            "values": values,
            "plan": "; ".join(offer.reading.steps),
        }
    assert offer.plan is not None
    single = _single(offer.plan)
    values = [single] if single is not None else [row[0] for row in _plan_rows(offer.plan)]
    return {"answer": single or offer.plan.text, "values": values, "plan": offer.plan.plan_text}


def _plan_rows(computed: Computed) -> list[list[Json]]:
    rows = computed.result.rows[:CITED] if computed.result else ()
    return [[as_json(cell) for cell in row] for row in rows if row]


def table_misfits(generation: Generation) -> int:
    """Rows that a small table has besides: put aside from sums because a cell is no number."""
    loaded = generation.sheet()
    return max(0, len(loaded.numbers) - generation.table.rows) if loaded else 0


def from_rows(generation: Generation, found: Retrieved, why: str, by: str) -> Answer:
    """The rows nearest to the question, and that they are nothing more than that."""
    scope, table = generation.state.scope, generation.table
    groups = _alike(table, found.rows)
    cited = enumerate((group[0] for group in groups[:CITED]), start=1)
    citations = tuple(_citation(scope, generation, row, number) for number, row in cited)
    metadata: dict[str, Json] = {
        "kind": "table",
        "plan": {"text": "rows nearest to the question", "steps": [by], "exact": False},
        "why": why,
        "columns": [column.name for column in table.columns],
        "rows": [[as_json(value) for value in row.values] for row in found.rows],
        "row_numbers": [row.number for row in found.rows],
        "scores": [round(row.score, 4) for row in found.rows],
        "row_count": len(found.rows),
        "k": found.k,
        "threshold": found.threshold,
        "chart": None,
    }
    if not found.rows:
        return Answer(new_id(), NOTHING, (), "insufficient", 0.0, metadata=metadata)
    more = "at least " if len(found.rows) == found.k else ""
    head = (
        f"No computation was understood in the question. This is no answer, but the rows nearest to it "
        f"({more}{len(found.rows):,} of {table.rows:,} reach a score of {found.threshold:g}):"
    )
    lines = [
        f"- {citation.snippet} {citation.id}" + _more(group) for citation, group in zip(citations, groups, strict=False)
    ]
    best = found.rows[0].score
    level = confidence(best, found.threshold)
    return Answer(
        query_id=new_id(),
        answer="\n".join([head, *lines]),
        citations=citations,
        confidence="medium" if level == "high" or best >= _LIKELY else "low",
        evidence_probability=best,
        hits=hits(generation, found.rows, found.threshold),
        metadata=metadata,
    )


def _alike(table: Table, rows: Sequence[FoundRow]) -> list[list[FoundRow]]:
    """Rows with the same words together, in the order of the first of each: an answer shows each kind once."""
    places = [place for place, column in enumerate(table.columns) if column.type.worded]
    groups: dict[tuple[object, ...], list[FoundRow]] = {}
    for row in rows:
        groups.setdefault(tuple(row.values[place] for place in places), []).append(row)
    return list(groups.values())


def _more(group: Sequence[FoundRow]) -> str:
    return f" and {len(group) - 1:,} more with the same words" if len(group) > 1 else ""


def hits(generation: Generation, rows: Sequence[FoundRow], threshold: float) -> tuple[SearchHit, ...]:
    """Rows as search results."""
    near = _ranks([row.semantic for row in rows])
    worded = _ranks([row.keyword for row in rows])
    return tuple(
        SearchHit(
            rank=place,
            passage=_passage(generation, row),
            score=row.score,
            vector_rank=near[place - 1],
            keyword_rank=worded[place - 1],
            vector_score=row.semantic or None,
            keyword_score=row.keyword or None,
            cosine=row.semantic or None,
            bm25=row.keyword or None,
            fused_score=row.score,
            above_threshold=row.score >= threshold,
        )
        for place, row in enumerate(rows, start=1)
    )


def _ranks(scores: Sequence[float]) -> list[int | None]:
    """Place of each score among the others, from 1; None for those that found nothing."""
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    ranks: list[int | None] = [None] * len(scores)
    for rank, place in enumerate(order, start=1):
        ranks[place] = rank if scores[place] > 0 else None
    return ranks


def _title(generation: Generation, row: FoundRow) -> str:
    name = row.part.name.rpartition(".")[0] or row.part.name
    return f"{name if len(generation.state.parts) > 1 else generation.table.name} row {row.in_file}"


def _row_id(scope: Scope, row: FoundRow) -> str:
    return passage_id(document_id(scope, row.part.url), sha256(f"row {row.in_file}"), 1)


def citations_of(generation: Generation, rows: Sequence[FoundRow]) -> tuple[Citation, ...]:
    """What cites each of these rows as a whole, numbered from 1."""
    scope = generation.state.scope
    return tuple(_citation(scope, generation, row, number) for number, row in enumerate(rows, start=1))


def _citation(scope: Scope, generation: Generation, row: FoundRow, number: int) -> Citation:
    text = row_text(generation.table, row.values)
    return Citation(
        id=f"[{number}]",
        passage_id=_row_id(scope, row),
        document_id=document_id(scope, row.part.url),
        title=_title(generation, row),
        url=row.part.url,
        snippet=text,
        start=0,
        end=len(text),
        relevance_score=row.score,
    )


def _passage(generation: Generation, row: FoundRow) -> Passage:
    scope, table = generation.state.scope, generation.table
    text = row_text(table, row.values)
    columns = {column.name: as_json(value) for column, value in zip(table.columns, row.values, strict=True)}
    return Passage(
        id=_row_id(scope, row),
        document_id=document_id(scope, row.part.url),
        version_id=f"g{generation.state.generation}",
        index=row.number,
        text=text,
        start=0,
        end=len(text),
        content_hash=sha256(text),
        token_count=len(text.split()),
        title=_title(generation, row),
        url=row.part.url,
        external_id=str(row.in_file),
        ingested_at=generation.state.fed_at,
        metadata={ROW: row.number, "columns": columns},
    )


def _single(computed: Computed) -> str | None:
    """The one figure, where the answer is one; of the first by a figure, its name."""
    result = computed.result
    if result is None or len(result.rows) != 1 or not result.rows[0]:
        return None
    plan = computed.understood.plan
    named = plan is not None and bool(plan.groups) and plan.limit == 1 and not plan.tally
    value = as_json(result.rows[0][0 if named else -1])
    return None if value is None else str(value)


def _chart(computed: Computed) -> Json:
    chart = computed.chart
    return None if chart is None else {"type": chart.type, "x": chart.x, "y": chart.y}


def with_times(answer: Answer, timings: dict[str, float], latency_ms: float) -> Answer:
    """The answer with what it took."""
    times: dict[str, Json] = {name: round(ms, 2) for name, ms in timings.items()}
    return replace(
        answer,
        metadata={
            **answer.metadata,
            "latency_ms": round(latency_ms, 2),
            "timings_ms": times,
            "citation_count": len(answer.citations),
        },
    )
