"""Documents to passages along their structure (D-03): whole sections where they fit, never half a code block.

Where to cut is a shortest path: every way to group the pieces of a document has a cost (too small, too large, a
section border inside, a paragraph torn apart), and the cheapest one is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from kedge.core.values import Block, BlockKind, Chunk, ParsedDocument, embed_text
from kedge.ingest.chunk.pieces import ChunkPiece, CountTokens, split_blocks
from kedge.text.statements.rows import TableHead

SPECIAL_TOKENS = 2
"""What a model puts around every text, e.g. [CLS] and [SEP]."""

_TOO_LARGE = 100_000.0
_TOO_SMALL = 1_000.0
_LONE_HEADING = 300.0
_OVER_TARGET = 30.0
_CROSS_TOP, _CROSS_SECTION, _CROSS_SYNTAX = 12.0, 2.5, 50.0
_CUT_SENTENCE, _CUT_BLOCK, _CUT_INTRODUCTION, _CUT_SUBSECTION = 5.0, 2.0, 4.0, 0.5
_EMPTINESS = 6.0
_LARGE_GAP = 64
_INLINE_FORMULA = re.compile(
    r"\$\$(?:[^$]|\$(?!\$))+\$\$|(?<![\\$\w])\$(?![\s$])(?=[^$\n]*[A-Za-z\\^_=<>+])[^$\n]*(?<![\s\\])\$(?![\d$])"
    r"|\\\((?:(?!\\[()]).)+\\\)|\\\[(?:(?!\\[\[\]]).)+\\\]|\\begin\{(?:equation|align|gather|math|eqnarray|multline|cases|[bpv]?matrix)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Sizes in tokens of the embedder, without special tokens."""

    target: int = 1024
    """Passages are filled up to this."""
    maximum: int = 2000
    """Code, tables and formulas stay whole up to this."""
    minimum: int = 100
    """Only a whole document may be smaller."""
    window: int = 0
    """What the embedder sees of one text, special tokens included; 0: no bound."""

    @classmethod
    def for_window(cls, window: int, chunk_tokens: int = 0) -> ChunkLimits:
        """Limits for an embedder; `chunk_tokens` is the user's wish for the target, 0 for none."""
        return cls(target=chunk_tokens or 1024, window=window)


