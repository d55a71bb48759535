"""Values as pydantic sees them: checked as they are, written by `to_json`, described by their types and docstrings.

Loaded when pydantic asks, which is when the server makes its routes; nothing else needs pydantic for a value.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Any, get_args, get_origin

from pydantic import BaseModel, Field, GetJsonSchemaHandler, create_model
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core import core_schema as core

from kedge.core.outside import form_of, from_json, hint_at, plain, to_json


def core_schema(kind: type) -> CoreSchema:
    """A value passes as it is, its JSON is read; either is written by `to_json`."""
    writes = core.plain_serializer_function_ser_schema(to_json)
    name = f"{kind.__module__}.{kind.__qualname__}:{id(kind)}"
    return core.no_info_plain_validator_function(partial(_checked, kind), ref=name, serialization=writes)


def json_schema(kind: type, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
    """The members of a value with their types and descriptions, as a component under the name of its class."""
    return handler(_model(kind).__pydantic_core_schema__)


def _checked(kind: type, found: Any) -> Any:
    if isinstance(found, kind):
        return found
    try:
        return from_json(kind, found)
    except (KeyError, TypeError) as error:
        raise ValueError(f"is no {kind.__name__}: {error}") from error


@cache
def _model(kind: type) -> type[BaseModel]:
    """What pydantic can describe: made from the value, for its schema alone."""
    members: dict[str, Any] = {}
    for one in form_of(kind).members:
        said = _doc_of(one.owner, one.path)
        described = Field(... if one.required else None, alias=one.name, description=said)
        # A model has methods of its own, such as `schema`.
        members[f"{one.name}_" if hasattr(BaseModel, one.name) else one.name] = (_json_type(one.hint), described)
    return create_model(kind.__name__, __doc__=inspect.getdoc(kind), __module__=kind.__module__, **members)


def _json_type(hint: Any) -> Any:
    """The type of the JSON that `to_json` makes of such an attribute."""
    kind = plain(hint)
    if kind is not hint:
        return _json_type(kind) | None
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin is tuple:
        return list[_json_type(arguments[0])]  # type: ignore[misc]
    if origin is Mapping:
        return dict[str, arguments[1]]  # type: ignore[valid-type]
    return str if origin is datetime else kind


def _doc_of(kind: Any, path: Sequence[str]) -> str | None:
    """What the docstring below a field says, or that of a property."""
    for name in path[:-1]:
        kind = plain(hint_at(kind, (name,)))
    shown = getattr(kind, path[-1], None)
    written = shown.__doc__ if isinstance(shown, property) else _docs(kind.__module__).get((kind.__name__, path[-1]))
    return " ".join(written.split()) if written else None


@cache
def _docs(module: str) -> Mapping[tuple[str, str], str]:
    """The strings below the fields of all classes of a module, by class and field."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except OSError:
        return {}  # without its source a module is as good, and its schema has no descriptions
    found = {}
    for kind in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for field, below in zip(kind.body, kind.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
                and isinstance(below.value.value, str)
            ):
                found[kind.name, field.target.id] = below.value.value
    return found
