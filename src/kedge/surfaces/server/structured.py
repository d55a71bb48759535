"""Answers as JSON for chat clients that ask for it (`response_format`): the members that an answer of Kedge has.

A schema of the client's is filled by the names of its members; one that demands more than an answer has is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from kedge.core.errors import UsageError
from kedge.core.values import Answer
from kedge.core.values.identity import heading

Members = Mapping[str, Callable[[Answer], Any]]
MEMBERS: Members = {
    "answer": lambda answer: answer.answer,
    "short_answer": lambda answer: answer.short_answer,
    "confidence": lambda answer: answer.confidence,
    "evidence_probability": lambda answer: answer.evidence_probability,
    "refused": lambda answer: answer.refused,
    "sources": lambda answer: list(
        dict.fromkeys(heading(one.identity, one.title, one.section_path) for one in answer.citations)
    ),
}
TYPES: Mapping[str, frozenset[str]] = {
    "answer": frozenset({"string"}),
    "short_answer": frozenset({"string", "null"}),
    "confidence": frozenset({"string"}),
    "evidence_probability": frozenset({"number"}),
    "refused": frozenset({"boolean"}),
    "sources": frozenset({"array"}),
}
"""What each may be in JSON; a schema has to allow one of them."""
SAID = "An answer has: " + ", ".join(MEMBERS) + "."


def wanted_members(kind: str, schema: Mapping[str, Any] | None) -> list[str] | None:
    """The members to answer with; None for text. UsageError for a form that an answer cannot have."""
    if kind == "text":
        return None
    if kind == "json_object":
        return list(MEMBERS)
    if kind != "json_schema":
        raise _refused(f"response_format {kind!r} is not known.", "Use text, json_object or json_schema.")
    properties = (schema or {}).get("properties")
    if not isinstance(properties, dict) or not properties:
        raise _refused("The schema of response_format names no properties.", SAID)
    required = (schema or {}).get("required", [])
    unknown = [name for name in properties if name not in MEMBERS and name in required]
    wrong = [name for name, asked in properties.items() if name in MEMBERS and not _fits(name, asked)]
    if unknown or wrong:
        named = ", ".join([*unknown, *wrong])
        raise _refused(f"The schema of response_format wants what an answer has not: {named}.", SAID)
    return [name for name in properties if name in MEMBERS]


def as_json(answer: Answer, members: list[str]) -> str:
    """These members of the answer."""
    return json.dumps({name: MEMBERS[name](answer) for name in members}, ensure_ascii=False)


def _fits(name: str, asked: Any) -> bool:
    """Whether a property may hold what the member is. What is not told plainly is the client's to check."""
    if not isinstance(asked, dict):
        return True
    kinds = asked.get("type") or [one.get("type") for one in asked.get("anyOf", ()) if isinstance(one, dict)]
    return not kinds or bool(TYPES[name] & ({kinds} if isinstance(kinds, str) else set(kinds)))


def _refused(message: str, hint: str) -> UsageError:
    return UsageError(message, hint=hint, details={"param": "response_format"})
