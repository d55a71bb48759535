r"""Rich text (RTF) to text: control words are walked once; headings by outline level or style, lists, tables.

Groups that say how something looks or where it came from (`\fonttbl`, `\pict`, `\*\…`) are left out; the stylesheet is
read for the names of heading styles.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kedge.core.errors import EmptySourceError, UnreadableError
from kedge.core.values import BlockKind, Json, ParsedDocument
from kedge.ingest.parse.writer import TextWriter, one_line

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

MAX_DEPTH = 1000
"""Groups within groups."""
_TOKEN = re.compile(rb"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-z])|([{}])|\r?\n|([^\\{}\r\n]+)")
_SKIPPED = frozenset(
    b"fonttbl colortbl pict object header headerl headerr headerf footer footerl footerr footerf listtable "
    b"listoverridetable rsidtbl generator xmlnstbl themedata colorschememapping latentstyles datastore pntxtb "
    b"pntxta bkmkstart bkmkend fldinst revtbl filetbl mmathPr tc xe nonshppict".split()
)
_SIGNS = {
    b"emdash": "—", b"endash": "–", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”",
    b"bullet": "•", b"tab": "\t", b"line": "\n", b"emspace": " ", b"enspace": " ", b"qmspace": " ",
}  # fmt: skip
_ESCAPES = {b"~": "\u00a0", b"_": "-", b"-": "", b"\n": "\n", b"\r": "\n", b"\\": "\\", b"{": "{", b"}": "}"}
_INFO = {b"title": "title", b"author": "author", b"subject": "subject", b"keywords": "keywords"}
_HEADING_STYLE = re.compile(r"(?:heading|überschrift|titre|título|kop|rubrik)\s*(\d)", re.IGNORECASE)
_ITEM = re.compile(r"\A\s*(?:[•·▪◦\uf0b7o-]|\(?\w{1,4}[.)])\s+")
_LZFU = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor "
    b"MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0"
    b"\\fs20\\b\\i\\u\\tab\\tx"
)


@dataclass(slots=True)
class _Group:
    """What holds inside of a pair of braces."""

    skipped: bool = False
    kept: str = ""
    """Where text goes instead of the document: `info:…`, `style`, `mark`."""
    skip: int = 1
    """Characters after a `\\u` that stand for it."""
    style: int = 0
    outline: int = -1
    bold: bool = False
    size: int = 24
    table: bool = False


@dataclass(slots=True)
class _Walk:
    """The state of reading one document."""

    encoding: str
    writer: TextWriter = field(default_factory=TextWriter)
    groups: list[_Group] = field(default_factory=lambda: [_Group()])
    text: list[str] = field(default_factory=list)
    pending: bytearray = field(default_factory=bytearray)
    """Bytes of the document's encoding, which may need several for a character."""
    mark: list[str] = field(default_factory=list)
    style: list[str] = field(default_factory=list)
    styles: dict[int, str] = field(default_factory=dict)
    info: dict[str, str] = field(default_factory=dict)
    row: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    left: int = 0
    """Characters to pass over, as a `\\u` said them already."""
    half: str = ""
    """The first half of a character beyond sixteen bits."""


def parse_rtf(source: Source) -> ParsedDocument:
    """The document as clean markdown. Raises UnreadableError and EmptySourceError."""
    data = source.read()
    if not data.lstrip().startswith(b"{\\rtf"):
        raise UnreadableError(f"{source.name} is no RTF.", hint="Save it anew, or say its format.")
    walk = _walked(data)
    if walk.writer.blank:
        raise EmptySourceError(f"{source.name} holds no text.", hint="Remove it, or fill it and ingest again.")
    metadata: dict[str, Json] = {key: walk.info[key] for key in ("subject", "keywords") if walk.info.get(key)}
    return walk.writer.document(walk.info.get("title") or None, walk.info.get("author") or None, metadata)


def plain_rtf(data: bytes) -> str:
    """The words of a rich text, as a message carries one."""
    return _walked(data).writer.document().text if data else ""


