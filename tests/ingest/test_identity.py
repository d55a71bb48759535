"""What documents say of themselves at their head."""

from __future__ import annotations

from typing import Any

import pytest

from kedge.core.values.identity import identity_line
from kedge.ingest.parse.reading import DocumentReader, open_document
from kedge.ingest.sources.source import Source
from tests.ingest.conftest import make_pdf

PROSE = (
    "The harbour was dredged again, and pilots were asked to keep to the northern channel until the buoys are laid. "
    "In the year ended May 31, 1999 none of this was known, and the Old Rope Company Ltd. was still in business then. "
    "Nobody minded: the ferries went on as before, and so did the tugs, the lighters and the dredger itself.\n"
)


def read(name: str, text: str | bytes, **given: Any) -> DocumentReader:
    data = text.encode() if isinstance(text, str) else text
    return open_document(Source(f"/docs/{name}", name, name, data, len(data), metadata=given))


def said(reader: DocumentReader) -> dict[str, Any]:
    names = ("organisation", "document_type", "period", "period_end", "dated", "file_name")
    return {name: reader.metadata[name] for name in names if name in reader.metadata}


def pdf(*lines: str, info: str = "") -> bytes:
    cover = [(72.0, 740.0 - 30 * at, 11.0, line) for at, line in enumerate(lines)]
    return make_pdf(cover, info=info)


FILING = (
    "FORM 10-Q",
    "QUARTERLY REPORT PURSUANT TO SECTION 13",
    "For the quarterly period ended September 30, 2021",
    "Commission File Number: 001-00000",
    "Tidewater Instruments, Inc.",
    "(Exact name of registrant as specified in its charter)",
    "One Quay Street",
)


@pytest.mark.req("D-01")
def test_a_quarterly_filing() -> None:
    reader = read("2022_Q1_TWI.pdf", pdf(*FILING, info="/Title (FORM 10-Q)"))
    assert said(reader) == {
        "organisation": "Tidewater Instruments, Inc.",
        "document_type": "10-Q",
        "period": "quarter ended September 30, 2021",
        "period_end": "2021-09-30",
        "file_name": "2022_Q1_TWI.pdf",
    }
    assert (
        identity_line(reader.title, reader.metadata)
        == "Tidewater Instruments, Inc. · 10-Q · quarter ended September 30, 2021 · 2022_Q1_TWI.pdf"
    )


def test_two_filings_of_one_firm_are_told_apart() -> None:
    other = [line.replace("September 30", "December 31") for line in FILING]
    lines = [
        identity_line(reader.title, reader.metadata)
        for reader in (read("a.pdf", pdf(*FILING)), read("b.pdf", pdf(*other)))
    ]
    assert len(set(lines)) == 2
    assert all("Tidewater" in line for line in lines)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "ar.md",
            "# Annual Report 2022\n\nBorealis Shipping plc\n\nFor the year ended 31 March 2022\n\n" + PROSE,
            {
                "organisation": "Borealis Shipping plc",
                "document_type": "annual report",
                "period": "year ended March 31, 2022",
                "period_end": "2022-03-31",
            },
        ),
        (
            "board.md",
            "# Minutes of the Harbour Board\n\n**Date:** 5 March 2024\n\nPresent: Ann, Bo\n\n" + PROSE,
            {"document_type": "minutes", "dated": "2024-03-05"},
        ),
        (
            "v2.txt",
            "Release notes 2.3\nReleased: 2024-05-01\n\n" + PROSE,
            {"document_type": "release notes", "dated": "2024-05-01"},
        ),
        (
            "crash.md",
            "# Collision off Skagen\n\nNational Maritime Safety Board\n\nAccident Report\n\n14 July 2019\n\n" + PROSE,
            {
                "organisation": "National Maritime Safety Board",
                "document_type": "accident report",
                "dated": "2019-07-14",
            },
        ),
        (
            "2024-02-10-press.md",
            "# Press release: new ferry\n\n" + PROSE,
            {"document_type": "press release", "dated": "2024-02-10"},
        ),
    ],
)
def test_covers_of_other_documents(name: str, text: str, expected: dict[str, str]) -> None:
    assert said(read(name, text)) == {**expected, "file_name": name}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("knots.md", "# Knots\n\n" + PROSE),
        ("how.md", "# How to write an annual report\n\n" + PROSE),
        ("note.txt", PROSE),
        ("tags.md", "---\ntags: [a]\nlesson: 3.8\n---\n\n# Frames in 2022 and after\n\n" + PROSE),
        ("code.md", "# Dates\n\n```\nDate: 2024-01-01\nAcme Inc.\n```\n"),
    ],
)
def test_a_plain_note_has_only_its_title(name: str, text: str) -> None:
    reader = read(name, text)
    assert said(reader) == {}
    assert identity_line(reader.title, reader.metadata) == reader.title


def test_where_the_authors_of_a_paper_work_is_not_whom_it_is_from() -> None:
    reader = read(
        "warp.pdf",
        pdf(
            "Warping a ship with light anchors",
            "Ann Bowline, Bo Hitch",
            "Cordage Research Inc.",
            "Abstract",
            "We warp.",
        ),
    )
    assert said(reader) == {"file_name": "warp.pdf"}


@pytest.mark.req("D-01")
def test_what_front_matter_and_the_user_say_wins() -> None:
    text = (
        "---\norganization: Borealis\nperiod: Q3 2023\ndate: 2023-11-02\n---\n\n# Quarterly Report\n\n"
        "Other Firm Ltd.\n\nFor the quarter ended September 30, 2020\n\n" + PROSE
    )
    found = said(read("q.md", text, document_type="board paper"))
    assert found == {
        "organisation": "Borealis",
        "document_type": "board paper",
        "period": "Q3 2023",
        "dated": "2023-11-02",
        "file_name": "q.md",
    }


def test_rows_of_a_corpus_say_all_of_it_themselves() -> None:
    text = "Annual Report 2022\n\nBorealis Shipping plc\n"
    row = Source("/c.jsonl#1", "1", "1", text, len(text), format="text", title="Annual Report 2022")
    assert said(open_document(row)) == {}


def test_the_properties_of_a_pdf_count() -> None:
    info = (
        "/Title (Tidewater Instruments, Inc.) /Subject (Form 10-K filed on 2022-02-03 for the period ending 2021-12-31)"
    )
    found = said(read("k.pdf", pdf("Tidewater Instruments, Inc.", "We make gauges.", info=info)))
    assert found["document_type"] == "10-K"
    assert found["dated"] == "2022-02-03"
    assert found["organisation"] == "Tidewater Instruments, Inc."
