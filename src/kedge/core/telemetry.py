"""Metrics: every name is declared here once, with its doc, and nowhere else.

`docs/reference/metrics.md` lists the same names; a test checks both ways. A `Metrics` object holds the values of one
server; there is no global state. The text form is Prometheus' exposition format 0.0.4.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

LabelValues: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's name, kind, doc and label names."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    doc: str
    labels: tuple[str, ...] = ()


REQUESTS = Metric("kedge_http_requests_total", "counter", "HTTP requests served.", ("method", "route", "status"))
QUERIES = Metric("kedge_queries_total", "counter", "Questions answered or refused, by confidence.", ("confidence",))
REFUSALS = Metric("kedge_refusals_total", "counter", "Questions refused because the evidence was not enough.")
ERRORS = Metric("kedge_errors_total", "counter", "Error responses, by error code.", ("code",))
QUERY_SECONDS = Metric("kedge_query_seconds", "histogram", "Seconds from question to complete answer.")
FEEDBACK = Metric("kedge_feedback_total", "counter", "Feedback received, by rating.", ("rating",))
SUBMITTED = Metric("kedge_ingest_requests_total", "counter", "Ingestions accepted over HTTP.")
DOCUMENTS = Metric("kedge_documents", "gauge", "Live documents, by collection.", ("collection",))
PASSAGES = Metric("kedge_passages", "gauge", "Live passages, by collection.", ("collection",))
JOBS = Metric("kedge_jobs", "gauge", "The newest 1,000 ingestion jobs, by status.", ("status",))
CHECKS = Metric("kedge_checks_total", "counter", "Checks in the background, by result.", ("result",))
CHECK_PROBLEMS = Metric(
    "kedge_check_problems_total", "counter", "Differences that checks in the background found, by kind.", ("kind",)
)
QUERY_ERRORS = Metric(
    "kedge_query_errors_total", "counter", "Queries that failed by a fault of ours, by error code.", ("code",)
)
STORE_ERRORS = Metric(
    "kedge_store_errors_total", "counter", "Calls to a store that it failed or did not answer, by store.", ("store",)
)
SIMILARITY = Metric(
    "kedge_similarity", "histogram", "Best cosine of a question and a passage, by kind of collection.", ("kind",)
)
SIMILARITY_NEAR = Metric(
    "kedge_similarity_near_threshold",
    "histogram",
    "Cosines of the ten nearest passages that lie within 0.1 of the threshold, by kind of collection.",
    ("kind",),
)
EMBED_SECONDS = Metric("kedge_embed_seconds", "histogram", "Seconds of one call of an embedding model.")
EMBED_ERRORS = Metric("kedge_embed_errors_total", "counter", "Calls of an embedding model that failed.")
LLM_CALLS = Metric("kedge_llm_calls_total", "counter", "Calls to language models, by result.", ("model", "result"))
LLM_TOKENS = Metric(
    "kedge_llm_tokens_total", "counter", "Tokens that language models read and wrote.", ("model", "kind")
)
LLM_SECONDS = Metric("kedge_llm_seconds", "histogram", "Seconds of a call to a language model.", ("model",))
LLM_SENTENCES = Metric(
    "kedge_llm_sentences_total",
    "counter",
    "Generated sentences, by whether the evidence supports them.",
    ("supported",),
)

HTTP_SECONDS = Metric("kedge_http_seconds", "histogram", "Seconds of a request, to the end of its answer.", ("route",))
FIRST_EVENT = Metric(
    "kedge_first_event_seconds", "histogram", "Seconds from a request to the first event of an answer."
)
IN_FLIGHT = Metric("kedge_http_in_flight", "gauge", "Requests that are worked on now.")
STREAMS = Metric("kedge_streams_open", "gauge", "Streams among them.")
REJECTED = Metric("kedge_rejected_total", "counter", "Requests refused by a limit, by which.", ("limit",))
TIMEOUTS = Metric("kedge_timeouts_total", "counter", "Work broken off by the clock, by what was late.", ("late",))
LEFT = Metric("kedge_clients_left_total", "counter", "Requests whose client went away before the end.")
STAGE_SECONDS = Metric("kedge_stage_seconds", "histogram", "Seconds of a stage of the work.", ("stage",))
STAGE_CPU = Metric(
    "kedge_stage_cpu_seconds_total", "counter", "Processor seconds, by the stage that they went to.", ("stage",)
)
QUEUED = Metric("kedge_ingest_queue", "gauge", "Ingestions that wait or run.")
OLDEST = Metric("kedge_oldest_job_seconds", "gauge", "Seconds since the oldest of them was accepted.")
WORKERS = Metric("kedge_workers", "gauge", "Workers that live.")
PART_UP = Metric("kedge_part_up", "gauge", "Whether a part worked when /ready last looked.", ("part",))
DRAINING = Metric("kedge_draining", "gauge", "1 while the server stops.")
LOOP_LAG = Metric("kedge_loop_lag_seconds", "gauge", "Longest wait for the event loop since the last scrape.")
RESIDENT = Metric("kedge_process_resident_bytes", "gauge", "Memory of the process.")
CPU = Metric("kedge_process_cpu_seconds", "gauge", "Processor seconds that the process has used.")
FILES = Metric("kedge_process_open_files", "gauge", "Open files and connections of the process.")
THREADS = Metric("kedge_process_threads", "gauge", "Threads of the process.")

METRICS: tuple[Metric, ...] = (
    REQUESTS,
    QUERIES,
    REFUSALS,
    ERRORS,
    QUERY_SECONDS,
    FEEDBACK,
    SUBMITTED,
    DOCUMENTS,
    PASSAGES,
    JOBS,
    CHECKS,
    CHECK_PROBLEMS,
    QUERY_ERRORS,
    STORE_ERRORS,
    SIMILARITY,
    SIMILARITY_NEAR,
    EMBED_SECONDS,
    EMBED_ERRORS,
    LLM_CALLS,
    LLM_TOKENS,
    LLM_SECONDS,
    LLM_SENTENCES,
    HTTP_SECONDS,
    FIRST_EVENT,
    IN_FLIGHT,
    STREAMS,
    REJECTED,
    TIMEOUTS,
    LEFT,
    STAGE_SECONDS,
    STAGE_CPU,
    QUEUED,
    OLDEST,
    WORKERS,
    PART_UP,
    DRAINING,
    LOOP_LAG,
    RESIDENT,
    CPU,
    FILES,
    THREADS,
)

QUERY_ROUTES = (
    *("/api/query", "/api/query/stream", "/api/search", "/api/courses/search", "/api/rag/query"),
    *("/api/sessions/{session_id}/query", "/api/sessions/{session_id}/query/stream", "/v1/chat/completions"),
)
"""Patterns of the addresses that questions and searches go to; the alert on failing queries counts these alone."""
SHARES = (0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.0)
"""Upper bounds of buckets for similarities: narrow where thresholds lie."""
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histogram's buckets, in seconds; +Inf is added."""


