"""Cypher scripts: the part of the language that loads graphs, read and carried out here, by no database.

Understood are `LOAD CSV WITH HEADERS FROM "…/file.csv" AS row` with `MERGE`/`CREATE (n:Label {key: row.column})`, joins
(`MATCH (a:A), (b:B) WHERE a.x = b.y MERGE (a)-[:TYPE]->(b)`), joins over a loaded row, and `CREATE`/`MERGE` of nodes
and edges with literal properties. The CSV files are looked for beside the script by their name; nothing is fetched.
Constraints, indexes and `SET` are passed over (all columns become properties); anything else is reported.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from kedge.core.errors import EncodingError, SourceFault, SourceTooLargeError, UnreadableError
from kedge.core.values import Json
from kedge.ingest.sources.source import is_file_within, unreadable
from kedge.kinds.graphs.files.graph_file import GraphFile
from kedge.kinds.graphs.files.tables import rows
from kedge.kinds.graphs.files.values import edge_id, property_value
from kedge.stores.graph.nodes import Edge, Node

MAX_SCRIPT_BYTES = 64 << 20
"""Scripts are read whole; what is larger belongs into tables that a script loads."""
NAME_COLUMNS = 4
"""Columns, the key among them, that a node's title is looked for in."""
_LOAD = re.compile(r"LOAD\s+CSV\s+WITH\s+HEADERS\s+FROM\s+['\"]([^'\"]+)['\"]\s+AS\s+(\w+)", re.IGNORECASE)
# Repeats are bounded and never hold what opens them: a script of opening signs alone is read in time, too.
_NODE = (
    r"\(\s{{0,99}}(?P<{0}>\w{{0,99}})\s{{0,99}}(?::\s{{0,99}}`?(?P<{0}_label>[^`:(){{\s]{{1,200}})`?)?"
    r"[^(){{]{{0,200}}(?P<{0}_map>\{{[^{{}}]*\}})?\s{{0,99}}\)"
)
_ONE = re.compile(_NODE.format("n"))
_EDGE = re.compile(
    _NODE.format("a")
    + r"\s{0,99}-\s{0,99}\[\s{0,99}\w{0,99}\s{0,99}:\s{0,99}`?(?P<type>[^`\]{\s]{1,200})`?"
    + r"\s{0,99}(?P<map>\{[^{}]*\})?\s{0,99}\]\s{0,99}->\s{0,99}"
    + _NODE.format("b")
)
_EQUAL = re.compile(r"\b(\w+)\.`?(\w+)`?\s{0,99}=\s{0,99}(\w+)\.`?(\w+)`?")
_PAIR = re.compile(r"`?\b(\w+)`?\s{0,99}:\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^,}]+)")
_CLAUSE = re.compile(r"\b(MERGE|CREATE|MATCH|WHERE|SET|RETURN|LOAD\s+CSV|WITH(?!\s+HEADERS))\b", re.IGNORECASE)
_PASSED = re.compile(
    r"^\s*(?:(?:CREATE|DROP)\s+(?:CONSTRAINT|INDEX|FULLTEXT|RANGE)|CALL\s+db\.|BEGIN|COMMIT|:)", re.IGNORECASE
)


_Where: TypeAlias = tuple[Mapping[str, str], list[tuple[str, ...]]]
"""Matched variables with their labels, and the fields that must be equal."""


@dataclass(slots=True)
class _Loaded:
    """What a script makes."""

    nodes: dict[str, Node] = field(default_factory=dict)
    by_label: dict[str, list[Node]] = field(default_factory=lambda: defaultdict(list))
    edges: list[Edge] = field(default_factory=list)
    faults: list[SourceFault] = field(default_factory=list)


