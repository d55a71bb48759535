"""Names in text: one key per concept, the names a passage mentions, and links to names that are already known.

>>> concept_key("The Normans (people)")
'norman'
>>> [m.surface for m in mentions("Teutberga was a queen by marriage to Lothair II of Lotharingia.")]
['Teutberga', 'Lothair II of Lotharingia', 'Lothair II', 'Lotharingia']
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from kedge.core.values import Role
from kedge.text.analyze import fold
from kedge.text.sentences import sentences

MAX_TOKENS = 10
"""Longest name, in tokens, that is linked."""
MAX_LOWER_TOKENS = 4
"""Longest name in a passage, in tokens, that is linked although it begins with a small letter."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}](?:\+\+|\#)(?!\w)|[^\W_{_CJK}]+(?:['’][^\W_{_CJK}]+)*")
_CJK_CHARACTER = re.compile(rf"[{_CJK}]")
_SUBTITLE = re.compile(r"(?<=\w{3})[.:] |\s[-–—]\s")
_PARENTHETICAL = re.compile(r"(?<!\s)\s*+[(（\[][^()（）\[\]]*+[)）\]]\s*+$")
_ARTICLES = frozenset(("the", "a", "an"))
_FUNCTION_WORDS = frozenset(
    "the a an and or but of in on at to for from by with as is are was were be been has have had do does did it "
    "its this that these those he she they we you i his her their our your my who whom whose which what when "
    "where why how there here then than so if not no all both each some any many most other such only also after "
    "before during since while until although however because under over between into about against through more "
    "first second one two el la los las un una de del y en que se por con para su es fue le les des du et une "
    "dans est pour der die das und ist von mit ein eine il gli di che per".split()
)
_CONNECTORS = frozenset(
    "of the de la le du des del della di da dos von van der den zu y e al el ibn bin af av the's".split()
)
_QUOTED = re.compile(r"[“\"«「『《]([^“”\"«»「」『』《》\n]{2,80})[”\"»」』》]")
_LINK = re.compile(r"\[([^\[\]\n]{2,80})\]\([^()\s]+\)")


_NOT_PROSE = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]+`"  # code
    r"|\$\$.+?\$\$|\$(?=\S)[^$\n]+(?<=\S)\$(?!\d)"  # formulas
    r"|\\\((?:(?!\\[()]).)+\\\)|\\\[(?:(?!\\[\[\]]).)+\\\]"  # bounded: none holds its own opening
    r"|<!--(?:(?!<!--).)*?-->|</?[a-z][^<>\n]*>|https?://[^\s)>\]]+",  # mark-up, addresses
    re.DOTALL,
)
_PROSE_MARKS = re.compile(r"[`$<\\]|~~~|://")
_OPENING = 24
_OPENER = re.compile(
    r"(?:[\s#>*+\-•–|_\"“«(]|\d{1,3}[.)](?=\s)|\[[ xX]?\])*"  # headings, quotes, list items, cells, emphasis
    r"(?:(?:the|a|an|el|la|le|der|die|das)\b[\s\"“«(*_]*)?",
    re.IGNORECASE,
)
_HEADING = re.compile(r"[^\S\n]*#{1,6}[^\S\n]")
_BEING = re.compile(r"\s*+(?:(?:\([^)]*\)|,[^,.]{1,60},)\s*+)?(?:is|was|are|were|es|fue|era|est|ist|war)\b|\s*\(")


@dataclass(frozen=True, slots=True)
class ConceptMention:
    """A name found in a text."""

    surface: str
    """The name as written."""
    key: str
    """Its `concept_key`."""
    start: int
    """Offset of its first character."""
    end: int
    """Offset after its last character."""


class _Token(NamedTuple):
    text: str
    key: str
    start: int
    end: int


def concept_key(name: str) -> str:
    """The normal form under which a concept is stored, equal for variants of case, accent, plural and punctuation.

    A trailing parenthesis is dropped (`Mercury (planet)` → `mercury`). Applying it twice changes nothing.
    A name of punctuation only has the empty key.
    """
    return _whole_key(_without_parenthesis(name))


