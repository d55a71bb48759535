"""`/mcp`: the tools and resources of `kedge mcp` over streamable HTTP, for the caller that the credential names.

Every request stands alone: no session is kept, so that any process behind a balancer can answer. The SDK is loaded with
the first request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from kedge.core.errors import MissingExtraError
from kedge.core.values import Right
from kedge.engine.engine import Engine
from kedge.surfaces.server.deps import CallerDep, SettingsDep, TenantDep, allowed, local_paths_allowed
from kedge.surfaces.server.routes.ingest import check_sources
from kedge.surfaces.server.within import spend

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

router = APIRouter()


class Agents:
    """The SDK's part of a server, once somebody wants it."""

    def __init__(self) -> None:
        self._running: asyncio.Task[None] | None = None
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._over = asyncio.Event()

    async def manager(self, engine: Engine) -> StreamableHTTPSessionManager:
        """What handles requests. MissingExtraError."""
        if self._manager is None:
            self._manager = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(engine, self._manager))
        return await asyncio.shield(self._manager)

    async def close(self) -> None:
        """End what runs."""
        self._over.set()
        if self._running is not None:
            await self._running

    async def _run(self, engine: Engine, ready: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        """One task from beginning to end, as the SDK's task group wants it."""
        try:
            from mcp.server.transport_security import TransportSecuritySettings

            from kedge.surfaces.mcp.server import mcp_server
        except ImportError as error:
            self._manager = None
            ready.set_exception(MissingExtraError("/mcp", "mcp"))
            if (error.name or "").startswith("kedge"):
                raise
            return
        server = mcp_server(engine, lambda request: request.state.agent)
        checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # `guard` and `own_origin` did
        server.streamable_http_app(stateless_http=True, transport_security=checked)
        async with server.session_manager.run():
            ready.set_result(server.session_manager)
            await self._over.wait()


class _Handed(Response):
    """Answered by the SDK."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        super().__init__()
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


@router.post("/mcp", include_in_schema=False)
async def mcp(request: Request, caller: CallerDep, tenant: TenantDep, settings: SettingsDep) -> Response:
    """A message of the Model Context Protocol."""
    spend(request, caller, writes=False)

    def may_take_in(sources: Sequence[str]) -> None:
        allowed(caller, Right.WRITE)
        spend(request, caller, writes=True)
        check_sources(sources, paths_allowed=local_paths_allowed(request, settings, caller))

    agents: Agents = request.app.state.agents
    manager = await agents.manager(request.app.state.engine)
    from kedge.surfaces.mcp.server import AgentUser

    request.state.agent = AgentUser(tenant, caller.key_id or "local", caller.actor, may_take_in)
    return _Handed(manager)
