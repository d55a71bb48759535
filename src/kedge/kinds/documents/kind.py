"""Documents: prose and code in files, folders, addresses, uploads and JSONL corpora (requirements D)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from kedge.kinds.ports import Kind, OnPage, OpenKind, Parts, Surfaces

if TYPE_CHECKING:
    from kedge.core.settings import Settings


class DocumentsKind(Kind[OpenKind]):
    """Sources become passages, and passages answers: what every kind does that says nothing else."""

    name = "documents"
    index_prefix = "knowledge_chunks"
    keeps_past = True
    fields: ClassVar[Mapping[str, str]] = {
        "document_id": "keyword",
        "topic_tag": "keyword",
        "language": "keyword",
        "has_code": "bool",
        "has_formula": "bool",
        "has_table": "bool",
        "ingested_at": "float",
        "document_updated_at": "float",
    }

    surfaces = Surfaces(
        page=OnPage(
            label="Documents",
            help="PDF, Word, slides, sheets, mail, books, notebooks, web pages, text, code, ZIP. Answers quote them.",
            suffixes=(".jsonl", ".zip"),
            formats=True,
        )
    )

    def starts(self, settings: Settings) -> bool:  # noqa: ARG002
        return False

    def open(self, parts: Parts) -> OpenKind:
        from kedge.kinds.documents.way_in import DocumentMaker, sole_document
        from kedge.kinds.passages import PassagesWayIn, PassagesWayOut
        from kedge.kinds.past import PastOpener

        way_in = PassagesWayIn(DocumentMaker(), sole_document)
        return OpenKind(self, way_in, PassagesWayOut(parts.retriever, parts.answerer, PastOpener(parts)))


KIND = DocumentsKind()
