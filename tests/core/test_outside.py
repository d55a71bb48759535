"""How a value says what it looks like outside."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from kedge.core.outside import from_json, outside, to_json


class Rig(StrEnum):
    SLOOP = "sloop"
    KETCH = "ketch"


@dataclass(frozen=True, slots=True)
class Owner:
    name: str
    port: str


@outside()
@dataclass(frozen=True, slots=True)
class Mast:
    """A mast."""

    height: float
    """In metres."""


@outside({"boat_id": "id", "harbour": "owner.port", "tall": "tall"}, hidden=("secret", "notes"), optional=("year",))
@dataclass(frozen=True, slots=True)
class Boat:
    """A boat."""

    id: str
    owner: Owner
    rig: Rig
    masts: tuple[Mast, ...]
    built: datetime | None = None
    secret: str = "none"
    notes: Mapping[str, Any] = field(default_factory=dict)
    year: int | None = None

    @property
    def tall(self) -> bool:
        """Whether a mast is
        higher than 20 m."""
        return any(mast.height > 20 for mast in self.masts)


@outside({"crew": "sailors"}, spread="boat")
@dataclass(frozen=True, slots=True)
class Voyage:
    boat: Boat
    sailors: tuple[str, ...]

    @staticmethod
    def from_outside(found: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**found, "crew": sorted(found["crew"])}


@outside(sparse=True)
@dataclass(frozen=True, slots=True)
class Signal:
    type: str
    mast: Mast | None = None
    text: str | None = None


BOAT = Boat("b1", Owner("Ada", "Bath"), Rig.KETCH, (Mast(9.5), Mast(21.0)), datetime(1801, 2, 3, tzinfo=UTC), "gold")
OUTSIDE = {
    "boat_id": "b1",
    "harbour": "Bath",
    "rig": "ketch",
    "masts": [{"height": 9.5}, {"height": 21.0}],
    "built": "1801-02-03T00:00:00+00:00",
    "year": None,
    "tall": True,
}


def test_fields_go_out_as_the_value_says() -> None:
    assert to_json(BOAT) == OUTSIDE
    assert type(to_json(BOAT)["rig"]) is str


def test_what_is_not_sent_is_empty_when_it_is_read() -> None:
    read = from_json(Boat, OUTSIDE)
    assert read == Boat("b1", Owner("", "Bath"), Rig.KETCH, BOAT.masts, BOAT.built)
    assert from_json(Boat, {**OUTSIDE, "secret": "given"}).secret == "given"


def test_members_of_a_part_stand_beside_the_others() -> None:
    assert to_json(Voyage(BOAT, ("Bob", "Al"))) == {**OUTSIDE, "crew": ["Bob", "Al"]}
    assert from_json(Voyage, {**OUTSIDE, "crew": ["Bob", "Al"]}).sailors == ("Al", "Bob")


def test_what_is_none_can_be_left_out() -> None:
    assert to_json(Signal("flag", Mast(3.0))) == {"type": "flag", "mast": {"height": 3.0}}
    assert from_json(Signal, {"type": "flag", "mast": {"height": 3.0}}) == Signal("flag", Mast(3.0))


@pytest.mark.parametrize(
    ("found", "error"),
    [
        ({**OUTSIDE, "rig": "raft"}, ValueError),
        ({name: value for name, value in OUTSIDE.items() if name != "rig"}, KeyError),
        ({**OUTSIDE, "masts": [3]}, TypeError),
        ([], TypeError),
    ],
)
def test_what_is_no_such_value_is_told(found: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        from_json(Boat, found)


def test_what_says_nothing_stays_inside() -> None:
    with pytest.raises(TypeError, match="Owner stays inside"):
        to_json(BOAT.owner)


def test_pydantic_checks_writes_and_describes_values() -> None:
    boats = TypeAdapter(Boat)
    assert boats.validate_python(BOAT) is BOAT
    assert boats.dump_python(BOAT, mode="json") == OUTSIDE
    assert boats.validate_python(OUTSIDE).masts == BOAT.masts
    with pytest.raises(ValidationError):
        boats.validate_python({"boat_id": "b1"})
    schema = boats.json_schema(mode="serialization")
    assert schema["description"] == "A boat."
    assert sorted(schema["required"]) == sorted(set(OUTSIDE) - {"year"})
    assert schema["properties"]["tall"]["description"] == "Whether a mast is higher than 20 m."
    assert schema["$defs"]["Mast"]["properties"]["height"]["description"] == "In metres."


def test_a_value_is_written_and_read_without_pydantic() -> None:
    code = (
        "import sys\n"
        "from kedge.core.outside import from_json, to_json\n"
        "from kedge.core.values import SearchResult\n"
        "print(from_json(SearchResult, to_json(SearchResult('x', (), {}))).query, 'pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["x", "False"]
