"""Markdown and reStructuredText as plain words: what stands in a statement when it is read or shown."""

from __future__ import annotations

import re

_PICTURE = re.compile(r"!\[[^\]\n]{0,300}\]\([^)\n]{0,500}\)(?:\{[^}\n]{0,200}\})?")
_LINK = re.compile(r"\[([^\]\n]{1,300})\]\([^)\n]{0,500}\)|\[([^\]\n]{1,300})\]\[[^\]\n]{0,100}\]")
_ROLE = re.compile(r"(?:\{[a-z][a-z:+-]{0,30}\}|:[a-z][a-z:+-]{0,30}:)`[~!]?([^`<\n]{1,300}?)(?:\s*<[^>`\n]{0,300}>)?`")
_REFERENCE = re.compile(r"`([^`<\n]{1,300}?)\s*<[^>`\n]{1,300}>`_{1,2}|`([^`\s][^`\n]{0,300})`_{1,2}(?!\w)")
_LITERAL = re.compile(r"(`{1,3})([^`\n]{1,500})\1")
_STRONG = re.compile(r"\*\*([^*\n]{1,500})\*\*|(?<!\w)__([^_\n]{1,300}\s[^_\n]{1,300})__(?!\w)")
_EMPHASIS = re.compile(r"(?<![\w*])\*([^*\s][^*\n]{0,300})\*(?![\w*])|(?<![\w_])_([^_\s][^_\n]{0,300})_(?![\w_])")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>|<!--.{0,500}?-->", re.DOTALL)
_ATTRIBUTES = re.compile(r"\{[:#.][^}\n]{0,200}\}")
_FOOTNOTE_MARK = re.compile(r"\[\^[^\]\n]{1,80}\](?!\()")
_LITERAL_MARK = re.compile(r"::(?=\s|$)")
_LEFT_OVER = re.compile(r"\*\*|`")
_QUOTED = re.compile(r"^[ \t]{0,20}>(?:[ \t]?>){0,20}[ \t]+(?![\d=])", re.MULTILINE)
_KEPT = re.compile(r"\x00(\d{1,6})\x00")
_BLANKS = re.compile(r"\s+")


def plain(text: str) -> str:
    """The words of a text without its markup, on one line.

    >>> plain("Use [`define`](api.md#define) or {func}`attrs.field`, **not** `attr.ib`::")
    'Use define or attrs.field, not attr.ib:'
    >>> plain(":meth:`~trio.Nursery.start` waits; see `the docs <https://example.org>`_.")
    'trio.Nursery.start waits; see the docs.'
    >>> plain("Define `__attrs_post_init__` or __str__; it *stays*.")
    'Define __attrs_post_init__ or __str__; it stays.'
    >>> plain("It writes `__le__`, `__lt__` and `__ge__`.")
    'It writes __le__, __lt__ and __ge__.'
    >>> plain("> The arm is the workhorse. Its inverse is not\\n> grinding.")
    'The arm is the workhorse. Its inverse is not grinding.'
    """
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        """A literal stays as it is: its stars and underscores are no markup."""
        kept.append(next(group for group in reversed(found.groups()) if group))
        return f"\x00{len(kept) - 1}\x00"

    text = _PICTURE.sub("", _QUOTED.sub("", text))
    for pattern in (_ROLE, _REFERENCE, _LITERAL):
        text = pattern.sub(keep, text)
    text = _LINK.sub(lambda found: found[1] or found[2], text)
    for pattern in (_STRONG, _EMPHASIS):
        text = pattern.sub(lambda found: found[1] or found[2], text)
    text = _TAG.sub("", text)
    text = _FOOTNOTE_MARK.sub("", _ATTRIBUTES.sub("", text))
    text = _LITERAL_MARK.sub(":", text)
    text = _LEFT_OVER.sub("", text)
    return _BLANKS.sub(" ", _KEPT.sub(lambda found: kept[int(found[1])], text)).strip()
