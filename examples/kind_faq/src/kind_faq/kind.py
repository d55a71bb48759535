"""The kind: its name, what it is called in reports, and where its parts are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from kedge.kinds.ports import CommandGroup, Kind, OnPage, Parts, RouteGroup, Surfaces, Units

if TYPE_CHECKING:
    from kind_faq.faq import Faq


class FaqKind(Kind["Faq"]):
    """Each pair of question and answer is one passage, and answers by itself."""

    name = "faq"
    index_prefix = "faq_entries"
    fields: ClassVar[Mapping[str, str]] = {"document_id": "keyword", "topic_tag": "keyword"}
    units = Units("files taken in", "entries")
    surfaces = Surfaces(
        routes=(RouteGroup("faq", "Questions with their answers.", ("kind_faq.surfaces.routes:router",)),),
        commands=(CommandGroup("faq", "Questions with their answers.", "kind_faq.surfaces.commands:app"),),
        client="kind_faq.surfaces.client",
        blocking="kind_faq.surfaces.blocking:FaqFacade",
        blocking_name="faq",
        page=OnPage(
            label="Questions with answers",
            help="Markdown, or .faq files. The pair that fits a question answers it.",
            suffixes=(".md", ".faq"),
            source=("file", "files"),
            part=("entry", "entries"),
            counts_parts=True,
        ),
    )

    def open(self, parts: Parts) -> Faq:
        from kind_faq.faq import Faq

        return Faq(self, parts)


KIND = FaqKind()
