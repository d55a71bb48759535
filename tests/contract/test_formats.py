"""Kedge's own file formats keep the contract of file formats."""

from __future__ import annotations

from collections.abc import Mapping

from kedge.ingest.parse.own import HTML, MARKDOWN, PDF, TEXT
from kedge.testing import FileFormatContract
from tests.ingest.conftest import make_pdf
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
