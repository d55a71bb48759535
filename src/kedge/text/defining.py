"""Questions for what something is, and how far a statement says it.

>>> asked_thing("What is a Fenwick tree?"), asked_thing("what's trio"), asked_thing("What is the default timeout?")
('Fenwick tree', 'trio', None)
>>> defines("A Fenwick tree is a data structure for prefix sums.", "Fenwick tree")
1.0
>>> defines("An edge whose removal parts the graph is called a bridge.", "bridge")
0.8
>>> defines("Trees that are balanced have logarithmic depth.", "Fenwick tree")
0.0
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kedge.text.analyze import terms
from kedge.text.asked import asked_part

LONGEST = 6
"""Most words of a thing that is asked for by its name."""
_DETERMINER = r"(?:an?|the|any|some|all|each|every|these|those|this|our|its|their)"
_ASKED = re.compile(
    r"""\A\W*(?:
      what(?:['’]?s|['’]?re|\s+(?:exactly\s+)?(?:is|are|was|were))\s+(?:exactly\s+|really\s+|actually\s+)?(?:meant\s+by\s+)?
    | (?:define|(?:the\s+)?definition\s+of|(?:the\s+)?meaning\s+of)\s+(?:the\s+(?:term|word|concept)\s+)?
    | explain\s+what\s+
    | what\s+(?:does|do|did)\s+(?=[^?]*\s(?:mean|stand\s+for)\W*\Z)
    )(?P<thing>[^?]{1,120}?)(?:\s+(?:is|are|means?|stands?\s+for|mean\s+here|exactly|again|anyway|then))*\W*\Z""",
    re.IGNORECASE | re.VERBOSE,
)
_LEADING = re.compile(rf"\A(?:{_DETERMINER}\s+)+", re.IGNORECASE)
_NO_THING = re.compile(
    r"['’]s\b|\A(?:the|our|your|my|its|their|his|her|this|that|these|those|there|it|all|any|some)\b|\b(?:of|in|for|on|at|by|from|between|with|that|which|who|when|where|if|after|before|during|about|we|you|i|they|it|"
    r"difference|best|default|name|number|happen\w*|going|wrong|new|left|due|needed|required|allowed)\b",
    re.IGNORECASE,
)
_ABBREVIATED = re.compile(r"\s?[(\[][^()\[\]]{0,40}[)\]]")
_CLAUSE = re.compile(r"\A(?:In|For|On|At|By|As|With|Within|Among|Under|To)\s[^,]{1,60},\s+")
_SAYS = re.compile(
    r"\A(?P<subject>.{1,90}?)(?:,| [-–—])? (?:(?P<copula>is|are|was|were|be)|"
    r"(?P<verb>means?|refers? to|denotes?|stands? for|describes?|represents?|consists? of|defines?|lets?|allows?|"
    r"provides?|implements?|helps?)) (?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_SORT = re.compile(
    r"\A(?:(?:basically|essentially|simply|just|usually|often|typically|generally|in\s+essence|actually|nothing\s+but)\s+)?"
    r"(?:(?P<sort>an?|any|another|one\s+of|some|what|where|how)|(?P<the>the)|(?P<also>(?:also|often|sometimes|otherwise|commonly)\s+"
    r"(?:often\s+)?(?:called|known|referred|named|denoted)|called|known\s+as))\b",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"\b(?:called|known\s+as|termed|named|referred\s+to\s+as|dubbed)\s+(?:an?\s+|the\s+)?[\"“”'‘’*_`]{0,2}(?P<thing>[^,.;:!?\"“”()]{1,80})",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\A(?P<thing>[^:–—]{1,80}?)(?: ?:| [–—-]) (?P<rest>\w.{15})", re.DOTALL)
_APPOSED = re.compile(r"(?P<thing>[^,;:.]{1,80}),\s+(?:an?|one\s+of|the\s+first)\s+\w", re.IGNORECASE)
_TAIL = re.compile(r"\s(?:for|of|in|on|with|over|from|to|at)\s.*\Z|,.*\Z", re.IGNORECASE | re.DOTALL)
_RELATIVE = re.compile(r",\s*(?:which|who|that|where|whose)\b|\b(?:which|that)\s*\Z", re.IGNORECASE)
_MEANS = re.compile(r"\A(?:mean|refer|denote|stand)", re.IGNORECASE)
_SPEAKS_OF_ITS_PLACE = re.compile(
    r"\A(?:(?:an?|one|the)\s+)?(?:important|useful|common|good|bad|great|popular|powerful|fundamental|classic|well-known|nice|example)\b",
    re.I,
)


def asked_thing(question: str) -> str | None:
    """What a question wants to be told what it is, as it is written; None where it asks for something else.

    What is called "the …" or is somebody's is asked for its value more often than for what it is.
    """
    found = _ASKED.match(asked_part(question))
    if not found:
        return None
    thing = found["thing"].strip(" \"'“”‘’*`.:,")
    if not terms(thing) or len(thing.split()) > LONGEST or _NO_THING.search(thing):
        return None
    return _LEADING.sub("", thing)


def defines(statement: str, thing: str) -> float:
    """How far a statement says what the thing is: 1 where it names its sort ("a … is a …"), 0 where it does not."""
    wanted = frozenset(terms(thing))
    text = _CLAUSE.sub("", " ".join(statement.split()))
    said = _SAYS.match(text)
    if said and not _RELATIVE.search(said["subject"]) and _is_or_has_tail(said["subject"], wanted):
        return _of_rest(said["rest"]) if said["copula"] else (0.9 if _MEANS.match(said["verb"]) else 0.6)
    listed = _LISTED.match(text)
    if listed and _is(listed["thing"], wanted):
        return 0.8
    words = len(thing.split())
    called = (" ".join(found["thing"].split()[: words + 1]) for found in _CALLED.finditer(text))
    if any(_is(name, wanted) for name in called):
        return 0.8
    apposed = (" ".join(found["thing"].split()[-words:]) for found in _APPOSED.finditer(text))
    return 0.6 if any(_is(name, wanted) for name in apposed) else 0.0


def is_called(names: Iterable[str], thing: str) -> bool:
    """Whether one of the names is the thing's."""
    wanted = frozenset(terms(thing))
    return any(_is(name, wanted) for name in names)


def _of_rest(rest: str) -> float:
    sort = _SORT.match(rest)
    if sort is None:
        return 0.3
    if sort["also"]:
        return 0.5
    return 0.7 if sort["the"] or _SPEAKS_OF_ITS_PLACE.match(rest) else 1.0


def _is_or_has_tail(written: str, wanted: frozenset[str]) -> bool:
    """Whether words are the thing's own, also where something behind them limits it: "a tree of n nodes"."""
    return _is(written, wanted) or _is(_TAIL.sub("", written), wanted)


def _is(written: str, wanted: frozenset[str]) -> bool:
    """Whether words are the thing's own: all of them, and at most one other."""
    own = frozenset(terms(_ABBREVIATED.sub("", _LEADING.sub("", written.strip(" \"'“”‘’*_`")))))
    own = own or frozenset(terms(written))
    return wanted <= own and len(own - wanted) <= 1 and (len(wanted) > 1 or not own - wanted)
