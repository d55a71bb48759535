"""Keys, mentions and links."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.text.concepts import Role, candidate_keys, concept_key, discussed, link, mentions, title_aliases


def known(*titles: str) -> set[str]:
    return {key for title in titles for key in title_aliases(title)}


def surfaces(text: str, titles: set[str]) -> list[str]:
    return [mention.surface for mention in link(text, lambda keys: titles & set(keys))]


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("The Normans (people)", "norman"),
        ("Lothair  II", "lothair ii"),
        ("Ruaidhrí Mac Ruaidhrí", "ruaidhri mac ruaidhri"),
        ("Boso's", "boso"),
        ("Suffix-Automata", "suffix automata"),
        ("C++", "c++"),
        ("北京大学", "北京大学"),
        ("(unnamed)", "unnamed"),
        ("...", ""),
    ],
)
def test_concept_key(name: str, key: str) -> None:
    assert concept_key(name) == key


@pytest.mark.req("D-05")
@given(st.text(max_size=60))
def test_concept_key_is_idempotent(name: str) -> None:
    assert concept_key(concept_key(name)) == concept_key(name)


@given(st.text(max_size=120))
def test_mentions_are_where_they_say(text: str) -> None:
    for mention in mentions(text):
        assert text[mention.start : mention.end] == mention.surface
        assert mention.key == concept_key(mention.surface)


@given(st.text(max_size=120))
def test_candidates_hold_all_that_can_be_linked(text: str) -> None:
    asked: set[str] = set()

    def record(keys: Collection[str]) -> set[str]:
        asked.update(keys)
        return set()

    link(text, record)
    assert asked <= candidate_keys(text)


def test_title_aliases_drop_the_parenthesis() -> None:
    assert title_aliases("Theodred II (Bishop of Elmham)") == ["theodred ii", "theodred ii bishop of elmham"]


def test_names_are_found() -> None:
    found = [mention.surface for mention in mentions('She saw "Blow Up" with J. R. Smith of New York in Rome.')]
    assert found == ["Blow Up", "J. R. Smith of New York", "J. R. Smith", "New York", "Rome"]


def test_lower_case_titles_and_the_longest_one_are_linked() -> None:
    titles = known("Suffix automaton", "Automaton", "The Trail of the Lonesome Pine")
    assert surfaces("build a suffix automaton", titles) == ["suffix automaton"]
    assert surfaces("who wrote The Trail Of The Lonesome Pine?", titles) == ["Trail Of The Lonesome Pine"]


def test_titles_in_chinese_are_linked() -> None:
    assert surfaces("他在北京大学学习", known("北京大学")) == ["北京大学"]


@pytest.mark.req("D-06")
def test_roles_of_what_a_passage_discusses() -> None:
    text = "Teutberga was a queen by marriage to Lothair II. Hucbert was her brother. Alterations of a red fox."
    titles = known("Red fox")
    roles = {key: item.role for key, item in discussed(text, lambda keys: titles & set(keys)).items()}
    assert roles == {
        "teutberga": Role.LEAD,
        "lothair ii": Role.MENTION,
        "hucbert": Role.SUBJECT,
        "red fox": Role.GENERIC,
    }


def keys(text: str, *titles: str) -> set[str]:
    wanted = known(*titles)
    return set(discussed(text, lambda asked: wanted & set(asked)))


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    "text",
    [
        "## Uses on board\n\nIt holds.",
        "## Uses\nPass the end through it.",
        "# Common Uses\n\nIt holds.",
        "- Pass the end\n- Take the loop",
        "1. Take the end.\n2) Pass it.",
        "- [ ] Check the knot\n- [x] Done with it",
        "> Beware of slipping.",
        "**Note** that it slips. *Beware* of that.",
        "| Name | Strength |\n|---|---|\n| Nylon | good |",
        "Run `Parser.Main` and:\n\n```\nclass Knot Tied By Hand\n```\n",
        r"Where $Re X$ and $$Alpha + The Beta$$ and \(In Gamma\) hold.",
        "See https://Example.org/Some/Page and <b>this</b>.",
    ],
)
def test_marks_and_code_make_no_concepts(text: str) -> None:
    assert keys(text) == set()


@pytest.mark.req("D-06")
def test_names_behind_marks_are_still_found() -> None:
    text = "# Bowline Knot\n\n- **Captain Ahab** ties it with Clove Hitch.\n- Ahab is old.\n\n| Steve Hillage | a |"
    assert keys(text) == {"captain ahab", "clove hitch", "ahab", "steve hillage"}
    assert keys("## Nylon\n\nIt is strong.", "Nylon") == {"nylon"}


def test_the_first_sentence_after_a_heading_leads() -> None:
    found = discussed("## Life\n\nTeutberga was a queen.", lambda keys: set())
    assert {key: item.role for key, item in found.items()} == {"teutberga": Role.LEAD}


def test_a_full_name_at_the_start_answers_to_its_short_forms() -> None:
    found = discussed("Michael Trent Reznor (born 1965) is an American singer.", lambda keys: set())
    assert {"michael trent reznor", "trent reznor", "michael reznor"} <= {
        key for key, item in found.items() if item.role is Role.LEAD
    }


def test_money_is_no_formula() -> None:
    assert keys("It paid $5 to New York and $10 to Rome.") == {"new york", "rome"}
