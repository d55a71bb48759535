"""Forgetting: what is kept of queries and conversations goes after its time, or with the user who asked."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta

from kedge.answer.conversation.turns import Turns
from kedge.core.errors import KedgeError
from kedge.core.values import Erased
from kedge.stores.catalog.ports import CanKeepConversations, Catalog

log = logging.getLogger(__name__)

EVERY_SECONDS = 3600.0


class Retention:
    """Forgets by the clock and by user."""

    def __init__(
        self,
        catalog: Catalog,
        days: float,
        turns: Turns | None = None,
        *,
        conversation_days: float = 0,
        audit_days: float = 0,
    ) -> None:
        """`days`, `conversation_days` and `audit_days` as the settings have them; 0 sweeps nothing."""
        self._analytics = catalog.analytics
        self._conversations = catalog.conversations if isinstance(catalog, CanKeepConversations) else None
        self._audit = catalog.audit
        self._audit_days = audit_days
        self._days = days
        self._conversation_days = conversation_days if self._conversations is not None else 0
        self._turns = turns

    async def sweep(self) -> int:
        """Forget queries, conversations and audit entries older than the settings; returns how many queries."""
        if self._conversations is not None and self._conversation_days:
            await self._conversations.sweep(_ago(self._conversation_days))
        if self._audit_days:
            await self._audit.sweep(_ago(self._audit_days))
        return await self._analytics.sweep(_ago(self._days)) if self._days else 0

    async def erase(self, tenant: str, user_hash: str) -> Erased:
        """Forget a user of the tenant: queries, metrics, feedback, sessions, conversations, and what they said."""
        queries, sessions = await self._analytics.erase(tenant, user_hash)
        kept = [] if self._conversations is None else await self._conversations.delete(tenant, user_hash)
        if self._turns is not None:
            for session in {*sessions, *kept}:
                await self._turns.forget(tenant, session)
        return Erased(queries, len(sessions), len(kept))

    async def run(self) -> None:
        """Sweep now and every hour, until cancelled."""
        while self._days or self._conversation_days or self._audit_days:
            try:
                swept = await self.sweep()
                if swept:
                    log.info("forgot %d queries older than %g days", swept, self._days)
            except KedgeError as error:
                log.warning("old queries could not be forgotten: %s", error)
            await asyncio.sleep(EVERY_SECONDS)


def _ago(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)
