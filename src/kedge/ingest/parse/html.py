"""HTML to text and blocks: the main content only, nothing executed, nothing fetched."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser as HTMLParser
from selectolax.lexbor import LexborNode as Node

from kedge.core.errors import EmptySourceError
from kedge.core.values import Block, BlockKind, Json, Link, ParsedDocument
from kedge.ingest.parse.decode import decode
from kedge.ingest.parse.html_frame import drop_frame
from kedge.ingest.parse.sections import Sections
from kedge.ingest.parse.typed import typed_parts

_UNSEEN = (
    "script, style, noscript, template, nav, footer, aside:not(.footnote), iframe, svg, form, button, select, dialog, "
    "head, "
    "[hidden], [aria-hidden=true], [role=navigation], [role=banner], [role=contentinfo], [role=search]"
)
_MAIN = ("main", "[role=main]", "article", "#content", "#main-content", ".markdown-body")
_BLOCK_TAGS = frozenset(
    "address article blockquote body center dd details div dl dt fieldset figcaption figure h1 h2 h3 h4 h5 h6 header "
    "hr html li main ol p pre section summary table tbody td tfoot th thead tr ul".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_KINDS = {"ul": BlockKind.LIST, "ol": BlockKind.LIST, "dl": BlockKind.LIST, "blockquote": BlockKind.QUOTE}
_META = {"author": "author", "description": "description", "keywords": "keywords", "date": "date"}
_SPACE = re.compile(r"\s+")
_ANCHOR_SIGN = re.compile(r"(?<!\s)\s*+[¶#§]\s*+$")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*+=\s*+[\"']?\s*+([\w-]{2,40})", re.IGNORECASE)
_BREAK = "\u2028"
_MAX_DEPTH = 200
_LEAST_MAIN = 200


def parse_html(html: str) -> ParsedDocument:
    """Text, blocks and links of a page. Raises EmptySourceError when nothing is left to read."""
    tree = HTMLParser(html)
    title, author, metadata = _title(tree), _meta(tree, "author"), _metadata(tree)
    for node in tree.css(_UNSEEN):
        node.decompose()
    main = _main(tree)
    drop_frame(main)
    writer = _Writer()
    writer.walk(main, BlockKind.PARAGRAPH, 0)
    writer.flush(BlockKind.PARAGRAPH)
    text = "".join(writer.parts)
    if not text.strip():
        raise EmptySourceError("The page holds no text.", hint="A page that is drawn by scripts cannot be read.")
    first = next((text[b.start : b.end] for b in writer.blocks if b.level == 1), None)
    return ParsedDocument(text, tuple(writer.blocks), title or first, author, tuple(writer.links), metadata)


def declared_charset(head: bytes) -> str | None:
    """The encoding a page names in its `<meta>`; None when it names none."""
    found = _CHARSET.search(head[:4096])
    return found[1].decode("ascii") if found else None


def decode_html(data: bytes, encoding: str | None = None, name: str = "The source") -> str:
    """A page as text; what it declares about itself is used when it is not UTF-8."""
    if encoding is None:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            encoding = declared_charset(data)
            if encoding and encoding.lower().replace("-", "") == "utf8":
                encoding = None
            if encoding and encoding.lower() in ("iso-8859-1", "latin1", "ascii", "us-ascii"):
                encoding = "cp1252"
    return decode(data, encoding, name)


@dataclass
class _Writer:
    """Writes the text block by block while walking the tree."""

    parts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    length: int = 0
    _sections: Sections = field(default_factory=Sections)
    _line: list[str] = field(default_factory=list)
    _line_links: list[tuple[str, str, int]] = field(default_factory=list)

    def walk(self, node: Node, kind: BlockKind, depth: int) -> None:
        """Everything inside a node, in order; text that is not in a block of its own gathers until the next block."""
        child = node.child
        while child is not None:
            tag = child.tag or ""
            if tag == "-text":
                self._line.append(child.text(deep=False) or "")
            elif tag == "br":
                self._line.append(_BREAK)
            elif tag in _BLOCK_TAGS or depth > _MAX_DEPTH:
                self.flush(kind)
                self._block(child, tag, kind, depth)
            elif not tag.startswith(("-", "_", "!")):
                self._inline(child, tag, kind, depth)
            child = child.next

    def flush(self, kind: BlockKind) -> None:
        """Write the text gathered so far as a block."""
        text, links = _tidy("".join(self._line)), self._line_links
        self._line, self._line_links = [], []
        if text:
            start = self.length + (2 if self.parts else 0)
            self.links.extend(Link(name, target, start + max(0, text.find(name))) for name, target, _ in links)
            self._write(kind, text)

    def _block(self, node: Node, tag: str, kind: BlockKind, depth: int) -> None:
        if tag in _HEADINGS:
            title = _ANCHOR_SIGN.sub("", _SPACE.sub(" ", node.text())).strip()
            if title:
                self._sections.enter(_HEADINGS[tag], title)
                self._write(BlockKind.HEADING, title, _HEADINGS[tag])
        elif tag == "pre":
            text = node.text().replace("\r\n", "\n").replace("\r", "\n")
            for part, written in typed_parts(text.strip("\n").rstrip()):
                self._write(part, written)
        elif depth > _MAX_DEPTH:
            self._write(kind, node.text().strip("\r\n").rstrip())
        elif tag == "table" and not node.css_first("table table, h1, h2, h3, pre, p + p"):
            self._table(node)
        elif tag in ("ul", "ol") and not node.css_first("pre, table, h1, h2, h3"):
            self._gather_links(node)
            self._write(BlockKind.LIST, "\n".join(_items(node, 0)))
        else:
            inner = _KINDS.get(tag, kind)
            self.walk(node, inner, depth + 1)
            self.flush(inner)

    def _inline(self, node: Node, tag: str, kind: BlockKind, depth: int) -> None:
        target = (node.attributes.get("href") or "").strip() if tag == "a" else ""
        if target and not target.startswith(("#", "javascript:")):
            self._line_links.append((_SPACE.sub(" ", node.text()).strip(), target, len(self._line)))
        if tag == "img":
            self._line.append(node.attributes.get("alt") or "")
        else:
            self.walk(node, kind, depth + 1)

    def _gather_links(self, node: Node) -> None:
        for anchor in node.css("a[href]"):
            target = (anchor.attributes.get("href") or "").strip()
            if target and not target.startswith(("#", "javascript:")):
                name = _SPACE.sub(" ", anchor.text()).strip()
                self.links.append(Link(name, target, self.length + (2 if self.parts else 0)))

    def _table(self, node: Node) -> None:
        rows = []
        for row in node.css("tr"):
            cells = [_SPACE.sub(" ", cell.text()).strip() for cell in row.css("td, th")]
            if any(cells):
                rows.append(" | ".join(cells))
        kind = BlockKind.TABLE if any(" | " in row for row in rows) else BlockKind.PARAGRAPH
        self._gather_links(node)
        self._write(kind, "\n".join(rows))

    def _write(self, kind: BlockKind, text: str, level: int = 0) -> None:
        if not text.strip():
            return
        if self.parts:
            self.parts.append("\n\n")
            self.length += 2
        start = self.length
        self.parts.append(text)
        self.length += len(text)
        self.blocks.append(Block(kind, start, self.length, self._sections.path, level=level))


def _items(node: Node, depth: int) -> list[str]:
    """Lines of a list, nested ones indented."""
    lines: list[str] = []
    number = 0
    for item in node.iter():
        if item.tag not in ("li", "ul", "ol"):
            continue
        if item.tag != "li":
            lines.extend(_items(item, depth + 1))
            continue
        number += 1
        mark = f"{number}." if node.tag == "ol" else "-"
        nested = [child for child in item.iter() if child.tag in ("ul", "ol")]
        deeper = [line for child in nested for line in _items(child, depth + 1)] if depth < _MAX_DEPTH else []
        for child in nested:
            child.decompose()
        text = _SPACE.sub(" ", item.text(separator=" ")).strip()
        if text or deeper:
            lines.append(f"{'  ' * depth}{mark} {text}".rstrip())
        lines.extend(deeper)
    return lines


def _tidy(text: str) -> str:
    """White space as a browser shows it; a `<br>` is a new line."""
    lines = (_SPACE.sub(" ", line).strip() for line in text.split(_BREAK))
    return "\n".join(line for line in lines if line)


def _main(tree: HTMLParser) -> Node:
    root = tree.body or tree.root
    if root is None:
        raise EmptySourceError("The page holds no text.", hint="Check that it is HTML.")
    for selector in _MAIN:
        found = [node for node in tree.css(selector) if len(node.text(strip=True)) >= _LEAST_MAIN]
        if len(found) == 1:
            return found[0]
    return root


def _title(tree: HTMLParser) -> str | None:
    social = tree.css_first('meta[property="og:title"]')
    candidates = [tree.css_first("title"), tree.css_first("h1")]
    texts = [candidates[0].text() if candidates[0] else "", candidates[1].text() if candidates[1] else ""]
    texts.insert(0, (social.attributes.get("content") or "") if social else "")
    tidy = (_ANCHOR_SIGN.sub("", _SPACE.sub(" ", text)).strip() for text in texts)
    return next((text for text in tidy if text), None)


def _meta(tree: HTMLParser, name: str) -> str | None:
    node = tree.css_first(f'meta[name="{name}"]')
    return ((node.attributes.get("content") or "").strip() or None) if node else None


def _metadata(tree: HTMLParser) -> dict[str, Json]:
    found: dict[str, Json] = {key: value for name, key in _META.items() if (value := _meta(tree, name))}
    root = tree.css_first("html")
    if root and (language := root.attributes.get("lang")):
        found["lang"] = language
    return found