def name_within(key: str, name: str) -> str:
    """The name as far as it says no more than its key; the key itself where it says something else.

    >>> name_within("nightingale", "Nightingale (sale of Acme)"), name_within("nightingale", "Nightingale: the sale")
    ('Nightingale', 'nightingale')
    """
    return next((one for one in (name, _without_parenthesis(name)) if _whole_key(one) == key), key)


def title_aliases(title: str) -> list[str]:
    """The keys a document with this title answers to: without and with its parenthesis, and without its subtitle.

    >>> title_aliases("Suffix Tree. Ukkonen's Algorithm")[-1]
    'suffix tree'
    """
    plain = title.replace("_", " ")
    keys = [concept_key(plain), _whole_key(plain)]
    head = _SUBTITLE.split(plain, maxsplit=1)[0]
    if len(head.split()) > 1:
        keys.append(concept_key(head))
    return [key for key in dict.fromkeys(keys) if key]


def short_titles(title: str) -> tuple[str, ...]:
    """The title without its parenthesis, and without its subtitle, where these are other names than the title.

    >>> short_titles("Suffix Tree. Ukkonen's Algorithm"), short_titles("Depth-First Search (DFS)")
    (('Suffix Tree',), ('Depth-First Search',))
    """
    plain = _PARENTHETICAL.sub("", title)
    head = _SUBTITLE.split(plain, maxsplit=1)[0]
    names = (plain, head if len(head.split()) > 1 else plain)
    return tuple(name for name in dict.fromkeys(names) if name and name != title)


def mentions(text: str) -> list[ConceptMention]:
    """Names in `text` by pattern, in order: runs of capitalised words, quoted strings, markdown link texts.

    A run joined by small words also yields its parts (`Duke of York` → `Duke of York`, `Duke`, `York`). Code, formulas
    and addresses have no names.
    """
    return _mentions(text, _ReadText(text))


def link(text: str, known: Callable[[Collection[str]], set[str]], *, min_single: int = 4) -> list[ConceptMention]:
    """Known concepts named in `text`, longest first match, left to right, without overlaps.

    `known` answers which of the given keys exist, in one call, so that this runs on any store. A single word must have
    `min_single` letters or be an acronym, and be no function word.
    """
    return _link(text, _tokens(prose(text)), known, min_single, MAX_TOKENS)


def candidate_keys(text: str) -> set[str]:
    """Every key that `link` or `mentions` could find in `text`: what to ask an asynchronous store for beforehand."""
    reading = _ReadText(text)
    keys = {key for _, key in _candidates(reading.tokens, 1, MAX_TOKENS)}
    return keys | {mention.key for mention in _mentions(text, reading)}


@dataclass(frozen=True, slots=True)
class Discussed:
    """How a text speaks of one concept."""

    mention: ConceptMention
    """The first."""
    role: Role
    """The strongest."""
    count: int
    """How often it is named."""
    places: tuple[ConceptMention, ...] = ()
    """Every time, in order."""


def discussed(text: str, known: Callable[[Collection[str]], set[str]]) -> dict[str, Discussed]:
    """What a passage's edges to concepts should be: for each key its first mention, strongest role and count.

    `known` answers which keys are titles of documents. A lone capitalised word at the start of a sentence, list item or
    table cell counts only if a verb of being follows, or it is capitalised elsewhere in the passage too, or it is a
    known title; so does whatever stands in a heading.
    """
    reading = _ReadText(text)
    linked = _link(text, reading.tokens, known, 4, MAX_LOWER_TOKENS)
    titles = {mention.key: mention for mention in reversed(linked)}
    named = _mentions(text, reading)
    opening = {mention.start: reading.opened_by(mention.start) for mention in named}
    inside = {mention.key for mention in named if opening[mention.start] is None}
    found: dict[str, Discussed] = {}

    def add(key: str, mention: ConceptMention, role: Role) -> None:
        old = found.get(key, Discussed(mention, role, 0))
        strongest = min(old.role, role, key=lambda item: item.place)
        found[key] = Discussed(old.mention, strongest, old.count + 1, (*old.places, replace(mention, key=key)))

    for mention in named:
        sentence = opening[mention.start]
        if sentence is None:
            add(mention.key, mention, Role.MENTION)
            continue
        heading = sentence in reading.headings
        being = not heading and _BEING.match(text, mention.end) is not None
        if being or mention.key in inside or (" " in mention.key and not heading):
            lead = sentence == reading.lead
            add(mention.key, mention, Role.MENTION if heading else Role.LEAD if lead else Role.SUBJECT)
            for alias in _short_names(mention.surface) if lead and being else ():
                add(alias, mention, Role.LEAD)
        elif mention.key in titles:
            add(mention.key, mention, Role.MENTION)
    counts = Counter(mention.key for mention in linked)
    for key, mention in titles.items():
        role = Role.GENERIC if mention.surface.islower() else Role.MENTION
        places = tuple(one for one in linked if one.key == key)
        old = found.setdefault(key, Discussed(mention, role, counts[key], places))
        if old.places != places:
            every = {place.start: place for place in (*places, *old.places)}
            found[key] = replace(old, places=tuple(every[start] for start in sorted(every)))
    return found


