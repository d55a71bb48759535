"""The one line that says which document it is."""

from __future__ import annotations

import doctest
from dataclasses import replace

import pytest

from kedge.core.values import Passage
from kedge.core.values import identity as module
from kedge.core.values.identity import identity_line, identity_words


def test_the_doctests_hold() -> None:
    assert doctest.testmod(module).failed == 0


FILING = {
    "organisation": "Borealis Shipping plc",
    "document_type": "annual report",
    "period": "year ended March 31, 2022",
    "period_end": "2022-03-31",
    "dated": "2022-06-02",
    "file_name": "borealis_ar22.pdf",
}


@pytest.mark.parametrize(
    ("title", "metadata", "expected"),
    [
        ("Knots", {}, "Knots"),
        ("Knots", {"tags": ["rope"], "author": "Ann"}, "Knots"),
        ("Knots", {"file_name": "knots.pdf"}, "Knots"),
        ("Knots", {"file_name": "ashley-42.pdf"}, "Knots · ashley-42.pdf"),
        (
            "Untitled",
            FILING,
            "Borealis Shipping plc · annual report · year ended March 31, 2022 · borealis_ar22.pdf",
        ),
        (
            "Borealis Shipping plc Annual Report",
            FILING,
            "Borealis Shipping plc Annual Report · year ended March 31, 2022 · borealis_ar22.pdf",
        ),
        (
            "Borealis ar22",
            FILING,
            "Borealis Shipping plc · annual report · year ended March 31, 2022 · borealis_ar22.pdf",
        ),
        ("Harbour board", {"document_type": "minutes", "dated": "2024-03-05"}, "Harbour board · minutes · 2024-03-05"),
        ("Annual Report 2022", {"document_type": "annual report", "period": "2022"}, "Annual Report 2022"),
        ("Knots", {"period": 2022}, "Knots · 2022"),
        ("Knots", {"organisation": ["a", "list"], "period": {"from": 1}, "dated": None}, "Knots"),
        ("Microsoft Word - x.docx", {"file_name": "plan b.pdf"}, "plan b.pdf"),
        ("Graph RAG", {"organisation": "Emergent Inc.", "file_name": "graphrag.pdf"}, "Graph RAG · Emergent Inc."),
        ("Formation flying", {"file_name": "a1.pdf"}, "Formation flying · a1.pdf"),
    ],
)
def test_nothing_is_said_twice_and_a_stopgap_gives_way(title: str, metadata: dict[str, object], expected: str) -> None:
    assert identity_line(title, metadata) == expected  # type: ignore[arg-type]


def test_keyword_search_gets_only_what_the_title_lacks() -> None:
    words = identity_words("Borealis Shipping plc", FILING)
    assert words == "annual report year ended March 31 2022 ar22"
    assert identity_words("Knots", {"tags": ["rope"]}) == ""


def test_what_is_embedded_does_not_change() -> None:
    plain = Passage("p", "d", "v", 0, "A text.", 0, 7, "", 2, "Borealis Shipping plc", "/a.pdf", "a")
    filed = replace(plain, metadata=FILING)
    assert plain.keyword_text == plain.embed_text == filed.embed_text
    assert filed.keyword_text.startswith(filed.embed_text)
    assert filed.keyword_text != filed.embed_text
