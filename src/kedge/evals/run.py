"""`kedge eval`: ingests a set into a temporary home, runs every query, and measures what came of it."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from kedge.core.settings import Settings
from kedge.core.values import DEFAULT_TENANT, Answer, IngestRequest, Json, Query, Scope, SearchResult
from kedge.engine.engine import Engine
from kedge.evals import metrics
from kedge.evals.dataset import EvalQuery, EvalSet, load

Figures: TypeAlias = dict[str, float | int | None]
OnProgress = Callable[[str, int, int], None]
"""Called with the phase, what is done and what there is to do (0 when unknown)."""

Measure = Callable[[Sequence[str], metrics.Gains, int], float]

SCOPE = Scope(DEFAULT_TENANT, "eval")
DEPTH = 100


@dataclass(frozen=True, slots=True)
class _Asked:
    query: EvalQuery
    answer: Answer


async def evaluate(
    folder: Path,
    settings: Settings,
    *,
    answers: bool = False,
    include_graph: bool = True,
    limit: int | None = None,
    on_progress: OnProgress | None = None,
) -> Figures:
    """All figures of one set. `limit` takes only the first so many queries."""
    dataset = load(folder)
    queries = dataset.queries[:limit]
    progress = on_progress or (lambda _phase, _done, _total: None)
    with tempfile.TemporaryDirectory(prefix="kedge-eval-") as home:
        local = settings.model_copy(update={"home": Path(home)})
        async with Engine.open(local) as engine:
            figures = await _ingest(engine, dataset, progress)
            figures["disk_bytes"] = _disk_bytes(Path(home))
            judged = [query for query in queries if query.judged]
            figures |= await _retrieve(engine, dataset, judged, include_graph, progress)
            if answers:
                asked = await _ask(engine, queries, include_graph, progress)
                figures |= answer_figures(asked, dataset.texts, settings.threshold)
                figures |= generation_figures(asked)
            figures["llm_calls"] = engine.llm_calls
    return figures


async def _ingest(engine: Engine, dataset: EvalSet, progress: OnProgress) -> Figures:
    started = time.perf_counter()
    job = await engine.ingest(
        IngestRequest(SCOPE, (str(dataset.corpus),)),
        lambda state: progress("ingest", state.processed_passages, 0),
    )
    seconds = time.perf_counter() - started
    return {
        "documents": job.files_processed,
        "passages": job.processed_passages,
        "ingest_seconds": round(seconds, 2),
        "passages_per_second": round(job.processed_passages / seconds, 2),
    }


async def _retrieve(
    engine: Engine, dataset: EvalSet, queries: Sequence[EvalQuery], include_graph: bool, progress: OnProgress
) -> Figures:
    """A document that is the query itself (sets of arguments have such) is not a result."""
    twins: dict[str, set[str]] = defaultdict(set)
    for name, text in dataset.texts.items():
        twins[_plain(text)].add(name)
    runs: list[tuple[list[str], EvalQuery]] = []
    times: list[float] = []
    for done, query in enumerate(queries, 1):
        started = time.perf_counter()
        result = await engine.rank(_query(query, include_graph), DEPTH)
        times.append(1000 * (time.perf_counter() - started))
        itself = twins.get(_plain(query.text), set()) - query.gains.keys()
        runs.append(([name for name in documents_of(result) if name not in itself], query))
        progress("search", done, len(queries))
    return (
        {"queries": len(runs)}
        | ranking_figures(runs)
        | {
            "query_ms_p50": round(metrics.percentile(times, 0.5), 2),
            "query_ms_p95": round(metrics.percentile(times, 0.95), 2),
        }
    )


async def _ask(engine: Engine, queries: Sequence[EvalQuery], include_graph: bool, progress: OnProgress) -> list[_Asked]:
    asked = []
    known = [query for query in queries if query.unanswerable or query.answers]
    for done, query in enumerate(known, 1):
        asked.append(_Asked(query, await engine.ask(_query(query, include_graph))))
        progress("ask", done, len(known))
    return asked


def documents_of(result: SearchResult) -> list[str]:
    """The sources' own ids, each once, best first."""
    return list(dict.fromkeys(hit.passage.external_id for hit in result.hits))


