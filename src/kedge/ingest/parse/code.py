"""Source code to text: a section for each class and function, comments as prose, the lines themselves as code.

Definitions are found by lines, for all languages alike: a keyword and a name, or a name with brackets at the margin.
Nothing is run or imported.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from kedge.core.errors import EmptySourceError
from kedge.core.values import Json, ParsedDocument
from kedge.ingest.parse.languages import LANGUAGES
from kedge.ingest.parse.writer import TextWriter

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

LONGEST_LINE = 2000
"""A longer line is packed, and nobody reads it."""
_ROLE = re.compile(r":[a-z]{1,20}(?::[a-z]{1,20})?:`[~!]?([^`<>\n]{1,200})`")
"""A name as Sphinx marks it in a comment: `:func:` and the like."""
_WORDS = (
    "class|interface|struct|enum|union|trait|impl|protocol|extension|module|namespace|object|record|type|typedef|fn|"
    "func|fun|function|def|defp|defmodule|defmacro|defun|defmethod|define|sub|procedure|proc|subroutine|macro|message|"
    "service|resource|package"
)
_BEFORE = (
    "export|default|public|private|protected|internal|static|async|abstract|final|sealed|open|data|pub(?:\\([a-z]+\\))?"
    "|const|inline|virtual|override|unsafe|extern|local|partial|readonly|declare"
)
_KEYWORD = re.compile(
    rf"(?P<indent>[ \t]{{0,12}})(?:@\w+ )?(?:\((?=def))?(?:(?:{_BEFORE}) ){{0,5}}"
    rf"(?P<word>{_WORDS})!?[ \t]+(?:\([^()\n]{{0,80}}\)[ \t]*)?['\"]?(?P<name>[A-Za-z_$][\w$.:?!-]{{0,100}})",
)
_SQL = re.compile(
    r"(?P<indent>)create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?P<word>table|view|function|procedure|trigger|"
    r"index|type)\s+(?:if\s+not\s+exists\s+)?(?P<name>[\w.\"`]{1,120})",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"(?P<indent>[ \t]{0,8})"
    r"(?!(?:if|for|while|switch|return|else|catch|do|new|throw|using|with|await|case|and|or|not)\b)"
    r"(?:[A-Za-z_][\w<>\[\],*&:~]*+[ \t*&]++){0,6}(?P<name>[A-Za-z_~$][\w$:~]{0,100})[ \t]?\([^;{}]{0,300}\)?"
    r"(?:[ \t]*(?:const|noexcept|override|throws[ \w,.]{1,80}))?[ \t]*(?P<opens>\{?)[ \t]*$"
)
"""A function as C, Java, shell and their kin write it; it needs the brace, on this line or the next."""
_ASSIGNED = re.compile(
    r"(?P<indent>[ \t]{0,4})(?:(?:export|const|let|var|local) ){0,2}(?P<name>[A-Za-z_$][\w$.]{0,100})"
    r"[ \t]*(?:=|<-)[ \t]*"
    r"(?:async[ \t]*)?(?:function\b|\([^()\n]{0,200}\)[ \t]*=>)"
)
_BRACED = frozenset(("c", "cpp", "csharp", "java", "javascript", "typescript", "php", "bash", "objectivec", "dart"))
_LINE_COMMENT = re.compile(
    r"[ \t]*(?:///?!?|#(?!\[|!|include|define|if|el|end|pragma|undef|error)|--(?!\S)|;{1,3}|%%?)[ \t]?(.*)"
)
_DECORATOR = re.compile(r"[ \t]*(?:@\w|#\[|\[[A-Z]\w+)")
_BLOCK_EDGE = re.compile(r"^[ \t]*\*(?:[ \t]|$)|^[ \t]+", re.MULTILINE)
_OPENED = re.compile(r"[ \t]*(?:[rRuU]{0,2}(?=[\"']))?(/\*+!?|\"\"\"|''')")
_LONG_COMMENT = 3
"""Lines of a comment amid code from which on it is prose; at the beginning of a stretch every one is."""
_FIRST_LINES = 1
"""Lines of code that may stand before what is said at the beginning: those of the definition itself."""
_MOST_BEFORE = 400
_LONGEST = 4000
"""Lines of one comment."""
_SPEAKING = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}+\W++[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class _Definition:
    """A class or a function: where its own lines begin, with the comment above it, and how deep it stands."""

    start: int
    line: int
    indent: int
    name: str


def parse_code(text: str, source: Source) -> ParsedDocument:
    """The file as clean markdown. Raises EmptySourceError for one without words."""
    language = LANGUAGES.get(PurePosixPath(source.name).suffix.lower(), "")
    lines = text.replace("\r\n", "\n").expandtabs(4).split("\n")
    shown = [line if len(line) <= LONGEST_LINE else f"{line[:200]} …" for line in lines]
    if not any(map(str.strip, shown)):
        raise EmptySourceError(f"{source.name} holds no text.", hint="Remove it, or fill it and ingest again.")
    writer = TextWriter()
    writer.heading(1, source.name)
    found = list(_definitions(shown, language))
    _stretch(writer, shown[: found[0].start if found else len(shown)], language)
    indents = sorted({one.indent for one in found})
    for one, following in zip(found, [*found[1:], None], strict=False):
        writer.heading(min(2 + indents.index(one.indent), 6), f"`{one.name}`")
        _stretch(writer, shown[one.start : following.start if following else len(shown)], language)
    cut = sum(len(line) > LONGEST_LINE for line in lines)
    warnings = [f"{cut} lines of over {LONGEST_LINE:,} characters were shortened."] if cut else []
    metadata: dict[str, Json] = {"programming_language": language} if language else {}
    return writer.document(source.name, None, metadata, warnings)


def _definitions(lines: Sequence[str], language: str) -> Iterator[_Definition]:
    floor = 0
    quoted = _inside_quotes(lines)
    for number, line in enumerate(lines):
        if quoted[number] or not line.strip() or _comment_of(line) is not None:
            continue
        match = _SQL.match(line) if language == "sql" else _KEYWORD.match(line) or _ASSIGNED.match(line)
        if match is None and language in _BRACED and len(line) < 400:
            match = _CALLED.match(line)
            following = lines[number + 1].strip() if number + 1 < len(lines) else ""
            if match is not None and not match["opens"] and following != "{":
                match = None
        if match is None or (language in ("c", "cpp") and ";" in line):
            continue
        start = _with_comment(lines, number, floor)
        name = line.strip().rstrip("{:").strip() if len(line.strip()) < 100 else match["name"]
        yield _Definition(start, number, len(match["indent"]), name)
        floor = number + 1


def _inside_quotes(lines: Sequence[str]) -> list[bool]:
    """Whether each line begins inside a string or a comment of several lines."""
    inside: list[bool] = []
    end = ""
    for line in lines:
        inside.append(bool(end))
        for mark in re.findall(r'"""|\'\'\'|/\*|\*/', line) if len(line) < LONGEST_LINE else ():
            if end and mark == end:
                end = ""
            elif not end and mark != "*/":
                end = "*/" if mark == "/*" else mark
    return inside