def open_script(path: Path, name: str, root: Path) -> GraphFile:
    """Carry the script out. SourceFault when it cannot be read."""
    try:
        if path.stat().st_size > MAX_SCRIPT_BYTES:
            raise SourceTooLargeError(f"{name} is larger than {MAX_SCRIPT_BYTES:,} bytes.", hint="Load tables instead.")
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise EncodingError(f"{name} is not UTF-8.", hint="Save the file as UTF-8.") from error
    except OSError as error:
        raise unreadable(name, error) from error
    made = _Loaded()
    for statement in _statements(text):
        try:
            _run(statement, made, name, root)
        except SourceFault as fault:
            made.faults.append(fault)
    if not made.nodes and not made.faults:
        raise UnreadableError(
            f"{name} makes no nodes.", hint="docs/how-to/graphs.md says which statements are understood."
        )
    return GraphFile(lambda: iter((*made.faults, *made.nodes.values())), lambda: iter(made.edges))


def _statements(text: str) -> Iterator[str]:
    """The parts between semicolons that stand outside of quotes and comments."""
    start = place = 0
    quote = ""
    plain = re.sub(r"//[^\n]*(?=\n|$)", lambda match: match.group() if '"' in match.group() else "", text)
    while place < len(plain):
        letter = plain[place]
        if quote:
            place += letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == ";":
            yield plain[start:place].strip()
            start = place + 1
        place += 1
    if plain[start:].strip():
        yield plain[start:].strip()


def _run(statement: str, made: _Loaded, name: str, root: Path) -> None:
    if not statement or _PASSED.match(statement):
        return
    loaded = _LOAD.search(statement)
    clauses = _clauses(statement)
    matched = {m["n"]: m["n_label"] or "" for text in clauses["MATCH"] for m in _ONE.finditer(text)}
    equal = [m.groups() for text in clauses["WHERE"] for m in _EQUAL.finditer(text)]
    writes = clauses["MERGE"] + clauses["CREATE"]
    if not writes:
        raise UnreadableError(
            f"A statement of {name} is not understood: {statement[:80]}…", hint="See docs/how-to/graphs.md."
        )
    if loaded:
        table = list(_table(root, loaded[1], name))
        for text in writes:
            _write_rows(text, loaded[2], table, made, (matched, equal))
    elif matched:
        for text in writes:
            _join(text, made, matched, equal)
    else:
        for text in writes:
            _literal(text, made)