def ranking_figures(runs: Sequence[tuple[list[str], EvalQuery]]) -> Figures:
    """Means over all judged queries."""
    measures: dict[str, tuple[Measure, int]] = {
        "ndcg@10": (metrics.ndcg, 10),
        "recall@5": (metrics.recall, 5),
        "recall@10": (metrics.recall, 10),
        "recall@100": (metrics.recall, 100),
        "all_gold@8": (metrics.all_gold, 8),
        "all_gold@10": (metrics.all_gold, 10),
        "mrr@10": (metrics.reciprocal_rank, 10),
    }
    return {
        name: round(_mean([measure(ranked, query.gains, depth) for ranked, query in runs]), 4)
        for name, (measure, depth) in measures.items()
    }


def answer_figures(asked: Sequence[_Asked], texts: dict[str, str], threshold: float) -> Figures:
    """How well refusing, answering and citing went."""
    answerable = [item for item in asked if not item.query.unanswerable]
    impossible = [item for item in asked if item.query.unanswerable]
    answered = [item for item in answerable if item.answer.evidence_probability >= threshold]
    right = [item for item in answered if _is_right(item)]
    wrongly = [item for item in impossible if item.answer.evidence_probability >= threshold]
    probabilities = [item.answer.evidence_probability for item in asked]
    labels = [not item.query.unanswerable for item in asked]
    correct = [_is_right(item) and not item.query.unanswerable for item in asked]
    return {
        "answered_share": _share(answered, answerable),
        "accuracy_answered": _share(right, answered),
        "false_answer_rate": _share(wrongly, impossible),
        "auroc": _rounded(metrics.auroc(probabilities, labels)),
        "aurc": _rounded(metrics.aurc(probabilities, correct)),
        "ece": _rounded(metrics.calibration_error(probabilities, labels)),
        "cited_spans_exist": _spans_exist(asked, texts),
        "right_answers_cited": _share([item for item in right if _cites_gold(item)], right),
    }


def generation_figures(asked: Sequence[_Asked]) -> Figures:
    """What a language model wrote and cost; nothing where none was asked."""
    written = [one for item in asked if isinstance(one := item.answer.metadata.get("generation"), dict)]
    if not written:
        return {}
    usages = [one for item in written if isinstance(one := item.get("usage"), dict)]
    sentences = sum(_count(item, "sentences") for item in written)
    return {
        "generated_answers": len([item for item in written if item.get("fallback") is None]),
        "generated_fallbacks": len([item for item in written if item.get("fallback") is not None]),
        "generated_sentences": sentences,
        "sentences_supported": round(sum(_count(item, "supported") for item in written) / sentences, 4)
        if sentences
        else None,
        "prompt_tokens": sum(_count(item, "prompt_tokens") for item in usages),
        "completion_tokens": sum(_count(item, "completion_tokens") for item in usages),
    }


def _count(found: Mapping[str, Json], name: str) -> int:
    value = found.get(name)
    return value if isinstance(value, int) else 0


def _query(query: EvalQuery, include_graph: bool) -> Query:
    return Query(query.text, SCOPE, include_graph=include_graph)


def _is_right(item: _Asked) -> bool:
    """Whether the answer holds a gold string. A refusal quotes what came nearest, which is no answer."""
    if item.answer.confidence == "insufficient":
        return False
    said = _plain(item.answer.answer)
    return any(_plain(gold) in said for gold in item.query.answers if gold.strip())


def _cites_gold(item: _Asked) -> bool:
    cited = [_plain(citation.snippet) for citation in item.answer.citations]
    return any(_plain(gold) in snippet for gold in item.query.answers if gold.strip() for snippet in cited)


def _spans_exist(asked: Sequence[_Asked], texts: dict[str, str]) -> float | None:
    """Every cited span, looked up in the corpus file itself."""
    found: list[float] = []
    for item in asked:
        sources = {hit.passage.document_id: hit.passage.external_id for hit in item.answer.hits}
        for citation in item.answer.citations:
            text = texts.get(sources.get(citation.document_id, ""), "")
            found.append(float(bool(citation.snippet) and text[citation.start : citation.end] == citation.snippet))
    return round(_mean(found), 4) if found else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _share(part: Sequence[object], whole: Sequence[object]) -> float | None:
    return round(len(part) / len(whole), 4) if whole else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _disk_bytes(folder: Path) -> int:
    """Bytes that the files really take on disk: stores reserve sparse files."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
