"""What a question is about: the thing that a pronoun behind it would stand for.

>>> subject_of("How is the Delta Works barrier closed?"), subject_of("Who wrote Hamlet in London?")
('the Delta Works barrier', 'Hamlet')
>>> subject_of("What does the Basic plan cost per month?"), subject_of("What is the width of the outer ring?")
('the Basic plan', 'the outer ring')
"""

from __future__ import annotations

import re

from kedge.text.analyze import terms
from kedge.text.asked import AUXILIARY, IMPERATIVE, QUESTION_WORD, asked_part

NAME = re.compile(
    r"(?<!\w)[A-ZÀ-ÖØ-Þ](?:[\w’'&.-]*\w)?"
    r"(?:\s+(?:(?:of|the|and|de|la|von|van|der|du|al)\s+){0,2}[A-ZÀ-ÖØ-Þ0-9](?:[\w’'&-]*\w)?)*"
)
"""A run of words with capitals."""
PREPOSITIONS = frozenset(
    "in on at for with without per during under to from by of about since until into over between within after "
    "before through against as than via inside outside im für auf bei mit ohne nach von aus en para por con sin "
    "de sur pour avec sans dans à au aux chez".split()
)
_DETERMINERS = frozenset("a an the my our your this that these those every each".split())
_STOP = frozenset("and or but if when while because that which who whom where how what why so".split())
_MARK = re.compile(r"[^\s,;:?!()\"“”]+")
_PERSONS = frozenset("i we you one it they he she people someone anyone there".split())
_POINTING = frozenset("his her its their him them this that these those there it he she they".split())
_DO = frozenset("do does did can could should would will shall must may might don't doesn't didn't can't".split())
_CHAIN = frozenset("have need want has had try like get".split())
_PARTICIPLE = re.compile(
    r"(?:\w{2,}(?:ed|en|ing)|made|built|sold|held|paid|born|found|known|used|kept|sent|set|put|won|lost|led|cut|read|done|gone|run|"
    r"brought|bought|taught|caught|thought|hung|meant|spent|left|told|shown|drawn|grown|worn|become|open|available|allowed|"
    r"necessary|required|important|called|old|big|long|tall|good|safe|free|like)",
    re.IGNORECASE,
)
_IS = re.compile(r"(?:what|when|where|who)(?:['’]?s|\s+(?:is|are|was|were))\s", re.IGNORECASE)
_FOREIGN = re.compile(
    r"[¿]|\b(?:der|das|ein|eine|und|ist|nicht|für|mit|wie|wer|el|los|las|qué|cuál|quién|est|les|une|des|quel\w*|combien)\b",
    re.I,
)
"""Words of languages whose order of words is another."""
_KEPT_NOUNS = frozenset(
    "kitchen garden children women men oven building meeting pudding wedding training parking".split()
)


def subject_of(question: str) -> str:
    """The subject, or what something is done to where a person asks how; empty where that is not clear."""
    if _FOREIGN.search(question):
        return ""
    words = _MARK.findall(asked_part(question))
    start, did = _after_opening(words)
    phrase = _phrase(words[start:], verb_follows=did)
    if _IS.match(" ".join(words)):  # what is behind it belongs to it: `When is the ferry to Elba?`
        phrase = _with_purpose(phrase, words[start:])
    head, of, inner = phrase.partition(" of ")
    if of and head.split()[-1:] and head.split()[-1][:1].islower():
        phrase = inner
    owner, _, owned = re.sub("’s ", "'s ", phrase).partition("'s ")
    if owned and owned[:1].islower():
        phrase = owner
    found = phrase.split()
    if (
        not found
        or found[0].lower() in PREPOSITIONS
        or len(found) > 9
        or not terms(phrase)
        or found[-1].lower() in _DETERMINERS
    ):
        return ""
    if any(word.lower() in _PERSONS | _POINTING for word in found) or all(char.isdigit() for char in "".join(found)):
        return ""
    return phrase


def _with_purpose(phrase: str, words: list[str]) -> str:
    rest = words[len(phrase.split()) :]
    if not phrase or len(rest) < 2 or rest[0].lower() not in ("for", "to", "between"):
        return phrase
    if rest[0].lower() == "to" and rest[1][:1].islower() and rest[1].lower() not in _DETERMINERS:  # a verb
        return phrase
    inner = _phrase(rest[1:], verb_follows=False)
    return f"{phrase} {rest[0]} {inner}" if inner else phrase


def main_topics(question: str) -> tuple[str, ...]:
    """What a question is about, the likeliest first: its subject, and its names."""
    words = list(re.finditer(r"\S+", question))
    first = words[0].end() if words else 0
    names = [match.group() for match in NAME.finditer(question) if match.start() >= first and terms(match.group())]
    subject = re.sub(r"\A(?:the|an?)\s+", "", subject_of(question), flags=re.IGNORECASE)
    return tuple(dict.fromkeys(one for one in (subject, *reversed(names)) if one))


def _after_opening(words: list[str]) -> tuple[int, bool]:
    """Where the first phrase begins that is asked about, and whether a verb follows it."""
    text = " ".join(words)
    if IMPERATIVE.match(text):
        at = 1
        while at < len(words) and words[at].lower() in (
            "me",
            "us",
            "up",
            "about",
            "all",
            "how",
            "every",
            "more",
            "something",
        ):
            at += 1
        return at, False
    if not QUESTION_WORD.match(text) and not AUXILIARY.match(text):
        return 0, False
    contracted = re.fullmatch(r"(?:what|who|where|how)['’]?s", words[0], re.IGNORECASE)
    at = 1 if contracted else next((at for at, word in enumerate(words[:9]) if AUXILIARY.fullmatch(word)), -1) + 1
    if at == 0:  # `Who wrote Hamlet?`
        return 2, False
    did = not contracted and words[at - 1].lower() in _DO
    if at < len(words) and words[at].lower() in _PERSONS:
        at += 1
        while at < len(words) and words[at].lower() in _CHAIN and words[at + 1 : at + 2] == ["to"]:
            at += 2
        return at + 1, False
    return at, did


def _phrase(words: list[str], *, verb_follows: bool) -> str:
    """The words up to the next preposition, conjunction or second article; `of` goes on."""
    run: list[str] = []
    for word in words:
        small = word.lower()
        if run and AUXILIARY.fullmatch(word):
            verb_follows = False  # here it is
            break
        if small in _STOP:
            break
        if (small in PREPOSITIONS and small != "of") or (small in _DETERMINERS and run and run[-1] != "of"):
            break
        run.append(word)
    if verb_follows and len(run) > 1:
        turn = next((at for at in range(1, len(run) - 1) if run[at][:1].islower() and run[at + 1][:1].isupper()), None)
        run = run[:turn] if turn == 1 and run[0][:1].isupper() else run[:-1]
    while len(run) > 1 and (run[-1].lower() == "of" or _is_participle(run[-1])):
        run.pop()
    return " ".join(run)


def _is_participle(word: str) -> bool:
    return word.lower() not in _KEPT_NOUNS and word[:1].islower() and _PARTICIPLE.fullmatch(word) is not None