def unpacked_rtf(data: bytes) -> bytes:
    """Rich text as Outlook packs it (LZFu), unpacked; ValueError for what is none."""
    if len(data) < 16:
        raise ValueError("no packed text")
    size, raw_size, kind, _ = struct.unpack_from("<IIII", data)
    body = data[16 : size + 4]
    if kind == 0x414C454D:
        return body[:raw_size]
    if kind != 0x75465A4C:
        raise ValueError("no packed text")
    window = bytearray(_LZFU.ljust(4096, b"\x00"))
    at, out, place = len(_LZFU), bytearray(), 0
    while place < len(body) and len(out) < raw_size:
        flags = body[place]
        place += 1
        for bit in range(8):
            if place >= len(body) or len(out) >= raw_size:
                break
            if not flags >> bit & 1:
                found = body[place : place + 1]
                place += 1
            else:
                token = int.from_bytes(body[place : place + 2], "big")
                place += 2
                start, length = token >> 4, (token & 15) + 2
                if start == at % 4096:
                    return bytes(out)
                found = b""
                for step in range(length):
                    found += window[(start + step) % 4096 : (start + step) % 4096 + 1]
                    window[(at + step) % 4096] = found[-1]
            for byte in found:
                window[at % 4096] = byte
                at += 1
            out += found
    return bytes(out)


def _walked(data: bytes) -> _Walk:
    page = re.search(rb"\\ansicpg(\d{3,5})", data[:4096])
    walk = _Walk(_known_encoding(page[1].decode() if page else "1252"))
    place = 0
    while place < len(data):
        match = _TOKEN.match(data, place)
        if match is None:
            place += 1
            continue
        place = match.end()
        word, number, code, sign, brace, words = match.groups()
        if word == b"bin":  # so many bytes that are no text
            place += max(int(number or b"0"), 0)
        elif brace:
            _flush(walk)
            _brace(walk, brace)
        elif word:
            _word(walk, word, int(number) if number else None)
        elif code:
            _bytes_in(walk, bytes([int(code, 16)]), 1)
        elif sign:
            _sign(walk, sign)
        elif words:
            _bytes_in(walk, words, len(words))
    _flush(walk)
    _paragraph(walk)
    _table(walk)
    return walk


def _known_encoding(page: str) -> str:
    try:
        "".encode(f"cp{page}")
    except LookupError:
        return "cp1252"
    return f"cp{page}"


def _brace(walk: _Walk, brace: bytes) -> None:
    walk.left = 0
    if brace == b"{":
        if len(walk.groups) > MAX_DEPTH:
            raise UnreadableError("The rich text has too many groups within groups.", hint="Save it anew.")
        top = walk.groups[-1]
        walk.groups.append(
            _Group(top.skipped, top.kept, top.skip, top.style, top.outline, top.bold, top.size, top.table)
        )
    elif len(walk.groups) > 1:
        ended = walk.groups.pop()
        if ended.kept == "style" and walk.groups[-1].kept == "styles":
            walk.styles[ended.style] = one_line("".join(walk.style)).rstrip(";")
            walk.style = []


def _sign(walk: _Walk, sign: bytes) -> None:
    if sign == b"*":
        walk.groups[-1].skipped = True  # a group that old readers pass over; the word that follows may want it
    elif sign in _ESCAPES:
        _put(walk, _ESCAPES[sign])


def _word(walk: _Walk, word: bytes, number: int | None) -> None:
    group = walk.groups[-1]
    if word == b"u" and number is not None:
        _flush(walk)
        _unicode(walk, number % 65536)
        walk.left = group.skip
        return
    _flush(walk)
    if word in (b"listtext", b"pntext"):
        group.kept, group.skipped = "mark", False
    elif word == b"stylesheet":
        group.kept = "styles"
    elif word in _SKIPPED:
        group.skipped = True
    elif word == b"info":
        group.kept = "info"
    elif group.kept == "info" and word in _INFO:
        group.kept = f"info:{_INFO[word]}"
    elif group.kept.startswith("info"):
        group.kept = "info"
    elif word in _SIGNS:
        _put(walk, _SIGNS[word])
    elif group.kept in ("styles", "style"):
        if word in (b"s", b"cs", b"ds", b"ts"):
            group.kept, group.style = "style", (number or 0) if word == b"s" else -1
        elif group.kept == "styles" and len(walk.groups) > 2:
            group.kept, group.style = "style", 0
    elif not group.skipped:
        _layout(walk, group, word, number)


