"""Random input: parsers, chunker, filters, tables, plans and graph files raise nothing but our own errors.

`python -m benchmarks.fuzz_http` and `python -m benchmarks.fuzz_parsers` go on from here, with thousands.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.core.errors import FilterError, KedgeError, PlanError
from kedge.core.settings import load_settings
from kedge.core.untrusted import check_json, fault_in_text, file_name, tame
from kedge.core.values import Json, Right
from kedge.core.values.filters import (
    And,
    Eq,
    Filter,
    In,
    Not,
    Or,
    Range,
    check_filter,
    evaluate,
    from_mapping,
    parse_terms,
)
from kedge.kinds.tables.plans.plan_json import plan_from_json
from kedge.kinds.tables.schema import Column, ColumnType, Table
from tests.campaigns.hostile.fuzz_http import UNLIMITED, Fuzzer
from tests.campaigns.hostile.fuzz_parsers import TARGETS
from tests.support.serving import put_key, served

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
MARKS = st.sampled_from(
    ("# ", "\n", "\n\n", "* ", "- ", "> ", "`", "```\n", "|", "|-|", "[", "](", ")", "$$", "\\(", "<", "<b>", "---\n",
     "a: ", "&x ", "*x", "[[", "{", "}", "a", "kedge ", "é", "\t", "\r", ". ", "A. ", "1. ", "<!--", "\u200d", "漢")
)  # fmt: skip
TEXTS = st.lists(MARKS, max_size=60).map("".join)
WIDE = st.builds(
    lambda text, encoding, lost: text.encode(encoding, "surrogatepass")[: -lost or None],
    st.text(st.characters(exclude_categories=()), max_size=100),
    st.sampled_from(("utf-16", "utf-16-be", "utf-32")),
    st.integers(0, 3),
)
"""Whole and cut, with half characters among the whole ones."""
BYTES = st.binary(max_size=300) | TEXTS.map(str.encode) | WIDE


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=30)
@given(data=BYTES)
def test_parsers_raise_nothing_but_our_own_errors(target: str, data: bytes) -> None:
    """Those of documents also keep their offsets exact: `tests.campaigns.hostile.fuzz_parsers` checks every passage."""
    TARGETS[target](data)


FILTERS: st.SearchStrategy[Filter] = st.recursive(
    st.builds(Eq, st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5))
    | st.builds(In, st.text(max_size=5), st.lists(st.integers() | st.text(max_size=5), max_size=5).map(tuple))
    | st.builds(Range, st.text(max_size=5), gte=st.none() | st.floats(), lt=st.none() | st.floats()),
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(And, st.lists(inner, max_size=3).map(tuple))
        | st.builds(Or, st.lists(inner, max_size=3).map(tuple))
    ),
    max_leaves=20,
)


@given(FILTERS, st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_filters_are_evaluated_or_refused(where: Filter, payload: dict[str, Json]) -> None:
    with suppress(FilterError):
        check_filter(where)
    assert evaluate(where, payload) in (True, False)


def test_filters_have_bounds() -> None:
    deep: Filter = Eq("a", 1)
    for _ in range(5000):
        deep = Not(deep)
    with pytest.raises(FilterError, match="deep"):
        check_filter(deep)
    with pytest.raises(FilterError, match="many"):
        check_filter(And(tuple(Eq("a", number) for number in range(5000))))


@given(st.dictionaries(st.text(max_size=6), JSON, max_size=4), st.lists(st.text(max_size=12), max_size=4))
def test_filters_from_outside_are_read_or_refused(fields: dict[str, Json], terms: list[str]) -> None:
    with suppress(FilterError):
        if (where := from_mapping(fields)) is not None:
            check_filter(where)
    with suppress(FilterError):
        parse_terms(terms)


TABLE = Table(
    "t",
    "rows",
    (Column("a", "c0", ColumnType.INTEGER), Column("b", "c1", ColumnType.TEXT), Column("d", "c2", ColumnType.DATE)),
    3,
)
PLAN = st.dictionaries(
    st.sampled_from(("filters", "measures", "groups", "order", "limit", "having", "sides", "columns", "x")),
    JSON
    | st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "column": st.sampled_from(("a", "b", "d", "z")),
                "op": st.sampled_from(("=", ">", "between", "in", "contains", "is")),
                "values": st.lists(JSON, max_size=3),
                "func": st.sampled_from(("count", "sum", "average", "max")),
            },
        ),
        max_size=3,
    ),
    max_size=5,
)


@settings(max_examples=200)
@given(PLAN | JSON)
def test_plans_are_read_or_refused(given_plan: Json) -> None:
    with suppress(PlanError):
        plan_from_json(given_plan, TABLE)


@given(JSON)
def test_json_is_bounded_or_refused_and_metadata_is_tamed(value: Json) -> None:
    with suppress(ValueError):
        check_json(value)
    with suppress(ValueError):
        kept = tame({"x": value})
        check_json(dict(kept))


@given(st.text(st.characters(exclude_categories=())))
def test_names_of_uploads_are_plain(name: str) -> None:
    plain = file_name(name)
    assert plain == file_name(plain)
    assert plain not in ("", ".", "..")
    assert not set(plain) & set("/\\\0\n\u202e")
    assert len(plain) <= 200
    assert not fault_in_text(plain)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server with a key that may write: no request can name files of this machine."""
    home = tmp_path_factory.mktemp("fuzzed") / "home"
    home.mkdir()
    settings = load_settings(environ={}, home=home, embedder="hash:64", url_timeout=1, **UNLIMITED)
    token = put_key(settings, "default", Right.WRITE)
    with served(settings) as address:
        yield address, token


@pytest.mark.slow
def test_fuzzed_requests_are_answered_as_the_api_says(fuzzed: tuple[str, str]) -> None:
    url, key = fuzzed
    report = Fuzzer(url, key, first=11).run(150)
    assert report.findings == {}
    assert report.requests >= 150
    assert not any(status >= 500 or status == 0 for status in report.statuses)


def test_a_table_of_anything_is_fed_or_refused(tmp_path: Path) -> None:
    """A smoke check that the fuzz targets reach the reader of tables at all."""
    assert "table" in TARGETS
    with duckdb.connect() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    with suppress(KedgeError):
        TARGETS["table"](b"a,b\n1,2\n")
