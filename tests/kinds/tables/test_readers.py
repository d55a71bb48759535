"""Many readers at once: of one generation, from threads and from processes, and while the next one is published."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from kedge.core.settings import Settings
from kedge.kinds.tables.generation import Generation
from kedge.kinds.tables.sessions import Sessions
from kedge.models.embed.hashed import HashEmbedder
from tests.kinds.tables.conftest import SCOPE, Desk, Run, write_sales
from tests.support.forked import ran_script

READERS = 16
ROUNDS = 10


def sessions(settings: Settings) -> Sessions:
    """The sessions of the home, as another process beside the engine has them."""
    return Sessions(settings.home, alone=False)


def test_the_first_readers_of_a_table_may_come_at_once(run: Run, csv: Path, settings: Settings) -> None:
    run(lambda desk: desk.feed(csv))
    folders = sessions(settings).folders
    state = folders.get(SCOPE)
    folder = folders.generation(SCOPE, state.generation)

    def first(start: Barrier) -> tuple[Generation, Any]:
        start.wait()
        generation = Generation.open(state, folder)
        return generation, generation.cursor().execute("SELECT count(*) FROM rows").fetchall()

    with ThreadPoolExecutor(READERS) as threads:
        for _ in range(ROUNDS):
            start = Barrier(READERS)
            opened = [one.result() for one in [threads.submit(first, start) for _ in range(READERS)]]
            assert {count for _, [(count,)] in opened} == {500}
            for generation, _ in opened:
                generation.close()


READER = """
import asyncio, sys
from pathlib import Path
from kedge.core.values import Scope
from kedge.kinds.tables.sessions import Sessions

async def main():
    async with Sessions(Path(sys.argv[1]), alone=False).reading(Scope("default", "s1")) as generation:
        print(generation.cursor().execute("SELECT count(*) FROM rows").fetchall()[0][0])

asyncio.run(main())
"""


def test_processes_read_one_table(run: Run, csv: Path, settings: Settings) -> None:
    async def scenario(desk: Desk) -> tuple[Any, str]:
        await desk.feed(csv)
        mine = await desk.figure("How many rows are there?")
        other = await asyncio.to_thread(ran_script, READER, str(settings.home))
        return mine, other.stdout.strip()

    assert run(scenario) == (500, "500")


def test_readers_never_miss_a_table_that_is_replaced_meanwhile(run: Run, tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "stock.csv"
    path.write_text("sku,n\nA1,0\nB2,1000\n")

    async def scenario(desk: Desk) -> list[int]:
        await desk.feed(path)
        seen: list[int] = []
        done = asyncio.Event()

        async def read() -> None:
            while not done.is_set():
                theirs = sessions(settings)
                async with theirs.reading(SCOPE) as generation:
                    (low,) = generation.cursor().execute("SELECT min(c1) FROM rows").fetchall()[0]
                    seen.append(low)
                await theirs.close()

        readers = [asyncio.create_task(read()) for _ in range(3)]
        for number in range(1, 13):
            await desk.engine.kinds.named("table").sessions.update(SCOPE, "sku", [{"sku": "A1", "n": number}])
        done.set()
        await asyncio.gather(*readers)
        return seen

    seen = run(scenario)
    assert seen
    assert set(seen) <= set(range(13))


class Counting(HashEmbedder):
    """Counts the texts it is given."""

    texts = 0

    async def embed(self, texts: Sequence[str]) -> Any:
        self.texts += len(texts)
        return await super().embed(texts)


def test_what_was_embedded_stays_known_while_the_table_is_read(run: Run, tmp_path: Path) -> None:
    path = write_sales(tmp_path / "sales.csv", 100)

    async def scenario(desk: Desk) -> tuple[int, int]:
        model = Counting(256)
        desk.engine._keeper._embedders["hash:256"] = model
        await desk.feed(path)
        first, model.texts = model.texts, 0
        async with desk.engine.kinds.named("table").open_sessions.reading(SCOPE):
            write_sales(path, 99)
            await desk.feed(path)
        return first, model.texts

    first, again = run(scenario)
    assert first > 0
    assert again == pytest.approx(0, abs=first // 10)
