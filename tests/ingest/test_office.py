"""Office files, books, notebooks and mail: their structure as clean text, their pages, and what cannot be read."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage

import pytest

from kedge.core.errors import (
    EmptySourceError,
    EncryptedError,
    SourceFault,
    SourceTooLargeError,
    UnreadableError,
    UnsupportedFormatError,
)
from kedge.core.values import BlockKind, ParsedDocument
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.parse.reading import DocumentReader, open_document
from kedge.ingest.sources.discovery import uploaded

pytestmark = pytest.mark.req("D-02")
LIMITS = ParseLimits(seconds=60, memory=1 << 30, output=32 << 20)
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OPEN = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
)


def packed(members: Mapping[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data, zipfile.ZIP_STORED if name == "mimetype" else None)
    return made.getvalue()


def opened(name: str, data: bytes) -> DocumentReader:
    return open_document(uploaded(name, data))


def parsed(name: str, data: bytes) -> ParsedDocument:
    (segment,) = opened(name, data).segments
    return segment.document


def relations(*found: tuple[str, str, str]) -> str:
    told = "".join(f'<Relationship Id="{a}" Type="{RELS}/{b}" Target="{c}"/>' for a, b, c in found)
    return f"<Relationships>{told}</Relationships>"


def p(text: str, about: str = "") -> str:
    return f"<w:p><w:pPr>{about}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def item(text: str, number: int, level: int = 0) -> str:
    return p(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def cell(text: str, about: str = "") -> str:
    return f"<w:tc><w:tcPr>{about}</w:tcPr>{p(text)}</w:tc>"


def docx(body: str, **more: str) -> bytes:
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{name}"/></w:style>'
        for id, name in (("T", "Title"), ("H1", "heading 1"), ("H2", "heading 2"), ("C", "Source Code"))
    )
    numbering = (
        '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
        '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    )
    return packed(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(("a", "officeDocument", "word/document.xml")),
            "word/document.xml": f"<w:document {W} {R}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(
                ("s", "styles", "styles.xml"), ("n", "numbering", "numbering.xml"), ("f", "footnotes", "footnotes.xml")
            ),
            "word/styles.xml": f"<w:styles {W}>{styles}</w:styles>",
            "word/numbering.xml": f"<w:numbering {W}>{numbering}</w:numbering>",
            **more,
        }
    )


def style(id: str) -> str:
    return f'<w:pStyle w:val="{id}"/>'


def test_word_documents_keep_headings_lists_tables_code_and_notes() -> None:
    wide, first = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>'
    table = (
        f"<w:tbl><w:tr>{cell('kind')}{cell('weights', wide)}</w:tr>"
        f"<w:tr>{cell('kedge', first)}{cell('5')}{cell('6')}</w:tr>"
        f"<w:tr>{cell('', '<w:vMerge/>')}{cell('7')}{cell('8')}</w:tr></w:tbl>"
    )
    gone = (
        "<w:p><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:ins><w:r><w:t>added</w:t></w:r></w:ins></w:p>"
    )
    body = (
        p("Anchors", style("T")) + p("Weights", style("H1")) + p("They are:") + item("light", 1) + item("very", 1, 1)
        + item("first", 2) + item("second", 2) + table + p("drop()", style("C")) + p("haul()", style("C")) + gone
    )  # fmt: skip
    line = f'<w:footnote w:type="separator">{p("-")}</w:footnote>'
    notes = f"<w:footnotes {W}>{line}<w:footnote>{p('Below.')}</w:footnote></w:footnotes>"
    document = parsed("a.docx", docx(body, **{"word/footnotes.xml": notes}))
    assert document.text == (
        "# Anchors\n\n# Weights\n\nThey are:\n\n- light\n  - very\n1. first\n2. second\n\n"
        "| kind | weights | weights |\n| --- | --- | --- |\n| kedge | 5 | 6 |\n| kedge | 7 | 8 |\n\n"
        "```\ndrop()\nhaul()\n```\n\nadded\n\nBelow."
    )
    assert document.title == "Anchors"
    assert {block.kind for block in document.blocks} >= {BlockKind.LIST, BlockKind.TABLE, BlockKind.CODE}


def test_slides_are_sections_with_their_number_bullets_and_notes() -> None:
    def shape(kind: str, *texts: str) -> str:
        said = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)
        return f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody>{said}</p:txBody></p:sp>'

    def slide(*shapes: str) -> str:
        return f'<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>{"".join(shapes)}</p:spTree></p:cSld></p:sld>'

    ids = '<p:sldIdLst><p:sldId r:id="b"/><p:sldId r:id="a"/></p:sldIdLst>'
    order = f'<p:presentation xmlns:p="p" {R}>{ids}</p:presentation>'
    data = packed(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(("a", "officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": order,
            "ppt/_rels/presentation.xml.rels": relations(
                ("a", "slide", "slides/s1.xml"), ("b", "slide", "slides/s2.xml")
            ),
            "ppt/slides/s1.xml": slide(shape("title", "Second"), shape("body", "one", "two"), shape("sldNum", "2")),
            "ppt/slides/s2.xml": slide(shape("ctrTitle", "First")),
            "ppt/slides/_rels/s1.xml.rels": relations(("n", "notesSlide", "../notes/n1.xml")),
            "ppt/notes/n1.xml": slide(shape("body", "Say it slowly.")),
        }
    )
    document = parsed("a.pptx", data)
    assert document.text == "# First\n\n# Second\n\n- one\n- two\n\n## Notes\n\nSay it slowly."
    assert [block.page for block in document.blocks] == [1, 2, 2, 2, 2]
    assert (document.title, document.metadata) == ("First", {"slides": 2})


def workbook(rows: list[list[object]], title: str = "Fleet") -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def test_sheets_are_tables_with_their_captions() -> None:
    rows: list[list[object]] = [
        ["Ships of 2024"],
        ["name", "length", "built"],
        ["Skua", 12.5, 1999.0],
        [],
        ["a", "b"],
        ["c", None],
    ]
    document = parsed("fleet.xlsx", workbook(rows))
    assert document.text == (
        "# Fleet\n\nShips of 2024\n\n| name | length | built |\n| --- | --- | --- |\n| Skua | 12.5 | 1999 |\n\n"
        "| a | b |\n| --- | --- |\n| c |  |"
    )
    assert document.title == "Fleet"
    assert opened("ships.xlsx", workbook(rows, "Sheet1")).title == "Ships"
    with pytest.raises(EmptySourceError):
        parsed("a.xlsx", workbook([]))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("berths.csv", 'quay,length,"fee, a night"\nnorth,12,"1,050"\n"south, old",9,40\n'),
        ("berths.csv", "\ufeffquay;length;fee, a night\r\nnorth;12;1,050\r\nsouth, old;9;40\r\n"),
        ("berths.tsv", "quay\tlength\tfee, a night\nnorth\t12\t1,050\nsouth, old\t9\t40"),
    ],
)
def test_separated_values_are_a_table_whatever_separates_them(name: str, text: str) -> None:
    document = parsed(name, text.encode())
    assert document.text == (
        "| quay | length | fee, a night |\n| --- | --- | --- |\n| north | 12 | 1,050 |\n| south, old | 9 | 40 |"
    )
    assert [block.kind for block in document.blocks] == [BlockKind.TABLE]
    assert opened(name, text.encode()).title == "Berths"


def test_separated_values_that_are_data_or_none_are_told() -> None:
    rows = "a,b\n" + "1,2\n" * 100_000
    with pytest.raises(SourceTooLargeError) as large:
        parsed("data.csv", rows.encode())
    assert "kind `table`" in large.value.hint
    with pytest.raises(EmptySourceError):
        parsed("empty.csv", b",,\n,,\n")
    with pytest.raises(UnreadableError):
        parsed("open.csv", b'a,"' + b"b" * (1 << 21))


def test_numbers_that_a_program_wrote_with_spaces_are_numbers() -> None:
    """Excel reads them, and some writers of other programs leave them so."""
    data = workbook([["depth", "boats"], [12, 41], [7.5, 15]])
    padded = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as book, zipfile.ZipFile(padded, "w") as copy:
        for name in book.namelist():
            copy.writestr(name, book.read(name).replace(b"<v>41</v>", b"<v> 41</v>").replace(b"7.5</v>", b"7.5 </v>"))
    document = parsed("a.xlsx", padded.getvalue())
    assert document.text.endswith("| 12 | 41 |\n| 7.5 | 15 |")
    assert not document.warnings


def odt(body: str, **more: str) -> bytes:
    inner = f"<office:body><office:text>{body}</office:text></office:body>"
    content = f"<office:document-content {OPEN}>{inner}</office:document-content>"
    return packed({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content, **more})


def test_open_documents_keep_headings_lists_tables_and_notes() -> None:
    body = (
        '<text:h text:outline-level="2">Weights</text:h><text:p>A<text:s text:c="2"/>kedge<text:note>'
        "<text:note-citation>1</text:note-citation><text:note-body><text:p>Small.</text:p></text:note-body>"
        "</text:note> holds.</text:p>"
        "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>deep</text:p></text:list-item>"
        "</text:list></text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p>a</text:p>"
        '</table:table-cell><table:table-cell table:number-columns-repeated="2"><text:p>b</text:p></table:table-cell>'
        "</table:table-row><table:table-row><table:table-cell><text:p>1</text:p></table:table-cell></table:table-row>"
        '</table:table><text:p text:style-name="Preformatted_20_Text">x = 1</text:p>'
    )
    assert parsed("a.odt", odt(body)).text == (
        "## Weights\n\nA kedge holds.\n\n- one\n  - deep\n\n| a | b | b |\n| --- | --- | --- |\n| 1 |  |  |\n\n"
        "```\nx = 1\n```\n\nSmall."
    )
    locked = odt("", **{"META-INF/manifest.xml": "<m><encryption-data/></m>"})
    with pytest.raises(EncryptedError):
        parsed("a.odt", locked)


def book(first: str = "mimetype") -> bytes:
    opf = (
        '<package xmlns:dc="d"><metadata><dc:title>Of Anchors</dc:title><dc:creator>A. Sailor</dc:creator></metadata>'
        '<manifest><item id="b" href="b.xhtml" media-type="application/xhtml+xml"/><item id="n" properties="nav" '
        'href="n.xhtml" media-type="application/xhtml+xml"/><item id="a" href="a.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="n"/><itemref idref="a"/>'
        '<itemref idref="b"/></spine></package>'
    )
    members = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="in/book.opf"/></rootfiles></container>',
        "in/book.opf": opf,
        "in/a.xhtml": "<html><body><h1>One</h1><p>Kedges are light.</p></body></html>",
        "in/b.xhtml": "<html><body><h1>Two</h1><p>Bowers are heavy.</p></body></html>",
        "in/n.xhtml": "<html><body><p>Contents</p></body></html>",
    }
    return packed({first: members.pop(first), **members})


@pytest.mark.parametrize("first", ["mimetype", "META-INF/container.xml"])
def test_books_are_read_in_the_order_of_their_chapters(first: str) -> None:
    reader = opened("a.epub", book(first))
    (segment,) = reader.segments
    document = segment.document
    assert (reader.format, reader.title, reader.author) == ("epub", "Of Anchors", "A. Sailor")
    assert document.text == "One\n\nKedges are light.\n\nTwo\n\nBowers are heavy."
    assert [document.text[block.start : block.end] for block in document.blocks][-1] == "Bowers are heavy."
    assert document.blocks[-1].section == ("Two",)


def test_notebooks_keep_markdown_code_and_what_it_printed() -> None:
    printed = [{"output_type": "execute_result", "data": {"text/plain": ["2"]}}]
    cells = [
        {"cell_type": "markdown", "source": ["# Anchors\n", "\n", "They hold."]},
        {
            "cell_type": "code",
            "source": "1 + 1",
            "outputs": printed,
        },
        {"cell_type": "raw", "source": "unseen"},
    ]
    document = parsed("a.ipynb", json.dumps({"cells": cells, "metadata": {}}).encode())
    assert document.text == "# Anchors\n\nThey hold.\n\n```python\n1 + 1\n```\n\n```text\n2\n```\n"
    assert document.title == "Anchors"
    with pytest.raises(UnreadableError):
        parsed("a.ipynb", b"[1, 2]")


def message(**more: bytes) -> bytes:
    made = EmailMessage()
    made["Subject"], made["From"], made["To"] = "The ferry", "Ada Byron <ada@example.org>", "crew@example.org"
    made["Date"] = "Mon, 06 May 2024 10:00:00 +0200"
    made.set_content("It leaves at noon.\n\nBring ropes.\n")
    for name, data in more.items():
        made.add_attachment(data, maintype="application", subtype="octet-stream", filename=name.replace("_", "."))
    return made.as_bytes()


def test_messages_say_who_wrote_when_and_bring_their_attachments() -> None:
    reader = opened("a.eml", message(plan_docx=docx(p("Anchor at dusk.")), odd_bin=b"\x00\x01\x02" * 50))
    (segment,) = reader.segments
    document = segment.document
    assert document.text == (
        "# The ferry\n\nFrom: Ada Byron <ada@example.org>\nTo: crew@example.org\n"
        "Date: Mon, 06 May 2024 10:00:00 +0200\n\n"
        "It leaves at noon.\n\nBring ropes.\n\n\n## plan.docx\n\nAnchor at dusk."
    )
    assert (reader.title, reader.author) == ("The ferry", "Ada Byron")
    assert (reader.metadata["sender"], reader.metadata["date"]) == ("ada@example.org", "2024-05-06")
    assert document.blocks[-1].section == ("The ferry", "plan.docx")
    assert [warning.partition(":")[0] for warning in reader.warnings] == ["The attachment 'odd.bin' was left out"]


@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        ("a.docx", packed({"word/document.xml": "<broken"}), UnreadableError),
        ("a.docx", docx(p("x"))[:400], UnreadableError),
        ("a.docx", docx(""), EmptySourceError),
        ("a.docx", packed({"word/other.xml": "<x/>"}), UnreadableError),
        ("a.pptx", packed({"ppt/other.xml": "<x/>"}), EmptySourceError),
        ("a.xlsx", packed({"xl/other.xml": "<x/>"}), UnreadableError),
        ("a.odt", packed({"mimetype": "application/vnd.oasis.opendocument.text"}), UnreadableError),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), UnsupportedFormatError),
        ("a.zip", packed({"any.txt": "words"}), UnsupportedFormatError),
        ("a.eml", b"Subject: nothing\n\n", EmptySourceError),
        ("a.docx", b"", EmptySourceError),
        ("a.pdf", b"", EmptySourceError),
    ],
)
def test_what_cannot_be_read_gets_its_own_error(name: str, data: bytes, fault: type[SourceFault]) -> None:
    with pytest.raises(fault) as caught:
        parsed(name, data)
    assert name in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "data", "format"),
    [
        ("report.bin", docx(p("Words enough.")), "docx"),
        ("a.docx", odt("<text:p>Words enough.</text:p>"), "odt"),
        ("a.docx", book(), "epub"),
    ],
)
def test_a_wrong_suffix_hides_nothing(name: str, data: bytes, format: str) -> None:
    assert opened(name, data).format == format


def repacked(data: bytes) -> bytes:
    """The same file as other programs pack it: its members in the order of their names, behind a picture."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        members: dict[str, str | bytes] = {name: file.read(name) for name in sorted(file.namelist())}
    return packed({"Thumbnails/a.png": bytes(range(256)) * 20 + random.Random(1).randbytes(6000), **members})


@pytest.mark.parametrize(
    ("name", "data", "format"),
    [
        ("a.docx", docx(p("Words enough.")), "docx"),
        ("a.odt", odt("<text:p>Words enough.</text:p>"), "odt"),
        ("a.epub", book(), "epub"),
    ],
)
def test_a_beginning_that_says_nothing_is_what_the_end_and_the_suffix_say(name: str, data: bytes, format: str) -> None:
    reader = opened(name, repacked(data))
    assert reader.format == format
    assert [segment.document.text for segment in reader.segments] == [parsed(name, data).text]
    with pytest.raises(UnsupportedFormatError):
        opened(name, repacked(packed({"any.txt": "words"})))
    with pytest.raises(UnsupportedFormatError):
        opened("a.txt", repacked(data))


def test_they_are_read_in_the_other_process() -> None:
    reader = open_document(uploaded("a.docx", docx(p("Kedges are light."))), LIMITS)
    assert [segment.document.text for segment in reader.segments] == ["Kedges are light."]
