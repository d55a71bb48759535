"""Pack the questions for the reader: `python -m benchmarks.asked --sources FOLDER --out asked.jsonl.xz`.

FOLDER holds one folder for each collection, laid out by `python -m benchmarks.asked.sources`. Each is taken in, each
question asked of it, and what is found written as windows of statements. The documents that are held out for the
judge are left out unless `--held-out` asks for them alone. Some minutes; nothing is embedded.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import sys
import tempfile
from pathlib import Path

from benchmarks.asked.questions import HELD_OUT, PARTLY_HELD_OUT, collections, is_held_out, questions
from benchmarks.asked.windows import PassageIndex, windows
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Scope
from kedge.engine.engine import Engine


async def indexed(engine: Engine, scope: Scope, folder: Path, *, held_out: bool) -> PassageIndex:
    """The passages of those documents of a collection, taken in from a folder, that are held out or that are not."""
    found = []
    for document in await engine.documents(scope, limit=1000):
        path = Path(document.url.removeprefix("file://")).relative_to(folder).as_posix()
        if is_held_out(scope.collection, path) != held_out:
            continue
        _, passages = await engine.document(DEFAULT_TENANT, document.id)
        found += [(path, passage) for passage in passages]
    return PassageIndex(found)


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.asked", description=__doc__)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("collections", nargs="*", help="only these")
    given = parser.parse_args()
    those = (*HELD_OUT, *PARTLY_HELD_OUT) if given.held_out else set(collections()) - set(HELD_OUT)
    wanted = sorted(those)
    wanted = [name for name in wanted if not given.collections or name in given.collections]
    missing = [name for name in wanted if not (given.sources / name).is_dir()]
    if missing:
        sys.exit(
            f"Not below {given.sources}: {', '.join(missing)}. `python -m benchmarks.asked.sources` lays them out."
        )
    count = 0
    with (
        tempfile.TemporaryDirectory(prefix="kedge-asked-") as home,
        lzma.open(given.out, "wt", encoding="utf-8") as out,
    ):
        async with Engine.open(load_settings(home=Path(home), embedder="hash")) as engine:
            for name in wanted:
                scope, folder = Scope(DEFAULT_TENANT, name), (given.sources / name).resolve()
                await engine.ingest(IngestRequest(scope, (str(folder),)))
                index = await indexed(engine, scope, folder, held_out=given.held_out)
                asked = [one for one in questions(name) if is_held_out(name, one.evidence.document) == given.held_out]
                async for window in windows(engine, name, index, asked):
                    out.write(json.dumps(window, ensure_ascii=False) + "\n")
                    count += 1
                print(f"{name}: {count} windows in all", file=sys.stderr, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
