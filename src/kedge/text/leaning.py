"""Whether a question leans on the one before it, and on what word.

>>> leans_on("Who designed it?").group(), leans_on("Does the museum have its own parking?")
('it', None)
>>> fragment_of("And in Japan?"), fragment_of("And how do I measure the depth of the harbour?")
('in Japan', None)
"""

from __future__ import annotations

import re

from kedge.text.analyze import terms
from kedge.text.asked import AUXILIARY, IMPERATIVE, QUESTION_WORD

_ASKED_OF = (
    "function|method|class|option|setting|flag|file|command|parameter|argument|value|number|case|one|time|period|quarter|place|"
    "city|country|company|person|man|woman|book|film|movie|song|album|study|paper|section|chapter|course|lesson|module|recipe|"
    "step|rule|law|policy|plan|product|model|version|feature|error|problem|event|amount|price|cost|figure|percentage|team|show|"
    "band|role|job|position|decision|change|approach|idea|term|word|treaty|act|group|people|things?|ones|functions|options|cases|"
    "kinds?|types?|sorts?|reasons?|results?|methods|figures|numbers|terms|rules|steps|dish|drug|test|benefit|room|form|article"
)
_VERB_AFTER = (
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|should|will|would|mean|means|work|works|happen|happens|come|comes|"
    r"affect|affects|help|helps|apply|applies|cost|costs|take|takes|go|goes|off|on|out|up|down|done|in|at|for|with|to|about|"
    r"from|by|then|first|also|still|anyway|again|before|after|too|yet|now|like|because|when|if|so|into|and|or|built|"
    r"an?|the|lead|cause|change|make|count|include|also|made|sold|\w{2,}ed|\w{2,}en)"
)
REFERENCE = re.compile(
    rf"""
    \b(?P<part>
        (?:all|any|both|each|either|few|half|many|most|much|neither|none|one|some|two|three|which|how\s+many)\s+of\s+
        (?:them|those|these|it|that|the\s+(?:two|three|four|others|rest)(?=\s*(?:$|[?.!]|{_VERB_AFTER}\b))))\b
  | \b(?P<possessive>its|their|his|her(?=\s+[a-z]))\b(?!['’])
  | \b(?P<person>he|she|him|her|hers)\b
  | \b(?P<thing>it|they|them|theirs)\b
  | \b(?P<that>(?:this|that|these|those)\s+(?:two\s+|three\s+)?(?:{_ASKED_OF}))\b
  | \b(?P<pointer>this|that|these|those)\b(?=\s*(?:$|[?.!,]|{_VERB_AFTER}\b))
  | \b(?P<one>(?:the|which|another|that|this)\s+(?:other\s+|[a-z]+\s+)?ones?|
      the\s+(?:former|latter|others|same|rest|other\s+two)|
      (?:what|who|where|how|any\s?one|anything|anybody)\s+else)\b
      (?=\s*(?:$|[?.!,]|{_VERB_AFTER}\b))(?!\s+(?:that|who|which|of)\b)
  | (?P<next>\bwhich\s+ones?\b|\bthe\s+(?:first|second|third|fourth|fifth|last|other|next)\s*(?=[?.!]*$))
  | \b(?P<change>the\s+(?:\w+\s+)?(?:drop|rise|increase|decrease|decline|fall|growth|jump|slump|surge|gap|
      exceptions?|reasons?|cause|causes|outcome|results?|consequences?|effects?|alternatives?|drawbacks?|advantages|disadvantages|limits|answer))
      \s*(?=$|[?.!])
  | \b(?P<place>there)\b(?!\s+(?:is|are|was|were|be|any|a|an|no|been|exists?|also)\b)
      (?<!is\sthere)(?<!are\sthere)(?<!was\sthere)(?<!were\sthere)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A word that stands for something said before; the group says of what sort it is."""
_EMPTY_IT = re.compile(
    r"\bit\s+(?:(?:is|was|be|take|takes|took|mean|means|matter|cost|costs|make|makes|help|helps|hurt|feel|seem|seems)\b)?"
    r"[^?.!,]{0,30}?\b(?:to|that|if|whether|when|for\s+\w+\s+to|like\s+to|until|before)\s+\w"
    r"|\b(?:what|which)\s+(?:time|day|date|year|month)\s+is\s+it\b|\bit\s+(?:is\s+|was\s+)?(?:rain|snow)\w*|\bis\s+it\s+(?:raining|snowing|true|possible|safe\s+to)\b",
    re.IGNORECASE,
)
_AND = r"(?:(?:and|but|or|also|then|so|ok(?:ay)?|well|plus|und|oder|y|o|e|et|ou|mais|aber|pero)\b[\s,]*){1,2}"
_ABOUT = re.compile(
    rf"^\W*(?:{_AND})?(?:(?:what|how)\s+(?:about|of)|what\s+if\s+(?:it['’]s|it\s+is)|was\s+ist\s+mit|wie\s+ist\s+es\s+(?:mit|bei)|"
    rf"qué\s+(?:hay|pasa)\s+(?:de|con)|qu['’]en\s+est-il\s+(?:de|pour))\s+(?P<rest>\S.{{0,160}})$",
    re.IGNORECASE,
)
_BEHIND_AND = re.compile(rf"^\W*{_AND}(?P<rest>\S.{{0,120}})$", re.IGNORECASE)
_BEHIND_PREPOSITION = re.compile(
    r"^\W*(?P<rest>(?:in|on|at|for|with|without|per|during|under|to|from|by|since|until|as|im|für|en|pour|para|con|sin|avec|sans|"
    r"within|inside|outside|between|against|according\s+to)\s+\S.{0,60})$",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"^\W*(?:{_AND})?(?:why(?:\s+(?:not|so|is\s+that|was\s+that|though))?|how(?:\s+(?:so|many|much|long|often|old|far|big|come))?|when|where|"
    r"who|whom|which|what|which\s+ones?|since\s+when|until\s+when|by\s+(?:whom|how\s+much)|for\s+(?:whom|how\s+long|example|instance)|"
    r"from\s+where|how\s+exactly|really|such\s+as|like\s+what|what\s+(?:else|then|next|for)|who\s+else|where\s+else|anything\s+else|then|"
    r"(?:any|some|more|other|further)\s+(?:other\s+|more\s+)?(?:examples?|details?|exceptions?|information|info|others|ones|reasons?|"
    r"options|limits)|(?:tell\s+me\s+)?more|go\s+on|in\s+what\s+way|are\s+you\s+sure|"
    r"warum|wieso|wann|wo|wer|wie|por\s+qué|cuándo|dónde|quién|pourquoi|quand|où|qui|comment)\W*$",
    re.IGNORECASE,
)
_WHICH_ONE = re.compile(
    r"^\W*(?:and\s+|so\s+|but\s+)?(?:which|who|what)\s+(?:one\s+)?(?:is|was|are|were|has|had|costs?|comes?|came|won|lost|works?|takes?)\s*"
    r"(?:the\s+)?(?:more\s+\w+|less\s+\w+|most\s+\w+|least\s+\w+|\w+er|\w+est|better|best|worse|worst|first|last)?(?:\s+then)?\W*$",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(
    rf"^\W*(?:{_AND})?(?:how\s+(?:many|much)|which)\s+(?:did|do|does|were|are|have|has)\s+(?!(?:it|this|that|the|an?|i|you|we|there)\b)",
    re.IGNORECASE,
)
"""What is counted is left out."""
_WHAT_IF = re.compile(rf"^\W*(?:{_AND})?what\s+if\s+(?:i|we|you|they|he|she|not)\b", re.IGNORECASE)
_INDEFINITE = re.compile(r"\ban?\s+\w", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[,;:.!?]|\b(?:and|or|but|when|if|that|because|while|before|after|until|once|since|as|where|so|to|than|without|by|"
    r"although|though|who|which|unless|whenever|instead|says?|said|thinks?|thought|believes?|claims?|claimed|knows?|knew|hopes?)\b",
    re.IGNORECASE,
)
_FULL_STOP = re.compile(r"[,;:.!?]|\b(?:and|or|but)\b", re.IGNORECASE)
_NOUN = re.compile(
    r"\b(?:the|an?|my|our|your|every|each|any|no|some|two|three|which|what|whose)\s+(?!(?:is|are|was|were|do|does|did|can|could|"
    r"should|would|will|must|may|has|have|had|happens?|about|if|else)\b)\w\w+|"
    r"\b(?:do|does|did|is|are|was|were|can|could|should|would|will|must|may|has|have|had)\s+(?!(?:i|we|you|it|they|he|she|there|"
    r"this|that|these|those|not|its|their|his|her)\b)\w\w+",
    re.IGNORECASE,
)
_PLURAL_SUBJECT = re.compile(
    r"\b(?:what|which)\s+\w+s\b|\b(?:people|critics|fans|others|everyone|anyone)\b", re.IGNORECASE
)
_ONE_THING = re.compile(r"\b(?:the|an?|my|our|your|every|each)\s+\w\w+", re.IGNORECASE)
_SOMEONE = re.compile(
    r"\b(?:the|an?|my|our|your|every|each|which|what|new|whose)\s+(?:\w+\s+)?(?:man|woman|person|king|queen|president|child|boy|girl|"
    r"patient|tenant|parent|student|mother|father|wife|husband|chief|judge|\w+(?:er|or|ist|ian|ee|yst))\b|\bwho\b|\b(?:some|any)one\b",
    re.IGNORECASE,
)
_LATER_NAME = re.compile(r"(?<=\s)[A-ZÀ-ÖØ-Þ][\w’'-]+")


MIN_CONTENT = 2
"""Content words of a question that can stand by itself behind `and` or `what if`."""
MOST_KEYWORDS = 3
"""Of a fragment that begins with a preposition and has no question mark; more are keywords to search for."""


def is_bare(question: str) -> bool:
    """Nothing but a question word, or a wish for more: `Why?`, `Any exceptions?`, `Which is cheaper?`."""
    if _BARE.match(question) or _WHICH_ONE.match(question):
        return True
    if _WHAT_IF.match(question) and len(terms(question)) < MIN_CONTENT:
        return True
    if _HOW_MANY.match(question) and len(terms(question)) <= MOST_KEYWORDS and not _LATER_NAME.search(question):
        return True
    behind = _BEHIND_AND.match(question)
    if (
        not behind
        or _INDEFINITE.search(behind["rest"])
        or not _is_question(behind["rest"])
        or REFERENCE.search(question)
    ):
        return False
    return len(terms(behind["rest"])) < MIN_CONTENT and not _LATER_NAME.search(behind["rest"])


def fragment_of(question: str) -> str | None:
    """What stands behind `and` or `what about` where that is no question of its own; None where it is one."""
    about = _ABOUT.match(question)
    if about:
        return about["rest"].strip(" ?.!")
    found = _BEHIND_AND.match(question) or _BEHIND_PREPOSITION.match(question)
    if (
        not found
        or _is_question(found["rest"])
        or len(found["rest"].split()) > (8 if question.lstrip()[:1] != "" else 0)
    ):
        return None
    alone = _BEHIND_PREPOSITION.match(question)
    if alone and not question.rstrip().endswith("?") and len(question.split()) > MOST_KEYWORDS:
        return None  # `for loops in python`
    if alone and re.search(
        r"[,:]\s|\b(?:who|what|which|when|where|why|how|do|does|did|is|are|was|were|can)\b", question, re.IGNORECASE
    ):
        return None
    return found["rest"].strip(" ?.!")


def leans_on(question: str) -> re.Match[str] | None:
    """The first word that nothing in the question itself can be meant by."""
    return next((match for match in REFERENCE.finditer(question) if _refers_back(question, match)), None)


def _is_question(text: str) -> bool:
    return any(pattern.match(text) for pattern in (QUESTION_WORD, AUXILIARY, IMPERATIVE)) or bool(
        re.match(r"(?:if|please|i|we|my|when)\b", text, re.IGNORECASE)
    )


def _refers_back(question: str, match: re.Match[str]) -> bool:
    ahead, behind = question[: match.start()], question[match.end() :]
    if any(terms(part) for part in _FULL_STOP.split(ahead)[:-1]) or (":" in behind and not match["possessive"]):
        return False  # what is meant was told before it, or follows
    if match["change"]:
        return len(terms(question)) <= MOST_KEYWORDS and not _LATER_NAME.search(question)
    if match["pointer"]:
        return not (match.group().lower() == "that" and _says_that(question, match)) and not _has_own(ahead)
    named = any(name != "I" for name in _LATER_NAME.findall(ahead))
    if match["one"] or match["next"] or match["part"] or match["possessive"]:
        owned = match["possessive"] and not _nobody_owns(match.group().lower(), ahead, behind)
        return not named and not owned if match["possessive"] else not named or len(terms(ahead)) < 2
    if match.group().lower() in ("they", "he", "she", "it"):
        return _subject_refers_back(question, match, named=named)
    return not _has_own(ahead)


def _has_own(ahead: str) -> bool:
    """Whether a clause before it speaks of something; the subject of its own clause is never meant by an object."""
    if not _in_later_clause(ahead):
        return False
    named = any(name != "I" for name in _LATER_NAME.findall(ahead))
    return named or bool(_NOUN.search(_CLAUSE.split(ahead)[0])) or len(terms(ahead)) > 2


def _subject_refers_back(question: str, match: re.Match[str], *, named: bool) -> bool:
    """`it` and `they`: empty (`it takes`), or meant by the clause before: `the scheduler stops when it is idle`."""
    word, ahead = match.group().lower(), question[: match.start()]
    if word == "it" and _EMPTY_IT.search(question):
        return False
    if not _in_later_clause(ahead):
        return True
    return not named and _nobody_owns(word, ahead, "")


def _nobody_owns(word: str, ahead: str, behind: str) -> bool:
    """Whether nothing ahead agrees with the word: no person with `his`, no single thing with `its`."""
    if word in ("his", "her", "he", "she"):
        return not _SOMEONE.search(ahead)
    if word in ("its", "it") and _PLURAL_SUBJECT.search(ahead):
        return not _ONE_THING.search(ahead)
    if re.search(r"\bof\s*\Z", ahead):  # `the length of its coast`
        return not re.search(r"\b(?:did|does|do|is|was|has)\s+(?:the|an?|[A-Z])", behind)
    return not terms(ahead) or _only_verbs(ahead)


def _only_verbs(ahead: str) -> bool:
    """`Who painted its`: nothing before it but a question word and what was done."""
    if _NOUN.search(ahead):
        return False
    return bool(
        re.match(r"\W*(?:and\s+)?(?:who|what|when|where|why|how)\s+\w+\s*(?:\w+\s*)?$", ahead, re.IGNORECASE)
    ) and not (re.search(r"\b(?:do|does|did)\s+(?!i\b|we\b|you\b)\w+\s+\w+\s*$", ahead, re.IGNORECASE))


def _in_later_clause(ahead: str) -> bool:
    """Whether the word stands behind a conjunction: `when it`, `that they`."""
    cuts = list(_CLAUSE.finditer(ahead))
    return bool(cuts) and bool(terms(ahead[: cuts[-1].start()]))


def _says_that(question: str, match: re.Match[str]) -> bool:
    """`the book that was sold`, `says that is`: a conjunction, not a pointer."""
    behind = question[match.end() :].strip(" ?.!")
    before = question[: match.start()].split()
    return (
        bool(behind)
        and bool(before)
        and not AUXILIARY.fullmatch(before[-1])
        and before[-1].lower() not in _BEFORE_POINTER
    )


_BEFORE_POINTER = frozenset(
    "who what when where why how and but so about of for with from at in on to do does turn switch use set change "
    "make get fix mean like after before is was because".split()
)
