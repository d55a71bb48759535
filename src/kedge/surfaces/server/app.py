"""The HTTP API: `create_app(settings)` makes the FastAPI app; its lifespan opens the engine and runs its worker."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

from fastapi import Depends, FastAPI
from fastapi.middleware.cors import CORSMiddleware

from kedge._version import __version__
from kedge.core.plugins import resolved
from kedge.core.settings import Settings
from kedge.core.telemetry import (
    CHECK_PROBLEMS,
    CHECKS,
    EMBED_ERRORS,
    EMBED_SECONDS,
    LLM_CALLS,
    LLM_SECONDS,
    LLM_TOKENS,
    STORE_ERRORS,
    Metrics,
)
from kedge.engine.access.oidc import open_tokens
from kedge.engine.engine import Engine
from kedge.engine.tracing import Watch
from kedge.ingest.check import CheckReport
from kedge.kinds import installed
from kedge.kinds.ports import ROUTER
from kedge.models.write.limits import ModelCall
from kedge.surfaces.server import agents, docs, errors, page
from kedge.surfaces.server.deps import own_origin
from kedge.surfaces.server.edge import EdgeMiddleware
from kedge.surfaces.server.manners import MannersMiddleware
from kedge.surfaces.server.pulse import Pulse
from kedge.surfaces.server.routes import (
    access,
    analytics,
    backup,
    chat,
    collections,
    conversations,
    documents,
    feedback,
    health,
    ingest,
    originals,
    query,
    search,
    sources,
    suggestions,
)
from kedge.surfaces.server.traffic import Traffic
from kedge.surfaces.server.wire import REQUEST_ID
from kedge.surfaces.server.within import within_limits

DESCRIPTION = """
Answers questions over your own documents; each sentence of an answer points to its source, and a question that the
documents do not answer is refused.

JSON comes out in `snake_case`; requests may use `snake_case` or `camelCase`. Every error has the one shape
`{"error": {"code", "message", "hint", "details"}}`.
"""
TAGS = [
    {"name": "query", "description": "Ask questions, whole or streamed, and rate the answers."},
    {"name": "conversations", "description": "Questions and answers that are kept for their user."},
    {"name": "ingest", "description": "Take documents in and follow the job."},
    {"name": "documents", "description": "What has been taken in."},
    {"name": "collections", "description": "Named sets of documents."},
    {"name": "sources", "description": "Places that collections stay in step with."},
    {"name": "chat", "description": "Kedge as a model for chat clients."},
    {"name": "access", "description": "Who may read what, what is held, and who asked."},
    {"name": "operations", "description": "Health and metrics."},
]


CLIENT_HEADERS = [
    f"x-stainless-{name}"
    for name in (
        *("lang", "package-version", "os", "arch", "runtime", "runtime-version", "async"),
        *("retry-count", "timeout", "read-timeout", "helper-method", "custom-poll-interval", "poll-helper"),
    )
]
"""What OpenAI's clients send from a page, beside the usual."""


def create_app(settings: Settings, engine: Engine | None = None) -> FastAPI:
    """The app over these settings. An engine that is given is used and left open; else the lifespan opens one."""
    metrics = Metrics()
    added = [group for kind in installed().values() for group in kind.surfaces.routes]
    traffic, watch, pulse = Traffic(settings, metrics), Watch(metrics), Pulse()
    app = FastAPI(
        title="Kedge",
        version=__version__,
        description=DESCRIPTION,
        openapi_tags=[*TAGS, *({"name": one.tag, "description": one.help} for one in added)],
        lifespan=_lifespan(settings, engine, metrics, watch, pulse),
        dependencies=[Depends(own_origin)],
        responses={
            "4XX": {
                "model": errors.ErrorBody,
                "description": "The request cannot be carried out; `hint` says what to do.",
            },
            "5XX": {"model": errors.ErrorBody, "description": "The server or a part of it failed."},
        },
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.metrics = metrics
    app.state.tokens = open_tokens(settings)
    app.state.traffic = traffic
    app.state.pulse = pulse
    app.state.socket = None  # who listens on it sets it
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["authorization", "content-type", "x-api-key", "mcp-protocol-version", *CLIENT_HEADERS],
            expose_headers=[REQUEST_ID],
        )
    app.add_middleware(MannersMiddleware)
    app.add_middleware(EdgeMiddleware, settings=settings, metrics=metrics, traffic=traffic, watch=watch)
    errors.install(app)
    for module in (
        query,
        search,
        suggestions,
        ingest,
        feedback,
        conversations,
        documents,
        originals,
        collections,
        sources,
        chat,
        analytics,
        access,
    ):
        app.include_router(module.router, dependencies=[Depends(within_limits)])
    for router in (resolved(target, ROUTER) for group in added for target in group.targets):
        if router is not None:
            app.include_router(router, dependencies=[Depends(within_limits)])
    for module in (backup, health):  # neither may be cut short: a backup is long, and health is asked when all is full
        app.include_router(module.router)
    app.include_router(agents.router)
    app.include_router(docs.router)
    page.install(app, settings)
    docs.say_keys(app)
    return app


def _lifespan(
    settings: Settings, given: Engine | None, metrics: Metrics, watch: Watch, pulse: Pulse
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with pulse.beating(), _agents(app):
            if given is not None:
                given.kinds.open_all()
                _observe(given, metrics, watch)
                app.state.engine = given
                yield
                return
            async with Engine.open(settings) as engine:
                engine.kinds.open_all()  # before the first request, which would wait for it
                _observe(engine, metrics, watch)
                app.state.engine = engine
                engine.start_worker()
                yield

    return lifespan


@asynccontextmanager
async def _agents(app: FastAPI) -> AsyncIterator[None]:
    app.state.agents = agents.Agents()
    try:
        yield
    finally:
        await app.state.agents.close()


def _observe(engine: Engine, metrics: Metrics, watch: Watch) -> None:
    """Have the engine tell what it does, and let no question wait for ever."""
    watch.tracer = engine.watch.tracer
    engine.watch = watch
    engine.watch_embedding(partial(_count_embedding, metrics))
    engine.on_check = partial(_count_check, metrics)
    engine.on_llm_call = partial(_count_call, metrics)
    engine.on_store_failure = partial(metrics.add, STORE_ERRORS)
    engine.answerer.line.longest = engine.settings.answer_wait


def _count_embedding(metrics: Metrics, seconds: float, worked: bool) -> None:
    metrics.observe(EMBED_SECONDS, seconds)
    if not worked:
        metrics.add(EMBED_ERRORS)


def _count_call(metrics: Metrics, call: ModelCall) -> None:
    """What a call to a language model cost, for `/metrics`."""
    metrics.add(LLM_CALLS, call.model, call.result)
    metrics.add(LLM_TOKENS, call.model, "prompt", by=call.usage.prompt_tokens)
    metrics.add(LLM_TOKENS, call.model, "completion", by=call.usage.completion_tokens)
    metrics.observe(LLM_SECONDS, call.seconds, call.model)


def _count_check(metrics: Metrics, report: CheckReport | None) -> None:
    """What a check in the background found, for `/metrics`."""
    if report is None:
        metrics.add(CHECKS, "failed")
        return
    metrics.add(CHECKS, "clean" if not report.problems else "repaired" if report.ok else "unrepaired")
    for problem in report.problems:
        metrics.add(CHECK_PROBLEMS, problem.kind, by=problem.count)
