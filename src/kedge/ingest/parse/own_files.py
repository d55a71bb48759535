"""The formats of office programs, books, notebooks, mail and source code. Their parsers load on first use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kedge.ingest.parse.languages import LANGUAGES
from kedge.ingest.parse.ocr_extra import PICTURE_SUFFIXES, can_read_pictures
from kedge.ingest.parse.own import whole_text
from kedge.ingest.parse.ports import FileFormat, Segment

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

MAX_NOTEBOOK_BYTES = 128 << 20
MAX_CODE_BYTES = 8 << 20
MAX_DELIMITED_BYTES = 16 << 20
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PICTURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*")
_ZIP = b"PK\x03\x04"
_OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument."
_OFFICE = "application/vnd.openxmlformats-officedocument"
_PARTS = (b"word/", b"ppt/", b"xl/")


def _is_office(head: bytes, part: bytes) -> bool:
    """Whether an archive that begins so is an Office document with that folder, or may be one."""
    if not head.startswith(_ZIP) or b"mimetypeapplication/" in head or b"META-INF/container.xml" in head:
        return False
    others = any(other in head for other in _PARTS if other != part)
    return part in head or (b"[Content_Types].xml" in head and not others)


class DocxFormat(FileFormat):
    """Word documents."""

    name = "docx"
    suffixes = (".docx", ".docm", ".dotx")
    members = (b"word/document",)
    media_types = (f"{_OFFICE}.wordprocessingml.document",)

    def claims(self, head: bytes) -> bool:
        return _is_office(head, b"word/")

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.docx import parse_docx

        yield Segment(0, parse_docx(source))


class PptxFormat(FileFormat):
    """Presentations, with slide numbers and speaker notes."""

    name = "pptx"
    suffixes = (".pptx", ".pptm", ".ppsx")
    members = (b"ppt/presentation",)
    media_types = (f"{_OFFICE}.presentationml.presentation",)

    def claims(self, head: bytes) -> bool:
        return _is_office(head, b"ppt/")

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.pptx import parse_pptx

        yield Segment(0, parse_pptx(source))


class SheetsFormat(FileFormat):
    """Workbooks; those that are data are better taken in as tables."""

    name = "sheets"
    suffixes = (".xlsx", ".xlsm", ".xlsb", ".ods")
    members = (b"xl/workbook", b"content.xml")
    media_types = (f"{_OFFICE}.spreadsheetml.sheet", "application/vnd.oasis.opendocument.spreadsheet")

    def claims(self, head: bytes) -> bool:
        return _is_office(head, b"xl/") or _OPEN_DOCUMENT + b"spreadsheet" in head

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.sheets import parse_sheets

        yield Segment(0, parse_sheets(source))


class DelimitedFormat(FileFormat):
    """Rows of separated values; those that are data are better taken in as tables."""

    name = "csv"
    suffixes = (".csv", ".tsv")
    media_types = ("text/csv", "text/tab-separated-values")

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.delimited import parse_delimited
        from kedge.ingest.parse.rows import AS_TABLE

        text = whole_text(source, MAX_DELIMITED_BYTES, hint=AS_TABLE)
        yield Segment(0, parse_delimited(text, source.name))


class OdtFormat(FileFormat):
    """OpenDocument texts and presentations."""

    name = "odt"
    suffixes = (".odt", ".odp", ".ott")
    members = (b"content.xml",)
    media_types = (
        "application/vnd.oasis.opendocument.text",
        "application/vnd.oasis.opendocument.presentation",
    )

    def claims(self, head: bytes) -> bool:
        return any(_OPEN_DOCUMENT + kind in head for kind in (b"text", b"presentation"))

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.odt import parse_odt

        yield Segment(0, parse_odt(source))


class EpubFormat(FileFormat):
    """Books."""

    name = "epub"
    suffixes = (".epub",)
    members = (b"META-INF/container.xml",)
    media_types = ("application/epub+zip",)

    def claims(self, head: bytes) -> bool:
        return head.startswith(_ZIP) and any(
            sign in head for sign in (b"application/epub+zip", b"META-INF/container.xml")
        )

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.epub import parse_epub

        yield Segment(0, parse_epub(source))


class NotebookFormat(FileFormat):
    """Jupyter notebooks."""

    name = "notebook"
    suffixes = (".ipynb",)
    media_types = ("application/x-ipynb+json",)

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.notebook import parse_notebook

        yield Segment(0, parse_notebook(whole_text(source, MAX_NOTEBOOK_BYTES), source.name))


class MailFormat(FileFormat):
    """Messages as mail programs save them, with their attachments."""

    name = "mail"
    suffixes = (".eml",)
    media_types = ("message/rfc822",)

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.mail import parse_mail

        yield Segment(0, parse_mail(source))


class MsgFormat(FileFormat):
    """Messages as Outlook saves them, with their attachments.

    Other compound files, office documents of the old kind and those with a password, are told apart when they are read.
    """

    name = "msg"
    suffixes = (".msg",)
    media_types = ("application/vnd.ms-outlook",)

    def claims(self, head: bytes) -> bool:
        return head.startswith(_COMPOUND)

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.msg import parse_msg

        yield Segment(0, parse_msg(source))


class RtfFormat(FileFormat):
    """Rich text."""

    name = "rtf"
    suffixes = (".rtf",)
    media_types = ("application/rtf", "text/rtf", "text/richtext")

    def claims(self, head: bytes) -> bool:
        return head.startswith(b"{\\rtf")

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.rtf import parse_rtf

        yield Segment(0, parse_rtf(source))


class CodeFormat(FileFormat):
    """Source code of programs."""

    name = "code"
    suffixes = tuple(LANGUAGES)
    media_types = ("text/x-python", "text/javascript", "application/javascript", "text/x-c", "text/x-java-source")

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.code import parse_code

        yield Segment(0, parse_code(whole_text(source, MAX_CODE_BYTES), source))


class PictureFormat(FileFormat):
    """Scans and photographs of pages, read with `kedge[ocr]`; without it folders are not searched for them."""

    name = "picture"
    suffixes = PICTURE_SUFFIXES if can_read_pictures() else ()
    media_types = ("image/png", "image/jpeg", "image/tiff", "image/webp")

    def claims(self, head: bytes) -> bool:
        return head.startswith(_PICTURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.picture import parse_picture

        yield Segment(0, parse_picture(source))


DOCX, PPTX, SHEETS, DELIMITED, ODT = DocxFormat(), PptxFormat(), SheetsFormat(), DelimitedFormat(), OdtFormat()
EPUB, NOTEBOOK, MAIL = EpubFormat(), NotebookFormat(), MailFormat()
MSG, RTF, CODE, PICTURE = MsgFormat(), RtfFormat(), CodeFormat(), PictureFormat()
