"""The contract with the outside: which members values have, of which types, and that they come back as they went.

`python -m tests.surfaces.test_schema` records the contract anew, after a change that is meant.
"""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from kedge.core.outside import form_of, from_json, goes_outside, to_json
from kedge.core.settings import load_settings
from kedge.core.values import (
    Accepted,
    AnalyticsSummary,
    Answer,
    ApiKey,
    BackupRestored,
    BackupVerified,
    BackupWritten,
    Collection,
    CollectionList,
    CollectionShown,
    ConnectedSource,
    ConversationList,
    ConversationWithTurns,
    Deleted,
    Demonstration,
    DoctorReport,
    Document,
    DocumentPage,
    DocumentWithPassages,
    Erased,
    Health,
    IngestPlan,
    Job,
    JobList,
    JobsDone,
    KeptFeedback,
    NewKey,
    PageView,
    PassageInDocument,
    SearchResult,
    ServerAddress,
    ServerReadiness,
    SourceList,
    StreamEvent,
    SuggestionList,
    Swept,
)
from kedge.ingest.check import CheckReport
from kedge.kinds.courses.values import CourseHits, CourseState, Expansion, LessonList, Prerequisites, WholeLesson
from kedge.kinds.graphs.values import DeletedEdge, DeletedNode, EdgePage, NodePage, NodeWithEdges, Reconciled
from kedge.kinds.tables.values import ExportedRows, RefusedRowPage, RowsChanged, TableSessionList
from kedge.surfaces.server.app import create_app
from kedge.surfaces.server.errors import ErrorBody
from tests.support.made_values import values
from tests.support.paths import ROOT

SOURCE = ROOT / "src" / "kedge"
RECORDED = Path(__file__).with_name("outside.json")
BY_CLIENTS = [
    *(Accepted, AnalyticsSummary, Answer, Collection, CollectionList, Document, DocumentPage, DocumentWithPassages),
    *(ConversationList, ConversationWithTurns, JobList, PageView, SuggestionList),
    *(Erased, Health, Job, KeptFeedback, PassageInDocument, SearchResult, ServerReadiness, StreamEvent),
    *(IngestPlan, CourseState, CourseHits, Expansion, LessonList, Prerequisites, WholeLesson),
    *(DeletedNode, EdgePage, NodePage, Reconciled),
    *(RefusedRowPage, RowsChanged, TableSessionList),
    *(ConnectedSource, SourceList),
]
"""What clients read back."""
BY_NOBODY = [
    *(ApiKey, CheckReport, ErrorBody),
    *(BackupRestored, BackupVerified, BackupWritten, CollectionShown, Deleted, Demonstration, DoctorReport, JobsDone),
    *(NewKey, ServerAddress, Swept, DeletedEdge, NodeWithEdges, ExportedRows),
]
"""What is only written, by the command line or as an error."""
ALL = [*BY_CLIENTS, *BY_NOBODY]
FEW = settings(max_examples=20, suppress_health_check=list(HealthCheck), deadline=None)
"""Of each class; there are many."""


@cache
def schema_of(kind: type) -> dict[str, Any]:
    return TypeAdapter(kind).json_schema(mode="serialization")


def contract() -> dict[str, Any]:
    """Noun → member → type, of every value that goes outside with those above."""
    found: dict[str, Any] = {}
    for kind in ALL:
        schema = schema_of(kind)
        for name, one in {**schema.get("$defs", {}), kind.__name__: schema}.items():
            found[name] = _members(one) if "properties" in one else one["enum"]
    return dict(sorted(found.items()))


def _members(schema: dict[str, Any]) -> dict[str, str]:
    required = schema.get("required", ())
    return {name + ("" if name in required else "?"): _type(one) for name, one in sorted(schema["properties"].items())}


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[1])
    if "anyOf" in schema:
        return " | ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return " | ".join(json.dumps(one) for one in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"[{_type(schema['items'])}]"
    more = schema.get("additionalProperties")
    return f"{{{_type(more)}}}" if isinstance(more, dict) else str(schema.get("type", "any"))


def test_the_contract_is_as_recorded() -> None:
    assert contract() == json.loads(RECORDED.read_text("utf-8"))


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
@FEW
@given(data=st.data())
def test_what_is_written_is_what_the_schema_says(kind: type, data: st.DataObject) -> None:
    schema = schema_of(kind)
    sparse = kind is StreamEvent
    written = json.loads(json.dumps(to_json(data.draw(values(kind)))))
    Draft202012Validator({**schema, "required": []} if sparse else schema).validate(written)
    members = {one.name for one in form_of(kind).members}
    assert set(written) <= members if sparse else set(written) == members


@pytest.mark.parametrize("kind", BY_CLIENTS, ids=lambda kind: kind.__name__)
@FEW
@given(data=st.data())
def test_a_value_comes_back_as_it_went(kind: type, data: st.DataObject) -> None:
    written = json.loads(json.dumps(to_json(data.draw(values(kind)))))
    read = from_json(kind, written)
    assert to_json(read) == written
    assert from_json(kind, to_json(read)) == read  # all that is sent is kept


def test_openapi_describes_the_values(tmp_path: Path) -> None:
    document = create_app(load_settings(environ={}, home=tmp_path)).openapi()
    components = document["components"]["schemas"]
    recorded = json.loads(RECORDED.read_text("utf-8"))
    served = {name for name in recorded if name in components and "properties" in components[name]}
    assert {"Answer", "Citation", "SearchHit", "Document", "Passage", "Job", "TableSession", "Lesson", "Node"} <= served
    assert {name: _members(components[name]) for name in served} == {name: recorded[name] for name in served}
    said = {
        ("Citation", "snippet"): "The cited words, verbatim.",
        ("Job", "state"): "The status without its steps.",
        ("Needed", "direct"): "Whether the lesson itself names it.",
        ("Column", "type"): "text, category, integer, real, boolean, date, time, clock or id.",
        ("NodePage", "next"): "`after` of the next page; null on the last one.",
    }
    for (noun, member), words in said.items():
        assert components[noun]["properties"][member]["description"] == words


def test_answers_of_routes_are_values(tmp_path: Path) -> None:
    app = create_app(load_settings(environ={}, home=tmp_path))
    found = {route.response_model for route in app.routes if getattr(route, "response_model", None) is not None}
    assert {kind for kind in found if not goes_outside(kind)} <= {dict[str, Any]}  # chat speaks another's language


def test_commands_print_values() -> None:
    """What `--json` prints is one value, a list of them, or an error; measures alone are free."""
    free = {"run.emit(error.as_json())", "run.emit(dict(measures))", "run.emit(dict(fields))", "session.emit(fields)"}
    found = {
        ast.unparse(node): str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "emit"
    }
    assert len(found) > 20
    assert free <= set(found)
    written = re.compile(r"\w+\.emit\((to_json\(.*\)|\[to_json\((\w+)\) for \2 in \w+\])\)")
    assert {call: where for call, where in found.items() if call not in free and not written.fullmatch(call)} == {}


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(contract(), indent=1) + "\n", "utf-8")
