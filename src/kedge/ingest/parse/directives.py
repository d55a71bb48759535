"""Directives in markdown (MyST, MkDocs) as what a page shows: notes, tabs, versions, code; each line keeps its length.

So a place in the cleaned text is the same place in the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SIGN = re.compile(
    r"^[ \t]*(?:(?:`{3,}|:{3,}|~{3,})\{|(?:!!!|\?\?\?\+?|===)[ \t]|\([\w:. -]+\)=[ \t]*$|--8<--)", re.MULTILINE
)
_OPENING = re.compile(r"(?P<indent>[ \t]*)(?P<fence>`{3,}|:{3,}|~{3,})\{(?P<name>[\w:+.-]+)\}[ \t]*+(?P<said>.*)")
_FENCE = re.compile(r"[ \t]*(`{3,}+|~{3,}+|:{3,}+)(.*)")
_OPTION = re.compile(r"[ \t]*:[\w-]+:(?:[ \t].*)?")
_TARGET = re.compile(r"[ \t]*\([\w:. -]+\)=[ \t]*|[ \t]*--8<--.*")
_BOX = re.compile(r"(?P<indent>[ \t]*)(?:!!!|\?\?\?\+?|===)[ \t]+(?P<name>[\w-]*)[^\"]*(?:\"(?P<said>[^\"]*)\")?.*")
_CODE = frozenset("code code-block code-cell sourcecode literal prompt doctest testcode ipython parsed-literal".split())
_UNSEEN = frozenset(
    "toctree image include literalinclude raw contents index bibliography autosummary automodule autoclass "
    "autofunction mermaid graphviz plot figure-md tableofcontents sectionauthor currentmodule module todo".split()
)
_TEXT = frozenset(
    "admonition dropdown tab-set tab-item tabs tab grid grid-item grid-item-card card margin sidebar topic epigraph "
    "container div figure glossary only details collapse toggle exercise solution".split()
)
_LABELS = {
    "seealso": ("See also:",), "versionadded": ("Added in version {}:", "Added in {}:"),
    "versionchanged": ("Changed in version {}:", "Changed in {}:"),
    "deprecated": ("Deprecated since version {}:", "Deprecated since {}:", "Deprecated {}:"),
}  # fmt: skip
_NOTES = frozenset("attention caution danger error hint important note tip warning info success bug".split())


_KNOWN = _CODE | _UNSEEN | _TEXT | _NOTES | _LABELS.keys()


@dataclass(slots=True)
class _OpenFence:
    mark: str
    kind: str
    """`code` (kept), `text` (its fence vanishes), `unseen` (all vanishes)."""
    options: bool = True
    """Whether lines of options may still follow."""


def shown(text: str) -> str:
    """The text with directives as what they show; of the same length, line by line."""
    if not _SIGN.search(text):
        return text
    stack: list[_OpenFence] = []
    return "".join(_line(line, stack) for line in text.splitlines(keepends=True))


def _line(whole: str, stack: list[_OpenFence]) -> str:
    line = whole.rstrip("\r\n")
    written = _written(line, stack)
    return written[: len(line)].ljust(len(line)) + whole[len(line) :]


def _written(line: str, stack: list[_OpenFence]) -> str:
    inner = stack[-1] if stack else None
    if inner is not None and _closes(line, inner):
        stack.pop()
        return line if inner.kind == "code" else ""
    if inner is not None and inner.kind == "unseen":
        return ""
    if inner is not None and inner.kind == "code" and not inner.options:
        return line
    if inner is not None and inner.options and (_OPTION.fullmatch(line) or line.strip() == "---"):
        return ""
    if inner is not None:
        inner.options = False
        if inner.kind == "code":
            return line
    return _opened(line, stack)


def _opened(line: str, stack: list[_OpenFence]) -> str:
    opening = _OPENING.fullmatch(line)
    if opening:
        return _directive(opening, stack)
    fence = _FENCE.fullmatch(line)
    if fence and (fence[1][0] != ":" or fence[2].strip()):
        stack.append(_OpenFence(fence[1], "text" if fence[1][0] == ":" else "code", options=False))
        return line if fence[1][0] != ":" else ""
    if _TARGET.fullmatch(line):
        return ""
    box = _BOX.fullmatch(line)
    return f"{box['indent']}{_label(box['name'], box['said'] or '', len(line))}" if box else line


def _directive(opening: re.Match[str], stack: list[_OpenFence]) -> str:
    name, said, fence = opening["name"].lower(), opening["said"].strip(), opening["fence"]
    if fence[0] != ":" and name not in _KNOWN:  # formulas, tables, code of any extension
        stack.append(_OpenFence(fence, "code", options=False))
        return opening[0]
    if name in _CODE:
        stack.append(_OpenFence(fence, "code"))
        language = said if re.fullmatch(r"[\w+#.-]{0,20}", said) else ""
        return f"{opening['indent']}{fence}{language}" if fence[0] != ":" else opening[0]
    stack.append(_OpenFence(fence, "unseen" if name in _UNSEEN else "text"))
    return "" if name in _UNSEEN else f"{opening['indent']}{_label(name, said, len(opening[0]))}"


def _label(name: str, said: str, room: int) -> str:
    """What stands before the words of a note or a tab, as long as there is room."""
    name = name.lower()
    if name in _LABELS:
        return next((label for form in _LABELS[name] if len(label := form.format(said)) <= room), said)
    if name in _NOTES and not said:
        return f"{name.capitalize()}:"
    if name in _NOTES and len(f"{name.capitalize()}: {said}") <= room and said.lower() != name:
        return f"{name.capitalize()}: {said}"
    return f"{said.rstrip(':')}:" if said else ""


def _closes(line: str, fence: _OpenFence) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence.mark) and set(bare) == {fence.mark[0]}
