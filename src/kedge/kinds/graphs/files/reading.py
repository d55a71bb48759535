"""Files that hold graphs: each is read as nodes and edges, twice if need be, and never whole if it can be avoided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kedge.core.errors import SourceFault, UnsupportedFormatError
from kedge.stores.graph.nodes import Edge, Node

Rows = Callable[[], Iterator[Node | Edge | SourceFault]]


@dataclass(frozen=True, slots=True)
class GraphFile:
    """A file that could be opened. Edges may name nodes that nothing describes: those are made, named by their id."""

    nodes: Rows
    """Every node that the file describes, and what is wrong with others."""
    edges: Rows
    """Every edge, and what is wrong with others. Faults are told by one of the two only."""


def open_graph_file(path: Path, name: str, root: Path | None = None) -> GraphFile:
    """Tell the format from the name and the first line. SourceFault for what is no graph.

    `root` is the folder that a script may read other files from.
    """
    from kedge.kinds.graphs.files import cypher, tables, trees

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
