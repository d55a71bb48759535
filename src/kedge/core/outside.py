"""What a value looks like outside: in the JSON of the command line, of HTTP, of server-sent events and of agents.

A value is a frozen dataclass, and outside it is an object with a member for each of its fields. Where the two differ,
the value says so itself, above its name:

    @outside({"document_id": "id", "collection": "scope.collection"}, hidden=("live_version",))
    @dataclass(frozen=True, slots=True)
    class Document: ...

All else follows: `to_json` writes a value, `from_json` reads one back, and pydantic, whom the server asks for its
OpenAPI document, is told the same (`kedge.core.described`). What is not sent is empty when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from datetime import datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from kedge.core.values.base import Json

T = TypeVar("T")
Change: TypeAlias = Callable[[Any], Any]
_PLAIN = {"Json": Any, "Metadata": Mapping[str, Any]}
"""What these names mean here: JSON is JSON already."""
_EMPTY: dict[Any, Callable[[], Any]] = {
    str: str,
    int: int,
    float: float,
    bool: bool,
    tuple: tuple,
    Mapping: dict,
    dict: dict,
}


@dataclass(frozen=True, slots=True)
class Difference:
    """How the outside of a value differs from its fields."""

    names: Mapping[str, str]
    """Name outside → path of the attribute (`id`, `scope.collection`, a property), which has no other name then."""
    hidden: frozenset[str]
    """Fields that stay inside. They are read where they are given."""
    spread: str
    """The field whose own members stand beside the others; empty: none."""
    sparse: bool
    """Whether members that are None are left out."""
    optional: frozenset[str]
    """Members that the schema does not promise."""


_SAID: dict[type, Difference] = {}
_FORMS: dict[type, OutsideForm[Any]] = {}


def outside(
    names: Mapping[str, str] | None = None,
    *,
    hidden: Sequence[str] = (),
    spread: str = "",
    sparse: bool = False,
    optional: Sequence[str] = (),
) -> Callable[[type[T]], type[T]]:
    """Say of a dataclass that its values go outside, and how they differ there from their fields: see `Difference`.

    A static method `from_outside` of the class, if there is one, gets the JSON before it is read and returns what is to
    be read instead.
    """
    said = Difference(names or {}, frozenset(hidden), spread, sparse, frozenset(optional))

    def say(kind: type[T]) -> type[T]:
        _SAID[kind] = said
        kind.__get_pydantic_core_schema__ = classmethod(_core_schema)  # type: ignore[attr-defined]
        kind.__get_pydantic_json_schema__ = classmethod(_json_schema)  # type: ignore[attr-defined]
        return kind

    return say


def to_json(value: object) -> dict[str, Json]:
    """The value as JSON. TypeError for what stays inside."""
    return form_of(type(value)).write(value)


def from_json(kind: type[T], found: Any) -> T:
    """The value that the JSON describes. KeyError, TypeError or ValueError where it describes none."""
    return form_of(kind).read(found)


def goes_outside(kind: object) -> bool:
    """Whether the class says what it looks like outside."""
    return isinstance(kind, type) and kind in _SAID


@dataclass(frozen=True, slots=True)
class Member:
    """One member of the JSON object that a value is outside."""

    owner: type
    """The class whose value it shows; another one's for those that are spread."""
    name: str
    path: tuple[str, ...]
    """The attribute that it shows."""
    hint: Any
    """Type of the attribute."""
    required: bool
    """Whether the schema promises it."""


def form_of(kind: type[T]) -> OutsideForm[T]:
    """How values of a class are written and read, worked out on first use. TypeError for a class that stays inside."""
    form = _FORMS.get(kind)
    if form is None:
        if kind not in _SAID:
            raise TypeError(f"{kind.__name__} stays inside: it does not say what it looks like outside")
        form = _FORMS[kind] = OutsideForm(kind, _SAID[kind])
    return form


