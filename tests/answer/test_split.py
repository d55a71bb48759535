"""A list that its passage's border cuts goes on in the answer, with its own citations."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kedge.answer.cite.spans import cite
from kedge.answer.cite.split import join_rest
from kedge.answer.judge.verdict import composed
from kedge.answer.read import Readings
from kedge.core.settings import Settings
from kedge.core.values import Query, Scope, SearchHit
from kedge.core.values.filters import Eq, Filter
from kedge.text.form import shape_of
from kedge.text.question import parse_question
from tests.answer.test_beside import Document, passage

ASKED = "Which operations does a quipu support?"
FIRST = """A quipu supports these operations:

- **Insert** adds a knot to a cord.
- **Search** looks a knot up by its colour.
"""
REST = """- **Erase** takes a knot out.
- **Join** ties two quipus together.

A quipu is made of wool. It was used for counting."""


def answered(first: str, rest: str, *, section: str = "Operations", where: Filter | None = None) -> tuple[str, int]:
    """The answer, and how many passages its citations are from."""
    here, after = passage(0, first, "Operations"), passage(1, rest, section)
    hits = [SearchHit(1, here, 0.9)]
    question = parse_question(ASKED, lambda term: 3.0)
    read = asyncio.run(Readings(Settings()).of(question, [here], all_of=True))
    found = composed(question, shape_of(ASKED), read, hits).extracted
    assert found is not None
    catalog: Any = Document(here, after)
    query = Query(ASKED, Scope("t", "c"), where=where)
    whole, joined = asyncio.run(join_rest(catalog, query, hits, found))
    text, citations = cite(whole, [*hits, *joined])
    for one in citations:
        own = here if one.passage_id == here.id else after
        assert own.text[one.start : one.end] == one.snippet
    return text, len({one.passage_id for one in citations})


def test_the_rest_of_a_list_is_told_from_the_next_passage() -> None:
    text, passages = answered(FIRST, REST)
    assert [word in text for word in ("Insert", "Search", "Erase", "Join", "wool")] == [True, True, True, True, False]
    assert passages == 2


def test_an_item_that_the_border_cuts_does_not_end_its_list() -> None:
    text, passages = answered(FIRST, "Colours are told apart by their dye.\n" + REST)
    assert ("Erase" in text, "Join" in text, "wool" in text) == (True, True, False)
    assert passages == 2


@pytest.mark.parametrize(
    ("first", "rest", "section", "where"),
    [
        pytest.param(FIRST + "\nA knot is a number.", REST, "Operations", None, id="the list ends before its passage"),
        pytest.param(FIRST, "It was used for counting.\n\n" + REST, "Operations", None, id="something else follows"),
        pytest.param(FIRST, REST, "History", None, id="another section"),
        pytest.param(FIRST, REST, "Operations", Eq("language", "qu"), id="hidden by the filter"),
    ],
)
def test_nothing_is_added_that_is_not_the_rest_of_the_list(
    first: str, rest: str, section: str, where: Filter | None
) -> None:
    text, passages = answered(first, rest, section=section, where=where)
    assert "Insert" in text
    assert "Erase" not in text
    assert passages == 1
