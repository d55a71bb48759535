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
from dataclasses import dataclass
from functools import lru_cache

from kedge.text.analyze import fold
from kedge.text.sentences import sentences
from kedge.types import Role

MAX_TOKENS = 10
"""Longest name, in tokens, that is linked."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}](?:\+\+|\#)(?!\w)|[^\W_{_CJK}]+(?:['’][^\W_{_CJK}]+)*")
_CJK_CHARACTER = re.compile(rf"[{_CJK}]")
_PARENTHETICAL = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]\s*$")
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


_OPENING = 6
_OPENERS = frozenset(("", "the", "a", "an", "el", "la", "le", "der", "die", "das"))
_BEING = re.compile(r"\s*(?:\([^)]*\)|,[^,.]{1,60},)?\s*(?:is|was|are|were|es|fue|era|est|ist|war)\b|\s*\(")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name found in a text."""

    surface: str
    """The name as written."""
    key: str
    """Its `concept_key`."""
    start: int
    """Offset of its first character."""
    end: int
    """Offset after its last character."""


@dataclass(frozen=True, slots=True)
class _Token:
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


def title_aliases(title: str) -> list[str]:
    """The keys a document with this title answers to: without and with its parenthesis."""
    plain = title.replace("_", " ")
    keys = [concept_key(plain), _whole_key(plain)]
    return [key for key in dict.fromkeys(keys) if key]


def mentions(text: str, spans: Sequence[tuple[int, int]] | None = None) -> list[Mention]:
    """Names in `text` by pattern, in order: runs of capitalised words, quoted strings, markdown link texts.

    A run joined by small words also yields its parts (`Duke of York` → `Duke of York`, `Duke`, `York`).
    `spans` are the text's sentences, where the caller has them already.
    """
    found: dict[tuple[int, int], Mention] = {}
    for pattern in (_LINK, _QUOTED):
        for match in pattern.finditer(text):
            _add(found, text, *match.span(1))
    for start, end in sentences(text) if spans is None else spans:
        for run in _capitalised_runs(_tokens(text[start:end]), text[start:end]):
            for part in _parts(run):
                _add(found, text, start + part[0].start, start + part[-1].end)
    return sorted(found.values(), key=lambda mention: (mention.start, -mention.end))


def link(text: str, known: Callable[[Collection[str]], set[str]], *, min_single: int = 4) -> list[Mention]:
    """Known concepts named in `text`, longest first match, left to right, without overlaps.

    `known` answers which of the given keys exist, in one call, so that this runs on any store. A single word must have
    `min_single` letters or be an acronym, and be no function word.
    """
    tokens = _tokens(text)
    spans = dict(_candidates(tokens, min_single))
    existing = known(set(spans.values()))
    longest: dict[int, int] = {}
    for (first, after), key in spans.items():
        if key in existing:
            longest[first] = max(after, longest.get(first, 0))
    found: list[Mention] = []
    free = 0
    for first, after in sorted(longest.items()):
        if first >= free:
            start, end = tokens[first].start, tokens[after - 1].end
            found.append(Mention(text[start:end], spans[first, after], start, end))
            free = after
    return found


def candidate_keys(text: str) -> set[str]:
    """Every key that `link` or `mentions` could find in `text`: what to ask an asynchronous store for beforehand."""
    return {key for _, key in _candidates(_tokens(text), 1)} | {mention.key for mention in mentions(text)}


@dataclass(frozen=True, slots=True)
class Discussed:
    """How a text speaks of one concept."""

    mention: Mention
    """The first."""
    role: Role
    """The strongest."""
    count: int
    """How often it is named."""


def discussed(text: str, known: Callable[[Collection[str]], set[str]]) -> dict[str, Discussed]:
    """What a passage's edges to concepts should be: for each key its first mention, strongest role and count.

    `known` answers which keys are titles of documents. A lone capitalised word at the start of a sentence counts only
    if a verb of being follows, or it is capitalised elsewhere in the passage too, or it is a known title.
    """
    spans = sentences(text)
    linked = link(text, known)
    titles = {mention.key: mention for mention in reversed(linked)}
    named = mentions(text, spans)
    opening = {mention.start: _opens(text, spans, mention) for mention in named}
    inside = {mention.key for mention in named if opening[mention.start] is None}
    found: dict[str, Discussed] = {}
    for mention in named:
        sentence = opening[mention.start]
        sure = " " in mention.key or mention.key in inside or _BEING.match(text, mention.end)
        if sentence is None:
            role = Role.MENTION
        elif sure:
            role = Role.LEAD if sentence == 0 else Role.SUBJECT
        elif mention.key in titles:
            role = Role.MENTION
        else:
            continue
        old = found.get(mention.key, Discussed(mention, role, 0))
        found[mention.key] = Discussed(old.mention, min(old.role, role, key=lambda item: item.place), old.count + 1)
    counts = Counter(mention.key for mention in linked)
    for key, mention in titles.items():
        role = Role.GENERIC if mention.surface.islower() else Role.MENTION
        found.setdefault(key, Discussed(mention, role, counts[key]))
    return found


def _opens(text: str, spans: Sequence[tuple[int, int]], mention: Mention) -> int | None:
    """Index of the sentence that `mention` opens (after an article or quotation mark), or None."""
    index = bisect_right(spans, (mention.start, len(text) + 1)) - 1
    before = text[spans[index][0] : mention.start] if index >= 0 else ""
    return index if len(before) <= _OPENING and before.strip(' "“«(').lower() in _OPENERS else None


def _candidates(tokens: Sequence[_Token], min_single: int) -> Iterator[tuple[tuple[int, int], str]]:
    """Every run of tokens that may be a name, as `((first, after last), key)`."""
    keys = [token.key for token in tokens]
    final = [not _is_function_word(token) for token in tokens]
    glued = [len(key) == 1 and _CJK_CHARACTER.match(key) is not None for key in keys]
    for i, token in enumerate(tokens):
        if final[i] and _may_stand_alone(token, min_single):
            yield (i, i + 1), keys[i]
        if keys[i] in _ARTICLES:
            continue
        key = keys[i]
        for j in range(i + 1, min(i + MAX_TOKENS, len(tokens))):
            key += keys[j] if glued[j] and glued[j - 1] else " " + keys[j]
            if final[j]:
                yield (i, j + 1), key


def _is_function_word(token: _Token) -> bool:
    return token.text in _FUNCTION_WORDS


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
    while len(keys) > 1 and keys[0] in _ARTICLES:
        keys = keys[1:]
    out = ""
    for key in keys:
        glued = out and _CJK_CHARACTER.match(key) and _CJK_CHARACTER.match(out[-1])
        out += key if glued or not out else " " + key
    return out


def _without_parenthesis(name: str) -> str:
    bare = _PARENTHETICAL.sub("", name)
    return bare if _TOKEN.search(bare) else name


def _add(found: dict[tuple[int, int], Mention], text: str, start: int, end: int) -> None:
    key = concept_key(text[start:end])
    if len(key) > 1 and not key.isdigit() and len(_TOKEN.findall(key)) <= MAX_TOKENS * 2:
        found.setdefault((start, end), Mention(text[start:end], key, start, end))


def _capitalised_runs(tokens: Sequence[_Token], sentence: str) -> Iterator[list[_Token]]:
    """Maximal runs of capitalised words; small connecting words may stand inside, numbers inside and at the end."""
    run: list[_Token] = []
    pending: list[_Token] = []
    for token in tokens:
        gap = sentence[run[-1].end if not pending else pending[-1].end : token.start] if run else ""
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
