"""Files that strangers send: made by code, small on disk, each after memory, time, disk or other files."""

from __future__ import annotations

import gzip
import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

WORDS = "The warp is tied to the ring of the kedge anchor with an anchor bend. "
ZERO_PIECE = bytes(1 << 20)


@dataclass(frozen=True, slots=True)
class Hostile:
    """One file or folder."""

    name: str
    kind: str
    """Of knowledge, as in `--kind`."""
    make: Callable[[Path], None]
    """Writes it to this path."""
    taken: bool = False
    """Whether it may also be taken in: then it is harmless within the caps."""


def _bytes(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(content)

    return write


def _lazily(make: Callable[[], bytes]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(make())

    return write


def _text(text: str) -> Callable[[Path], None]:
    return _bytes(text.encode("utf-8", "surrogatepass"))


# ------------------------------------------------------------ PDF


def pdf(objects: Iterable[bytes], trailer: bytes = b"") -> bytes:
    """Objects, their table and the trailer; the first is the catalog."""
    out = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(offsets) + 1, trailer, start)
    return bytes(out)


CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
    b"/Resources << /Font << /F1 5 0 R >> /XObject << /X0 6 0 R >> >> >>"
)
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def stream(content: bytes, fields: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), fields, content)


def packed(piece: bytes, times: int) -> bytes:
    """`piece` so often, deflated, without ever holding all of it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x78\xda" + block * times + b"\x03\x00" + bytes(4)


def one_page(contents: bytes, more: bytes = b"<< >>") -> bytes:
    return pdf([CATALOG, PAGES, PAGE, contents, FONT, more])


def deep_page_tree(depth: int = 20_000) -> bytes:
    nodes = [b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (number + 1) for number in range(2, depth)]
    return pdf([CATALOG, *nodes, b"<< /Type /Pages /Kids [] /Count 0 >>"])


def flate_bomb(megabytes: int = 2000) -> bytes:
    """A page whose drawing orders unpack to gigabytes."""
    return one_page(stream(packed(b"BT /F1 9 Tf (x) Tj ET\n" * 50_000, megabytes), b"/Filter /FlateDecode"))


def flate_of_flate() -> bytes:
    inner = packed(ZERO_PIECE, 4000)
    outer = zlib.compress(zlib.compress(inner, 9), 9)
    return one_page(stream(outer, b"/Filter [/FlateDecode /FlateDecode /FlateDecode]"))


def million_letters() -> bytes:
    orders = b"BT /F1 9 Tf 1 0 0 1 50 700 Tm " + b"(abcdefghij klmno pqrst) Tj 0 -1 Td " * 120_000 + b"ET"
    return one_page(stream(zlib.compress(orders), b"/Filter /FlateDecode"))


def drawing_itself() -> bytes:
    form = stream(
        b"/X0 Do /X0 Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X0 6 0 R >> >>"
    )
    return one_page(stream(b"BT /F1 9 Tf 1 0 0 1 50 700 Tm (A page that draws itself, twice) Tj ET /X0 Do"), form)


def many_paths() -> bytes:
    lines = b"".join(b"%d %d m %d %d l S " % (x % 600, 5, x % 600, 700) for x in range(60_000))
    return one_page(
        stream(
            zlib.compress(b"BT /F1 9 Tf 1 0 0 1 50 700 Tm (" + WORDS.encode() + b") Tj ET " + lines),
            b"/Filter /FlateDecode",
        )
    )


def pdf_files() -> list[Hostile]:
    looped = pdf([CATALOG, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"])
    counted = pdf([CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>", PAGE, stream(b""), FONT])
    prev = one_page(stream(b"")).replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev 9")
    return [
        Hostile("page-tree-deep.pdf", "documents", _lazily(deep_page_tree)),
        Hostile("page-tree-loop.pdf", "documents", _bytes(looped)),
        Hostile("page-count-huge.pdf", "documents", _bytes(counted)),
        Hostile("xref-loop.pdf", "documents", _bytes(prev)),
        Hostile("stream-bomb.pdf", "documents", _lazily(flate_bomb)),
        Hostile("stream-in-stream.pdf", "documents", _lazily(flate_of_flate)),
        Hostile("letters-million.pdf", "documents", _lazily(million_letters), taken=True),
        Hostile("draws-itself.pdf", "documents", _bytes(drawing_itself()), taken=True),
        Hostile("paths-many.pdf", "documents", _lazily(many_paths), taken=True),
        Hostile("arrays-deep.pdf", "documents", _bytes(one_page(b"[" * 200_000 + b"]" * 200_000))),
        Hostile("cut-off.pdf", "documents", _bytes(one_page(stream(WORDS.encode() * 50))[:700])),
        Hostile("noise.pdf", "documents", _bytes(b"%PDF-1.7\n" + bytes(range(256)) * 400)),
    ]


# ------------------------------------------------------------ archives and other types under a document's name


def zip_of(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def nested_zip(levels: int = 5) -> bytes:
    inner = zip_of({"zeros": bytes(50 << 20)})
    for _ in range(levels):
        inner = zip_of({f"{number}.zip": inner for number in range(10)})
    return inner


def overlapping_zip(entries: int = 20_000) -> bytes:
    """Every entry of the directory leads to the same packed bytes."""
    packed_zeros = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packed_zeros.compress(bytes(10 << 20)) + packed_zeros.flush()
    name = b"a"
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 0, 0, len(body), 10 << 20, len(name), 0) + name + body
    entry = struct.pack(
        "<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 8, 0, 0, 0, len(body), 10 << 20, len(name), 0, 0, 0, 0, 0, 0
    )
    directory = (entry + name) * entries
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, entries, entries, len(directory), len(local), 0)
    return local + directory + end


def archive_files() -> list[Hostile]:
    climbing = zip_of({"../../../../tmp/kedge-was-here": b"x", "/etc/kedge-was-here": b"x", "..\\..\\x": b"x"})
    return [
        Hostile("bomb-nested.zip", "documents", _lazily(nested_zip)),
        Hostile("bomb-overlapping.docx", "documents", _lazily(overlapping_zip)),
        Hostile("climbing.zip", "documents", _bytes(climbing)),
        Hostile("archive-named.md", "documents", _bytes(climbing)),
        Hostile("archive-named.csv", "table", _bytes(climbing)),
        Hostile("archive-named.json", "graph", _bytes(climbing)),
        Hostile("bomb.txt.gz", "documents", _lazily(lambda: gzip.compress(bytes(100 << 20)))),
        Hostile("program-named.md", "documents", _bytes(b"\x7fELF" + bytes(500))),
        Hostile("picture-named.html", "documents", _bytes(b"\x89PNG\r\n\x1a\n" + bytes(500))),
    ]


# ------------------------------------------------------------ office files


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
OPEN = "urn:oasis:names:tc:opendocument:xmlns"
SAID = b"The kedge anchor holds. "


def package_of(members: dict[str, tuple[bytes, bytes, int, bytes]]) -> Callable[[Path], None]:
    """A package; of each member what it begins with, what is repeated, how often, and how it ends."""

    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, (head, unit, times, tail) in members.items():
                info = zipfile.ZipInfo(name)
                info.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
                with archive.open(info, "w", force_zip64=True) as member:
                    member.write(head)
                    for _ in range(times // 1000):
                        member.write(unit * 1000)
                    member.write(unit * (times % 1000) + tail)

    return write


def word(head: bytes, unit: bytes, times: int, tail: bytes) -> Callable[[Path], None]:
    start = head + f'<w:document xmlns:w="{WORD}"><w:body>'.encode()
    return package_of({"word/document.xml": (start, unit, times, tail + b"</w:body></w:document>")})


def open_document_file(body: str, unit: bytes, times: int) -> Callable[[Path], None]:
    kind = "spreadsheet" if "table:table" in body else "text"
    names = " ".join(f'xmlns:{name}="{OPEN}:{name}:1.0"' for name in ("office", "text", "table"))
    head = f"<office:document-content {names}><office:body><office:{kind}>{body}".encode()
    end = "</table:table>" if kind == "spreadsheet" else ""
    tail = f"{end}</office:{kind}></office:body></office:document-content>".encode()
    mime = f"application/vnd.oasis.opendocument.{kind}".encode()
    return package_of({"mimetype": (mime, b"", 0, b""), "content.xml": (head, unit, times, tail)})


def book(times: int, chapter: str = "a.xhtml") -> Callable[[Path], None]:
    """A book whose one chapter stands in its order so often."""
    container = '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    item = f'<item id="a" href="{chapter}" media-type="application/xhtml+xml"/>'
    start = f'<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest>{item}</manifest><spine>'
    rootfile = '<rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    return package_of(
        {
            "mimetype": (b"application/epub+zip", b"", 0, b""),
            "META-INF/container.xml": (f"{container}{rootfile}".encode(), b"", 0, b""),
            "c.opf": (start.encode(), b'<itemref idref="a"/>', times, b"</spine></package>"),
            "a.xhtml": (b"", b"<p>" + SAID + b"</p>", 20_000, b""),
        }
    )


def office_files() -> list[Hostile]:
    text = b"<w:p><w:r><w:t>%s</w:t></w:r></w:p>"
    named = "".join(
        f'<!ENTITY {name} "{(of or "aaaaaaaaaa") * 10}">'
        for name, of in zip("abcdefgh", ["", *(f"&{one};" for one in "abcdefg")], strict=True)
    )
    slides = {
        f"ppt/slides/slide{number}.xml": (f'<p:sld xmlns:p="{SLIDES}"/>'.encode(), b"", 0, b"")
        for number in range(60_000)
    }
    presentation = {"ppt/presentation.xml": (f'<p:presentation xmlns:p="{SLIDES}"/>'.encode(), b"", 0, b"")}
    row = '<table:table-row table:number-rows-repeated="1000000000">'
    cell = '<table:table-cell table:number-columns-repeated="1000000000" office:value-type="string">'
    repeated = f'<table:table table:name="x">{row}{cell}<text:p>kedge</text:p></table:table-cell></table:table-row>'
    return [
        Hostile("spaces-endless.docx", "documents", word(b"", b" ", 300_000_000, b"")),
        Hostile("paragraphs-endless.docx", "documents", word(b"", text % SAID, 6_000_000, b"")),
        Hostile("tables-deep.docx", "documents", word(b"", b"<w:tbl><w:tr><w:tc>", 200_000, b"")),
        Hostile("entities.docx", "documents", word(f"<!DOCTYPE d [{named}]>".encode(), text % b"&h;", 1, b"")),
        Hostile("slides-many.pptx", "documents", package_of({**presentation, **slides})),
        Hostile(
            "spaces-counted.odt",
            "documents",
            open_document_file('<text:p>kedge<text:s text:c="2000000000"/></text:p>', b"", 0),
            taken=True,
        ),
        Hostile("cells-repeated.ods", "table", open_document_file(repeated, b"", 0)),
        Hostile("chapter-again.epub", "documents", book(200_000)),
        Hostile("chapter-outside.epub", "documents", book(1, "../../../../../../etc/passwd")),
    ]


# ------------------------------------------------------------ markup and text


def entity_bomb() -> str:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">{levels}]><x>&l9;</x>'


EXTERNAL = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><html><p>&f; and text</p></html>'


def markup_files() -> list[Hostile]:
    aliases = "---\n" + "".join(f"a{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 9))
    recursive = "---\ntitle: x\nloop: &x [*x, *x]\n---\n" + WORDS
    return [
        Hostile("entities.xml", "documents", _text(entity_bomb()), taken=True),
        Hostile("entities.html", "documents", _text(entity_bomb()), taken=True),
        Hostile("outside-entity.html", "documents", _text(EXTERNAL), taken=True),
        Hostile("nested.html", "documents", _text("<div>" * 300_000 + WORDS), taken=True),
        Hostile("nested-lists.html", "documents", _text("<ul><li>" * 50_000 + WORDS), taken=True),
        Hostile("nested-tables.html", "documents", _text("<table><tr><td>" * 20_000 + WORDS), taken=True),
        Hostile(
            "attributes.html",
            "documents",
            _text("<p " + " ".join(f"a{n}=1" for n in range(200_000)) + f">{WORDS}"),
            taken=True,
        ),
        Hostile(
            "colspan.html",
            "documents",
            _text(f"<table><tr><td colspan=999999999>{WORDS}<td rowspan=999999999>x</table>"),
            taken=True,
        ),
        Hostile("brackets.md", "documents", _text("[" * 1_000_000), taken=True),
        Hostile("emphasis.md", "documents", _text("*a_ **b " * 100_000), taken=True),
        Hostile("quotes.md", "documents", _text(">" * 500_000 + "x"), taken=True),
        Hostile("aliases.md", "documents", _text(aliases + "---\n" + WORDS), taken=True),
        Hostile("alias-of-itself.md", "documents", _text(recursive), taken=True),
        Hostile("front-matter-deep.md", "documents", _text("---\na: " + "[" * 20_000 + "\n---\n" + WORDS), taken=True),
        Hostile(
            "table-wide.md",
            "documents",
            _text("|a" * 20_000 + "|\n" + "|-" * 20_000 + "|\n" + "|b" * 20_000 + "|\n"),
            taken=True,
        ),
        Hostile("formulas.md", "documents", _text("\\(" * 200_000), taken=True),
        Hostile("one-word.txt", "documents", _text("a" * 3_000_000), taken=True),
        Hostile("unseen.txt", "documents", _text("\u200d\n\n" * 30_000 + WORDS), taken=True),
        Hostile("accents.txt", "documents", _text("e" + "\u0301" * 500_000), taken=True),
        Hostile("half-characters.txt", "documents", _bytes(b"\xff\xfe" + b"\x00\xd8a\x00" * 500)),
        Hostile("nul.txt", "documents", _bytes(b"text\x00text" * 100)),
        Hostile("escapes.txt", "documents", _text(f"\x1b]0;owned\x07\x1b[2J{WORDS}" * 5), taken=True),
    ]


# ------------------------------------------------------------ rows and graphs


def parquet_bomb(path: Path) -> None:
    target = str(path).replace("'", "''")
    packing = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 5000000"
    duckdb.sql(f"COPY (SELECT repeat('x', 60) AS a FROM range(50000000)) TO '{target}' ({packing})")


def broken_parquet(path: Path) -> None:
    path.write_bytes(b"PAR1" + bytes(200) + struct.pack("<I", 2**31 - 1) + b"PAR1")


PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
WORKBOOK = {
    "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}">'
    '<sheets><sheet name="one" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
"""Everything of a workbook but its sheet."""


def workbook(rows: bytes, times: int = 1) -> Callable[[Path], None]:
    """A workbook whose sheet holds these rows so often."""

    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in WORKBOOK.items():
                archive.writestr(name, text)
            with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
                sheet.write(f'<worksheet xmlns="{SHEET}"><sheetData>'.encode())
                for _ in range(times):
                    sheet.write(rows)
                sheet.write(b"</sheetData></worksheet>")

    return write


def cells(*places: str) -> bytes:
    """A row for each cell, named like `A1`."""
    row = b'<row><c r="%s" t="inlineStr"><is><t>kedge</t></is></c></row>'
    return b"".join(row % place.encode() for place in places)


def row_files() -> list[Hostile]:
    deep = "[" * 100_000
    return [
        Hostile("rows-endless.parquet", "table", parquet_bomb),
        Hostile("footer.parquet", "table", broken_parquet),
        Hostile("far-cell.xlsx", "table", workbook(cells("A1", "XFD1048576"))),
        Hostile("rows-endless.xlsx", "table", workbook(b'<row><c t="str"><v>kedge</v></c></row>' * 20_000, 250)),
        Hostile("lists.json", "table", _text("[" + "[]," * 12_000_000 + "[]]")),
        Hostile("deep.json", "table", _text(deep)),
        Hostile("deep.jsonl", "table", _text(deep + "\n" + '{"a": 1}\n'), taken=True),
        Hostile("halves.jsonl", "table", _text('{"a\\ud800": "\\udfff", "b": "x\\u0000y"}\n' * 20), taken=True),
        Hostile("number.jsonl", "table", _text('{"a": ' + "9" * 5000 + "}\n" + '{"a": 1}\n'), taken=True),
        Hostile(
            "wide.csv",
            "table",
            _text(",".join(f"c{n}" for n in range(20_000)) + "\n" + ",".join("1" * 20_000) + "\n"),
            taken=True,
        ),
        Hostile("one-line.csv", "table", _text("a," * 2_000_000)),
        Hostile("million-columns.csv", "table", _text(",".join("c" * 1_000_000) + "\n" + ",".join("1" * 1_000_000))),
        Hostile("open-quote.csv", "table", _text('a,b\n1,"' + "x" * 12_000_000), taken=True),
        Hostile("formulas.csv", "table", _text("a,b\n=cmd|' /C calc'!A0,1\n@SUM(1),2\n"), taken=True),
        Hostile(
            "deep-rows.jsonl",
            "documents",
            _text(deep + "\n" + json.dumps({"_id": "1", "text": WORDS}) + "\n"),
            taken=True,
        ),
        Hostile("halves-rows.jsonl", "documents", _text('{"_id": "1", "text": "\\ud800"}\n')),
        Hostile("deep-graph.json", "graph", _text(deep)),
        Hostile("lists-graph.json", "graph", _text("[" + "[]," * 12_000_000 + "[]]")),
        Hostile("script.cypher", "graph", _text("CREATE (n:A {id: '1'}) " + "(" * 50_000), taken=True),
        Hostile(
            "fetching.cypher",
            "graph",
            _text("LOAD CSV WITH HEADERS FROM 'file:///etc/passwd' AS row MERGE (n:U {id: row.x})"),
            taken=True,
        ),
        Hostile("braces.cypher", "graph", _text("CREATE (n:A " + "{" * 100_000), taken=True),
        Hostile("cell-long.csv", "graph", _text("source,type,target\n" + "x" * 3_000_000 + ",knows,b\n"), taken=True),
    ]


# ------------------------------------------------------------ names, links and things that are no files


def _folder(fill: Callable[[Path], None]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.mkdir()
        fill(path)

    return make


def _secret(path: Path) -> Path:
    secret = path.parent / "outside-secret.csv"
    secret.write_text("user,password\nroot,outside-secret\n")
    return secret


def _links_out(path: Path) -> None:
    secret = _secret(path)
    for suffix in (".md", ".csv", ".json", ".txt"):
        (path / f"link{suffix}").symlink_to(secret)
    (path / "up").symlink_to(path.parent, target_is_directory=True)


def _link_loop(path: Path) -> None:
    (path / "loop").symlink_to(path, target_is_directory=True)
    (path / "self.md").symlink_to(path / "self.md")
    (path / "self.csv").symlink_to(path / "self.csv")


def _pipes(path: Path) -> None:
    for suffix in (".md", ".csv", ".json"):
        os.mkfifo(path / f"pipe{suffix}")
    (path / "zero.md").symlink_to("/dev/zero")
    (path / "zero.csv").symlink_to("/dev/zero")


def _odd_names(path: Path) -> None:
    for name in (
        b"\xff\xfe.md",
        "\u202egnp.md".encode(),
        b"new\nline.md",
        b"CON.md",
        b"a" * 240 + b".md",
        b"\x1b[2J.md",
    ):
        (path / os.fsdecode(name)).write_text(WORDS)


def folder_files() -> list[Hostile]:
    cases = [("links-out", _links_out), ("links-loop", _link_loop), ("no-files", _pipes)]
    found = [
        Hostile(f"{name}.{kind}", kind, _folder(fill))
        for name, fill in cases
        for kind in ("documents", "table", "graph")
    ]
    return [*found, Hostile("odd-names.documents", "documents", _folder(_odd_names), taken=True)]


def hostile_set() -> list[Hostile]:
    """All of them."""
    return [*pdf_files(), *archive_files(), *office_files(), *markup_files(), *row_files(), *folder_files()]
