"""Rich text, Outlook's messages, source code and archives become documents."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from kedge.core.errors import EmptySourceError, EncryptedError, SourceFault, UnreadableError
from kedge.core.settings import Settings
from kedge.core.values import BlockKind, SourceError
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.parse.reading import DocumentReader, open_document
from kedge.ingest.parse.rtf import unpacked_rtf
from kedge.ingest.sources.discovery import discover, uploaded
from kedge.ingest.sources.source import Source
from tests.support.compound import compound_file, message

pytestmark = pytest.mark.req("D-02")
LIMITS = ParseLimits(seconds=60, memory=1 << 30, output=32 << 20)


def opened(name: str, data: bytes) -> DocumentReader:
    return open_document(uploaded(name, data), LIMITS)


def text_of(name: str, data: bytes) -> str:
    return next(opened(name, data).segments).document.text


RTF = rb"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Times New Roman;}}{\colortbl;\red0\green0\blue0;}
{\stylesheet{\s0 Normal;}{\s1\b\fs32 heading 1;}}{\info{\title The kedge}{\author Ada}{\*\company Secret Inc}}
{\header Running head\par}
\pard\s1\b Anchors\par
\pard\plain A kedge is light \'96 and \u8364?5 cheap.\line It is carried in a dinghy.\par
\pard{\listtext\'b7\tab}drop it\par
\pard{\listtext\'b7\tab}haul on it\par
\trowd\cellx1000\cellx2000\pard\intbl Ship\cell Anchor\cell\row
\trowd\cellx1000\cellx2000\pard\intbl Sloop\cell 12 kg\cell\row
\pard After \{the\} table.{\*\unknown not this}{\pict 0011aabb}\par
}"""


def test_rich_text_has_headings_items_and_tables() -> None:
    reader = opened("a.rtf", RTF)
    text = next(reader.segments).document.text
    assert (reader.title, reader.author) == ("The kedge", "Ada")
    assert text == (
        "# Anchors\n\nA kedge is light – and €5 cheap.\nIt is carried in a dinghy.\n\n- drop it\n- haul on it\n\n"
        "| Ship | Anchor |\n| --- | --- |\n| Sloop | 12 kg |\n\nAfter {the} table."
    )


@pytest.mark.parametrize(
    "data",
    [
        b"{\\rtf1 " + b"{" * 50_000,
        RTF[:300],
        b"{\\rtf1 \\bin999999999999 x}",
        b"{\\rtf1 \\u99999999 \\'zz \\",
        b"{\\rtf1}",
    ],
)
def test_odd_rich_text_is_refused_or_harmless(data: bytes) -> None:
    try:
        assert text_of("a.rtf", data)
    except SourceFault:
        return


def test_a_message_of_outlook_has_its_words_and_its_attachments() -> None:
    data = message(
        "Mooring", "We meet at the quay.\r\nBring rope.", sender="Ada <ada@example.org>", to="Ben",
        attached={"list.md": b"# List\n\nTwo fenders.", "logo.png": b"\x89PNG"},
    )  # fmt: skip
    reader = opened("a.msg", data)
    document = next(reader.segments).document
    assert (reader.title, reader.author, reader.metadata["sender"]) == ("Mooring", "Ada", "ada@example.org")
    assert "We meet at the quay." in document.text
    assert "To: Ben" in document.text
    assert [block.section for block in document.blocks if "fenders" in document.text[block.start : block.end]] == [
        ("Mooring", "list.md", "List")
    ]


def test_other_compound_files_are_told_apart() -> None:
    with pytest.raises(EncryptedError):
        text_of("a.docx", compound_file({"EncryptedPackage": b"x" * 5000, "EncryptionInfo": b"y"}))
    with pytest.raises(SourceFault, match="old kind"):
        text_of("a.doc", compound_file({"WordDocument": b"x" * 5000}))
    with pytest.raises(UnreadableError):
        text_of("a.msg", message("a", "b")[:700])


def test_packed_rich_text_of_messages() -> None:
    raw = b"{\\rtf1 hello hello hello}"
    packed = struct.pack("<IIII", len(raw) + 12, len(raw), 0x414C454D, 0) + raw
    assert unpacked_rtf(packed) == raw
    # The example of [MS-OXRTFCP] 3.1.1: a reference into what was written before.
    example = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af86273680a8062a4606c6f72640c6081507704"
    )
    try:
        unpacked_rtf(example)
    except ValueError as error:
        pytest.fail(str(error))