def _with_comment(lines: Sequence[str], number: int, floor: int) -> int:
    """The first line of the comment and the decorators right above a definition."""
    start, closing = number, False
    while start > max(floor, number - _MOST_BEFORE):
        above = lines[start - 1].strip()
        closing = closing or above.endswith("*/")
        if not (closing or _comment_of(lines[start - 1]) is not None or _DECORATOR.match(lines[start - 1])):
            break
        start -= 1
        if closing and above.startswith("/*"):
            closing = False
    return number if closing else start


def _stretch(writer: TextWriter, lines: Sequence[str], language: str) -> None:
    """What the author says as prose, the rest between fences, in order."""
    code: list[str] = []
    seen = 0

    def end_code() -> None:
        if any(map(str.strip, code)):
            writer.code(textwrap.dedent("\n".join(code)).strip("\n"), language)
        code.clear()

    at = 0
    while at < len(lines):
        end, words = _said(lines, at)
        speaks = _SPEAKING.search(words) is not None and (end - at >= _LONG_COMMENT or seen <= _FIRST_LINES)
        if speaks:
            end_code()
            for paragraph in re.split(r"\n[ \t]*\n", words):
                writer.paragraph(_ROLE.sub(r"`\1`", paragraph))
        else:
            code.extend(lines[at:end])
            seen += bool(lines[at].strip())
        at = end
    end_code()


def _said(lines: Sequence[str], at: int) -> tuple[int, str]:
    """Where a comment or a docstring that begins at this line ends, and its words; one line without any for code."""
    opened = _OPENED.match(lines[at])
    if opened:
        closing = "*/" if opened[1].startswith("/*") else opened[1]
        if closing in lines[at][opened.end() :]:
            end = at + 1
        else:
            end = next((at + 2 + n for n, line in enumerate(lines[at + 1 : at + _LONGEST]) if closing in line), at + 1)
        body = "\n".join(lines[at:end])[opened.end() :].rstrip().removesuffix(closing)
        return end, textwrap.dedent(_BLOCK_EDGE.sub("", body) if closing == "*/" else body).strip()
    end = at
    words: list[str] = []
    while end < len(lines) and (comment := _comment_of(lines[end])) is not None:
        words.append(comment)
        end += 1
    return max(end, at + 1), "\n".join(words).strip()


def _comment_of(line: str) -> str | None:
    """The words of a line that is a comment; None for another."""
    match = _LINE_COMMENT.fullmatch(line) if len(line) < LONGEST_LINE else None
    return match[1] if match else None
