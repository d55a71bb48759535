"""A fragment in the place of what it corresponds to in an earlier question.

>>> in_its_place("in Porto", "How many bikes were sold in Lisbon in May 2022?")
'How many bikes were sold in Porto in May 2022?'
>>> in_its_place("in June", "How many bikes were sold in Lisbon in May 2022?")
'How many bikes were sold in Lisbon in June 2022?'
>>> in_its_place("the inner one", "What is the width of the outer ring?") is None
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kedge.text.analyze import terms
from kedge.text.leaning import REFERENCE
from kedge.text.topics import NAME, PREPOSITIONS, subject_of

_YEAR = re.compile(
    r"\b(?:1[5-9]|20)\d{2}\b"
    r"(?!\s?(?:m|km|kg|g|mg|ml|l|w|kw|v|rpm|hz|mb|gb|ft|feet|met(?:re|er)s|hours|days|people|euros?|dollars?|calories)\b|\s?[%°€])"
)
_MONTH = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|Januar|Februar|März|"
    r"Mai|Juni|Juli|Oktober|Dezember|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|"
    r"noviembre|diciembre|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre)\b"
)
_DAY = re.compile(
    r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\b(?:weekdays?|weekends?|(?:public\s+|bank\s+)?holidays)\b",
    re.IGNORECASE,
)
_SEASON = re.compile(r"\b(?:spring|summer|autumn|winter|fall)\b", re.IGNORECASE)
_QUARTER = re.compile(
    r"\b(?:the\s+)?(?:Q[1-4]|(?:first|second|third|fourth|last|1st|2nd|3rd|4th)\s+(?:quarter|half|semester|term))\b",
    re.IGNORECASE,
)
_GRAINS = (_YEAR, _MONTH, _DAY, _SEASON, _QUARTER)
_YEAR_BEFORE = re.compile(
    r"(?:in\s+|for\s+)?the\s+(?:(?P<back>year\s+before|previous\s+year|prior\s+year|preceding\s+year)|year\s+after|next\s+year|"
    r"following\s+year)(?:\s+that)?\Z",
    re.IGNORECASE,
)
_SAME = {"without": "with", "till": "until", "im": "in", "into": "in"}
_ANY = frozenset("in on at for with to from by under during".split())
_TAIL = re.compile(r"(?<![\s,])[\s,]+(?:then|instead|though|please|too|as\s+well|dann|entonces|alors)\Z", re.IGNORECASE)
_LOOSE = re.compile(
    r"\b(?:ones?|only|alone|each|both|same|other|others|else|own|then|rest|(?:la|el|los|las)\s+de|celle|celui)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’_./+&-][^\W_]+)*[+#]*")
_ARTICLE = re.compile(r"(?:an?|the|my|our|your)\s+", re.IGNORECASE)
_FOREIGN_ARTICLE = re.compile(r"(?:der|die|das|den|dem|eine?|el|la|los|las|une?|le|les|l['’])\b", re.IGNORECASE)
_SMALL = frozenset(
    "a an the of in on at to for with by from and or is are was were be been do does did has have had can could "
    "should would will what which who whom whose when where why how it they he she not i we you my our your much "
    "many long per without".split()
)
_INNER_CAPITAL = re.compile(r"\b[a-z]+[A-Z]\w*")
_RELATIVE = re.compile(r"\s+(?:that|which|who|whose|ended|ending|where|when)\b", re.IGNORECASE)
_REGIONS = frozenset(
    "africa america asia europe oceania australia austria belgium brazil canada chile china colombia denmark "
    "egypt england finland france germany greece hungary iceland india indonesia ireland israel italy japan kenya "
    "korea mexico netherlands nigeria norway peru poland portugal romania russia scotland spain sweden "
    "switzerland taiwan thailand turkey uk ukraine us usa vietnam wales argentina bolivia".split()
)


@dataclass(frozen=True, slots=True)
class _Slot:
    """A phrase with its preposition, and where it stands."""

    start: int
    """Of the preposition."""
    begin: int
    """Of what follows it."""
    end: int
    preposition: str
    text: str


def in_its_place(fragment: str, earlier: str) -> str | None:
    """The earlier question with the fragment put in; None where no place is the right one without doubt."""
    said = _TAIL.sub("", fragment.strip(" ?.!¿¡,"))
    moved = _moved_year(said, earlier)
    if moved:
        return moved
    if not said or REFERENCE.search(said) or _LOOSE.search(said):
        return None
    preposition, _, rest = said.partition(" ")
    if preposition.lower() in PREPOSITIONS - {"of", "de"} and rest:
        return _phrase_for_phrase(f"{preposition.lower()} {rest}", preposition.lower(), rest, earlier)
    if preposition.lower() in ("of", "de") and rest:
        said = rest
        inside = [slot for slot in _slots(earlier) if slot.preposition == preposition.lower()]
        if len(inside) == 1:
            return earlier[: inside[0].begin] + rest + earlier[inside[0].end :]
    return _thing_for_thing(said, earlier)


def _moved_year(said: str, earlier: str) -> str | None:
    """`the year before`, where the question names one year."""
    found, years = _YEAR_BEFORE.match(said), list(_YEAR.finditer(earlier))
    if not found or len(years) != 1:
        return None
    year = int(years[0].group()) + (-1 if found["back"] else 1)
    return f"{earlier[: years[0].start()]}{year}{earlier[years[0].end() :]}"


def _grain(text: str) -> re.Pattern[str] | None:
    return next((grain for grain in reversed(_GRAINS) if grain.search(text)), None)


def _period_for_period(said: str, earlier: str) -> str | None:
    """The year for the year, the month for the month; what is more exact goes, where all of it is said anew."""
    pieces = [(grain, grain.findall(said), list(grain.finditer(earlier))) for grain in _GRAINS]
    told = [(new[0], places) for _, new, places in pieces if new]
    if not told or any(len(places) != 1 for _, places in told):
        return None
    result = earlier
    for new, places in sorted(told, key=lambda one: -one[1][0].start()):
        result = result[: places[0].start()] + new + result[places[0].end() :]
    return result


def _phrase_for_phrase(said: str, preposition: str, rest: str, earlier: str) -> str | None:
    if _grain(rest):
        return _period_for_period(rest, earlier) or _appended(said, earlier)
    slots = [slot for slot in _slots(earlier) if not _grain(slot.text)]
    same = [slot for slot in slots if _same(slot.preposition) == _same(preposition)]
    fitting = [slot for slot in same if _fits(rest, slot.text)]
    if len(fitting) == 1:
        return _put(said, fitting[0].start, fitting[0].end, earlier)
    if fitting or any(slot.text[:1].isdigit() for slot in same):
        return None
    if _is_name(rest) and preposition in _ANY and not same:
        near = [slot for slot in slots if slot.preposition in _ANY and _is_name(slot.text)]
        if len(near) == 1:
            return _put(said, near[0].start, near[0].end, earlier)
    return _appended(said, earlier)


def _put(said: str, start: int, end: int, earlier: str) -> str | None:
    """In the place; None where what follows belongs to what would go."""
    if _RELATIVE.match(earlier, end) or re.search(r"\b(?:and|or)\b", earlier[start:end], re.IGNORECASE):
        return None
    if re.match(r"\s+(?:and|or)\b", earlier[end:], re.IGNORECASE):
        return None
    return earlier[:start] + said + earlier[end:]


def _appended(said: str, earlier: str) -> str:
    bare = earlier.rstrip()
    marks = bare[len(bare.rstrip(" ?.!")) :]
    return f"{bare[: len(bare) - len(marks)]} {said}{marks}"


def _thing_for_thing(said: str, earlier: str) -> str | None:
    if _grain(said):
        return _period_for_period(said, earlier)
    if re.search(r"['’]s?\Z", said):
        owners = list(re.finditer(r"(?:[A-ZÀ-Þ][\w-]*\s+){0,3}[A-ZÀ-Þ][\w-]*['’]s?(?=\s)", earlier[1:]))
        return earlier[: owners[0].start() + 1] + said + earlier[owners[0].end() + 1 :] if len(owners) == 1 else None
    words = [match.group() for match in _WORD.finditer(said)]
    if not words or any(word.lower() in PREPOSITIONS - {"of", "de"} for word in words[1:]):
        return None
    return _same_head(said, words, earlier) or _name_for_name(said, earlier) or _phrase_for_topic(said, earlier)


def _same_head(said: str, words: list[str], earlier: str) -> str | None:
    """`the Pro plan` for `the Basic plan`, `a rope rode` for `an all-chain rode`, `module 3` for `module 2`."""
    if len(words) > 1 and words[-1].isdigit():
        counted = list(re.finditer(rf"\b{re.escape(words[-2])}\s+\d{{1,4}}\b", earlier, re.IGNORECASE))
        return (
            earlier[: counted[0].end()].rstrip("0123456789") + words[-1] + earlier[counted[0].end() :]
            if len(counted) == 1
            else None
        )
    head = terms(words[-1])
    places = list(_WORD.finditer(earlier))
    for at in range(len(places) - 1, 0, -1):
        if not head or terms(places[at].group()) != head:
            continue
        begin = at
        while begin > 1 and at - begin < len(words) and places[begin - 1].group().lower() not in _SMALL:
            if earlier[places[begin - 1].end() : places[begin].start()].strip():
                break
            begin -= 1
        start = places[begin].start()
        article = re.search(r"\b(?:an?|the|my|our|your)\s+\Z", earlier[:start], re.IGNORECASE)
        if article and _ARTICLE.match(said):
            start = article.start()
        return earlier[:start] + said + earlier[places[at].end() :]
    return None


def _name_for_name(said: str, earlier: str) -> str | None:
    if not _is_name(said):
        return None
    first = re.search(r"\s|\Z", earlier.strip())
    names = [
        match
        for match in (*NAME.finditer(earlier), *_INNER_CAPITAL.finditer(earlier))
        if match.start() >= (first.start() if first else 0) and match.group() != "I" and not _grain(match.group())
    ]
    if len(names) > 1:
        places = [match for match in names if match.group().lower() in _REGIONS]
        wanted = (
            places if said.lower() in _REGIONS else [match for match in names if not _behind(earlier, match.start())]
        )
        names = wanted
    if len(names) != 1:
        return None
    start, end = _part_of_name(names[0], said)
    article = re.search(r"\b(?:an?|the)\s+\Z", earlier[:start], re.IGNORECASE)
    if article and _ARTICLE.match(said):
        start = article.start()
    if earlier[end : end + 2] in ("'s", "’s"):
        return f"{earlier[:start]}{said}{earlier[end:]}"
    return _put(said, start, end, earlier)


def _part_of_name(name: re.Match[str], said: str) -> tuple[int, int]:
    """`the CFO` goes for the `CEO` of `CEO of Acme`, `Portugal` for the `Spain` of `GDP of Spain`."""
    start, end = name.span()
    parts = list(re.finditer(r"\s+of\s+(?:the\s+)?", name.group()))
    if not parts or " of " in said:
        return start, end
    return (start, start + parts[0].start()) if _ARTICLE.match(said) else (start + parts[-1].end(), end)


def _behind(text: str, at: int) -> bool:
    """Whether a preposition stands before."""
    before = text[:at].split()
    return bool(before) and before[-1].lower() in PREPOSITIONS


def _phrase_for_topic(said: str, earlier: str) -> str | None:
    """In the place of what the question is about, or of the only thing with the same article."""
    if _FOREIGN_ARTICLE.match(said):
        return None
    article = _ARTICLE.match(said)
    slots = [slot for slot in _slots(earlier) if not _grain(slot.text) and _fits(said, slot.text)]
    bare = [slot for slot in slots if slot.preposition not in ("of", "de") and not _ARTICLE.match(slot.text)]
    topic = subject_of(earlier)
    if bare and not article:  # where there are two, it may go for either
        either = len(bare) > 1 or (topic and not _ARTICLE.match(topic) and bare[0].text not in topic)
        return None if either else _put(said, bare[0].begin, bare[0].end, earlier)
    at = earlier.find(topic) if topic else -1
    if at >= 0 and bool(article) == bool(_ARTICLE.match(topic)) and _is_name(said) == _is_name(topic):
        return _put(said, at, at + len(topic), earlier)
    return None


def _fits(new: str, old: str) -> bool:
    """A name for a name, a thing for a thing; a word without article may be either."""
    if new[:1].isdigit() or old[:1].isdigit():
        return new[:1].isdigit() and old[:1].isdigit()
    if _is_name(new) == _is_name(old):
        return True
    return not _ARTICLE.match(new) and not _ARTICLE.match(old)


def _is_name(text: str) -> bool:
    bare = _ARTICLE.sub("", text, count=1)
    return any(char.isupper() for char in bare.split(" ")[0]) if bare else False


def _same(preposition: str) -> str:
    return _SAME.get(preposition, preposition)


def _slots(text: str) -> list[_Slot]:
    """The phrases behind prepositions; what is behind `of` goes with what is before it, and is one of its own too."""
    places = list(_WORD.finditer(text))
    found: list[_Slot] = []
    for at in range(1, len(places)):
        preposition = places[at].group().lower()
        if preposition not in PREPOSITIONS or at + 1 >= len(places):
            continue
        last = at
        name = places[at + 1].group()[:1].isupper()
        for follow in range(at + 1, min(len(places), at + 9)):
            word = places[follow].group()
            small = word.lower()
            if text[places[follow - 1].end() : places[follow].start()].strip():
                break
            goes_on = small == "of" and follow > at + 1
            if (small in PREPOSITIONS and not goes_on) or small in _ENDS:
                break
            plain = not (goes_on or word[:1].isupper() or word[:1].isdigit())
            if name and plain and last > at and places[last].group().lower() != "of":
                break
            last = follow
        if last > at and places[last].group().lower() != "of":
            begin, end = places[at + 1].start(), places[last].end()
            found.append(_Slot(places[at].start(), begin, end, preposition, text[begin:end]))
    return found


_ENDS = frozenset(
    "is are was were do does did has have had can could should would will must and or but that which who when "
    "where if while because than so only together".split()
)