class _ReadText:
    """A text cut into sentences and tokens once, with code and formulas blanked."""

    def __init__(self, text: str) -> None:
        self.text = prose(text)
        self.spans = sentences(text)
        self.tokens = _tokens(self.text)
        self.headings = frozenset(index for index, (start, _) in enumerate(self.spans) if _HEADING.match(text, start))
        self.lead = next((index for index in range(len(self.spans)) if index not in self.headings), 0)

    def runs(self) -> Iterator[list[_Token]]:
        """Capitalised runs; none crosses the end of a sentence."""
        at = 0
        for _, end in self.spans:
            after = at
            while after < len(self.tokens) and self.tokens[after].end <= end:
                after += 1
            yield from _capitalised_runs(self.tokens[at:after], self.text)
            at = after

    def opened_by(self, start: int) -> int | None:
        """Index of the sentence that what begins at `start` opens, seen through articles and mark-up, or None."""
        index = bisect_right(self.spans, (start, len(self.text) + 1)) - 1
        if index < 0:
            return None
        first = self.spans[index][0]
        line = self.text.rfind("\n", first, start) + 1
        if line and index in self.headings:
            return None if _OPENER.fullmatch(self.text, line, start) is None else index
        row = max(line, first)
        if self.text.startswith("|", row):
            first = self.text.rfind("|", row, start)
        if start - first > _OPENING or _OPENER.fullmatch(self.text, first, start) is None:
            return None
        return index


def prose(text: str, fill: str = " ") -> str:
    """The text with code, formulas, tags and addresses filled with a character; as long as before."""
    if _PROSE_MARKS.search(text) is None:
        return text
    return _NOT_PROSE.sub(lambda match: fill * len(match.group()), text)


def _mentions(text: str, reading: _ReadText) -> list[ConceptMention]:
    found: dict[tuple[int, int], ConceptMention] = {}
    for pattern in (_LINK, _QUOTED):
        for match in pattern.finditer(reading.text):
            _add(found, text, *match.span(1), None)
    for run in reading.runs():
        for part in _parts(run):
            _add(found, text, part[0].start, part[-1].end, part)
    return sorted(found.values(), key=lambda mention: (mention.start, -mention.end))


def _link(
    text: str,
    tokens: Sequence[_Token],
    known: Callable[[Collection[str]], set[str]],
    min_single: int,
    longest_lower: int,
) -> list[ConceptMention]:
    spans = dict(_candidates(tokens, min_single, longest_lower))
    existing = known(set(spans.values()))
    if not existing:
        return []
    longest: dict[int, int] = {}
    for (first, after), key in spans.items():
        if key in existing:
            longest[first] = max(after, longest.get(first, 0))
    found: list[ConceptMention] = []
    free = 0
    for first, after in sorted(longest.items()):
        if first >= free:
            start, end = tokens[first].start, tokens[after - 1].end
            found.append(ConceptMention(text[start:end], spans[first, after], start, end))
            free = after
    return found


def _short_names(surface: str) -> list[str]:
    """Keys under which a person with this full name is spoken of: first and last name, the two last names."""
    names = surface.split()
    if not 3 <= len(names) <= 5 or not all(name[0].isupper() for name in names):
        return []
    return list(dict.fromkeys((concept_key(f"{names[0]} {names[-1]}"), concept_key(" ".join(names[-2:])))))