CODE = '''"""Anchors for small boats."""

import os


class Anchor:
    """Holds a boat in its place."""

    def drop(self, depth: int) -> None:
        """Let it go to the ground at `depth`."""
        os.write(1, b"x")
        # not def this()
        os.write(1, b"y")
        os.write(1, b"z")


def haul(rope: str) -> str:
    return rope  # nothing more
'''


def test_source_code_has_a_section_for_each_definition() -> None:
    reader = opened("anchor.py", CODE.encode())
    document = next(reader.segments).document
    sections = [block.section for block in document.blocks if block.kind is BlockKind.HEADING]
    assert sections == [
        ("anchor.py",),
        ("anchor.py", "class Anchor"),
        ("anchor.py", "class Anchor", "def drop(self, depth: int) -> None"),
        ("anchor.py", "def haul(rope: str) -> str"),
    ]
    prose = [document.text[block.start : block.end] for block in document.blocks if block.kind is BlockKind.PARAGRAPH]
    assert prose == ["Anchors for small boats.", "Holds a boat in its place.", "Let it go to the ground at `depth`."]
    assert reader.metadata["programming_language"] == "python"


@pytest.mark.parametrize(
    ("name", "text", "sections"),
    [
        ("a.c", "/* A. */\nint add(int a, int b)\n{\n  return 1;\n}\n\nint sub(int a);\n", ["int add(int a, int b)"]),
        ("a.go", "// Haul.\nfunc (a *Anchor) Haul() error {\n\treturn nil\n}\n", ["func (a *Anchor) Haul() error"]),
        ("a.js", "const haul = (rope) => {\n  if (rope) {\n  }\n};\nfunction drop() {}\n",
         ["const haul = (rope) =>", "function drop() {}"]),
        ("a.sql", "CREATE TABLE boats (id INT);\nselect 1;\n", ["CREATE TABLE boats (id INT);"]),
        ("a.sh", "#!/bin/sh\n# Mooring.\nmoor() {\n  echo x\n}\n", ["moor()"]),
        ("a.rs", "/// Hauls.\npub fn haul(r: &str) -> u8 {\n 1\n}\n", ["pub fn haul(r: &str) -> u8"]),
    ],
)  # fmt: skip
def test_definitions_of_other_languages(name: str, text: str, sections: list[str]) -> None:
    document = next(opened(name, text.encode()).segments).document
    assert [b.section[-1] for b in document.blocks if b.kind is BlockKind.HEADING][1:] == sections


def test_packed_lines_of_code_are_shortened_and_said() -> None:
    reader = opened("a.js", b"var a=1;" * 5000)
    assert reader.warnings
    assert len(next(reader.segments).document.text) < 1000


