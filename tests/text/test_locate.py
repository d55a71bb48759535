"""Cited words are found on a page by their letters, whatever stands between them."""

from __future__ import annotations

from kedge.text.locate import locate, squeeze, within

PAGE = "Net sales:\nAmericas $ 35,383 $ 37,472\nEurope 20,205 19,287\nAmericas oper-\nating income 12,000"


def words(cited: str, before: str = "") -> list[str]:
    return [PAGE[first : last + 1] for first, last in locate(squeeze(PAGE), cited, before)]


def test_spaces_signs_and_line_ends_do_not_matter() -> None:
    assert words("| Europe | 20,205 | 19,287 |") == ["Europe 20,205 19,287"]
    assert words("americas operating income") == ["Americas oper-\nating income"]


def test_of_two_places_the_one_after_the_words_before_is_taken() -> None:
    page = "Total 5. Cash was low. Debt: Total 5."
    found = locate(squeeze(page), "Total 5", "Cash was low. Debt: ")
    assert found == [(page.rindex("Total"), page.rindex("5"))]


def test_cells_in_another_order_are_found_near_each_other() -> None:
    assert words("Europe | 19,287 | 20,205") == ["Europe", "20,205", "19,287"]
    assert words("Nothing of this stands there") == []
    assert words("…") == []


def test_a_cell_is_looked_for_inside_of_its_row() -> None:
    page = squeeze(PAGE)
    row = locate(page, "Europe 20,205 19,287")
    found = within(page, "19,287", row)
    assert found is not None
    assert PAGE[found[0] : found[1] + 1] == "19,287"
    assert within(page, "35,383", row) is None
    assert within(page, "", row) is None
