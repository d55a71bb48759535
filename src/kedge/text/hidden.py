"""Characters that no reader sees, and that can carry text past one."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)


def without_hidden(text: str) -> str:
    """The text without zero-width, direction, tag and control characters; line breaks and tabs stay.

    >>> without_hidden("ig\\u200bnore\\u202e this")
    'ignore this'
    """
    return _HIDDEN.sub("", text)
