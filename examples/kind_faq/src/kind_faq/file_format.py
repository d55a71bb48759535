"""Files of the suffix `.faq`: TOML with a table `[[entry]]` for each question and its answer."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kedge.core.errors import EmptySourceError, UnreadableError
from kedge.core.values import Block, BlockKind, ParsedDocument
from kedge.ingest.parse.decode import decode
from kedge.ingest.parse.ports import FileFormat, Segment

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source


class FaqFormat(FileFormat):
    """A question becomes a heading, its answer the paragraph below it."""

    name = "faq"
    suffixes = (".faq",)

    def segments(self, source: Source) -> Iterator[Segment]:
        try:
            said = tomllib.loads(decode(source.read(), source.encoding, source.name))
        except tomllib.TOMLDecodeError as error:
            raise UnreadableError(f"{source.name} is not valid TOML: {error}.", hint="Correct it there.") from error
        texts: list[str] = []
        blocks: list[Block] = []
        at = 0
        for question, answer in _pairs(said, source.name):
            for kind, text in ((BlockKind.HEADING, question), (BlockKind.PARAGRAPH, answer)):
                blocks.append(Block(kind, at, at + len(text), (question,), level=int(kind is BlockKind.HEADING)))
                texts.append(text)
                at += len(text) + 2
        if not blocks:
            raise EmptySourceError(f"{source.name} holds no entries.", hint="Write [[entry]], question and answer.")
        title = said.get("title")
        yield Segment(0, ParsedDocument("\n\n".join(texts), tuple(blocks), title if isinstance(title, str) else None))


def _pairs(said: dict[str, Any], name: str) -> Iterator[tuple[str, str]]:
    entries = said.get("entry", [])
    for number, entry in enumerate(entries if isinstance(entries, list) else [entries], 1):
        pair = [entry.get(field) if isinstance(entry, dict) else None for field in ("question", "answer")]
        question, answer = (" ".join(text.split()) if isinstance(text, str) else "" for text in pair)
        if not question or not answer:
            raise UnreadableError(f"Entry {number} of {name} lacks its question or its answer.", hint="Write both.")
        yield question, answer


FORMAT = FaqFormat()
