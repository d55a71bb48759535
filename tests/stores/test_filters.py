"""The filter tree: reference semantics, and the two ways to write one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.core.errors import FilterError
from kedge.core.values import Json
from kedge.core.values.filters import (
    And,
    Eq,
    Filter,
    In,
    Not,
    Or,
    Range,
    all_of,
    evaluate,
    fields,
    from_mapping,
    parse_terms,
    to_terms,
)
from kedge.testing.vectors.strategies import FIELDS, filled, filters, payloads, ranges


@pytest.mark.req("C-07", "D-04")
@pytest.mark.parametrize(
    ("where", "payload", "expected"),
    [
        (Eq("f", None), {}, True),
        (Eq("f", None), {"f": None}, True),
        (Eq("f", None), {"f": []}, True),
        (Eq("f", None), {"f": ["a", None]}, True),
        (Eq("f", None), {"f": ""}, False),
        (Eq("f", None), {"f": 0}, False),
        (Eq("f", "a"), {"f": ["b", "a"]}, True),
        (Eq("f", True), {"f": 1}, False),
        (Eq("f", 1), {"f": True}, False),
        (Eq("f", 1), {"f": 1.0}, True),
        (Eq("f", 1), {"f": "1"}, False),
        (Eq("f", "true"), {"f": True}, False),
        (Eq("f", "a"), {"f": {"f": "a"}}, False),
        (In("f", ()), {"f": "a"}, False),
        (In("f", ("a", 2)), {"f": [1, 2]}, True),
        (Range("f"), {"f": 3}, True),
        (Range("f"), {"f": None}, False),
        (Range("f"), {}, False),
        (Range("f", gte=1), {"f": "2"}, False),
        (Range("f", gte=1), {"f": True}, False),
        (Range("f", gte=1, lt=2), {"f": [0, 1.5]}, True),
        (Range("f", gt=1, lt=2), {"f": [1, 2]}, False),
        (Not(Eq("f", "a")), {}, True),
        (Not(Range("f", gte=1)), {}, True),
        (And(()), {}, True),
        (Or(()), {}, False),
    ],
)
def test_evaluate(where: Filter, payload: dict[str, Json], expected: bool) -> None:
    assert evaluate(where, payload) is expected


@given(filters, payloads)
def test_not_is_the_opposite(where: Filter, payload: dict[str, Json]) -> None:
    assert evaluate(Not(where), payload) is not evaluate(where, payload)
    assert evaluate(Not(Not(where)), payload) is evaluate(where, payload)


@given(st.lists(filters, max_size=3).map(tuple), payloads)
def test_de_morgan(parts: tuple[Filter, ...], payload: dict[str, Json]) -> None:
    negated = tuple(Not(part) for part in parts)
    assert evaluate(Not(And(parts)), payload) is evaluate(Or(negated), payload)
    assert evaluate(Not(Or(parts)), payload) is evaluate(And(negated), payload)


@given(st.sampled_from(FIELDS), st.lists(filled, max_size=4).map(tuple), payloads)
def test_in_is_any_eq(field: str, values: tuple[str | int | float | bool, ...], payload: dict[str, Json]) -> None:
    assert evaluate(In(field, values), payload) is any(evaluate(Eq(field, value), payload) for value in values)


@given(ranges(), payloads)
def test_ranges_never_match_what_is_no_number(where: Range, payload: dict[str, Json]) -> None:
    value = payload.get(where.field)
    items = value if isinstance(value, list) else [value]
    if not any(isinstance(item, (int, float)) and not isinstance(item, bool) for item in items):
        assert not evaluate(where, payload)


@given(filters, payloads)
def test_only_named_fields_matter(where: Filter, payload: dict[str, Json]) -> None:
    named = fields(where)
    assert evaluate(where, {key: value for key, value in payload.items() if key in named}) is evaluate(where, payload)


@pytest.mark.req("C-07")
@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("topic=graphs", Eq("topic", "graphs")),
        (" topic = a b ", Eq("topic", "a b")),
        ("topic!=graphs", Not(Eq("topic", "graphs"))),
        ("level=A1,A2", In("level", ("A1", "A2"))),
        ("level!=A1,A2", Not(In("level", ("A1", "A2")))),
        ("page=3", Eq("page", 3)),
        ("page=3.5", Eq("page", 3.5)),
        ("flag=TRUE", Eq("flag", True)),
        ("note=null", Eq("note", None)),
        ("note=", Eq("note", None)),
        ("tier<=2", Range("tier", lte=2)),
        ("tier>=2", Range("tier", gte=2)),
        ("tier<2", Range("tier", lt=2)),
        ("tier>-2.5", Range("tier", gt=-2.5)),
        ("url=http://x/?a", Eq("url", "http://x/?a")),
    ],
)
def test_parse_terms(term: str, expected: Filter) -> None:
    assert parse_terms([term]) == expected


@pytest.mark.parametrize("term", ["", "topic", "=x", "tier<=many", "tier>true"])
def test_unreadable_terms_say_so(term: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse_terms([term])
    assert caught.value.hint


def test_several_terms_are_anded() -> None:
    assert parse_terms([]) is None
    assert parse_terms(["a=1", "b>2"]) == And((Eq("a", 1), Range("b", gt=2)))


@pytest.mark.req("C-07", "D-15")
def test_from_mapping() -> None:
    assert from_mapping({}) is None
    assert from_mapping({"topic": "graphs"}) == Eq("topic", "graphs")
    assert from_mapping({"topic": None}) == Eq("topic", None)
    assert from_mapping({"a": True, "b": ["x", 2], "c": {"gte": 3, "lt": 5}}) == And(
        (Eq("a", True), In("b", ("x", 2)), Range("c", gte=3.0, lt=5.0))
    )


@pytest.mark.parametrize("value", [[], [None], [["a"]], {}, {"gte": "3"}, {"above": 3}, {"gte": True}])
def test_from_mapping_refuses_what_it_cannot_mean(value: Json) -> None:
    with pytest.raises(FilterError):
        from_mapping({"f": value})


def test_a_false_bound_is_no_number() -> None:
    with pytest.raises(FilterError):
        from_mapping({"f": {"gte": False}})


def test_all_of() -> None:
    one, two = Eq("a", 1), Eq("b", 2)
    assert all_of(None, None) is None
    assert all_of(None, one) is one
    assert all_of(one, None, two) == And((one, two))


TERMS = st.one_of(
    st.builds(
        "{}={}".format, st.sampled_from(FIELDS), st.sampled_from(["a", "3", "true", "null", "2.5", "a,b", "1,x"])
    ),
    st.builds("{}!={}".format, st.sampled_from(FIELDS), st.sampled_from(["a", "3", "false", "a,b,7"])),
    st.builds(
        "{}{}{}".format,
        st.sampled_from(FIELDS),
        st.sampled_from(["<", "<=", ">", ">="]),
        st.one_of(st.integers(-9, 9), st.just("2026-01-01")),
    ),
)


@given(st.lists(TERMS, min_size=1, max_size=4))
def test_terms_say_again_what_was_read_from_terms(terms: list[str]) -> None:
    where = parse_terms(terms)
    assert where is not None
    assert parse_terms(to_terms(where)) == where


@pytest.mark.parametrize("where", [Or((Eq("a", 1), Eq("b", 2))), Not(Range("a", gte=1.0))])
def test_what_no_terms_say_is_an_error(where: Filter) -> None:
    with pytest.raises(FilterError, match="cannot be said in terms"):
        to_terms(where)
