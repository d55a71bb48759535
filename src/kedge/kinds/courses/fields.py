"""What a lesson's front matter says: tolerant of what is missing or odd, strict about values out of range (C-01, C-04).

A missing field gets its default. A value that cannot be read gets the default and a warning; an unreadable
`hardware_tier` gets the highest tier, so that nobody without the hardware is shown the lesson. A value that can be read
and is out of range is an error that names the file and the field.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kedge.core.errors import LessonError
from kedge.core.values import Json
from kedge.kinds.courses.place import MAX_CHAPTER, MAX_LESSON, NAMES, NO_MODULE, PathPlace, Place, module_name

TIERS = range(1, 5)
LEVELS = ("A1", "A2", "B1", "B2", "C1", "C2")
LAYERS = ("L1", "L2", "L3", "L4")
DEFAULT_TIER, DEFAULT_LEVEL, DEFAULT_LAYER = 1, "A2", "L1"
_TIER_NAMES = ("hardware_tier", "hardwareTier", "tier")
_LEVEL_NAMES = ("proficiency_level", "proficiencyLevel", "proficiency", "cefr", "level")
_LAYER_NAMES = ("layer", "teaching_layer", "teachingLayer")
_NEEDS_NAMES = ("prerequisites", "prerequisite", "requires", "depends_on")
_INTEGER = re.compile(r"[+-]?\d+(?:\.0+)?")
_DOTTED = re.compile(r"(?:(\d+)\.)?(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class LessonFields:
    """Place and filters of one lesson."""

    place: Place
    hardware_tier: int = DEFAULT_TIER
    proficiency_level: str = DEFAULT_LEVEL
    layer: str = DEFAULT_LAYER
    needs: tuple[str, ...] | None = None
    """Prerequisites as written; None when the lesson says nothing about them."""
    missing: tuple[str, ...] = ()
    """Fields that were not given and for which there is no harmless default."""
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _FrontMatterReading:
    """One front matter while it is read."""

    file: str
    values: Mapping[str, Json]
    warnings: list[str] = field(default_factory=list)

    def given(self, names: Sequence[str]) -> tuple[str, Json] | None:
        """The first of the names that is there and not empty, with its value."""
        for name in names:
            value = self.values.get(name)
            if value is not None and value != "":
                return name, value
        return None

    def odd(self, name: str, value: Json, instead: object) -> None:
        self.warnings.append(f"{name} {value!r} cannot be read; taken as {instead}.")

    def out_of_range(self, name: str, value: Json, allowed: str) -> LessonError:
        return LessonError(
            f"{self.file}: {name} is {value}, which is not {allowed}.",
            hint=f"Set {name} in the front matter of {self.file} to {allowed}.",
            details={"file": self.file, "field": name, "value": value},
        )

    def whole(self, name: str, value: Json, most: int) -> int | None:
        """A number from 0 to `most`; None for what is no number."""
        text = str(value).strip()
        if not isinstance(value, str | int | float) or isinstance(value, bool) or not _INTEGER.fullmatch(text):
            return None
        number = int(text.partition(".")[0])
        if not 0 <= number <= most:
            raise self.out_of_range(name, value, f"a number from 0 to {most}")
        return number


def read_fields(file: str, values: Mapping[str, Json], path: PathPlace) -> LessonFields:
    """Fields of the lesson in this file. Raises LessonError."""
    reading = _FrontMatterReading(file, values)
    place, missing = _place(reading, path)
    tier = _tier(reading)
    return LessonFields(
        place=place,
        hardware_tier=DEFAULT_TIER if tier is None else tier,
        proficiency_level=_one_of(reading, _LEVEL_NAMES, LEVELS, DEFAULT_LEVEL),
        layer=_one_of(reading, _LAYER_NAMES, LAYERS, DEFAULT_LAYER),
        needs=_needs(reading),
        missing=(*missing, *(["hardware_tier"] if tier is None else [])),
        warnings=tuple(reading.warnings),
    )


# ---------------------------------------------------------------- place


def _place(reading: _FrontMatterReading, path: PathPlace) -> tuple[Place, list[str]]:
    said = reading.given(NAMES["module"])
    module = module_name(str(said[1])) if said and isinstance(said[1], str | int | float) else path.module
    chapter, lesson = _numbers(reading)
    if chapter is None:
        chapter = _ranged(reading, "chapter", path.chapter, MAX_CHAPTER)
    if lesson is None:
        lesson = _ranged(reading, "lesson", path.lesson, MAX_LESSON)
    if path.overview:
        chapter, lesson = chapter or 0, lesson or 0
    gaps = {"module": module, "chapter": chapter, "lesson": lesson}
    place = Place(module or NO_MODULE, chapter or 0, lesson or 0)
    return place, [name for name, value in gaps.items() if value is None]


def _numbers(reading: _FrontMatterReading) -> tuple[int | None, int | None]:
    """Chapter and lesson; `lesson: 2.8` says both."""
    chapter = lesson = None
    said = reading.given(NAMES["chapter"])
    if said:
        chapter = reading.whole(said[0], said[1], MAX_CHAPTER)
        if chapter is None:
            reading.odd(*said, "not given")
    said = reading.given(NAMES["lesson"])
    if said:
        dotted = _DOTTED.fullmatch(str(said[1]).strip())
        if dotted:
            within = reading.whole(said[0], dotted[2], MAX_CHAPTER)
            lesson = reading.whole(said[0], dotted[3], MAX_LESSON)
            if chapter is not None and within != chapter:
                reading.warnings.append(f"{said[0]} {said[1]} is not in chapter {chapter}; chapter {chapter} counts.")
            chapter = within if chapter is None else chapter
        else:
            lesson = reading.whole(said[0], said[1], MAX_LESSON)
            if lesson is None:
                reading.odd(*said, "not given")
    return chapter, lesson


def _ranged(reading: _FrontMatterReading, name: str, number: int | None, most: int) -> int | None:
    """What the path says, which has the same limits."""
    if number is not None and number > most:
        raise reading.out_of_range(name, number, f"a number from 0 to {most}")
    return number


# ---------------------------------------------------------------- filters and prerequisites


def _tier(reading: _FrontMatterReading) -> int | None:
    said = reading.given(_TIER_NAMES)
    if said is None:
        return None
    name, value = said
    text = re.sub(r"^(?:tier|t)[-_ ]*", "", str(value).strip(), flags=re.IGNORECASE)
    number = reading.whole(name, text, 10**6)
    if number is None:
        reading.odd(name, value, f"{TIERS[-1]}, the highest, so that nobody is shown what they cannot run")
        return TIERS[-1]
    if number not in TIERS:
        raise reading.out_of_range(name, value, f"a number from {TIERS[0]} to {TIERS[-1]}")
    return number


def _one_of(reading: _FrontMatterReading, names: Sequence[str], allowed: Sequence[str], default: str) -> str:
    """One of a few codes such as `B1`; another code of the same form is out of range, anything else is odd."""
    said = reading.given(names)
    if said is None:
        return default
    name, value = said
    text = str(value).strip().upper()
    if text in allowed:
        return text
    if re.fullmatch(r"[A-Z]\d+", text):
        raise reading.out_of_range(name, value, f"one of {', '.join(allowed)}")
    if name == "level":  # a common word for other things
        return default
    reading.odd(name, value, default)
    return default


def _needs(reading: _FrontMatterReading) -> tuple[str, ...] | None:
    name = next((name for name in _NEEDS_NAMES if name in reading.values), None)
    if name is None:
        return None
    value = reading.values[name]
    if isinstance(value, str):
        value = list(value.split(","))
    if not isinstance(value, list):
        if value is not None:
            reading.odd(name, value, "none")
        return ()
    parts = [" ".join(str(item).split()) for item in value if not isinstance(item, list | dict)]
    none = {"", "none", "n/a", "-", "null", "~"}
    return tuple(dict.fromkeys(part for part in parts if part.lower() not in none))