def packed(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files.items():
            file.writestr(name, data)
    return out.getvalue()


def taken(path: Path, **settings: int) -> tuple[list[Source], list[SourceError], Mapping[str, int]]:
    found = discover([str(path)], Settings(**settings))  # type: ignore[arg-type]
    items = list(found)
    sources = [item for item in items if isinstance(item, Source)]
    return sources, [item for item in items if isinstance(item, SourceError)], found.skipped


def test_every_document_of_an_archive_is_one_of_its_own(tmp_path: Path) -> None:
    inner = packed({"deep/c.md": b"# C"})
    path = tmp_path / "all.zip"
    path.write_bytes(
        packed({"a.md": b"# A", "b/anchor.py": CODE.encode(), "x.iso": b"1", ".hidden/h.md": b"h", "more.zip": inner})
    )
    sources, errors, skipped = taken(path)
    assert [(source.url.rpartition("#")[2], source.format) for source in sources] == [
        ("a.md", "markdown"),
        ("b/anchor.py", "code"),
        ("deep/c.md", "markdown"),
    ]
    assert sources[0].url == f"{path.as_posix()}#a.md"
    assert sources[2].url == f"{path.as_posix()}#more.zip#deep/c.md"
    assert not errors
    assert skipped == {".iso": 1}
    assert sources[1].read() == CODE.encode()


def test_a_member_that_is_gone_is_known_as_such(tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    path.write_bytes(packed({"a.md": b"# A"}))
    found = discover([str(path)], Settings())
    list(found)
    assert found.gone(f"{path.as_posix()}#b.md")
    assert not found.gone(f"{path.as_posix()}#a.md")


def test_archives_that_unpack_without_end_are_stopped(tmp_path: Path) -> None:
    zeros = bytes(4 << 20)
    (tmp_path / "bomb.zip").write_bytes(packed({f"{n}.txt": zeros for n in range(40)}))
    sources, errors, _ = taken(tmp_path / "bomb.zip", parse_output_bytes=16 << 20)
    assert [error.code for error in errors] == ["too_large"]
    assert len(sources) <= 4
    nested = packed({"x.md": b"# X"})
    for _ in range(10):
        nested = packed({"n.zip": nested})
    (tmp_path / "nested.zip").write_bytes(nested)
    sources, errors, _ = taken(tmp_path / "nested.zip")
    assert not sources
    assert [error.code for error in errors] == ["too_large"]


def test_broken_and_empty_archives_are_told(tmp_path: Path) -> None:
    (tmp_path / "cut.zip").write_bytes(packed({"a.md": b"# A" * 1000})[:-30])
    (tmp_path / "none.zip").write_bytes(packed({"a.iso": b"# A"}))
    _, errors, _ = taken(tmp_path)
    assert [error.code for error in errors] == ["unreadable", "empty_source"]


def test_no_words_of_code_are_refused() -> None:
    with pytest.raises(EmptySourceError):
        text_of("a.py", b"\n \n")


def test_the_messages_of_a_digest_are_read() -> None:
    inner = "Content-Type: message/rfc822\n\nSubject: {0}\nFrom: {0}@example.org\n\nWords of {0}.\n"
    digest = (
        "Subject: Digest\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=A\n\n"
        "--A\nContent-Type: text/plain\n\nTwo messages.\n--A\nContent-Type: multipart/digest; boundary=B\n\n"
        f"--B\n{inner.format('one')}--B\n{inner.format('two')}--B--\n--A--\n"
    )
    text = text_of("a.eml", digest.encode())
    assert "Two messages." in text
    assert "Words of one." in text
    assert "Words of two." in text


def test_notes_above_the_header_of_a_sheet_name_no_columns() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    people = [[f"P{number}", "actor", number] for number in range(6)]
    for row in (["Some notes", None, "here"], ["and", "there"], ["Name", "Profession", "Age"], *people):
        book.active.append(row)
    made = io.BytesIO()
    book.save(made)
    text = text_of("a.xlsx", made.getvalue())
    assert (
        "Some notes here\n\nand there\n\n| Name | Profession | Age |\n| --- | --- | --- |\n| P0 | actor | 0 |" in text
    )


PAGE = """<title>Knots</title><body><div class="top-menu"><a href=a>Home</a> <a href=b>About</a></div>
<ul><li><a href=a>Home</a><li><a href=b>Blog</a><li><a href=c>Shop</a><li><a href=d>Contact</a></ul>
<div id="cookie-consent">We use cookies to improve your experience.</div>
<p>A bowline makes a loop at the end of a rope. It does not slip, and it can be untied after a load.
It is known as the king of knots, and sailors tie it to make a line fast to a ring or a post.</p>
<ul><li>Make a small loop, see <a href=x>loops</a>.<li>Pass the end through it.<li>Around the <a href=y>part</a>.</ul>
<div class="footer-links"><a href=a>Imprint</a></div>"""


def test_menus_and_banners_of_a_page_are_left_out() -> None:
    text = text_of("a.html", PAGE.encode())
    assert text.startswith("A bowline makes a loop")
    assert "- Make a small loop, see loops" in text
    for word in ("Home", "cookies", "Imprint"):
        assert word not in text


def test_a_page_of_links_keeps_them() -> None:
    links = "".join(f"<li><a href={n}>Knot {n}</a>" for n in range(30))
    assert "- Knot 29" in text_of("a.html", f"<title>Index</title><ul>{links}</ul>".encode())
