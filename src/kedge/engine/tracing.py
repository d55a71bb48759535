"""Traces by OpenTelemetry (`kedge[otel]`), sent to a collector by OTLP over HTTP; nothing of it is needed without one.

One span per request and per stage. Spans carry ids, hashes, counts and the kind of an error, never its words: an error
may quote a question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from kedge._version import __version__
from kedge.core import telemetry
from kedge.core.errors import ConfigError, MissingExtraError
from kedge.core.settings import Settings
from kedge.core.stages import Fact, Span
from kedge.core.telemetry import Metrics
from kedge.engine.shares import Running, Shares

if TYPE_CHECKING:
    from opentelemetry.trace import Span as OtelSpan

PREFIX = "kedge."
EXPORT_SECONDS = 10.0
"""For sending what is left when the process ends."""


_FIGURES = {"similarity": telemetry.SIMILARITY, "similarity_near": telemetry.SIMILARITY_NEAR}
"""Where figures about the work are kept, by what `measure` calls them."""


class Tracer(Protocol):
    """Makes spans of stages and requests."""

    def begin(self, name: str, facts: Mapping[str, Fact], *, holds: bool) -> Span:
        """As `stages.Watcher.begin`."""

    def receive(self, name: str, headers: Mapping[str, str]) -> Span:
        """A request or job begins, as a part of what its headers say."""

    def carried(self) -> Mapping[str, str]:
        """W3C `traceparent` of the span that holds now."""

    def trace_id(self) -> str:
        """Id of the trace that holds now; empty: none."""

    def close(self) -> None:
        """Send what is left."""


class NoTracer:
    """Traces nothing."""

    def begin(self, name: str, facts: Mapping[str, Fact], *, holds: bool) -> Span:  # noqa: ARG002
        return _NO_SPAN

    def receive(self, name: str, headers: Mapping[str, str]) -> Span:  # noqa: ARG002
        return _NO_SPAN

    def carried(self) -> Mapping[str, str]:
        return {}

    def trace_id(self) -> str:
        return ""

    def close(self) -> None:
        """Nothing to send."""


class _NoSpan:
    def end(self, error: BaseException | None, facts: Mapping[str, Fact]) -> None:
        """Nobody looks."""


_NO_SPAN = _NoSpan()


class OtelTracer:
    """Spans of OpenTelemetry's SDK, with a provider of its own: an application that embeds Kedge keeps its own."""

    def __init__(self, settings: Settings) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
        except ImportError as error:
            raise MissingExtraError("Sending traces", "otel") from error
        resource = Resource.create({"service.name": "kedge", "service.version": __version__})
        sampler = ParentBased(TraceIdRatioBased(settings.trace_share))
        self._provider = TracerProvider(resource=resource, sampler=sampler, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(
            endpoint=_endpoint(settings.otlp_url), headers=_headers(settings), timeout=EXPORT_SECONDS
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("kedge", __version__)

    def begin(self, name: str, facts: Mapping[str, Fact], *, holds: bool) -> Span:
        return _OtelSpan(self._tracer.start_span(name, attributes=_attributes(facts)), holds=holds)

    def receive(self, name: str, headers: Mapping[str, str]) -> Span:
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        parent = TraceContextTextMapPropagator().extract(dict(headers))
        return _OtelSpan(self._tracer.start_span(name, context=parent, kind=SpanKind.SERVER), holds=True)

    def carried(self) -> Mapping[str, str]:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        headers: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(headers)
        return headers

    def trace_id(self) -> str:
        from opentelemetry.trace import get_current_span

        context = get_current_span().get_span_context()
        return f"{context.trace_id:032x}" if context.is_valid else ""

    def close(self) -> None:
        self._provider.shutdown()


class _OtelSpan:
    def __init__(self, span: OtelSpan, *, holds: bool) -> None:
        from opentelemetry import context, trace

        self._span = span
        self._token = context.attach(trace.set_span_in_context(span)) if holds else None

    def end(self, error: BaseException | None, facts: Mapping[str, Fact]) -> None:
        from opentelemetry import context
        from opentelemetry.trace import StatusCode

        self._span.set_attributes(_attributes(facts))
        if "http.route" in facts:
            self._span.update_name(f"{facts.get('http.request.method')} {facts['http.route']}")
        if error is not None:
            self._span.set_status(StatusCode.ERROR)
            self._span.set_attribute("error.type", type(error).__name__)
        if self._token is not None:
            context.detach(self._token)
        self._span.end()


def open_tracer(settings: Settings) -> Tracer:
    """By the settings; one that traces nothing where no collector is named. MissingExtraError, ConfigError."""
    return OtelTracer(settings) if settings.otlp_url else NoTracer()


class _Costed:
    """A span whose stage also gets its share of the processor's time."""

    def __init__(self, span: Span, shares: Shares, running: Running) -> None:
        self._span = span
        self._shares = shares
        self._running = running

    def end(self, error: BaseException | None, facts: Mapping[str, Fact]) -> None:
        self._shares.end(self._running)
        self._span.end(error, facts)


class RequestSpan:
    """The span of a request; told at its end how it was answered."""

    def __init__(self) -> None:
        self.facts: dict[str, Fact] = {}

    def answered(self, route: str, status: int) -> None:
        """It was."""
        self.facts |= {"http.route": route, "http.response.status_code": status}


class Watch:
    """The `stages.Watcher` of a process: stages become metrics and, where a collector is named, spans."""

    def __init__(self, metrics: Metrics | None = None, tracer: Tracer | None = None) -> None:
        self._metrics = metrics
        self._shares = Shares(self._spent)
        self.tracer: Tracer = tracer or NoTracer()

    def begin(self, name: str, facts: Mapping[str, Fact], *, holds: bool) -> Span:
        span = self.tracer.begin(name, facts, holds=holds)
        return _Costed(span, self._shares, self._shares.begin(name, holds=holds))

    def _spent(self, name: str, seconds: float) -> None:
        if self._metrics is not None:
            self._metrics.add(telemetry.STAGE_CPU, name, by=seconds)

    def done(self, name: str, seconds: float) -> None:
        if self._metrics is not None:
            self._metrics.observe(telemetry.STAGE_SECONDS, seconds, name)

    def measured(self, what: str, value: float, kind: str) -> None:
        if self._metrics is not None:
            self._metrics.observe(_FIGURES[what], value, kind)

    def carried(self) -> Mapping[str, str]:
        return self.tracer.carried()

    @contextmanager
    def request(
        self, method: str, headers: Mapping[str, str], facts: MutableMapping[str, Fact]
    ) -> Iterator[RequestSpan]:
        """Around a request. Its facts get the trace's id now, and go into the span at the end."""
        told = RequestSpan()
        span = self.tracer.receive("request", headers)
        trace_id = self.tracer.trace_id()
        if trace_id:
            facts["trace_id"] = trace_id
        error: BaseException | None = None
        try:
            yield told
        except BaseException as raised:
            error = raised
            raise
        finally:
            span.end(error, {**facts, "http.request.method": method, **told.facts})


def _attributes(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    return {name if "." in name else PREFIX + name: value for name, value in facts.items() if name != "trace_id"}


def _endpoint(url: str) -> str:
    """The address of a collector, with the path that OTLP gives traces."""
    if not url.startswith(("http://", "https://")):
        raise ConfigError(
            f"otlp_url must be an address like http://127.0.0.1:4318, not {url!r}.",
            hint="Name the collector's HTTP address, or leave the setting out.",
        )
    base = url.rstrip("/")
    return base if base.endswith("/v1/traces") else f"{base}/v1/traces"


def _headers(settings: Settings) -> dict[str, str]:
    given = settings.otlp_headers.get_secret_value() if settings.otlp_headers else ""
    pairs = [part.partition("=") for part in given.split(",") if part.strip()]
    if any(not equals or not name.strip() for name, equals, _ in pairs):
        raise ConfigError(
            "otlp_headers must be written name=value,name=value.", hint="For instance authorization=Bearer%20KEY."
        )
    return {name.strip().lower(): value.strip() for name, _, value in pairs}