def _layout(walk: _Walk, group: _Group, word: bytes, number: int | None) -> None:
    if word in (b"par", b"sect", b"page"):
        _paragraph(walk)
    elif word == b"pard":
        group.style, group.outline, group.table = 0, -1, False
    elif word == b"intbl":
        group.table = True
    elif word in (b"cell", b"nestcell"):
        walk.row.append(one_line("".join(walk.text)))
        walk.text, walk.mark = [], []
    elif word in (b"row", b"nestrow"):
        walk.rows.append(walk.row)
        walk.row = []
    elif word == b"plain":
        group.bold, group.size = False, 24
    elif word == b"s":
        group.style = number or 0
    elif word == b"outlinelevel":
        group.outline = number or 0
    elif word == b"b":
        group.bold = number != 0
    elif word == b"fs":
        group.size = number or 24
    elif word == b"uc":
        group.skip = max(number or 0, 0)
    elif word == b"ansicpg" and number:
        walk.encoding = _known_encoding(str(number))


def _unicode(walk: _Walk, code: int) -> None:
    letter = chr(code)
    if 0xD800 <= code < 0xDC00:
        walk.half = letter
        return
    if 0xDC00 <= code < 0xE000:
        letter = (walk.half + letter).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    walk.half = ""
    _put(walk, "•" if letter == "\uf0b7" else letter)


def _bytes_in(walk: _Walk, data: bytes, count: int) -> None:
    passed = min(walk.left, count)
    walk.left -= passed
    walk.pending += data[passed:]


def _flush(walk: _Walk) -> None:
    if walk.pending:
        _put(walk, "")


def _put(walk: _Walk, text: str) -> None:
    group = walk.groups[-1]
    if walk.pending:
        text = walk.pending.decode(walk.encoding, "replace") + text
        walk.pending.clear()
    if group.kept.startswith("info:"):
        key = group.kept[5:]
        walk.info[key] = walk.info.get(key, "") + text
    elif group.kept == "style":
        walk.style.append(text)
    elif group.skipped or group.kept:
        if group.kept == "mark":
            walk.mark.append(text)
    else:
        walk.text.append(text)


def _paragraph(walk: _Walk) -> None:
    """What was gathered ends here: a heading, an item, a paragraph, or a line within a cell."""
    text, group = "".join(walk.text), walk.groups[-1]
    if group.table or walk.row:
        walk.text.append("\n")
        return
    walk.text = []
    mark = one_line("".join(walk.mark))
    walk.mark = []
    _table(walk)
    if not text.strip():
        return
    level = _level(walk, group, text)
    if level:
        walk.writer.end_list()
        walk.writer.heading(level, text)
    elif mark or _ITEM.match(text):
        with walk.writer.item("-" if not any(map(str.isalnum, mark)) or mark == "o" else mark):
            walk.writer.paragraph(text if mark else text.lstrip("•·▪◦\uf0b7 \t"))
    else:
        walk.writer.end_list()
        walk.writer.paragraph(text, BlockKind.PARAGRAPH)


def _level(walk: _Walk, group: _Group, text: str) -> int:
    """1–6 for a heading, 0 for text: by outline, by the style's name, or one short line of large bold type."""
    if 0 <= group.outline < 9:
        return min(group.outline + 1, 6)
    name = walk.styles.get(group.style, "") if group.style > 0 else ""
    styled = _HEADING_STYLE.search(name)
    if styled:
        return min(max(int(styled[1]), 1), 6)
    if name.lower() == "title":
        return 1
    short = len(text) < 100 and text.strip()[-1:] not in ".,;:"
    return (1 if group.size >= 36 else 2) if short and group.bold and group.size >= 28 else 0


def _table(walk: _Walk) -> None:
    if walk.row:
        walk.rows.append(walk.row)
        walk.row = []
    if walk.rows:
        walk.writer.end_list()
        walk.writer.table(walk.rows)
        walk.rows = []