class OutsideForm(Generic[T]):
    """Writes and reads the values of one class."""

    def __init__(self, kind: type[T], said: Difference) -> None:
        self.kind = kind
        self._said = said
        self._fields: dict[str, Field[Any]] = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
        self._hints = get_type_hints(kind, localns=_PLAIN)
        self._spread: OutsideForm[Any] | None = form_of(self._hints[said.spread]) if said.spread else None
        self._own = self._members()
        self._write = _compiled(self._own)
        self._before: Change | None = getattr(kind, "from_outside", None)

    @property
    def members(self) -> list[Member]:
        """All members, in their order."""
        return [*(self._spread.members if self._spread else ()), *self._own]

    def write(self, value: T) -> dict[str, Json]:
        """The value as JSON."""
        written = self._write(value)
        if self._said.sparse:
            written = {name: one for name, one in written.items() if one is not None}
        return {**self._spread.write(getattr(value, self._said.spread)), **written} if self._spread else written

    def read(self, found: Any) -> T:
        """The value of the JSON. KeyError for a member that is missing."""
        if not isinstance(found, Mapping):
            raise TypeError(f"{self.kind.__name__} is an object, not {type(found).__name__}")
        given = {self._said.spread: self._spread.read(found)} if self._spread else {}
        found = self._before(found) if self._before else found
        parts: dict[str, dict[str, Any]] = {}
        for one in self._own:
            first, *rest = one.path
            if first not in self._fields:
                continue  # worked out from the others
            if not rest:
                given[first] = _read(one.hint, found.get(one.name) if self._may_miss(one) else found[one.name])
            elif first not in found:
                parts.setdefault(first, {})[rest[0]] = _read(one.hint, found[one.name])
        given |= {name: _filled(self._hints[name], part) for name, part in parts.items()}
        for name, field in self._fields.items():
            if name not in given and name in found:
                given[name] = _read(self._hints[name], found[name])
            elif name not in given and field.default is MISSING and field.default_factory is MISSING:
                given[name] = _empty(self._hints[name])
        return self.kind(**given)

    def _may_miss(self, one: Member) -> bool:
        return self._said.sparse or not one.required

    def _members(self) -> list[Member]:
        """In the order of the fields; what is worked out comes last."""
        named: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for name, path in self._said.names.items():
            first, *rest = path.split(".")
            named.setdefault(first, []).append((name, (first, *rest)))
        kept = [name for name in self._fields if name not in self._said.hidden and name != self._said.spread]
        shown = {name: named.pop(name, [(name, (name,))]) for name in self._fields if name in kept or name in named}
        return [
            Member(self.kind, name, path, hint_at(self.kind, path), name not in self._said.optional)
            for group in (*shown.values(), *named.values())
            for name, path in group
        ]


def hint_at(kind: Any, path: Sequence[str]) -> Any:
    """The type of an attribute of an attribute …: of a field, or of what a property returns."""
    for name in path:
        hints = get_type_hints(kind, localns=_PLAIN)
        kind = hints[name] if name in hints else get_type_hints(getattr(kind, name).fget, localns=_PLAIN)["return"]
    return kind


def plain(hint: Any) -> Any:
    """The type without `None`, where there is one other."""
    if get_origin(hint) in (Union, UnionType):
        others = [one for one in get_args(hint) if one is not NoneType]
        return others[0] if len(others) == 1 else hint
    return hint


def _compiled(members: Sequence[Member]) -> Callable[[Any], dict[str, Json]]:
    """One expression that makes the JSON, as fast as if it were written by hand: answers go through it."""
    changes: dict[str, Change] = {}
    made = [f"{one.name!r}: {_expression(one.hint, 'value.' + '.'.join(one.path), changes)}" for one in members]
    write: Callable[[Any], dict[str, Json]] = eval(f"lambda value: {{{', '.join(made)}}}", changes)  # noqa: S307 (own names)
    return write


def _expression(hint: Any, value: str, changes: dict[str, Change]) -> str:
    """What makes JSON of such a value; the functions that it calls are put into `changes`."""
    kind = plain(hint)
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        made = f"[{_expression(item, 'one', changes)} for one in {value}]" if _writer(item) else f"list({value})"
    elif change := _writer(kind):
        name = f"change{len(changes)}"
        changes[name] = change
        made = f"{name}({value})"
    else:
        return value
    return made if kind is hint else f"None if {value} is None else {made}"


def _writer(kind: Any) -> Change | None:
    """What makes JSON of such a value; None where it is JSON already."""
    origin = get_origin(kind) or kind
    if goes_outside(kind):
        return form_of(kind).write
    if origin is Mapping:
        return dict
    if origin is datetime:
        return datetime.isoformat
    return attrgetter("value") if isinstance(kind, type) and issubclass(kind, Enum) else None


def _read(hint: Any, found: Any) -> Any:
    change = None if found is None else _reader(hint)
    return found if change is None else change(found)


@cache
def _reader(hint: Any) -> Change | None:
    """The other way round."""
    kind = plain(hint)
    origin = get_origin(kind) or kind
    if goes_outside(kind):
        return form_of(kind).read
    if origin is tuple:
        return _each(tuple, _reader(get_args(kind)[0]))
    if origin is Mapping:
        return dict
    if origin is datetime:
        return datetime.fromisoformat
    return kind if isinstance(kind, type) and issubclass(kind, Enum) else None


def _each(collect: Change, change: Change | None) -> Change:
    return collect if change is None else lambda items: collect([change(item) for item in items])


def _empty(hint: Any) -> Any:
    """What stands for a value that was not sent."""
    return None if plain(hint) is not hint else _EMPTY[get_origin(hint) or hint]()


def _filled(hint: Any, given: dict[str, Any]) -> Any:
    """A value of which only some fields are known."""
    kind = plain(hint)
    hints = get_type_hints(kind, localns=_PLAIN)
    missing = [one for one in fields(kind) if one.name not in given]
    needed = [one for one in missing if one.default is MISSING and one.default_factory is MISSING]
    return kind(**given, **{one.name: _empty(hints[one.name]) for one in needed})


def _core_schema(kind: type, _source: Any, _handler: Any) -> Any:
    from kedge.core import described

    return described.core_schema(kind)


def _json_schema(kind: type, _core: Any, handler: Any) -> Any:
    from kedge.core import described

    return described.json_schema(kind, handler)
