"""Files that hold graphs: each is read as nodes and edges, twice if need be, and never whole if it can be avoided."""

from __future__ import annotations

from pathlib import Path

from kedge.core.errors import UnsupportedFormatError
from kedge.kinds.graphs.files import cypher, tables, trees
from kedge.kinds.graphs.files.graph_file import GraphFile


def open_graph_file(path: Path, name: str, root: Path | None = None) -> GraphFile:
    """Tell the format from the name and the first line. SourceFault for what is no graph.

    `root` is the folder that a script may read other files from.
    """
    suffix = Path(name).suffix.lower()
    if suffix in (".json", ".jsonl", ".ndjson"):
        return trees.open_json(path, name, lines=suffix != ".json")
    if suffix in (".cypher", ".cql", ".cyp"):
        return cypher.open_script(path, name, root or path.parent)
    if suffix in (".csv", ".tsv", ".tab", ".txt", ".nt", ".triples", ""):
        return tables.open_table(path, name)
    raise UnsupportedFormatError(
        f"{name} is in no format that holds a graph.",
        hint="CSV and TSV (nodes, edges or triples), JSON, JSONL and Cypher scripts are read; docs/how-to/graphs.md.",
    )
