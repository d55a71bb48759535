"""What a document calls itself, in one line: the same on every surface, and what keyword search knows of it.

The parts stand in the document's metadata, so that every store carries them to its passages and filters can name them.
They are found when a document is read (`kedge.ingest.identity`), unless whoever brought the document said them.

>>> said = {"organisation": "Acme Inc.", "document_type": "10-Q", "period": "quarter ended July 1, 2023"}
>>> identity_line("FORM 10-Q", {**said, "file_name": "2023 Q3 ACME.pdf"})
'Acme Inc. · 10-Q · quarter ended July 1, 2023 · 2023 Q3 ACME.pdf'
>>> identity_line("Knots and hitches", {"tags": ["rope"]})
'Knots and hitches'
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from kedge.core.values.base import Metadata

ORGANISATION = "organisation"
"""Key in a document's metadata: who it is about or from, where it says so."""
DOCUMENT_TYPE = "document_type"
"""Key: what kind of document it is, such as `10-Q`, `minutes`."""
PERIOD = "period"
"""Key: the time it reports on, in words."""
PERIOD_END = "period_end"
"""Key: the day that this time ends on, as ISO date."""
DATED = "dated"
"""Key: when it was written, published or held, as ISO date, month or year."""
FILE_NAME = "file_name"
"""Key: the name of its file."""

MAX_PART = 120
_WORD = re.compile(r"[^\W_]+")
_STOPGAP = re.compile(
    r"(?:untitled|unnamed|no title|document|presentation|slide|page|draft|scan|form|schedule)"
    r"(?:\W{0,3}(?:[a-z]{1,3}-)?\d[\w./-]{0,8})?"
    r"|(?:microsoft )?(?:word|powerpoint|excel)\s-\s.*|.*\.(?:docx?|pdf|tex|dvi|indd|pptx?|xlsx?|html?|md|txt)",
    re.IGNORECASE,
)


def identity_line(title: str, metadata: Metadata) -> str:
    """Title, organisation, type, time and file name, as far as they are known, nothing twice.

    A title that says nothing of its document (the name of a form, of a file) gives way to what does.
    """
    file = said_in(metadata, FILE_NAME)
    found = [said_in(metadata, ORGANISATION), said_in(metadata, DOCUMENT_TYPE), _time(metadata)]
    lead = title
    if tells_nothing(title, file) and (any(found) or _STOPGAP.fullmatch(title.strip())):
        lead = ""
    parts: list[str] = []
    for part in (lead, *found):
        if part and not _within(part, parts):
            parts.append(part)
    if file and _squeezed(_stem(file)) not in _squeezed(" ".join(parts)):
        parts.append(file)
    return " · ".join(parts) or title


def identity_words(title: str, metadata: Metadata) -> str:
    """The words of the identity that the title lacks, once each.

    >>> identity_words("Acme Inc.", {"document_type": "10-Q", "file_name": "2023_Q3_ACME.pdf"})
    '10-Q 2023 Q3'
    """
    line = identity_line(title, metadata)
    if line == title:
        return ""
    file = said_in(metadata, FILE_NAME)
    words = line.removesuffix(file).replace("·", " ").split() + (_WORD.findall(_stem(file)) if file in line else [])
    known = {word.casefold() for word in _WORD.findall(title)}
    new: dict[str, str] = {}
    for word in words:
        parts = [part.casefold() for part in _WORD.findall(word)]
        if parts and not all(part in known for part in parts):
            new.setdefault("-".join(parts), word.strip(",;"))
    return " ".join(new.values())


def heading(identity: str, title: str, section_path: tuple[str, ...]) -> str:
    """The headings that a text stands under, outermost first, with what its document calls itself in the title's place.

    >>> heading("Acme Inc. · 10-Q", "Acme Inc.", ("Acme Inc.", "Risks"))
    'Acme Inc. · 10-Q › Risks'
    """
    sections = (part for part in section_path if part != title)
    return " › ".join(dict.fromkeys(part for part in (identity, *sections) if part))


def tells_nothing(title: str, file_name: str = "") -> bool:
    """Whether a title is a stopgap: the name of a form or a program's default, or what the file is called anyway.

    >>> [tells_nothing(title, "acme_q3.pdf") for title in ("FORM 10-Q", "Acme Q3", "Untitled 1", "Knots")]
    [True, True, True, False]
    """
    same = bool(file_name) and _words(title) == _words(_stem(file_name))
    return same or _STOPGAP.fullmatch(title.strip()) is not None


def said_in(metadata: Metadata, key: str) -> str:
    """What the metadata say under that key, as one short line of text; empty: nothing that can be shown."""
    value = metadata.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    line = " ".join(str(value).split())
    return line if len(line) <= MAX_PART else line[: MAX_PART - 1].rstrip() + "…"


def _time(metadata: Metadata) -> str:
    return said_in(metadata, PERIOD) or said_in(metadata, DATED)


def _within(part: str, parts: list[str]) -> bool:
    """Whether the words of the part stand together in one of the others."""
    return any(f" {_words(part)} " in f" {_words(other)} " for other in parts)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text)).casefold()


def _squeezed(text: str) -> str:
    return "".join(_WORD.findall(text)).casefold()


def _stem(file_name: str) -> str:
    return PurePosixPath(file_name).stem
