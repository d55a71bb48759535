"""Where a lesson stands and what it says about itself: tolerant of what is missing, strict about what cannot be."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.core.errors import LessonError
from kedge.core.values import Json
from kedge.engine.engine import Engine
from kedge.kinds.courses.edges import keys_of
from kedge.kinds.courses.fields import LAYERS, LEVELS, read_fields
from kedge.kinds.courses.place import PathPlace, Place, place_in_path
from tests.kinds.courses.conftest import BOOK, LESSONS, Run, ingest, lesson, write

HERE = PathPlace("1", 2, 3)


@pytest.mark.req("C-01")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("module-1/chapter-2/03-frames.md", PathPlace("1", 2, 3)),
        ("module01/lessons/lesson14_cross_product.md", PathPlace("1", None, 14)),
        ("ros2/2.3-frames.md", PathPlace("ros2", 2, 3)),
        ("docs/module-4/unit-05/lesson2.md", PathPlace("4", 5, 2)),
        ("01-basics/ch3/lesson-07.md", PathPlace("basics", 3, 7)),
        ("module-1/README.md", PathPlace("1", None, None, overview=True)),
        ("module-1/notes.md", PathPlace("1", None, None)),
        ("lesson 4.md", PathPlace(None, None, 4)),
        ("02-advanced/01-sensors/03-lidar.md", PathPlace("advanced", 1, 3)),
        ("docs/02-advanced/01-sensors/03-lidar.md", PathPlace("advanced", 1, 3)),
        ("module-2/01-sensors/03-lidar.md", PathPlace("2", 1, 3)),
        ("02-advanced/03-lidar.md", PathPlace("advanced", None, 3)),
        ("02-advanced/01-sensors/ch4/03-lidar.md", PathPlace("advanced", 4, 3)),
    ],
)
def test_a_path_tells_the_place(path: str, expected: PathPlace) -> None:
    assert place_in_path(PurePosixPath(path)) == expected


@pytest.mark.req("C-01")
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"module": "01", "unit": "02", "lesson": "2.8"}, Place("1", 2, 8)),
        ({"module": "ros2", "chapter": "0", "lesson": "15"}, Place("ros2", 0, 15)),
        ({"module": "03", "lesson": "2.10"}, Place("3", 2, 10)),
        ({"lesson": "9"}, Place("1", 2, 9)),
        ({}, Place("1", 2, 3)),
    ],
)
def test_front_matter_counts_before_the_path(said: dict[str, Json], expected: Place) -> None:
    assert read_fields("a.md", said, HERE).place == expected


@pytest.mark.req("C-01", "C-04")
@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"chapter": "21"}, "chapter"),
        ({"chapter": "-1"}, "chapter"),
        ({"lesson": "16"}, "lesson"),
        ({"lesson": "2.16"}, "lesson"),
        ({"hardware_tier": "5"}, "hardware_tier"),
        ({"hardware_tier": "0"}, "hardware_tier"),
        ({"proficiency_level": "D1"}, "proficiency_level"),
        ({"layer": "L9"}, "layer"),
    ],
)
def test_a_value_out_of_range_is_an_error_that_names_file_and_field(said: dict[str, Json], field: str) -> None:
    with pytest.raises(LessonError) as caught:
        read_fields("unit/a.md", said, HERE)
    assert caught.value.details["file"] == "unit/a.md"
    assert caught.value.details["field"] == field
    assert "unit/a.md" in caught.value.message
    assert field in caught.value.message
    assert " to from " not in caught.value.hint


@pytest.mark.req("C-04")
def test_odd_values_get_defaults_and_a_warning_but_nobody_sees_hardware_that_cannot_be_told() -> None:
    said: dict[str, Json] = {
        "hardware_tier": "a GPU",
        "proficiency_level": "easy",
        "layer": ["L1"],
        "chapter": "two",
        "prerequisites": {"a": "b"},
    }
    fields = read_fields("a.md", said, HERE)
    assert fields.hardware_tier == 4
    assert (fields.proficiency_level, fields.layer, fields.place.chapter, fields.needs) == ("A2", "L1", 2, ())
    assert len(fields.warnings) == 5


_VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=4), inside, max_size=2),
    max_leaves=4,
)
_NAMES = st.sampled_from(
    "module chapter unit lesson hardware_tier proficiency_level layer prerequisites level tier title".split()
)


@pytest.mark.req("C-01", "C-04")
@given(st.dictionaries(_NAMES, _VALUES, max_size=6))
def test_whatever_front_matter_says_the_fields_are_valid_or_the_file_is_named(said: dict[str, Json]) -> None:
    try:
        fields = read_fields("some/file.md", said, HERE)
    except LessonError as error:
        assert error.details["file"] == "some/file.md"  # noqa: PT017 (an error is one of two right outcomes)
        return
    assert fields.hardware_tier in range(1, 5)
    assert fields.proficiency_level in LEVELS
    assert fields.layer in LAYERS
    assert 0 <= fields.place.chapter <= 20
    assert 0 <= fields.place.lesson <= 15
    assert fields.place.module
    for need in fields.needs or ():
        assert all(key for key, _ in keys_of(need, fields.place))


@pytest.mark.req("C-01", "C-04", "C-10")
def test_a_faulty_file_is_named_and_its_last_good_version_stays(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        broken = LESSONS["module-1/vectors.md"].replace("hardware_tier: 2", "hardware_tier: 9")
        write(course, {"module-1/vectors.md": broken, "module-1/frames.md": "---\ntitle: [unclosed\n---\n# X\n"})
        job = await ingest(engine, course)
        assert sorted((error.code, error.url.rpartition("/")[2]) for error in job.errors) == [
            ("bad_lesson", "frames.md"),
            ("bad_lesson", "vectors.md"),
        ]
        assert (job.files_discovered, job.files_failed, job.files_skipped, job.files_deleted) == (5, 2, 3, 0)
        assert len(await engine.kinds.named("course").lessons(BOOK)) == 5
        assert (await engine.kinds.named("course").lesson(BOOK, "1/1.2")).lesson.hardware_tier == 2

    run(scenario)


@pytest.mark.req("C-01")
def test_two_files_for_one_lesson_are_an_error_that_names_both(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        write(course, {"module-1/zz.md": lesson("1/1.1", "Another", "## Text\n\nAnother text altogether.")})
        job = await ingest(engine, course)
        (error,) = job.errors
        assert "module-1/zz.md" in error.message
        assert "module-1/frames.md" in error.message
        assert (await engine.kinds.named("course").lesson(BOOK, "1/1.1")).lesson.title == "Coordinate frames"

    run(scenario)


@pytest.mark.req("C-01")
def test_what_is_no_lesson_is_passed_over_by_name_and_an_overview_is_one(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        write(
            course,
            {
                "module-1/README.md": "# Module one\n\nWhat this module is about.\n",
                "module-1/topic_map.md": "# Map\n\nA list of topics.\n",
                "module-1/assets/lesson01_picture.md": "# Picture\n\nHow to draw it.\n",
            },
        )
        job = await ingest(engine, course)
        assert job.errors == ()
        (note,) = [warning for warning in job.warnings if "Passed over" in warning]
        assert "module-1/topic_map.md" in note
        assert "module-1/assets/lesson01_picture.md" in note
        assert job.files_discovered == job.files_processed == 6
        assert (await engine.kinds.named("course").lesson(BOOK, "1/0.0")).lesson.title == "Module one"
        tiers = [warning for warning in job.warnings if warning.startswith("hardware_tier is not given")]
        assert ["module-2/maps.md" in warning and "module-1/README.md" in warning for warning in tiers] == [True]

    run(scenario)


@pytest.mark.req("C-01")
def test_numbers_are_read_as_written(run: Run, tmp_path: Path) -> None:
    """YAML takes 1.10 for 1.1 and 08 for text; lessons 1.1 and 1.10 are two."""
    folder = write(
        tmp_path / "c",
        {
            "a.md": "---\nmodule: 08\nlesson: 1.1\nprerequisites: []\n---\n# First\n\nThe first lesson of all.\n",
            "b.md": "---\nmodule: 08\nlesson: 1.10\nprerequisites: [1.1]\n---\n# Tenth\n\nThe tenth lesson of all.\n",
            "c.md": "---\nmodule: 08\nunit: 02\nlesson: 2.1\nprerequisites: [1.10]\n---\n# Next\n\nThe next lesson.\n",
        },
    )

    async def scenario(engine: Engine) -> None:
        job = await ingest(engine, folder)
        assert job.errors == ()
        assert [(one.place.module, one.place.number) for one in await engine.kinds.named("course").lessons(BOOK)] == [
            ("8", "1.1"),
            ("8", "1.10"),
            ("8", "2.1"),
        ]
        needed = (await engine.kinds.named("course").prerequisites(BOOK, "8/2.1")).needed
        assert [one.lesson.place.number for one in needed] == ["1.1", "1.10"]
        assert [step.place.number for step in needed[0].path] == ["2.1", "1.10", "1.1"]

    run(scenario)
