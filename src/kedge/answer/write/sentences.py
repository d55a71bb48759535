"""What a model writes, cut into sentences as it comes and made safe to show."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kedge.text.hidden import without_hidden
from kedge.text.sentences import sentences

_MARK = r"[\[【]\s*(?:sources?\s*)?#?\d{1,3}(?:\s*(?:[,;&]|and)\s*#?\d{1,3})*\s*[\]】]"
_MARKS = re.compile(_MARK, re.IGNORECASE)
_LEADING = re.compile(rf"(?:\s*{_MARK})+[.,;]?", re.IGNORECASE)
_OPEN_MARK = re.compile(r"\s*[\[【][^\]】]{0,20}\Z")
_NUMBER = re.compile(r"\d+")
_THINK = "<think>"
_IMAGE = re.compile(r"!\[[^\]\n]{0,300}+\](?:\([^)\n]{0,1000}+\)?|\[[^\]\n]{0,300}+\])?")
_LINK = re.compile(r"\[([^\]\n]{0,300}+)\]\(([^)\s]{0,1000}+)[^)\n]{0,200}+\)")
_REFERENCE = re.compile(r"^\s*\[[^\]\n]+\]:\s*\S+.*$", re.MULTILINE)
_TAG = re.compile(
    r"</?(?:a|img|script|iframe|style|link|svg|object|embed|form|input|button|video|audio|meta|base|source|picture|details|"
    r"marquee|body|html|div|span|p|br|table|tr|td|h[1-6]|b|i|u|em|strong|font|center)\b[^<>\n]*/?>?",
    re.IGNORECASE,
)
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto|data|javascript):[^<>\s]*)>", re.IGNORECASE)
_URL = re.compile(
    r"(?:\b(?:https?|ftp|wss?|file)://|\b(?:data|javascript|mailto):|\bwww\.)[^\s<>\"'）)\]]+", re.IGNORECASE
)
_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)+\.?")
_ADDRESS = re.compile(
    r"(?<![\w.-])(?:[a-z0-9-]+\.){1,10}(?:com|net|org|io|dev|app|co|ai|ru|cn|example|test|xyz|info|biz|me|site|online|link|top|invalid)\b"
    r"(?:[/?:#][^\s<>\"'）)\]]*)?|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+",
    re.IGNORECASE,
)
_BULLET = re.compile(r"(?:[-*+•]|\d{1,2}[.)])\s+")


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """One sentence of a model."""

    lead: str
    """What separates it from the one before: nothing, a space, a line break; and the bullet of a list's item."""
    text: str
    """Without marks, pictures, tags and link syntax."""
    cited: tuple[int, ...]
    """Numbers of the sources that it names, in order."""
    urls: tuple[str, ...]
    """Addresses in it, as links or as text."""


class SentenceBuffer:
    """Pieces in, whole sentences out. A mark behind the full stop belongs to the sentence before it."""

    def __init__(self) -> None:
        self._text = ""
        self._thinking: bool | None = None
        self._shown = False

    def feed(self, piece: str) -> list[WrittenSentence]:
        """Sentences that are surely complete now."""
        self._text += piece
        if not self._past_thoughts():
            return []
        groups = self._groups()
        keep = 1
        if groups and _OPEN_MARK.fullmatch(self._text[groups[-1][0] :]):
            keep = 2  # it may become a mark of the sentence before
        return self._taken(groups[: max(0, len(groups) - keep)])

    def flush(self) -> list[WrittenSentence]:
        """What is left at the end."""
        return self._taken(self._groups()) if self._past_thoughts() else []

    def _past_thoughts(self) -> bool:
        """Leave out what a reasoning model says to itself first."""
        start = self._text.lstrip()
        if self._thinking is None and start and not _THINK.startswith(start[: len(_THINK)]):
            self._thinking = False
        elif self._thinking is None and start.startswith(_THINK):
            self._thinking = True
        if self._thinking and "</think>" in self._text:
            self._text = self._text.partition("</think>")[2]
            self._thinking = False
        return self._thinking is False

    def _groups(self) -> list[list[int]]:
        """Start and end of each sentence with the marks behind it."""
        groups: list[list[int]] = []
        for first, end in sentences(self._text):
            start = first
            marks = _LEADING.match(self._text, start, end)
            if groups and marks:
                groups[-1][1] = marks.end()
                rest = self._text[marks.end() : end]
                start = end - len(rest.lstrip())
            if start < end:
                groups.append([start, end])
        return groups

    def _taken(self, groups: list[list[int]]) -> list[WrittenSentence]:
        found: list[WrittenSentence] = []
        place = 0
        for start, end in groups:
            found.append(self._read(self._text[place:start], self._text[start:end]))
            place = end
        self._text = self._text[place:]
        return [sentence for sentence in found if sentence.text]

    def _read(self, between: str, raw: str) -> WrittenSentence:
        shown = self._shown
        sentence = read_sentence(between, raw, first=not shown)
        self._shown = shown or bool(sentence.text)
        return sentence


def read_sentence(between: str, raw: str, *, first: bool = False) -> WrittenSentence:
    """Take a sentence apart."""
    raw = without_hidden(raw)
    cited = tuple(dict.fromkeys(int(number) for mark in _MARKS.findall(raw) for number in _NUMBER.findall(mark)))
    if "```" in raw:
        return WrittenSentence("" if first else "\n\n", raw, cited, ())
    urls = tuple(dict.fromkeys(_urls(raw)))
    text = _REFERENCE.sub("", _IMAGE.sub("", raw))
    text = _AUTOLINK.sub(r"\1", _LINK.sub(r"\1", text))
    text = _MARKS.sub("", _TAG.sub("", text))
    bullet = _BULLET.match(text)
    text = " ".join(text[bullet.end() if bullet else 0 :].split())
    text = re.sub(r" ([.,;!?])", r"\1", text).strip()
    line = "\n\n" if between.count("\n") > 1 else "\n" if "\n" in between else " "
    lead = "" if first else line
    return WrittenSentence(lead + (bullet.group().strip() + " " if bullet else ""), text, cited, urls)


def without_urls(text: str) -> str:
    """The text with every address taken out."""
    return " ".join(_ADDRESS.sub("", _URL.sub("", text)).split())


def without_links(text: str) -> str:
    """The text without addresses that lead somewhere; a name that looks like one stays: “AMAZON.COM, INC.”."""
    return " ".join(_ADDRESS.sub(_kept_name, _URL.sub("", text)).split())


def _kept_name(found: re.Match[str]) -> str:
    name = found.group()
    return "" if name.lower().startswith("www.") or not _NAME.fullmatch(name) else name


def _urls(raw: str) -> list[str]:
    found = [url for _, url in _LINK.findall(raw)] + [match.group() for match in _URL.finditer(raw)]
    found += [match.group() for match in _ADDRESS.finditer(_URL.sub(" ", raw))]
    pictures = [part for picture in _IMAGE.findall(raw) for part in re.findall(r"\(([^)\s]*)", picture)]
    return [url.rstrip(".,;") for url in (*found, *pictures) if url]
