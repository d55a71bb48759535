"""Values of any class, made from its types, for tests of what they look like outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from kedge.core.values import Passage
from kedge.kinds.courses.values import TOLD, CourseHits, Expansion, LessonPassage, WholeLesson

T = TypeVar("T")
TEXT = st.text(max_size=8)
NUMBER = st.integers(-9, 9_999)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
FREE = st.dictionaries(TEXT | st.sampled_from(["title", "ingested_at", "vector_score", "sources"]), JSON, max_size=3)
"""Free metadata, also under names that fields have."""
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: NUMBER,
    float: st.floats(0, 1, width=32),
    bool: st.booleans(),
    datetime: st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
    Any: JSON,
    object: st.none(),
}


@cache
def values(kind: type[T]) -> st.SearchStrategy[T]:
    """Values of a class, with every field filled; passages of lessons tell of them."""
    if kind in (WholeLesson, Expansion, CourseHits):
        return st.builds(_of_lesson, _plain(kind), _plain(LessonPassage))
    return _plain(kind)


def _plain(kind: type[T]) -> st.SearchStrategy[T]:
    hints = get_type_hints(kind, localns={"Json": Any, "Metadata": Mapping[str, Any]})
    return st.builds(kind, **{one.name: _of(hints[one.name]) for one in fields(kind)})  # type: ignore[arg-type]


def _of(hint: Any) -> st.SearchStrategy[Any]:
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType):
        made = st.one_of(*(st.none() if one is NoneType else _of(one) for one in arguments))
    elif origin is tuple:
        several = Ellipsis in arguments
        made = st.lists(_of(arguments[0]), max_size=2).map(tuple) if several else st.tuples(*map(_of, arguments))
    elif origin in (dict, Mapping):
        made = FREE if arguments[1] is Any else st.dictionaries(TEXT, _of(arguments[1]), max_size=2)
    elif origin is Literal:
        made = st.sampled_from(arguments)
    elif isinstance(hint, type) and issubclass(hint, Enum):
        made = st.sampled_from(list(hint))
    else:
        made = values(hint) if is_dataclass(hint) else PLAIN[hint]
    return made


def _of_lesson(value: Any, told: LessonPassage) -> Any:
    if isinstance(value, CourseHits):
        hits = tuple(replace(hit, passage=_telling(hit.passage, told)) for hit in value.result.hits)
        return replace(value, result=replace(value.result, hits=hits))
    return replace(value, passages=tuple(_telling(passage, told) for passage in value.passages))


def _telling(passage: Passage, told: LessonPassage) -> Passage:
    return replace(passage, metadata={name: getattr(told, name) for name in TOLD})
