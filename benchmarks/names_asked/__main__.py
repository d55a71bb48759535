"""How often what a question names comes among the first three documents: `python -m benchmarks.names_asked`.

The questions (`questions.tsv`) were written over hotpotqa_train100 and the folder `string` of cp_algorithms.
"""

from __future__ import annotations

import asyncio
import csv
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.data import folder
from kedge.core.settings import load_settings
from kedge.core.values import IngestRequest, Query
from kedge.engine.engine import Engine
from kedge.evals.run import SCOPE, documents_of

CACHE = Path(".bench-cache/embeddings.db")
SOURCES = {"hotpotqa_train100": "hotpotqa_train100/corpus.jsonl", "cp_algorithms": "cp_algorithms/src/string"}
FIRST = 3


async def main() -> None:
    with (Path(__file__).parent / "questions.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for name, source in SOURCES.items():
        with tempfile.TemporaryDirectory() as home:
            async with Engine.open(load_settings(home=Path(home), embed_cache=CACHE)) as engine:
                await engine.ingest(IngestRequest(SCOPE, (str(folder(name).parent / source),)))
                for row in (row for row in rows if row["set"] == name):
                    found = documents_of(await engine.rank(Query(row["question"], SCOPE), 20))
                    hit = row["gold"] in [one.rpartition("/")[2] for one in found[:FIRST]]
                    asked[row["kind"]] += 1
                    right[row["kind"]] += hit
                    if not hit:
                        print(f"missed: {row['kind']}: {row['question']}")
    for kind, number in asked.items():
        print(f"{kind}: {right[kind]} of {number}")
    print(f"all: {right.total()} of {asked.total()}")


if __name__ == "__main__":
    asyncio.run(main())
