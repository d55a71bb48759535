"""A line: so many at once, the others tenant by tenant, and nobody waits longer than may be."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.core.errors import OverloadedError
from kedge.core.line import WaitingLine


class Clock:
    """A clock that is turned by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.integers(1, 4))
def test_each_works_once_and_never_more_than_the_places(tenants: list[str], places: int) -> None:
    async def scenario() -> None:
        line, working, most, done = WaitingLine(places), 0, 0, Counter[str]()

        async def work(tenant: str) -> None:
            nonlocal working, most
            async with line.place(tenant):
                working += 1
                most = max(most, working)
                await asyncio.sleep(0)
                working -= 1
                done[tenant] += 1

        await asyncio.gather(*map(work, tenants))
        assert done == Counter(tenants)
        assert most == min(places, len(tenants))
        async with line.place("a"):  # all places are free again
            pass

    asyncio.run(scenario())


def test_a_tenant_with_one_question_does_not_wait_for_all_of_another() -> None:
    async def scenario() -> list[str]:
        line, order = WaitingLine(1), []

        async def work(tenant: str) -> None:
            async with line.place(tenant):
                order.append(tenant)
                await asyncio.sleep(0)

        many = [asyncio.create_task(work("many")) for _ in range(6)]
        await settle()
        one = asyncio.create_task(work("one"))
        await asyncio.gather(*many, one)
        return order

    order = asyncio.run(scenario())
    assert order.index("one") <= 5
    assert Counter(order) == {"many": 6, "one": 1}


def test_who_comes_after_a_tenant_with_many_is_next_but_one() -> None:
    async def scenario() -> list[str]:
        line, order, go = WaitingLine(1), [], asyncio.Event()

        async def work(tenant: str) -> None:
            async with line.place(tenant):
                order.append(tenant)
                await go.wait()

        tasks = [asyncio.create_task(work("many")) for _ in range(6)]
        await settle()
        tasks.append(asyncio.create_task(work("one")))
        await settle()
        go.set()
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(scenario())[:3] == ["many", "many", "one"]


def test_who_would_wait_too_long_is_refused_at_once_with_a_time_to_come_back() -> None:
    async def scenario() -> None:
        clock = Clock()
        line, go = WaitingLine(1, longest=5.0, clock=clock), asyncio.Event()
        async with line.place("a"):
            clock.now += 4.0  # one takes four seconds

        async def work() -> None:
            async with line.place("a"):
                await go.wait()

        tasks = [asyncio.create_task(work()) for _ in range(2)]
        await settle()
        with pytest.raises(OverloadedError) as refused:  # two before it: eight seconds
            async with line.place("a"):
                pass
        assert refused.value.details["retry_after"] == 3
        assert refused.value.status == 503
        go.set()
        await asyncio.gather(*tasks)

    asyncio.run(scenario())


class HandLoop(asyncio.SelectorEventLoop):
    """A loop whose time is turned by hand."""

    now = 0.0

    def time(self) -> float:
        return self.now


def test_who_was_let_in_may_wait_longer_than_was_expected_but_not_for_ever() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, HandLoop)
        line, go = WaitingLine(1, longest=5.0, clock=loop.time), asyncio.Event()

        async def work() -> None:
            async with line.place("a"):
                await go.wait()

        first, second = asyncio.create_task(work()), asyncio.create_task(work())
        await settle()
        loop.now = 9.0
        await settle()
        assert not second.done()
        loop.now = 10.5
        await settle()
        with pytest.raises(OverloadedError):
            await second
        go.set()
        await first

    with asyncio.Runner(loop_factory=HandLoop) as runner:
        runner.run(scenario())


def test_who_did_wait_too_long_is_refused_and_leaves_its_place_to_others() -> None:
    async def scenario() -> None:
        line, go = WaitingLine(1, longest=0.01), asyncio.Event()

        async def work() -> None:
            async with line.place("a"):
                await go.wait()

        first = asyncio.create_task(work())
        await settle()
        with pytest.raises(OverloadedError):
            async with line.place("b"):
                pass
        go.set()
        await first
        async with line.place("b"):
            pass

    asyncio.run(scenario())


def test_who_gives_up_while_it_waits_takes_nobodys_place() -> None:
    async def scenario() -> None:
        line, go = WaitingLine(1), asyncio.Event()

        async def work() -> None:
            async with line.place("a"):
                await go.wait()

        tasks = [asyncio.create_task(work()) for _ in range(3)]
        await settle()
        tasks[1].cancel()
        await settle()
        go.set()
        assert [isinstance(one, BaseException) for one in await asyncio.gather(*tasks, return_exceptions=True)] == [
            False,
            True,
            False,
        ]
        async with line.place("a"):
            pass

    asyncio.run(scenario())


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), min_size=2, max_size=20), st.integers(1, 3))
def test_no_place_is_lost_when_some_give_up_as_a_place_is_given(tasks: list[tuple[str, bool]], places: int) -> None:
    async def scenario() -> None:
        line, go, done = WaitingLine(places), asyncio.Event(), 0

        async def work(tenant: str) -> None:
            nonlocal done
            async with line.place(tenant):
                await go.wait()
                done += 1

        running = [asyncio.create_task(work(tenant)) for tenant, _ in tasks]
        await settle()
        for task, (_, gives_up) in zip(running, tasks, strict=True):
            if gives_up:
                task.cancel()
        go.set()  # in the same moment
        found = await asyncio.gather(*running, return_exceptions=True)
        assert [isinstance(one, asyncio.CancelledError) for one in found] == [gives_up for _, gives_up in tasks]
        assert done == sum(not gives_up for _, gives_up in tasks)
        async with asyncio.timeout(60), line.place("a"):
            pass

    asyncio.run(scenario())
