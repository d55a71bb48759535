"""What a question wants summed up, where that is a whole document.

>>> gist_of("What is the main idea of GraphRAG?"), gist_of("Summarise the paper about coffee.")
('GraphRAG', 'coffee')
>>> gist_of("What is the zoo paper about?"), gist_of("How do I fold it?")
('zoo', '')
"""

from __future__ import annotations

import re

from kedge.text.asked import asked_part

_POINT = (
    r"(?:(?:main|key|central|core|basic|overall|general|big)\s+)?"
    r"(?:ideas?|points?|messages?|arguments?|claims?|contributions?|findings?|takeaways?|conclusions?|thes[ie]s|topics?|themes?|"
    r"subject|gist|summary|overview|outline|abstract)"
)
_LEAST_POINT = r"(?:main|key|central|core|overall|big)\s+\w+|gist|summary|overview|outline|abstract|subject|thesis"
_ASKED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\A\W*(?:what(?:['’]?s|\s+(?:is|are|was|were))\s+)?(?:give\s+(?:me\s+|us\s+)?)?(?:the\s+|an?\s+)?(?:(?:short|brief|quick)\s+)?"
        rf"(?=(?:{_LEAST_POINT})\b){_POINT}\s+(?:of|in|from|behind)\s+(?P<thing>.+)",
        r"\A\W*(?:sum+ar[iy][sz]e|sum\s+up|outline|tl;?dr(?:\s+of)?)\s+(?P<thing>.+)",
        r"\A\W*what(?:['’]?s|\s+(?:is|was))\s+(?P<thing>[^?]{1,80})\s(?:all\s+)?about\W*\Z",
        r"\A\W*what\s+(?:does|do|did)\s+(?P<thing>(?:the|this)\s[^?]{1,80}\b(?:paper|article|study|report|document|essay|talk|speech))\s+"
        r"(?:say|propose|argue|describe|claim|cover|conclude|show|present|find)\W*\Z",
    )
)
_LENGTH = re.compile(
    r"\s(?:for\s(?:me|us)|in\s(?:a\sfew|one|two|three|four|five|\d|a\scouple\sof|your\sown|short|brief|a\snutshell)"
    r"(?:\s\w+)?|please|briefly)\Z",
    re.IGNORECASE,
)
_SORT = re.compile(
    r"\b(?:the|an?|this|that|our|whole|entire|papers?|articles?|documents?|reports?|files?|notes?|pages?|chapters?|lessons?|books?|"
    r"stud(?:y|ies)|essays?|talks?|speech|posts?|sections?|guides?|manuals?|called|titled|entitled|named|about|on|by|of|from|pdf)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"\A(?:how|why|what|when|where|who|which|whether|if)\b", re.IGNORECASE)


def gist_of(question: str) -> str:
    """What a document must be called that is to be summed up; empty where no whole document is asked for."""
    part = asked_part(question)
    for pattern in _ASKED:
        found = pattern.match(part)
        if found:
            thing = _LENGTH.sub("", " ".join(found["thing"].split()).strip(" ?.!\"'“”‘’"))
            return "" if _CLAUSE.match(thing) else " ".join(_SORT.sub(" ", thing).split())
    return ""
