"""Graphs in JSON: one object with `nodes` and `edges`, or one node or relationship per line (also Neo4j's export)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kedge.core.errors import SourceFault, UnreadableError
from kedge.core.values import Json
from kedge.ingest.sources.json_text import numbered_lines, read_json
from kedge.ingest.sources.source import unreadable
from kedge.kinds.graphs.files.graph_file import GraphFile
from kedge.kinds.graphs.files.values import edge_id
from kedge.stores.graph.nodes import Edge, Node

_NODES = ("nodes", "vertices", "entities")
_EDGES = ("edges", "relationships", "relations", "links", "triples")
_NODE_OWN = frozenset("id _id type label labels title name description aliases properties".split())
_EDGE_OWN = frozenset(
    "id _id source target start end from to type label relation predicate properties subject object".split()
)


def open_json(path: Path, name: str, *, lines: bool) -> GraphFile:
    """A file of either form. SourceFault when it is neither."""
    if lines:
        return GraphFile(
            lambda: (row for row in _lines(path, name) if not isinstance(row, Edge)),
            lambda: (row for row in _lines(path, name) if isinstance(row, Edge)),
        )
    held = _whole(path, name)
    return GraphFile(lambda: _each(held, _NODES, name), lambda: _each(held, _EDGES, name))


def _whole(path: Path, name: str) -> Mapping[str, Any]:
    try:
        held = read_json(path.read_bytes(), name, "One JSON object a line goes into a .jsonl.")
    except OSError as error:
        raise unreadable(name, error) from error
    if isinstance(held, list):
        rows: dict[str, list[object]] = {"nodes": [], "edges": []}
        for row in held:
            rows["edges" if _is_edge(row) else "nodes"].append(row)
        return rows
    if not isinstance(held, dict) or not any(key in held for key in (*_NODES, *_EDGES)):
        raise UnreadableError(f"{name} holds no nodes.", hint='Write {"nodes": […], "edges": […]}.')
    return held


def _lines(path: Path, name: str) -> Iterator[Node | Edge | SourceFault]:
    try:
        with path.open("rb") as stream:
            for number, line in numbered_lines(stream):
                yield line if isinstance(line, SourceFault) else _line(line, f"Line {number} of {name}")
    except OSError as error:
        raise unreadable(name, error) from error


def _line(line: bytes, where: str) -> Node | Edge | SourceFault:
    try:
        row = read_json(line, where)
    except SourceFault as fault:
        return fault
    return _read(row, where, edge=_is_edge(row))


def _each(held: Mapping[str, Any], keys: tuple[str, ...], name: str) -> Iterator[Node | Edge | SourceFault]:
    for key in keys:
        rows = held.get(key, [])
        if not isinstance(rows, list):
            yield UnreadableError(f"{key} of {name} is no list.", hint='Write {"nodes": […], "edges": […]}.')
            continue
        for number, row in enumerate(rows, 1):
            yield _read(row, f"{key}[{number - 1}] of {name}", edge=keys is _EDGES)


def _is_edge(row: object) -> bool:
    if isinstance(row, list):
        return len(row) == 3
    if not isinstance(row, dict):
        return False
    pairs = (("source", "target"), ("start", "end"), ("from", "to"), ("subject", "object"))
    return row.get("type") == "relationship" or any(low in row and high in row for low, high in pairs)


def _read(row: object, where: str, *, edge: bool) -> Node | Edge | SourceFault:
    if isinstance(row, list) and len(row) == 3 and edge:
        source, relation, target = (str(part) for part in row)
        return Edge(edge_id(source, relation, target), source, target, relation)
    if not isinstance(row, dict):
        return UnreadableError(f"{where} is no object.", hint="A node has an id, an edge source, target and type.")
    return _edge(row, where) if edge else _node(row, where)


def _node(row: Mapping[str, Any], where: str) -> Node | SourceFault:
    key = _text(row.get("id", row.get("_id", row.get("name"))))
    if not key:
        return UnreadableError(f"{where} has no id.", hint="Give every node its own id.")
    exported = row.get("type") == "node" and "labels" in row
    labels = row.get("labels", row.get("label", "")) if exported or "type" not in row else row["type"]
    given = row.get("properties", {})
    properties: dict[str, Json] = {**(given if isinstance(given, dict) else {})}
    properties |= {name: value for name, value in row.items() if name not in _NODE_OWN}
    title = row.get("title") or row.get("name") or properties.get("title") or properties.get("name") or key
    aliases = row.get("aliases", [])
    return Node(
        id=key,
        type=_text(labels[0] if isinstance(labels, list) and labels else labels if isinstance(labels, str) else ""),
        title=_text(title),
        description=_text(row.get("description", properties.pop("description", ""))),
        aliases=tuple(map(_text, aliases)) if isinstance(aliases, list) else (_text(aliases),),
        properties={name: value for name, value in properties.items() if name not in ("title", "name")},
    )


def _edge(row: Mapping[str, Any], where: str) -> Edge | SourceFault:
    source = _end(row, "source", "start", "from", "subject")
    target = _end(row, "target", "end", "to", "object")
    named = row.get("label") if row.get("type") == "relationship" else row.get("type", row.get("label"))
    type = _text(named or row.get("relation") or row.get("predicate") or "related to")
    if not source or not target:
        return UnreadableError(f"{where} lacks one of its ends.", hint="An edge needs source and target.")
    given = row.get("properties", {})
    properties = {**(given if isinstance(given, dict) else {})}
    properties |= {name: value for name, value in row.items() if name not in _EDGE_OWN}
    return Edge(_text(row.get("id", row.get("_id"))) or edge_id(source, type, target), source, target, type, properties)


def _end(row: Mapping[str, Any], *names: str) -> str:
    value = next((row[name] for name in names if name in row), "")
    return _text(value.get("id") if isinstance(value, dict) else value)


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, bool) else str(value).strip()