def token_budget(window: int, context_tokens: int) -> int:
    """Tokens left for a passage's own text beside the title and section path that are embedded with it."""
    return max(window - context_tokens - SPECIAL_TOKENS, window // 2)


def chunk(
    document: ParsedDocument,
    count_tokens: CountTokens,
    limits: ChunkLimits | None = None,
    *,
    title: str | None = None,
    base: int = 0,
    first_index: int = 0,
    warn: Callable[[str], None] | None = None,
) -> list[Chunk]:
    """Passages of a document (or of one segment of it, which starts at offset `base`), in order, without overlap.

    Together they cover all text of all blocks. `warn` hears of each code block, table or formula that was too large
    to stay whole. `title` is the one that is embedded with the passages; by default the document's own.
    """
    limits = limits or ChunkLimits()
    if not document.blocks:
        return []
    budgets = _budgets(document, count_tokens, limits, title if title is not None else document.title or "")
    smallest = min(budgets.values())
    pieces = split_blocks(document.text, document.blocks, count_tokens, smallest, limits.maximum)
    if warn is not None:
        for block in pieces.cut:
            warn(f"The {block.kind} at {base + block.start} is over {limits.maximum} tokens and was cut between lines.")
    groups = _Plan(pieces.items, budgets, limits, _top_level(document.blocks), document.text).groups()
    groups, counts = _verified(document.text, groups, count_tokens, limits)
    heads = _TableHeads(document.text)
    return [
        _chunk(document.text, group, tokens, base, index=first_index + number, head=heads.before(group[0]))
        for number, (group, tokens) in enumerate(zip(groups, counts, strict=True))
    ]


def _budgets(
    document: ParsedDocument, count_tokens: CountTokens, limits: ChunkLimits, title: str
) -> dict[tuple[str, ...], int]:
    """How large a passage of each section should be."""
    sections = list(dict.fromkeys(block.section for block in document.blocks))
    if not limits.window:
        return dict.fromkeys(sections, limits.target)
    contexts = count_tokens([embed_text(title, section, "") for section in sections])
    return {
        section: max(min(limits.target, token_budget(limits.window, tokens)), limits.minimum)
        for section, tokens in zip(sections, contexts, strict=True)
    }


def _top_level(blocks: Sequence[Block]) -> int:
    """Level of the headings that divide the document: a single first heading is its title and does not count."""
    levels = [block.level for block in blocks if block.kind is BlockKind.HEADING]
    if not levels:
        return 0
    top = min(levels)
    deeper = [level for level in levels if level > top]
    return min(deeper) if levels.count(top) == 1 and levels[0] == top and deeper else top


class _Plan:
    """The cheapest grouping of pieces. Sizes come from prefix sums, so each candidate costs a few additions."""

    def __init__(
        self,
        pieces: Sequence[ChunkPiece],
        budgets: dict[tuple[str, ...], int],
        limits: ChunkLimits,
        top: int,
        text: str,
    ) -> None:
        self._pieces = pieces
        self._limits = limits
        self._top = top
        self._text = text
        self._ends = list(accumulate((piece.tokens + piece.gap for piece in pieces), initial=0))
        self._budget = [budgets[piece.block.section] for piece in pieces]
        befores = [None, *pieces[:-1]]
        self._border = [self._border_cost(before, piece) for before, piece in zip(befores, pieces, strict=True)]
        crossings = (self._crossing_cost(before, piece) for before, piece in zip(befores, pieces, strict=True))
        self._crossed = list(accumulate(crossings, initial=0.0))

    def groups(self) -> list[list[ChunkPiece]]:
        """Shortest path from the first piece to behind the last."""
        count = len(self._pieces)
        best = [0.0] + [float("inf")] * count
        came = [0] * (count + 1)
        for start in range(count):
            for end, cost in self._candidates(start):
                if best[start] + cost < best[end]:
                    best[end], came[end] = best[start] + cost, start
        groups: list[list[ChunkPiece]] = []
        end = count
        while end:
            groups.append(list(self._pieces[came[end] : end]))
            end = came[end]
        return groups[::-1]

    def _candidates(self, start: int) -> Iterator[tuple[int, float]]:
        offset = self._ends[start] + self._pieces[start].gap
        budget = self._budget[start]
        reach = budget + self._limits.minimum
        first_size = self._pieces[start].tokens
        for end in range(start + 1, len(self._pieces) + 1):
            size = self._ends[end] - offset
            yield end, self._cost(start, end, size, budget)
            # Pieces can count for nothing (unseen characters): each is taken for one token at least.
            if max(size - first_size, end - start - 1) > reach or size > self._limits.maximum:
                return

    def _cost(self, start: int, end: int, size: int, budget: int) -> float:
        limits = self._limits
        cost = self._border[start] + self._crossed[end] - self._crossed[start + 1]
        if size > limits.maximum:
            cost += _TOO_LARGE
        if size < limits.minimum and (start > 0 or end < len(self._pieces)):
            cost += _TOO_SMALL + limits.minimum - size
        if size > budget:
            cost += _OVER_TARGET + 60.0 * (size - budget) / budget
        else:
            cost += _EMPTINESS * (1.0 - size / budget) ** 2
        if self._pieces[end - 1].kind is BlockKind.HEADING and end < len(self._pieces):
            cost += _LONE_HEADING
        return cost

    def _border_cost(self, before: ChunkPiece | None, piece: ChunkPiece) -> float:
        """What it costs to start a passage here."""
        if before is None:
            return 0.0
        if not piece.first:
            return _CUT_SENTENCE
        if piece.kind is BlockKind.HEADING:
            return 0.0 if piece.block.level <= self._top else _CUT_SUBSECTION
        if self._text[before.end - 1] == ":" or piece.kind is BlockKind.FORMULA:
            return _CUT_INTRODUCTION
        return _CUT_BLOCK

    def _crossing_cost(self, before: ChunkPiece | None, piece: ChunkPiece) -> float:
        """What it costs to have the border before this piece inside a passage."""
        cost = _CROSS_SYNTAX if piece.gap > _LARGE_GAP else 0.0
        if before is not None and piece.kind is BlockKind.HEADING and before.kind is not BlockKind.HEADING:
            cost += _CROSS_TOP if piece.block.level <= self._top else _CROSS_SECTION
        return cost


def _verified(
    text: str, groups: list[list[ChunkPiece]], count_tokens: CountTokens, limits: ChunkLimits
) -> tuple[list[list[ChunkPiece]], list[int]]:
    """Count the passages as they will be; sums of pieces can be off a little, so mend those out of range."""
    counts = count_tokens([_slice(text, group) for group in groups])
    while True:
        split = next((i for i, n in enumerate(counts) if n > limits.maximum and len(groups[i]) > 1), None)
        if split is None:
            break
        group = groups[split]
        groups[split : split + 1] = [group[: len(group) // 2], group[len(group) // 2 :]]
        counts[split : split + 1] = count_tokens([_slice(text, part) for part in groups[split : split + 2]])
    return _merge_small(text, groups, counts, count_tokens, limits)


def _merge_small(
    text: str, groups: list[list[ChunkPiece]], counts: list[int], count_tokens: CountTokens, limits: ChunkLimits
) -> tuple[list[list[ChunkPiece]], list[int]]:
    at = 0
    while at < len(groups) and len(groups) > 1:
        left = max(0, at - 1) if at == len(groups) - 1 or (at and counts[at - 1] <= counts[at + 1]) else at
        if counts[at] >= limits.minimum or counts[left] + counts[left + 1] > limits.maximum:
            at += 1
            continue
        groups[left : left + 2] = [groups[left] + groups[left + 1]]
        counts[left : left + 2] = count_tokens([_slice(text, groups[left])])
        at = left
    return groups, counts


def _slice(text: str, group: Sequence[ChunkPiece]) -> str:
    return text[group[0].start : group[-1].end]


def _chunk(text: str, group: Sequence[ChunkPiece], tokens: int, base: int, *, index: int, head: str) -> Chunk:
    kinds = {piece.kind for piece in group}
    content = next((piece for piece in group if piece.kind is not BlockKind.HEADING), group[0])
    body = _slice(text, group)
    return Chunk(
        text=body,
        start=base + group[0].start,
        end=base + group[-1].end,
        index=index,
        section_path=content.block.section,
        page=group[0].block.page,
        has_code=BlockKind.CODE in kinds,
        has_formula=BlockKind.FORMULA in kinds or bool(_INLINE_FORMULA.search(_prose(text, group))),
        has_table=BlockKind.TABLE in kinds,
        token_count=tokens,
        page_breaks=tuple(_page_breaks(group)),
        section_breaks=tuple(_section_breaks(group, content)),
        table_head=head,
    )


class _TableHeads:
    """Heads of the tables in whose midst passages begin, asked for in their order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._table = self._read = -1
        self._head = TableHead()

    def before(self, first: ChunkPiece) -> str:
        """The head of the table that this piece of a passage goes on with, if it does."""
        if first.kind is not BlockKind.TABLE or first.start <= first.block.start:
            return ""
        if self._table != first.block.start:
            self._table = self._read = first.block.start
            self._head = TableHead()
        self._head.add(self._text[self._read : first.start])
        self._read = first.start
        return self._head.text()


def _page_breaks(group: Sequence[ChunkPiece]) -> Iterator[tuple[int, int]]:
    page = group[0].block.page
    for piece in group:
        if piece.block.page is not None and piece.block.page != page:
            page = piece.block.page
            yield piece.start - group[0].start, page


def _section_breaks(group: Sequence[ChunkPiece], content: ChunkPiece) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Where sections begin behind that of the first content; the headings above it belong to it."""
    section = content.block.section
    for piece in group[group.index(content) :]:
        if piece.block.section != section:
            section = piece.block.section
            yield piece.start - group[0].start, section


def _prose(text: str, group: Sequence[ChunkPiece]) -> str:
    return "\n".join(text[piece.start : piece.end] for piece in group if piece.kind is not BlockKind.CODE)
