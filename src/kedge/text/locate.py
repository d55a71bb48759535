"""Where cited words stand among the characters of a page: letters and digits are compared, spaces and signs are not.

A page's characters come in the order of its file, the cited words in the order of reading; within a line they agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST_PLACES = 200
"""Occurrences of one piece that are looked at."""
LONG = 12
"""Letters of a piece that is believed wherever it stands."""
NEAR = 150
"""Letters between a shorter piece and the one that is surest."""
_PIECES = re.compile(r"[\n|]+")


@dataclass(frozen=True, slots=True)
class Squeezed:
    """Letters and digits of a text in small letters, and where each stood."""

    text: str
    places: tuple[int, ...]


def squeeze(text: str) -> Squeezed:
    """
    >>> squeeze("Net sales: $ 20,205").text
    'netsales20205'
    """
    kept: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        for letter in sign.casefold():
            if letter.isalnum():
                kept.append(letter)
                places.append(place)
    return Squeezed("".join(kept), tuple(places))


def locate(page: Squeezed, cited: str, before: str = "") -> list[tuple[int, int]]:
    """Spans of the page's text, each [first, last] inclusive, that hold the cited words, in their order there.

    Of several places the one is taken that follows the words `before`. Where the words do not stand together, as in a
    table that is read in another order, each line or cell of them is looked for near the others. Empty: not found.
    """
    whole = squeeze(cited).text
    if not whole:
        return []
    found = _all(page.text, whole)
    if found:
        said = squeeze(before).text[-80:]
        start = max(found, key=lambda at: (_common_end(page.text[:at], said), -at))
        return [_span(page, start, len(whole))]
    return _in_pieces(page, [piece for piece in (squeeze(part).text for part in _PIECES.split(cited)) if piece])


def within(page: Squeezed, words: str, spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The place of these words that is inside of the spans; None: there is none, or nothing to look for."""
    wanted = squeeze(words).text
    if not wanted:
        return None
    for start in _all(page.text, wanted):
        first, last = _span(page, start, len(wanted))
        if any(low <= first and last <= high for low, high in spans):
            return first, last
    return None


def _in_pieces(page: Squeezed, pieces: Sequence[str]) -> list[tuple[int, int]]:
    places = [(piece, _all(page.text, piece)) for piece in pieces]
    known = [(piece, found) for piece, found in places if found]
    if 2 * sum(len(piece) for piece, _ in known) < sum(map(len, pieces)):
        return []
    anchor, found = min(known, key=lambda one: (len(one[1]), -len(one[0])))
    near = found[0]
    chosen = {(near, len(anchor))}
    for piece, at in known:
        closest = min(at, key=lambda place: abs(place - near))
        if len(piece) >= LONG or abs(closest - near) <= NEAR:  # what is short stands everywhere
            chosen.add((closest, len(piece)))
    return sorted(_span(page, start, length) for start, length in chosen)


def _all(text: str, wanted: str) -> list[int]:
    found: list[int] = []
    at = text.find(wanted)
    while at >= 0 and len(found) < MOST_PLACES:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


def _common_end(one: str, other: str) -> int:
    count = 0
    while count < min(len(one), len(other)) and one[-1 - count] == other[-1 - count]:
        count += 1
    return count


def _span(page: Squeezed, start: int, length: int) -> tuple[int, int]:
    return page.places[start], page.places[start + length - 1]