class _Histogram:
    def __init__(self, bounds: Sequence[float] = BUCKETS) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        place = next((index for index, bound in enumerate(self.bounds) if value <= bound), len(self.bounds))
        self.counts[place] += 1
        self.total += value


class Metrics:
    """The values of the declared metrics. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[str, dict[LabelValues, float]] = {}
        self._histograms: dict[str, dict[LabelValues, _Histogram]] = {}

    def add(self, metric: Metric, *labels: str, by: float = 1.0) -> None:
        """Count up."""
        _check(metric, "counter", labels)
        with self._lock:
            series = self._values.setdefault(metric.name, {})
            series[labels] = series.get(labels, 0.0) + by

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Put one value into a histogram."""
        _check(metric, "histogram", labels)
        with self._lock:
            series = self._histograms.setdefault(metric.name, {})
            series.setdefault(labels, _Histogram(_bounds(metric))).observe(value)

    def replace(self, metric: Metric, values: Mapping[LabelValues, float]) -> None:
        """Set all series of a gauge; those not given are gone."""
        for labels in values:
            _check(metric, "gauge", labels)
        with self._lock:
            self._values[metric.name] = dict(values)

    def render(self) -> str:
        """Everything as Prometheus text. Unlabelled metrics show 0 before their first event."""
        with self._lock:
            return "\n".join(line for metric in METRICS for line in self._lines(metric)) + "\n"

    def _lines(self, metric: Metric) -> Iterator[str]:
        yield f"# HELP {metric.name} {metric.doc}"
        yield f"# TYPE {metric.name} {metric.kind}"
        if metric.kind == "histogram":
            unseen = {} if metric.labels else {(): _Histogram(_bounds(metric))}
            for labels, histogram in (self._histograms.get(metric.name) or unseen).items():
                yield from _histogram_lines(metric, labels, histogram)
            return
        zero: dict[LabelValues, float] = {} if metric.labels else {(): 0.0}
        for labels, value in sorted((self._values.get(metric.name) or zero).items()):
            yield f"{metric.name}{_labels(metric.labels, labels)} {_number(value)}"


def _histogram_lines(metric: Metric, labels: LabelValues, histogram: _Histogram) -> Iterator[str]:
    seen = 0
    for bound, count in zip((*histogram.bounds, math.inf), histogram.counts, strict=True):
        seen += count
        shown = _labels((*metric.labels, "le"), (*labels, "+Inf" if bound == math.inf else _number(bound)))
        yield f"{metric.name}_bucket{shown} {seen}"
    yield f"{metric.name}_sum{_labels(metric.labels, labels)} {_number(histogram.total)}"
    yield f"{metric.name}_count{_labels(metric.labels, labels)} {seen}"


def _bounds(metric: Metric) -> Sequence[float]:
    return SHARES if metric in (SIMILARITY, SIMILARITY_NEAR) else BUCKETS


def _check(metric: Metric, kind: str, labels: LabelValues) -> None:
    if metric.kind != kind or len(labels) != len(metric.labels):
        raise ValueError(f"{metric.name} is a {metric.kind} with labels {metric.labels}, not a {kind} with {labels}")


def _labels(names: tuple[str, ...], values: LabelValues) -> str:
    if not names:
        return ""
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in zip(names, values, strict=True)) + "}"


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
