"""The way in: files are found and read as documents are, and cut at their questions."""

from __future__ import annotations

from itertools import groupby

from kedge.core.values import BlockKind, Chunk
from kedge.ingest.parse.ports import Segment
from kedge.kinds.documents.way_in import Cutting, DocumentMaker


class EntryMaker(DocumentMaker):
    """A heading that has no others below it is a question, and what stands there is its answer."""

    pipeline = 1

    def cut(self, segment: Segment, first_index: int, by: Cutting) -> list[Chunk]:
        text, base = segment.document.text, segment.base
        blocks_below = [block for block in segment.document.blocks if block.kind is not BlockKind.HEADING]
        parents = {block.section[:-1] for block in segment.document.blocks}
        entries: list[Chunk] = []
        for section, group in groupby(blocks_below, key=lambda block: block.section):
            if section in parents:
                continue
            blocks = list(group)
            start, end = blocks[0].start, blocks[-1].end
            kinds = {block.kind for block in blocks}
            entries.append(
                Chunk(
                    text=text[start:end],
                    start=base + start,
                    end=base + end,
                    index=first_index + len(entries),
                    section_path=section,
                    page=blocks[0].page,
                    has_code=BlockKind.CODE in kinds,
                    has_formula=BlockKind.FORMULA in kinds,
                    has_table=BlockKind.TABLE in kinds,
                    token_count=by.count_tokens([text[start:end]])[0],
                )
            )
        return entries
