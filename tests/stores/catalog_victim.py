"""Lives through `kedge.testing.catalog.sample.life` once per statement, and dies (SIGKILL) at that statement.

Called with a folder; writes `<n>.db` and prints `n acknowledged-steps` for each, then `done` when a life was completed.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path

from sqlalchemy import event

from kedge.core.settings import Settings
from kedge.stores.catalog.sql.catalog import open_catalog
from kedge.testing.catalog.sample import life


async def live(file: Path, die_at: int, pipe: int) -> None:
    catalog = open_catalog(f"sqlite:///{file}", Settings())
    statements = 0

    def count(*_: object) -> None:
        nonlocal statements
        statements += 1
        if statements == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    engine = catalog._database._engine
    event.listen(engine, "after_cursor_execute", count)
    event.listen(engine, "commit", count)
    for step in life():
        await step(catalog)
        os.write(pipe, b".")
    os.write(pipe, b"!")


def child(file: Path, die_at: int) -> bytes:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        asyncio.run(live(file, die_at, writing))
        os._exit(0)
    os.close(writing)
    os.waitpid(pid, 0)
    said = os.read(reading, 1000)
    os.close(reading)
    return said


def main(folder: Path, stride: int) -> None:
    template = folder / "template.db"
    asyncio.run(open_catalog(f"sqlite:///{template}", Settings()).close())
    die_at, said = 1, b""
    while not said.endswith(b"!"):
        file = folder / f"{die_at}.db"
        shutil.copy(template, file)
        said = child(file, die_at)
        sys.stdout.write(f"{die_at} {said.count(b'.')}\n")
        die_at += stride
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
