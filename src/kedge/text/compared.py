"""What a question puts beside each other.

>>> compared("move_on_after or fail_after, what is the difference?")
('move_on_after', 'fail_after')
>>> compared("HTTP proxy versus HTTPS proxy when the target is HTTPS: what happens in each case?")
('HTTP proxy', 'HTTPS proxy')
>>> compared("Do I need anything other than Python?")
()
"""

from __future__ import annotations

import re

_DIFFERENCE = r"(?:diff[a-z]{0,4}[ae]nces?|distinctions?|contrast|comparison|trade-?offs?)"
_IS = r"(?:is|are|was|were|does|do|did|isn['’]t|aren['’]t)"
_VERSUS = r"(?:vs\.?|versus)"
_SIDE = r"[^,?:;\n]{1,120}?"
_STOP = (
    r"(?=\s+(?:when|if|in\s+terms\s+of|with\s+respect\s+to|regarding|given|on\s+the\s+basis\s+of)\s|\s*[,?:;.!\n]|\s*$)"
)
_ASKED = (
    rf"[^?\n]{{0,80}}?(?:\b{_DIFFERENCE}\b|\bdiffer|\bcompar|\bwhich\b|\bbetter\b|\bwhen\s+(?:do|should|to|would|is)\b|"
    r"\bwhat\s+happens\b|\beach\b|\bboth\b|\bpros\s+and\s+cons\b|\brespectively\b)"
)
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_DIFFERENCE}\s+(?:between|of|in\s+\w+\s+between)\s+(?P<a>{_SIDE})\s+(?:and|vs\.?|versus|or|to)\s+(?P<b>{_SIDE}){_STOP}",
        rf"\b(?:unterschied\w*\s+zwischen)\s+(?P<a>{_SIDE})\s+und\s+(?P<b>{_SIDE}){_STOP}",
        rf"\b(?:diferencias?\s+entre)\s+(?P<a>{_SIDE})\s+[ye]\s+(?P<b>{_SIDE}){_STOP}",
        rf"\b(?:différences?\s+entre)\s+(?P<a>{_SIDE})\s+et\s+(?P<b>{_SIDE}){_STOP}",
        r"(?P<a>[^,，?？\s]{1,40})\s*[和与跟]\s*(?P<b>[^,，?？\s的有]{1,40})\s*(?:的|有什么|有何)?\s*(?:区别|不同|差别|差异)",
        rf"^\W*(?:please\s+|can\s+you\s+|could\s+you\s+)?(?:compare|contrast|vergleiche?|compara|comparez?)\s+(?:the\s+two\s+\w+\s+)?"
        rf"(?P<a>{_SIDE})\s+(?:and|with|to|against|vs\.?|versus|mit|und|con|y|et|avec)\s+(?P<b>{_SIDE}){_STOP}",
        rf"\bhow\s+(?:do|does|did)\s+(?P<a>{_SIDE})\s+(?:compare|stack\s+up)\s+(?:with|to|against)\s+(?P<b>{_SIDE}){_STOP}",
        rf"\b(?:do|does|did|is|are)\s+(?P<a>{_SIDE})\s+(?:differ|different|differs)\s+(?:from|to|than)\s+(?P<b>{_SIDE}){_STOP}",
        rf"\b(?:do|does|did|is|are)\s+(?P<a>{_SIDE})\s+and\s+(?P<b>{_SIDE})\s+(?:differ|different)\b",
        rf"\bwhat(?:['’]?s|\s+is)\s+different\s+(?:about|between)\s+(?P<a>{_SIDE})\s+(?:and|vs\.?|versus|from)\s+(?P<b>{_SIDE}){_STOP}",
        rf"\bwhat\s+(?:distinguishes|separates|sets)\s+(?P<a>{_SIDE})\s+(?:apart\s+)?from\s+(?P<b>{_SIDE}){_STOP}",
        rf"\b{_IS}\s+(?P<a>{_SIDE})\s+(?:(?!other\b|rather\b|over\b|under\b|later\b|earlier\b|longer\b|further\b)\w+er|"
        rf"more\s+\w+|less\s+\w+|better|worse)\s+than\s+(?!\d|an?\s+(?:year|month|week|day|hour|minute)|before\b|ever\b|"
        rf"one\b|two\b|three\b|four\b|five\b|ten\b|half\b|expected\b|usual\b)(?P<b>{_SIDE}){_STOP}",
        rf"\b{_IS}\s+(?P<a>{_SIDE})\s+the\s+same\s+(?:thing\s+)?as\s+(?P<b>{_SIDE}){_STOP}",
        rf"\b{_IS}\s+(?P<a>{_SIDE})\s+and\s+(?P<b>{_SIDE})\s+the\s+same\b",
        rf"\bwhen\s+(?:should|do|would|to)\s+(?:i\s+|we\s+|you\s+|one\s+)?(?:use|choose|pick|prefer|take)\s+(?P<a>{_SIDE})\s+"
        rf"(?:instead\s+of|rather\s+than|over|or|and\s+when)\s+(?P<b>{_SIDE}){_STOP}",
        rf"\b(?:should|shall|do|would|can)\s+(?:i|we|you|one)\s+(?:use|choose|pick|prefer|take|buy|get|go\s+(?:with|for)|want|need)\s+"
        rf"(?P<a>{_SIDE})\s+or\s+(?!not\b)(?P<b>{_SIDE}){_STOP}",
        rf"^\W*(?:what\s+about\s+|so\s+)?(?P<a>{_SIDE})\s+{_VERSUS}\s+(?P<b>{_SIDE}){_STOP}",
        rf"[.!:,]\s+(?P<a>{_SIDE})\s+{_VERSUS}\s+(?P<b>{_SIDE}){_STOP}",
        rf"^\W*(?P<a>{_SIDE})\s+(?:or|and)\s+(?P<b>{_SIDE})\s*[,:;?–-]+\s*{_ASKED}",
        rf"^\W*(?:what|which)(?:\s+(?:one|of\s+the\s+two))?(?:['’]?s|\s+{_IS})\s+(?:\w+er|more\s+\w+|less\s+\w+|better|worse)\s*[,:]?\s+"
        rf"(?P<a>{_SIDE}),?\s+or\s+(?P<b>{_SIDE}){_STOP}",
        rf"^\W*{_IS}\s+(?P<a>{_SIDE})\s+or\s+(?P<b>{_SIDE})\s+(?:\w+er|more\s+\w+|less\s+\w+|better|worse|preferable)\W*$",
        r"[,:]\s*(?P<a>[^,?:]{1,120}?),?\s+or\s+(?P<b>[^,?:]{1,120}?)\W*$",
        r"(?:^|(?<=[.!])\s)\W*(?P<a>[^,?:.\s]+(?:\s[^,?:.\s]+){0,3})\s+or\s+(?!not\b)(?P<b>[^,?:.\s]+(?:\s[^,?:.\s]+){0,3})\?\W*$",
    )
)
_NO_SIDE = re.compile(
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|should|would|will|shall|must|may|has|"
    r"have|had|if|i|we|you|it|not|and|but|so|tell|give|list|name|explain|describe|summari[sz]e|show|to)\b",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\A(?:(?:use|using|take|choose|pick|either|the\s+choice\s+between|between)\s+)", re.IGNORECASE)
_CHANCE = re.compile(
    r"\b(?:and|or)\s+(?:so|more|less|later|earlier|higher|lower|both|else|otherwise|similar)\b", re.IGNORECASE
)


def compared(question: str) -> tuple[str, ...]:
    """Both sides, as they are written but for runs of spaces; nothing where nothing is compared."""
    if len(question) > LONGEST:
        return ()
    asked = squeezed(question)
    if _CHANCE.search(asked):
        return ()
    for pattern in _PATTERNS:
        found = pattern.search(asked)
        if found:
            sides = tuple(_BEFORE.sub("", found[side].strip(" \"'“”‘’")) for side in ("a", "b"))
            if all(sides) and not any(_NO_SIDE.match(side) for side in sides):
                return sides
    return ()


def squeezed(question: str) -> str:
    """With one space, or one line break, for each run of spaces: the patterns try every way to share a run out.

    >>> squeezed("how  do\\n\\n these")
    'how do\\nthese'
    """
    return _SPACES.sub(lambda run: "\n" if "\n" in run[0] else " ", question)


_SPACES = re.compile(r"\s+")
LONGEST = 600
"""Characters of a question that can be a comparison; a longer one tells a story."""
