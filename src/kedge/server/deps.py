"""What routes need from the app and the request. The tenant is decided here and nowhere else."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request

from kedge.config import Settings
from kedge.engine import Engine
from kedge.errors import UsageError
from kedge.telemetry import Metrics
from kedge.types import DEFAULT_TENANT


def engine_of(request: Request) -> Engine:
    """The engine that the app's lifespan opened."""
    engine: Engine = request.app.state.engine
    return engine


def settings_of(request: Request) -> Settings:
    """The app's settings."""
    settings: Settings = request.app.state.settings
    return settings


def metrics_of(request: Request) -> Metrics:
    """The app's metrics."""
    metrics: Metrics = request.app.state.metrics
    return metrics


def tenant_of(request: Request) -> str:  # noqa: ARG001 (credentials will be read from it)
    """Whose data: bound to the caller's credentials, never to a field of the request."""
    return DEFAULT_TENANT


def own_origin(request: Request) -> None:
    """Refuse what another site's page sends through the user's browser: it could write into a local server."""
    origin = request.headers.get("origin")
    if origin and urlsplit(origin).netloc != request.headers.get("host"):
        raise UsageError(
            f"Requests from pages of {origin} are not accepted.", hint="Call the API from your own server."
        )


def local_paths_allowed(request: Request, settings: Settings) -> bool:
    """May this request name files of the server's machine? Only the single user on the machine itself may."""
    client = request.client.host if request.client else ""
    named = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    return all(map(is_loopback, (settings.host, client, named)))


def is_loopback(host: str) -> bool:
    """Is this a name or address of the machine itself?"""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


EngineDep = Annotated[Engine, Depends(engine_of)]
SettingsDep = Annotated[Settings, Depends(settings_of)]
MetricsDep = Annotated[Metrics, Depends(metrics_of)]
TenantDep = Annotated[str, Depends(tenant_of)]
