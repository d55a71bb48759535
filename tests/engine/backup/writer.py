"""Takes the same documents in, changes and deletes them, for ever; a line for every round. Started by test_load.py."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from kedge.core.values import IngestRequest
from kedge.engine.engine import Engine
from tests.engine.backup.made import SEA, settings_of

DOCUMENTS, SECTIONS = 6, 12


def text_of(number: int, round_: int) -> str:
    """A document of many passages that all name the round it was written in."""
    parts = [
        f"## Part {part}\n\n" + f"Round {round_} of document {number} part {part}. " * 12 for part in range(SECTIONS)
    ]
    return f"# Document {number}\n\n" + "\n\n".join(parts) + "\n"


async def main(home: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    async with Engine.open(settings_of(home)) as engine:
        round_ = 0
        while True:
            for number in range(DOCUMENTS):
                (folder / f"{number}.md").write_text(text_of(number, round_), "utf-8")
            await engine.ingest(IngestRequest(SEA, (str(folder),)))
            gone = (await engine.documents(SEA))[round_ % DOCUMENTS]
            await engine.delete_document(SEA.tenant, gone.id)
            round_ += 1
            print(round_, flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
