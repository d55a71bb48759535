"""Questions that a graph does not say, questions that a node's text says, and questions that its paths say.

    python -m benchmarks.graph_asked [--data FOLDER] [--show] [--only GRAPH ...] [--embedder NAME]

The questions are in `graph_asked_data/questions.jsonl`. `absent`: the entity is in the graph, the relation is not; a
refusal is right. `text`: the description of one node answers; right is that node cited first. `path`: an edge or a
property answers. Two graphs lie beside the questions; the others are those of `benchmarks.kgqa` and Northwind, left out
without `--data`, the folder that holds `kgqa` and `northwind`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from kedge import Kedge

OWN = Path(__file__).parent / "graph_asked_data"
FILES = {
    "peaks": ("peaks_nodes.csv", "peaks_edges.csv"),
    "tools": ("tools_nodes.csv", "tools_edges.csv"),
    "pq2h": ("kgqa/pq2h_kb.tsv",),
    "wc2014": ("kgqa/wc2014_kb.tsv",),
    "northwind": ("northwind/northwind.cypher",),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with kgqa and northwind")
    parser.add_argument("--show", action="store_true", help="print every wrong answer")
    parser.add_argument("--only", nargs="*", help="these graphs alone")
    parser.add_argument("--embedder", default="minilm")
    options = parser.parse_args()
    questions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (OWN / "questions.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        questions[row["graph"]].append(row)
    figures: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as home, Kedge(home, embedder=options.embedder) as kedge:
        for graph, rows in questions.items():
            files = _files(graph, options.data)
            if not files or (options.only and graph not in options.only):
                continue
            kedge.ingest(*files, kind="graph", collection=graph)
            for row in rows:
                _count(kedge, row, figures[row["kind"]], options.show)
    print(json.dumps(figures, indent=2))


def _files(graph: str, data: Path | None) -> list[Path]:
    folder = OWN if (OWN / FILES[graph][0]).exists() else data
    return [] if folder is None else [folder / name for name in FILES[graph]]


def _count(kedge: Kedge, row: dict[str, Any], counted: Counter[str], show: bool) -> None:
    answer = kedge.ask(row["text"], collection=row["graph"])
    first = {answer.citations[0].url.removeprefix("node:"), answer.citations[0].title} if answer.citations else set()
    wanted = row.get("answer", "")
    right = answer.refused if row["kind"] == "absent" else wanted in first
    counted["questions"] += 1
    counted["right"] += right
    counted["refused"] += answer.refused
    counted[f"wrong, {answer.confidence}"] += not right
    if show and not right:
        print(f"{row['kind']} {row['text']} → {answer.confidence} {answer.answer[:140]!r} ({wanted or 'refusal'})")


if __name__ == "__main__":
    main()