def _clauses(statement: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    parts = list(_CLAUSE.finditer(statement))
    ends = [*(part.start() for part in parts[1:]), len(statement)]
    for part, end in zip(parts, ends, strict=False):  # without any clause there is an end too many
        found[part[1].upper()].append(statement[part.end() : end])
    return found


def _table(root: Path, address: str, name: str) -> Iterator[dict[str, str]]:
    file = root / Path(address.replace("file:///", "")).name
    if not file.exists() or not is_file_within(file, root):
        raise UnreadableError(
            f"{name} loads {file.name}, which is not beside it.", hint=f"Put {file.name} into the folder of the script."
        )
    found = rows(file, file.name)
    header = next(found, (0, []))[1]
    for _, row in found:
        yield dict(zip(header, row, strict=False))


def _write_rows(
    text: str,
    variable: str,
    table: list[dict[str, str]],
    made: _Loaded,
    where: _Where,
) -> None:
    if edge := _EDGE.search(text):
        ends = _row_index(made, *where, variable)
        for row in table:
            source, target = (_by_row(ends.get(edge[side]), row) for side in ("a", "b"))
            if source and target:
                _add_edge(made, source, edge["type"], target, _properties(row))
        return
    node = _ONE.search(text)
    if node is None or not node["n_label"]:
        return
    keys = [
        m[2].partition(".")[2].strip("` ") for m in _PAIR.finditer(node["n_map"] or "") if m[2].startswith(variable)
    ]
    for row in table:
        values = [row.get(key, "") for key in keys] or list(row.values())[:1]
        _add_node(made, node["n_label"], "/".join(values), _properties(row))


Index: TypeAlias = tuple[str, Mapping[str, str]]


def _row_index(
    made: _Loaded, matched: Mapping[str, str], equal: list[tuple[str, ...]], variable: str
) -> dict[str, Index]:
    """For each matched variable: the row's column, and which node has which value of it."""
    found: dict[str, Index] = {}
    for left, left_field, right, right_field in equal:
        for name, own, other, column in (
            (left, left_field, right, right_field),
            (right, right_field, left, left_field),
        ):
            if other == variable and name in matched:
                found[name] = (column, {_shown(n.properties.get(own)): n.id for n in made.by_label[matched[name]]})
    return found


def _by_row(index: Index | None, row: Mapping[str, str]) -> str | None:
    return index[1].get(_shown(property_value(row.get(index[0], "")))) if index else None


def _join(text: str, made: _Loaded, matched: Mapping[str, str], equal: list[tuple[str, ...]]) -> None:
    edge = _EDGE.search(text)
    if edge is None or not equal:
        return
    left, left_field, right, right_field = equal[0]
    if edge["a"] == right:
        left, left_field, right, right_field = right, right_field, left, left_field
    others: dict[str, list[str]] = defaultdict(list)
    for node in made.by_label[matched.get(right, "")]:
        others[_shown(node.properties.get(right_field))].append(node.id)
    for node in made.by_label[matched.get(left, "")]:
        value = node.properties.get(left_field)
        for other in others[_shown(value)] if value is not None else ():
            _add_edge(made, node.id, edge["type"], other, {})


def _literal(text: str, made: _Loaded) -> None:
    """Nodes and edges with values written out; a variable that is named again is the same node."""
    known: dict[str, str] = {}
    for node in _ONE.finditer(text):
        if not node["n_label"]:
            continue
        properties = {m[1]: _value(m[2]) for m in _PAIR.finditer(node["n_map"] or "")}
        first = next(iter(properties.values()), node["n"])
        key = _add_node(made, node["n_label"], _shown(properties.get("id", properties.get("name", first))), properties)
        known[node["n"] or key] = key
    for edge in _EDGE.finditer(text):
        ends = []
        for side in ("a", "b"):
            given = {m[1]: _value(m[2]) for m in _PAIR.finditer(edge[f"{side}_map"] or "")}
            named = _shown(given.get("id", given.get("name", next(iter(given.values()), ""))))
            ends.append(known.get(edge[side]) or f"{edge[f'{side}_label']}/{named}")
        properties = {m[1]: _value(m[2]) for m in _PAIR.finditer(edge["map"] or "")}
        _add_edge(made, ends[0], edge["type"], ends[1], properties)


def _add_node(made: _Loaded, label: str, key: str, properties: Mapping[str, Json]) -> str:
    identifier = f"{label}/{key}"
    # The name stands near the key; far from it stand names of other things, such as whom an order is shipped to.
    first = list(properties.items())[:NAME_COLUMNS]
    title = next((str(v) for k, v in first if k.lower().endswith(("name", "title")) and isinstance(v, str)), key)
    rest = {name: value for name, value in properties.items() if name != "description"}
    node = Node(identifier, label, title, _shown(properties.get("description")), properties=rest)
    if identifier not in made.nodes:
        made.by_label[label].append(node)
    made.nodes[identifier] = node
    return identifier


def _add_edge(made: _Loaded, source: str, type: str, target: str, properties: Mapping[str, Json]) -> None:
    made.edges.append(Edge(edge_id(source, type, target), source, target, type, properties))


def _properties(row: Mapping[str, str]) -> dict[str, Json]:
    # Pictures as hexadecimal digits are of no use in a text.
    return {
        name: property_value(value)
        for name, value in row.items()
        if name and value and value != "NULL" and not re.match(r"0x[0-9A-F]{40}", value)
    }


def _value(text: str) -> Json:
    bare = text.strip()
    if bare[:1] in "\"'" and bare[-1:] == bare[:1]:
        inner = bare[1:-1].replace("\\'", "'")
        try:
            return str(json.loads(f'"{inner}"'))
        except ValueError:
            return inner
    return property_value(bare)


def _shown(value: Json) -> str:
    return "" if value is None else str(value)
