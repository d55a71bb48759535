"""`kedge analytics show|sweep|erase`. These open the catalog alone, so they also work beside a running server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from kedge.answer.conversation.turns import open_turns
from kedge.answer.record import Recorder
from kedge.core.outside import to_json
from kedge.core.values import DEFAULT_TENANT, Erased, Json, Swept
from kedge.engine.figures import query_figures
from kedge.engine.home import Home
from kedge.engine.retention import Retention
from kedge.stores.catalog.ports import Catalog
from kedge.surfaces.cli.cataloged import with_catalog
from kedge.surfaces.cli.common import CommandRun, command
from kedge.surfaces.cli.tables import plain_table

if TYPE_CHECKING:
    from kedge.core.settings import Settings

app = typer.Typer(no_args_is_help=True)
TenantOption = Annotated[str, typer.Option(help="Whose queries.")]


@command(app, "show")
def show(
    run: CommandRun,
    tenant: TenantOption = DEFAULT_TENANT,
    days: Annotated[float, typer.Option(min=0.01, help="Days that the most frequent questions are told of.")] = 7.0,
    top: Annotated[int, typer.Option(min=0, max=100, help="How many of them.")] = 10,
) -> None:
    """Show counts and mean times of the queries that are kept, and the most frequent questions."""
    since = datetime.now(UTC) - timedelta(days=days)
    found = with_catalog(run.settings(), lambda catalog: query_figures(catalog, tenant, since, top))
    if run.json:
        run.emit(to_json(found))
        return
    table = plain_table("figure", "value")
    for name, value in to_json(found).items():
        if name != "top_queries":
            table.add_row(name.replace("_", " "), _shown(value))
    run.out.print(table)
    if found.top_queries:
        table = plain_table("question", "count", "refused", "mean ms")
        for one in found.top_queries:
            figures = (one.count, one.refusal_share, one.mean_execution_time_ms)
            table.add_row(one.words or one.query_hash[:12], *map(_shown, figures))
        run.out.print(table)


@command(app, "sweep")
def sweep(run: CommandRun) -> None:
    """Forget queries older than `analytics_days` now; servers and workers do it every hour."""
    settings = run.settings()
    swept = with_catalog(settings, lambda catalog: _retention(settings, catalog).sweep())
    if run.json:
        run.emit(to_json(Swept(swept)))
    else:
        run.out.print(f"{swept} queries older than {settings.analytics_days:g} days forgotten", markup=False)


@command(app, "erase")
def erase(
    run: CommandRun,
    user: Annotated[str, typer.Option(help="Who: the id of a key (`kedge key list`), or `local`.")],
    tenant: TenantOption = DEFAULT_TENANT,
) -> None:
    """Erase what is kept of a user: queries, metrics, feedback, sessions, conversations and what was said in them."""
    settings = run.settings()
    home = Home(settings.home)
    home.path.mkdir(parents=True, exist_ok=True)

    async def work(catalog: Catalog) -> Erased:
        hashed = Recorder(catalog.analytics, home.key(), settings.threshold).hashed(user)
        return await _retention(settings, catalog).erase(tenant, hashed)

    erased = with_catalog(settings, work)
    if run.json:
        run.emit(to_json(erased))
        return
    told = f"{erased.queries} queries and {erased.sessions} sessions of {user} erased"
    run.out.print(f"{told}, and {erased.conversations} kept conversations", markup=False)
    if settings.session_keep == "memory":
        run.note(
            f"What a running server remembers of conversations goes {settings.session_minutes:g} minutes after their "
            "last question, or at once with DELETE /api/analytics/users/{user}."
        )


def _shown(value: Json) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {count}" for name, count in value.items()) or "-"
    return f"{value:.1f}" if isinstance(value, float) else "-" if value is None else str(value)


def _retention(settings: Settings, catalog: Catalog) -> Retention:
    return Retention(
        catalog, settings.analytics_days, open_turns(settings), conversation_days=settings.conversation_days
    )