def _candidates(tokens: Sequence[_Token], min_single: int, longest_lower: int) -> Iterator[tuple[tuple[int, int], str]]:
    """Every run of tokens that may be a name, as `((first, after last), key)`.

    A run that begins with a small letter has at most `longest_lower` tokens.
    """
    keys = [token.key for token in tokens]
    final = [token.text not in _FUNCTION_WORDS for token in tokens]
    glued = [len(key) == 1 and key > "\u3000" and _CJK_CHARACTER.match(key) is not None for key in keys]
    for i, token in enumerate(tokens):
        key = keys[i]
        if final[i] and _may_stand_alone(token, min_single):
            yield (i, i + 1), key
        if key in _ARTICLES:
            continue
        longest = longest_lower if token.text[0].islower() else MAX_TOKENS
        for j in range(i + 1, min(i + longest, len(tokens))):
            key += keys[j] if glued[j] and glued[j - 1] else " " + keys[j]
            if final[j]:
                yield (i, j + 1), key


def _may_stand_alone(token: _Token, min_single: int) -> bool:
    if token.key in _FUNCTION_WORDS or token.key.isdigit():
        return False
    return len(token.key) >= min_single or (len(token.text) > 1 and token.text.isupper())


def _tokens(text: str) -> list[_Token]:
    return [_Token(m.group(), _token_key(m.group()), m.start(), m.end()) for m in _TOKEN.finditer(text)]


def _whole_key(name: str) -> str:
    return _join([token.key for token in _tokens(fold(name))])


@lru_cache(maxsize=65_536)
def _token_key(token: str) -> str:
    word = fold(token)
    if word[-2:] in ("'s", "’s"):
        word = word[:-2]
    word = word.replace("'", "").replace("’", "")
    if len(word) > 3 and word.isalpha() and word.endswith("s") and not word.endswith("ss"):
        return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]
    return word


def _join(keys: Sequence[str]) -> str:
    first = next((place for place, key in enumerate(keys) if key not in _ARTICLES), len(keys) - 1)
    out = ""
    for key in keys[max(first, 0) :]:
        glued = out and _CJK_CHARACTER.match(key) and _CJK_CHARACTER.match(out[-1])
        out += key if glued or not out else " " + key
    return out


def _without_parenthesis(name: str) -> str:
    bare = _PARENTHETICAL.sub("", name)
    return bare if _TOKEN.search(bare) else name


def _add(
    found: dict[tuple[int, int], ConceptMention], text: str, start: int, end: int, tokens: Sequence[_Token] | None
) -> None:
    surface = text[start:end]
    key = _join([token.key for token in tokens]) if tokens and surface.isascii() else concept_key(surface)
    if len(key) > 1 and not key.isdigit() and key.count(" ") < MAX_TOKENS * 2:
        found.setdefault((start, end), ConceptMention(surface, key, start, end))


def _capitalised_runs(tokens: Sequence[_Token], text: str) -> Iterator[list[_Token]]:
    """Maximal runs of capitalised words; small connecting words may stand inside, numbers inside and at the end."""
    run: list[_Token] = []
    pending: list[_Token] = []
    for token in tokens:
        gap = text[run[-1].end if not pending else pending[-1].end : token.start] if run else ""
        joined = gap.strip(" \t-–") in ("", ".") and len(gap) <= 3
        close = not run or (joined and (gap[:1] != "." or len(run[-1].text) <= 2))
        if run and not close:
            yield run
            run, pending = [], []
        capital = token.text[0].isupper() or (bool(run) and not pending and token.text[0].isdigit())
        if capital and not (not run and fold(token.text) in _FUNCTION_WORDS):
            run += [*pending, token]
            pending = []
        elif run and token.text in _CONNECTORS and len(pending) < 2:
            pending.append(token)
        elif run:
            yield run
            run, pending = [], []
    if run:
        yield run


def _parts(run: list[_Token]) -> Iterator[list[_Token]]:
    yield run
    part: list[_Token] = []
    whole = True
    for token in run:
        if token.text in _CONNECTORS:
            whole = False
            if part:
                yield part
            part = []
        else:
            part.append(token)
    if part and not whole:
        yield part
