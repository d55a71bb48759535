"""Work in threads ends when whoever waits for it leaves."""

from __future__ import annotations

import asyncio
import threading

import duckdb
import pytest

from kedge.core.errors import QueryError
from kedge.core.threads import in_thread, on_stop
from kedge.kinds.tables.plans.execute import _reading


def test_what_runs_in_a_thread_is_told_to_stop() -> None:
    begun, stopped = threading.Event(), threading.Event()

    def work() -> None:
        with on_stop(stopped.set):
            begun.set()
            assert stopped.wait(30)

    async def leave() -> None:
        task = asyncio.create_task(in_thread(work))
        assert await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert stopped.is_set()

    asyncio.run(leave())


def test_without_a_stop_it_is_a_plain_thread() -> None:
    assert asyncio.run(in_thread(lambda: 7)) == 7
    with on_stop(lambda: None):
        pass


@pytest.mark.req("T-01")
def test_a_computation_over_a_table_is_interrupted() -> None:
    """The sum over 10^16 pairs would take days."""
    begun = threading.Event()
    ended: list[BaseException | None] = []

    def compute() -> None:
        try:
            with duckdb.connect() as connection, _reading(connection, 600) as cursor:
                begun.set()
                cursor.execute("SELECT sum(a.range * b.range) FROM range(100000000) a, range(100000000) b").fetchall()
        except QueryError as error:
            ended.append(error)
            raise

    async def leave() -> None:
        task = asyncio.create_task(in_thread(compute))
        assert await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())  # ends only when the thread has
    assert isinstance(ended[0], QueryError)
