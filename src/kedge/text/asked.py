"""The part of a message that asks: without a greeting, what was told before it, or the condition in front.

>>> asked_part("My class needs a knot for wet rope. What do I do?")
'What do I do?'
>>> asked_part("In the 2023 report, how much was spent?")
'how much was spent?'
>>> asked_part("Could you please tell me when the office opens?")
'when the office opens?'
"""

from __future__ import annotations

import re

_AUXILIARY = (
    "is|are|was|were|am|do|does|did|can|could|should|would|will|shall|must|might|has|have|had|may|isn['’]?t|aren['’]?t|"
    "wasn['’]?t|weren['’]?t|don['’]?t|doesn['’]?t|didn['’]?t|can['’]?t|couldn['’]?t|shouldn['’]?t|wouldn['’]?t|won['’]?t|"
    "hasn['’]?t|haven['’]?t|hadn['’]?t"
)
_ASKING = r"who|whom|whose|what|whats|which|when|where|why|how|hows|whos|wheres"
_LEADING = r"(?:in|on|at|by|for|from|to|with|of|since|until|under|through|during|into|after|before|up\s+to)"
AUXILIARY = re.compile(rf"(?:{_AUXILIARY})\b", re.IGNORECASE)
"""A verb that a question may begin with."""
QUESTION_WORD = re.compile(rf"(?:{_LEADING}\s+)?(?:{_ASKING})\b", re.IGNORECASE)
"""The beginning of a question that asks for something, with its preposition: `in which`."""
IMPERATIVE = re.compile(
    r"(?:list|enumerate|name|give|tell|show|compare|contrast|explain|describe|summari[sz]e|sum\s+up|outline|find|define|"
    r"write|introduce|walk\s+me)\b",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"""\W*(?:
    (?:and|but|so|ok|okay|well|hi|hello|hey|hey\s+there|hi\s+there|thanks|thank\s+you|sorry|excuse\s+me|quick\s+question|
       question|please|pls|plz|then|now|also|right|just|maybe)\b(?!\s+of\b)
  | (?:can|could|would|will)\s+(?:you|u|someone|anyone|anybody|somebody)\s+(?:please\s+|kindly\s+|also\s+|quickly\s+)?
       (?=(?:tell|list|give|name|show|explain|compare|summari|sum\s+up|describe|help|walk|outline|find|enumerate)\w*\b)
  | (?:do|does|did|would)\s+(?:you|anyone|anybody|someone|we)\s+(?:happen\s+to\s+)?know\b(?!\s+(?:about|if|whether)\b)
  | (?:tell|show|remind|teach)\s+(?:me|us)\s+(?!(?:more\s+|something\s+|everything\s+|a\s+bit\s+|all\s+)?about\b)
  | help\s+(?:me|us)\s+(?:to\s+)?(?:understand|find\s+out)\b
  | (?:i|we)(?:\s+would|['’]d)?\s+(?:like|want|need)\s+to\s+know\b
  | (?:i|we)['’]?(?:m|re|\s+am|\s+are|\s+was)?\s+wonder(?:ing)?\b
  | (?:any\s+idea|not\s+sure|i\s+(?:do\s+not|don['’]?t)\s+know|i\s+forgot|remind\s+me)\b
       (?=\s+(?:who|what|which|when|where|why|how)\b)
    )[\s,:;.!–-]*""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!\b[DMS]r\.)(?<!\bMrs\.)(?<!\bSt\.)(?<!\bvs\.)(?<!\bNo\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+(?=[\"“(¿]?[A-ZÀ-ÞА-Я])"
    r"|(?<=[^\W\d_]{2}[.!?])(?<!\bvs\.)(?<!\betc\.)\s+|(?<=[.!?][\"”’)])\s+|\n+"
)
_CLAUSE = re.compile(r"[,;:–—]\s+|\s-\s")


def asked_part(text: str) -> str:
    """From the word that asks on; the whole text where nothing in it does."""
    told = [_polite(part) for part in _SENTENCE.split(text) if part.strip()]
    asking = [part for part in told if _asks(part)] or [part for part in told if part.rstrip().endswith("?")]
    if not asking:
        inside = [clause for part in told for clause in (_clause(part),) if clause]
        return inside[-1] if inside else _polite(text)
    return asking[-1] if _asks(asking[-1]) else _clause(asking[-1]) or asking[-1]


def _clause(sentence: str) -> str:
    """What follows a condition or a place: `If it rains, can I go?`, `I want to go, how?`."""
    for cut in _CLAUSE.finditer(sentence):
        rest = _polite(sentence[cut.end() :])
        if _asks(rest):
            return rest
    return ""


def _asks(part: str) -> bool:
    if re.match(r"(?:when|where)\b", part, re.IGNORECASE) and not _is_asking_when(part):
        return False
    return any(pattern.match(part) for pattern in (QUESTION_WORD, AUXILIARY, IMPERATIVE))


def _is_asking_when(part: str) -> bool:
    """`When I freeze a class, can I …` is a condition; `when was it` asks."""
    cut = _CLAUSE.search(part)
    return not cut or not _asks(_polite(part[cut.end() :])) or bool(re.match(rf"\w+\s+(?:{_AUXILIARY})\b", part, re.I))


def _polite(text: str) -> str:
    """Without words of politeness in front, as many as there are."""
    rest = text.strip()
    for _ in range(4):
        found = _POLITE.match(rest)
        if not found or not rest[found.end() :].strip(" ?.!"):
            break
        rest = rest[found.end() :].strip()
    return rest.lstrip(" ¿¡\"'“(")
