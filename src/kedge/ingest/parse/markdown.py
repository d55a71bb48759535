"""Markdown to blocks with exact offsets: the document's text is the file itself, its directives as what they show."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from kedge.core.values import Block, BlockKind, Link, ParsedDocument
from kedge.ingest.parse.directives import shown
from kedge.ingest.parse.front_matter import FrontMatter, read_front_matter
from kedge.ingest.parse.sections import Sections

_NEWLINE = re.compile(r"\r\n?|\n")
_TITLE_COMMENT = re.compile(r"<!--\s*+\??\s*+title\b\s*+:?(.{0,500}?)-->", re.IGNORECASE | re.DOTALL)
_HEADING_ATTRIBUTES = re.compile(r"(?:(?<!\s)\s++|^)\{:?\s*+(?:[#.]|[\w-]+=)[^{}]*\}\s*$")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_UNSEEN_ELEMENT = re.compile(r"<(script|style|template)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_CONTAINER = re.compile(r"^(?P<indent> *)(?:!!!|\?\?\?\+?|===)[ \t]+[\"\w]")
_BOXES = re.compile(r"^ *(?:!!!|\?\?\?\+?|===)[ \t]+[\"\w]", re.MULTILINE)
"""Lines that the parser reads as they were written: what they hold is indented."""
_VAIN = "formulas"
"""Lines between which no formula ends, kept while a text is read: each line that opens one would be read to the end."""
_LEAVES = {
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "formula": BlockKind.FORMULA,
    "table_open": BlockKind.TABLE,
}
_CONTAINERS = {
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "blockquote_open": BlockKind.QUOTE,
    "paragraph_open": BlockKind.PARAGRAPH,
}


class MarkdownParser:
    """Parses a file, or one window of it after the other; sections go on from window to window."""

    def __init__(self) -> None:
        self._sections = Sections()
        self._markdown = _markdown()
        self._first = True

    def parse(self, text: str) -> ParsedDocument:
        """Blocks and links of the next window; the first one may begin with front matter."""
        front = read_front_matter(text) if self._first else FrontMatter()
        self._first = False
        text, written = shown(text), text
        lines = _Lines(text, front.end, written)
        tokens = self._markdown.parse(lines.for_parser())
        blocks: list[Block] = []
        links: list[Link] = []
        headings: list[tuple[int, str]] = []
        for token, inside in _top_level(tokens):
            blocks.extend(self._blocks(token, inside, lines, headings))
            links.extend(_links(inside, lines))
        return ParsedDocument(
            text=text,
            blocks=tuple(blocks),
            title=_title(text, front, headings),
            author=front.text("author", "authors"),
            links=tuple(links),
            metadata=front.values,
            warnings=(front.warning,) if front.warning else (),
        )

    def _blocks(
        self, token: Token, inside: Sequence[Token], lines: _Lines, headings: list[tuple[int, str]]
    ) -> Iterator[Block]:
        if token.map is None:
            return
        first, last = token.map
        if token.type == "heading_open":
            title, level = _plain(inside), int(token.tag[1])
            self._sections.enter(level, title)
            headings.append((level, title))
            yield from self._block(BlockKind.HEADING, lines.span(first, last), level)
        elif token.type == "html_block":
            if _visible(token.content):
                yield from self._block(BlockKind.PARAGRAPH, lines.span(first, last))
        elif token.type in _LEAVES:
            kind = _LEAVES[token.type]
            yield from self._block(kind, lines.span(first, last, keep_indent=token.type == "code_block"))
        elif token.type in _CONTAINERS:
            yield from self._container(_CONTAINERS[token.type], first, last, inside, lines)

    def _container(
        self, kind: BlockKind, first: int, last: int, inside: Sequence[Token], lines: _Lines
    ) -> Iterator[Block]:
        """A list or quote in pieces, so that code, tables and formulas in it are blocks of their own."""
        at = first
        for leaf in inside:
            if leaf.type in _LEAVES and leaf.map is not None and leaf.map[0] >= at:
                yield from self._block(kind, lines.span(at, leaf.map[0]))
                yield from self._block(_LEAVES[leaf.type], lines.span(*leaf.map))
                at = leaf.map[1]
        yield from self._block(kind, lines.span(at, last))

    def _block(self, kind: BlockKind, span: tuple[int, int], level: int = 0) -> Iterator[Block]:
        if span[0] < span[1]:
            yield Block(kind, *span, section=self._sections.path, level=level)


class _Lines:
    """Line numbers to offsets, and the text in the shape the parser wants: same lines, other columns."""

    def __init__(self, text: str, front_end: int, written: str) -> None:
        self.text = text
        self._boxes = [match.start() for match in _BOXES.finditer(written)]
        self._written = written
        self.starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
        self._skipped = bisect_right(self.starts, front_end - 1) if front_end else 0

    def for_parser(self) -> str:
        ends = [*self.starts[1:], len(self.text)]
        boxes = set(self._boxes)
        lines = [
            (self._written if a in boxes else self.text)[a:b].rstrip("\r\n")
            for a, b in zip(self.starts, ends, strict=True)
        ]
        lines[: self._skipped] = [""] * min(self._skipped, len(lines))
        return "\n".join(_flatten_containers(lines))

    def span(self, first: int, last: int, *, keep_indent: bool = False) -> tuple[int, int]:
        """Offsets of lines first..last-1 without the white space around them."""
        start = self.starts[min(first, len(self.starts) - 1)] if first < last else 0
        end = (self.starts[last] if last < len(self.starts) else len(self.text)) if first < last else 0
        piece = self.text[start:end]
        end -= len(piece) - len(piece.rstrip())
        if not keep_indent:
            start += len(piece) - len(piece.lstrip())
        return start, max(start, end)


def _flatten_containers(lines: list[str]) -> list[str]:
    """Shift the content of admonitions and tabs (`!!! note`, `=== "C++"`) left, else it would read as code."""
    indents: list[int] = []
    flat: list[str] = []
    for line in lines:
        width = len(line) - len(line.lstrip(" "))
        while line.strip() and indents and width < indents[-1]:
            indents.pop()
        cut = indents[-1] if indents else 0
        flat.append(line[min(cut, width) :])
        opening = _CONTAINER.match(line)
        if opening and width - cut <= 3:
            indents.append(width + 4)
    return flat


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark").enable("table")
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]
    markdown.block.ruler.before(
        "fence", "formula", _formula_rule, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    return markdown


def _formula_rule(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """A display formula on lines of its own: `$$…$$` or `\\[…\\]`."""
    if state.is_code_block(first):
        return False
    line = _content(state, first)
    closing = {"$$": "$$", "\\[": "\\]"}.get(line[:2])
    if closing is None:
        return False
    end = _formula_end(state, first, last, closing)
    if end is None:
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.map = [first, end]
        state.line = end
    return True


def _formula_end(state: StateBlock, first: int, last: int, closing: str) -> int | None:
    rest = _content(state, first)[2:]
    if closing in rest:
        tail = rest[rest.rindex(closing) + 2 :].strip()
        return first + 1 if len(tail) <= 1 and rest.count(closing) == 1 else None
    vain = state.env.setdefault(_VAIN, {})
    seen = (closing, state.blkIndent, state.level, last)
    begin, end = vain.get(seen, (0, 0))
    if begin <= first < end:
        return None
    end = last
    for number in range(first + 1, last):
        if state.sCount[number] < state.blkIndent and not state.isEmpty(number):
            end = number
            break
        if closing in _content(state, number):
            return number + 1
    vain[seen] = (first, end)
    return None


def _content(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()


def _top_level(tokens: Sequence[Token]) -> Iterator[tuple[Token, Sequence[Token]]]:
    """Each token of the outermost level with the tokens inside it."""
    at = 0
    while at < len(tokens):
        end = at + 1
        if tokens[at].nesting == 1:
            depth = 1
            while depth and end < len(tokens):
                depth += tokens[end].nesting
                end += 1
        yield tokens[at], tokens[at + 1 : end]
        at = end


def _plain(tokens: Sequence[Token]) -> str:
    """Readable text of a heading: no emphasis, no links, no attribute list."""
    parts: list[str] = []
    for token in tokens:
        for child in token.children or ():
            if child.type in ("text", "code_inline"):
                parts.append(child.content)
            elif child.type in ("softbreak", "hardbreak"):
                parts.append(" ")
            elif child.type == "image":
                parts.append(child.content)
    return " ".join(_HEADING_ATTRIBUTES.sub("", "".join(parts)).split())


def _links(tokens: Sequence[Token], lines: _Lines) -> Iterator[Link]:
    for token in tokens:
        if token.type != "inline" or token.map is None:
            continue
        at, end = lines.span(*token.map)
        children = token.children or []
        for number, child in enumerate(children):
            if child.type != "link_open":
                continue
            target = str(child.attrGet("href") or "")
            start, at = _locate(lines.text, target, at, end)
            yield Link(_anchor(children, number + 1), target, start)


def _anchor(children: Sequence[Token], first: int) -> str:
    """The words of a link whose tokens begin at `first`."""
    parts: list[str] = []
    for number in range(first, len(children)):
        child = children[number]
        if child.type == "link_close":
            break
        parts.append(child.content if child.content else " " if child.type == "softbreak" else "")
    return " ".join("".join(parts).split())


def _locate(text: str, target: str, at: int, end: int) -> tuple[int, int]:
    """Offset of the link with this target, and where to look for the next."""
    found = text.find(target, at, end) if target else -1
    if found < 0:
        return at, at
    bracket = text.rfind("[", at, found)
    return (bracket if bracket >= 0 else found), found + len(target)


def _visible(html: str) -> bool:
    return bool(_TAG.sub("", _COMMENT.sub("", _UNSEEN_ELEMENT.sub("", html))).strip())


def _title(text: str, front: FrontMatter, headings: Sequence[tuple[int, str]]) -> str | None:
    comment = _TITLE_COMMENT.search(text, front.end, front.end + 2000)
    first = next((title for level, title in headings if level == 1 and title), None)
    return (
        front.text("title")
        or (" ".join(comment[1].split()) if comment else None)
        or first
        or next((title for _, title in headings if title), None)
    )
