"""Kedge's own file formats keep the contract of file formats."""

from __future__ import annotations

from collections.abc import Mapping

from kedge.ingest.parse.own import HTML, MARKDOWN, PDF, TEXT
from kedge.ingest.parse.own_files import CODE, MSG, RTF
from kedge.testing import FileFormatContract
from tests.ingest.conftest import make_pdf
from tests.support.compound import message
from tests.support.surfaces import DOCUMENTS


class TestMarkdown(FileFormatContract):
    format = MARKDOWN

    def files(self) -> Mapping[str, bytes]:
        return {name: text.encode() for name, text in DOCUMENTS.items()} | {"LOUD.MARKDOWN": b"# A\n\nb"}


class TestText(FileFormatContract):
    format = TEXT

    def files(self) -> Mapping[str, bytes]:
        return {
            "a.txt": b"Anchors\n=======\n\nA kedge is light.",
            "LICENSE": b"Do what you like.",
            "wide.txt": "größer".encode("utf-16"),
        }


class TestHtml(FileFormatContract):
    format = HTML

    def files(self) -> Mapping[str, bytes]:
        page = b"<!doctype html><title>A</title><h1>A kedge</h1><p>is <a href='x'>light</a>.<ul><li>one<li>two</ul>"
        return {"a.html": page, "page": page}


class TestPdf(FileFormatContract):
    format = PDF

    def files(self) -> Mapping[str, bytes]:
        return {"a.pdf": make_pdf([(72, 700, 12, "The kedge anchor is carried away in a dinghy.")])}


class TestRtf(FileFormatContract):
    format = RTF

    def files(self) -> Mapping[str, bytes]:
        return {
            "a.rtf": b"{\\rtf1\\ansi{\\fonttbl\\f0 A;}\\pard\\outlinelevel0 A kedge\\par\\pard is \\b light\\b0.\\par}"
        }


class TestMsg(FileFormatContract):
    format = MSG
    examples = 15

    def files(self) -> Mapping[str, bytes]:
        return {"a.msg": message("Mooring", "We meet at the quay.", attached={"a.txt": b"Bring rope."})}


class TestCode(FileFormatContract):
    format = CODE

    def files(self) -> Mapping[str, bytes]:
        return {
            "a.py": b'"""Anchors."""\n\n\ndef haul(rope):\n    """Pull it in."""\n    return rope\n',
            "a.go": b"// Haul pulls.\nfunc Haul() error {\n\treturn nil\n}\n",
        }
