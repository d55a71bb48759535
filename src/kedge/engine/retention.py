"""Forgetting: what the analytics tables keep of queries goes after its time, or with the user who asked them."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta

from kedge.answer.conversation.turns import Turns
from kedge.core.errors import KedgeError
from kedge.core.values import Erased
from kedge.stores.catalog.ports import Analytics

log = logging.getLogger(__name__)

EVERY_SECONDS = 3600.0


class Retention:
    """Forgets by the clock and by user."""

    def __init__(self, analytics: Analytics, days: float, turns: Turns | None = None) -> None:
        self._analytics = analytics
        self._days = days
        self._turns = turns

    async def sweep(self) -> int:
        """Forget queries older than the setting; returns how many."""
        if not self._days:
            return 0
        return await self._analytics.sweep(datetime.now(UTC) - timedelta(days=self._days))

    async def erase(self, tenant: str, user_hash: str) -> Erased:
        """Forget a user of the tenant: queries, metrics, feedback, sessions, and what they said in them."""
        queries, sessions = await self._analytics.erase(tenant, user_hash)
        if self._turns is not None:
            for session in sessions:
                await self._turns.forget((tenant, session))
        return Erased(queries, len(sessions))

    async def run(self) -> None:
        """Sweep now and every hour, until cancelled."""
        while self._days:
            try:
                swept = await self.sweep()
                if swept:
                    log.info("forgot %d queries older than %g days", swept, self._days)
            except KedgeError as error:
                log.warning("old queries could not be forgotten: %s", error)
            await asyncio.sleep(EVERY_SECONDS)
