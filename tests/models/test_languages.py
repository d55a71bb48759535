"""Collections and questions in other languages than the embedder knows are told the command that helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge import Kedge
from kedge.models.languages import command, offer_for_passages, offer_for_question
from kedge.text.iso639 import language_of

SPANISH = "El ancla de respeto se lleva a bordo para las tormentas. La cadena es de acero y se revisa cada año."
ENGLISH = "The spare anchor is kept on board for storms. Its chain is made of steel and is checked every year."


@pytest.mark.parametrize(
    ("languages", "told"),
    [({"es": 3, "en": 1}, True), ({"en": 3, "es": 1}, False), ({"und": 9}, False), ({}, False), ({"th": 2}, True)],
)
def test_a_collection_that_is_not_english_is_offered_a_model(languages: dict[str, int], told: bool) -> None:
    assert (command("notes") in offer_for_passages(languages, "notes", "minilm")) is told
    assert not offer_for_passages(languages, "notes", "e5-multilingual")


def test_a_question_is_told_only_where_what_was_found_is_in_another_language() -> None:
    asked = "¿De qué es la cadena del ancla que se lleva en el barco?"
    assert command("notes") in offer_for_question(asked, ["en", "en", "und"], "notes", "minilm")
    assert not offer_for_question(asked, ["es", "en"], "notes", "minilm")
    assert not offer_for_question("What is the chain made of?", ["es"], "notes", "minilm")
    polish = "Do kiedy i od kiedy jest czynny port w Gdyni?"
    assert offer_for_question(polish, ["en"], "notes", "minilm").startswith("The question looks like Polish,")


@pytest.mark.parametrize("asked", ["How do I undo a commit?", "Do I need a key to do that?", "How do you tie it?"])
def test_an_english_question_is_not_taken_for_another_language(asked: str) -> None:
    """`do` and `i` are Polish words too."""
    assert not offer_for_question(asked, ["en", "en"], "notes", "minilm")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Thành phố này có bao nhiêu người trong các khu vực của nó?", "vi"),
        ("Câte persoane au fost în oraș când a început lupta și cine a câștigat?", "ro"),
        ("ประเทศไทยมีกี่จังหวัด", "th"),
    ],
)
def test_more_languages_are_known(text: str, code: str) -> None:
    assert language_of(text) == code


def test_the_job_and_the_search_tell_it(tmp_path: Path) -> None:
    (tmp_path / "ancla.md").write_text(f"# Ancla\n\n{SPANISH}\n", encoding="utf-8")
    (tmp_path / "anchor.md").write_text(f"# Anchor\n\n{ENGLISH}\n", encoding="utf-8")
    with Kedge(home=tmp_path / "home") as kedge:
        assert command("sp") in " ".join(kedge.ingest(tmp_path / "ancla.md", collection="sp").warnings)
        assert not kedge.ingest(tmp_path / "anchor.md", collection="en").warnings
        asked = "¿De qué es la cadena del ancla que se lleva en el barco?"
        assert command("en") in " ".join(kedge.search(asked, collection="en").warnings)
        assert not kedge.search(asked, collection="sp").warnings
