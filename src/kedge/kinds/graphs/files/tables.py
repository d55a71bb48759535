"""Graphs in tables: files of nodes, of edges and of triples, told apart by their header; Neo4j's headers too."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kedge.core.errors import EmptySourceError, EncodingError, SourceFault, UnreadableError
from kedge.core.values import Json
from kedge.ingest.sources.source import unreadable
from kedge.kinds.graphs.files.graph_file import GraphFile
from kedge.kinds.graphs.files.values import edge_id, property_value, split_list
from kedge.stores.graph.nodes import Edge, Node

SAMPLE_LINES = 50
RELATED = "related to"
"""Type of the edges of a file that names none."""
ID = frozenset(("id", "node_id", "nodeid", "_id", ":id", "uuid", "key"))
TYPE = frozenset(("type", "label", "labels", "node_type", "nodetype", ":label", "kind", "category"))
TITLE = frozenset(("title", "name", "node_title"))
DESCRIPTION = frozenset(("description", "text", "content", "summary", "abstract"))
ALIASES = frozenset(("aliases", "alias", "also_known_as", "synonyms"))
SOURCE = frozenset(
    ("source", "src", "from", "start", "subject", "subj", "head", "h", "source_id", "from_id", ":start_id")
)
TARGET = frozenset(
    ("target", "dst", "dest", "to", "end", "object", "obj", "tail", "t", "target_id", "to_id", ":end_id")
)
RELATION = frozenset(
    ("relation", "relationship", "predicate", "pred", "rel", "r", "edge", "type", "edge_type", "label", ":type")
)


@dataclass(frozen=True, slots=True)
class Layout:
    """What the columns of a table are."""

    kind: Literal["nodes", "edges"]
    delimiter: str
    quoted: bool
    header: tuple[str, ...] | None
    """None: triples, or pairs, from the first line on."""
    columns: Mapping[str, int]
    """id, type, title, description, aliases; or source, target, relation, id."""


def open_table(path: Path, name: str) -> GraphFile:
    """Read the first lines and decide. SourceFault when there is nothing to read."""
    layout = _layout(_sample(path, name), name)
    if layout.kind == "nodes":
        return GraphFile(lambda: _nodes(path, name, layout), lambda: iter(()))
    return GraphFile(lambda: iter(()), lambda: _edges(path, name, layout))


def rows(path: Path, name: str, delimiter: str = ",", *, quoted: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Numbered rows that are not empty."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    try:
        with path.open("r", encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines, delimiter=delimiter, quoting=quoting)
            for row in reader:
                if any(cell.strip() for cell in row):
                    yield reader.line_num, [cell.strip() for cell in row]
    except UnicodeDecodeError as error:
        raise EncodingError(f"{name} is not UTF-8.", hint="Save the file as UTF-8.") from error
    except csv.Error as error:
        raise UnreadableError(f"{name} cannot be read as a table: {error}.", hint="Check its quotes.") from error
    except OSError as error:
        raise unreadable(name, error) from error


def _sample(path: Path, name: str) -> list[str]:
    try:
        with path.open("r", encoding="utf-8-sig", newline=None) as lines:
            found = [line.rstrip("\n") for _, line in zip(range(SAMPLE_LINES), lines, strict=False) if line.strip()]
    except UnicodeDecodeError as error:
        raise EncodingError(f"{name} is not UTF-8.", hint="Save the file as UTF-8.") from error
    except OSError as error:
        raise unreadable(name, error) from error
    if not found:
        raise EmptySourceError(f"{name} holds no rows.", hint="Fill it or leave it out.")
    return found


def _layout(sample: Sequence[str], name: str) -> Layout:
    delimiter = _delimiter(sample, name)
    quoted = delimiter in ",;"
    first = next(csv.reader([sample[0]], delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE))
    header = [cell.strip() for cell in first]
    names = [_plain(cell) for cell in header]
    source, target = _place(names, SOURCE), _place(names, TARGET)
    if source is not None and target is not None:
        taken = {source, target}
        relation = next((at for at, cell in enumerate(names) if cell in RELATION and at not in taken), None)
        columns = {"source": source, "target": target}
        if relation is not None:
            columns["relation"] = relation
        own = next((at for at, cell in enumerate(names) if cell in ID and at not in taken), None)
        return Layout("edges", delimiter, quoted, tuple(header), columns | ({"id": own} if own is not None else {}))
    own = _own_id(names)
    if own is not None:
        columns = {"id": own}
        for field, known in (("type", TYPE), ("title", TITLE), ("description", DESCRIPTION), ("aliases", ALIASES)):
            place = next((at for at, cell in enumerate(names) if cell in known and at != own), None)
            if place is not None:
                columns[field] = place
        return Layout("nodes", delimiter, quoted, tuple(header), columns)
    if len(header) in (2, 3):
        columns = {"source": 0, "target": len(header) - 1} | ({"relation": 1} if len(header) == 3 else {})
        return Layout("edges", delimiter, quoted, None, columns)
    raise UnreadableError(
        f"{name} has neither an id column nor columns for source and target.",
        hint="Name the columns `id,type,title,…` (nodes) or `source,type,target,…` (edges), or write 3 columns.",
    )


def _delimiter(sample: Sequence[str], name: str) -> str:
    """The one that parts all lines into the same number of cells; by the name of the file if several do."""
    first = "\t" if Path(name).suffix.lower() in (".tsv", ".tab") else ","
    candidates = (first, *(one for one in ("\t", "|", ",", ";") if one != first))
    if Path(name).suffix.lower() not in (".csv", ".tsv", ".tab"):
        candidates = ("\t", "|", ";", ",")
    for candidate in candidates:
        if all(candidate in line for line in sample):
            return candidate
    return max(candidates, key=lambda one: sum(one in line for line in sample))


def _plain(cell: str) -> str:
    """A header's name in lower case; of Neo4j's `name:TYPE(group)` the name, or `:type` where there is none."""
    bare = cell.strip().strip('"').lower().partition("(")[0]
    if ":" not in bare:
        return bare.replace(" ", "_")
    field, _, kind = bare.partition(":")
    return f":{kind}" if kind in ("id", "label", "start_id", "end_id", "type") else field.replace(" ", "_")


def _place(names: Sequence[str], known: frozenset[str]) -> int | None:
    return next((at for at, name in enumerate(names) if name in known), None)


def _own_id(names: Sequence[str]) -> int | None:
    """The id column: one that is called so, or the first if it ends in `id` and others do not look like triples."""
    place = _place(names, ID)
    if place is None and len(names) > 1 and names[0].endswith("id") and names[0] != "id":
        return 0
    return place


def _nodes(path: Path, name: str, layout: Layout) -> Iterator[Node | SourceFault]:
    header = layout.header or ()
    own = {layout.columns[field] for field in layout.columns}
    table_type = Path(name).stem if "type" not in layout.columns else ""
    for number, row in _body(path, name, layout):
        cell = {field: row[at] if at < len(row) else "" for field, at in layout.columns.items()}
        if not cell["id"]:
            yield UnreadableError(f"Line {number} of {name} has no id.", hint="Give every node its own id.")
            continue
        rest = {header[at]: value for at, value in enumerate(row) if at < len(header) and at not in own}
        yield Node(
            id=cell["id"],
            type=split_list(cell.get("type", ""))[0] if cell.get("type") else table_type,
            title=cell.get("title") or _title(rest) or cell["id"],
            description=cell.get("description", ""),
            aliases=tuple(split_list(cell.get("aliases", ""))),
            properties=_properties(rest),
        )


def _title(rest: Mapping[str, str]) -> str:
    """A column that ends in `name` or `title`: `companyName`."""
    for column, value in rest.items():
        if value and _plain(column).endswith(("name", "title")):
            return value
    return ""


def _edges(path: Path, name: str, layout: Layout) -> Iterator[Edge | SourceFault]:
    own = set(layout.columns.values())
    header = layout.header or ()
    for number, row in _body(path, name, layout):
        cell = {field: row[at] if at < len(row) else "" for field, at in layout.columns.items()}
        if not cell["source"] or not cell["target"] or ("relation" in cell and not cell["relation"]):
            yield UnreadableError(
                f"Line {number} of {name} is no triple: {' | '.join(row)[:80]}",
                hint="Each line needs a subject, a relation and an object.",
            )
            continue
        type = cell.get("relation") or RELATED
        rest = _properties({header[at]: value for at, value in enumerate(row) if at < len(header) and at not in own})
        key = cell.get("id") or edge_id(cell["source"], type, cell["target"])
        yield Edge(key, cell["source"], cell["target"], type, rest)


def _body(path: Path, name: str, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    found = rows(path, name, layout.delimiter, quoted=layout.quoted)
    if layout.header is not None:
        next(found, None)
    elif layout.delimiter in ("\t", "|"):
        width = len(layout.columns)
        for number, row in found:
            # More cells than a triple has: the object holds the delimiter itself.
            yield number, row if len(row) <= width else [*row[: width - 1], layout.delimiter.join(row[width - 1 :])]
        return
    yield from found


def _properties(cells: Mapping[str, str]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for column, value in cells.items():
        field, _, kind = column.partition(":")
        if value != "" and value.upper() != "NULL" and field:
            found[field] = property_value(value, kind.lower())
    return found
