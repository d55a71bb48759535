"""What form of answer a question wants: a fact, a number, a yes or no, a way, a reason, a list, two things beside each
other, or a summary.

>>> shape_of("What is the difference between a bowline and a sheet bend?").sides
('a bowline', 'a sheet bend')
>>> [shape_of(text).kind for text in ("List the types of anchors.", "Summarise the treaty.", "Who wrote Hamlet?")]
['list', 'summary', 'fact']
>>> [shape_of(text).kind for text in ("how much chain", "can i anchor here", "how do i anchor", "why does it drag")]
['number', 'yes-no', 'how', 'why']
>>> [shape_of(text).kind for text in ("Did sales go up or down?", "Is it open or not?")]
['fact', 'yes-no']
>>> [shape_of(text).kind for text in ("How well did the pump do in the second test?", "How do I tie it well?")]
['number', 'how']
>>> [shape_of(text).kind for text in ("Limit the size of uploads", "run the app behind gunicorn", "set theory")]
['how', 'how', 'fact']
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from kedge.text.amounts import asks_amount, names_amount
from kedge.text.asked import AUXILIARY, QUESTION_WORD, asked_part
from kedge.text.compared import compared

ShapeKind = Literal["fact", "number", "yes-no", "how", "why", "list", "comparison", "summary"]

_OTHER_LANGUAGES: tuple[tuple[ShapeKind, str], ...] = (
    (
        "summary",
        r"^\W*(?:fass\w*\s.{1,200}\szusammen|zusammenfassung|resume[nz]?\s|resumir|résume[rz]?\s|résumé\s)|总结|概括|概述",
    ),
    (
        "list",
        r"^\W*(?:nenne\s(?:mir\s)?(?:alle|die)|zähle?\s.{1,200}\sauf\b|welche\s+\w+en\s+gibt\s+es|enumera|lista\s+(?:los|las|de)|"
        r"¿?\s*cuáles\s+son|quels?\s+sont|quelles\s+sont|énumère)|列出|有哪些",
    ),
    ("why", r"^\W*(?:und\s+)?(?:warum|wieso|weshalb|weswegen)\b|^\W*por\s+qué\b|^\W*pourquoi\b|为什么|为何"),
    (
        "number",
        r"\b(?:wie\s?viele?n?|wie\s+(?:lange|hoch|groß|alt|oft|weit|teuer|schnell|schwer)|cuánt[oa]s?|combien|"
        r"quel\s+(?:pourcentage|âge)|qué\s+(?:porcentaje|cantidad))\b|多少|几[个次名人天年]",
    ),
    (
        "how",
        r"^\W*(?:wie\s+(?:kann|mache?|muss|soll|geht|funktioniert|richte|werden?|wird|stelle?|bekomme?|installiere?)\b|cómo\b|"
        r"comment\b)|怎么|如何|怎样",
    ),
    (
        "yes-no",
        r"^\W*(?:(?:ist|sind|kann|darf|muss|gibt|hat|haben|wird|werden|braucht)\s+(?:ich|man|es|das|die|der|er|sie|wir|eine?)\b|"
        r"est-ce\s+qu|(?:puis|peut|dois|doit|faut|existe|y\s+a)-(?:je|on|t-il|il)\b|puedo\s|se\s+puede\s|hay\s|"
        r"es\s+(?:posible|necesario|obligatorio)|tengo\s+que\b)|吗\s*[?？]?\s*$|是不是|能不能|有没有",
    ),
)
_NOT_THINGS = (
    "does|is|was|has|works|runs|goes|comes|makes|takes|gives|uses|needs|means|happens|costs|performs|lasts|supports|belongs|fits|"
    "applies|handles|wins|starts|causes|makes|pays|gets|keeps|lets|says|this|has|us|plus|versus|looks|sounds|helps|ends"
)
_PLURAL = r"(?!(?:" + _NOT_THINGS + r")\b)[\w-]*(?:[^\Wsui]s|ies|ions?s|criteria|people|children|men|women|data\s?sets)"
_COUNTED = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve|\d{1,3}|all|other|"
    r"several|main|some|many|different|various)"
)
_LIST = re.compile(
    rf"""
    ^\W*(?:list|enumerate|all\s+(?:the|of\s+the|\w+))\b
  | ^\W*(?:name|give|show)\s+(?:me\s+|us\s+)?(?:the\s+|all\s+|all\s+the\s+|every\b|each\b|some\b|any\b|
      several\b|a\s+list\b|      examples?\b|{_COUNTED}\b)(?!\s*(?:summary|overview|idea)\b)
  | ^\W*(?:give|show)\s+(?:me\s+|us\s+)?(?:an?\s+)?(?:list|examples?)\b
  | ^\W*(?:examples|types|kinds|sorts|list|advantages|disadvantages|pros\s+and\s+cons|ingredients|
      requirements)\s+(?:of|for)\b
  | ^\W*(?:what|which|who)(?:['’]?re|\s+(?:are|were))\s+(?:all\s+)?(?:the|some|all|its|their|my|our|your|{_COUNTED})\b
  | ^\W*(?:\w+\s+)?(?:what|which)\s+(?:\w+\s+of\s+)?(?:{_COUNTED}\s+)?(?:[\w-]+\s+){{0,2}}?{_PLURAL}
      (?:\s+of\s+\w+|\s+and\s+(?:\w+\s+)?{_PLURAL})?\s+
      (?:do|does|did|are|were|can|could|have|has|had|should|must|will|would|may|is|was|exist|count|need|belong|go|get|come|
      make|take|support|apply|work|contain|use|qualify|offer|require|help|cause|fall)\b
  | ^\W*which\s+(?:{_COUNTED}\s+)?(?:[\w-]+\s+)?{_PLURAL}\s*\W*$
  | \b(?:what|which|list|name|give)\b[^?]{{0,40}}\b(?:types|kinds|sorts|examples|steps|ways|methods|advantages|
    disadvantages|parts|causes|reasons|symptoms|uses|benefits|components|features|stages|rules|materials|members|
    applications|properties|conditions|options|ingredients|tools|requirements|documents|drawbacks|factors|risks)\b
  | ^\W*what\s+(?:all\s+)?(?:do|does|should|must|shall)\s+(?:i|we|you|one|\w+\s+\w+|\w+)\s+(?:need|have)\s+to\s+
    (?:bring|pack|buy|provide|submit|include|prepare|hand\s+in)\b
  | ^\W*what\s+(?:all\s+)?(?:do|does)\s+(?:i|we|you|one)\s+need\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SUMMARY = re.compile(
    r"""
    \b(?:sum+ar[iy][sz]e|sum+ari[sz]ing|sum\s+up|summary\s+of|overview\s+of|outline\s+of|gist\s+of|tl;?dr|
    (?:key|main)\s+(?:points?|takeaways?|ideas?|findings?|messages?)\s+(?:of|from|in)|
    tell\s+(?:me|us)\s+(?:more\s+|something\s+|everything\s+|a\s+bit\s+|all\s+)?about|
    what\s+(?:do\s+(?:you|we)\s+know|is\s+known|is\s+there\s+to\s+know|is\s+said)\s+about|
    give\s+(?:me\s+|us\s+)?an?\s+(?:\w+\s+)?(?:summary|overview|outline|introduction)|write\s+about|
    in\s+(?:a\s+few|two|three|a\s+couple\s+of)\s+(?:sentences|lines|words)|in\s+short|in\s+a\s+nutshell)\b
  | ^\W*(?:describe|introduce|outline|summary|overview|explain)\b
    (?!\s+(?:me\s+|to\s+me\s+)?(?:how|why|what|when|where|whether|if)\b)
  | ^\W*what(?:['’]?s|\s+(?:is|was))\s+(?!there\b|it\s+like\b)[^?]{1,80}\s(?:all\s+)?about\W*$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_WHY = re.compile(
    r"""
    ^\W*(?:and\s+)?why\b | ^\W*how\s+come\b | ^\W*what\s+for\b | ^\W*for\s+(?:what|which)\s+(?:reason|purpose)\b
  | ^\W*(?:explain|describe)\s+(?:me\s+|to\s+me\s+)?why\b
  | ^\W*what\s+(?:\w+\s+){0,2}(?:reason|cause|motive|purpose)\b
  | ^\W*what(?:['’]?s|\s+(?:is|was))\s+(?:the\s+)?(?:\w+\s+)?
    (?:reason|cause|point|purpose|rationale|motivation|benefit)\b
  | ^\W*what\s+(?:caused|causes|led\s+to|leads\s+to|explains|is\s+causing|was\s+causing|drove|triggers|triggered)\b
  | ^\W*what\s+(?:made|makes)\s | ^\W*(?:the\s+)?(?:reason|reasons|rationale)\s+(?:for|why|behind)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HOW = re.compile(
    r"""
    ^\W*(?:how\s?to\b|hows?\b(?!\s+about\b))
  | ^\W*(?:explain|describe|show)\s+(?:me\s+|us\s+|to\s+me\s+)?how\b | ^\W*walk\s+(?:me|us)\b
  | ^\W*what\s+(?:(?:do|should|can|must|shall|could|would)\s+(?:i|we|you|one)|am\s+i\s+supposed\s+to|to)\s+do\b
  | ^\W*(?:what(?:['’]?s|\s+(?:is|was|would\s+be))|in\s+(?:what|which)|is\s+there|are\s+there)\s+
    (?:the\s+|an?\s+|any\s+)?(?:\w+\s+){0,2}(?:way|procedure|process|method|trick|steps?|workflow|recipe|protocol)\b
  | ^\W*(?:the\s+)?(?:best|right|proper|easiest|recommended|correct|safest)\s+way\b
  | ^\W*(?:steps|instructions?|guide|directions|tutorial|procedure)\s+(?:to|for|on)\b
  | ^\W*(?:i|we)(?:['’]?d)?\s+(?:\w+\s+)?(?:want|need|like|have|try|trying|wish)\s+to\b
  | ^\W*(?:i['’]?m|i\s+am|we\s+are)\s+trying\s+to\b
  | ^\W*help\s+me\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TASK = re.compile(
    r"""
    ^\W*(?:please\s+)?(?:adjust|append|assign|attach|authenticate|bind|cancel|capture|clear|clone|combine|compile|configure|
    connect|convert|create|customi[sz]e|delete|deploy|deseriali[sz]e|detect|disable|disconnect|download|edit|enable|exclude|
    extend|generate|handle|hide|initiali[sz]e|insert|install|integrate|invoke|launch|migrate|modify|mount|override|parse|
    prevent|publish|register|reinstall|reload|remove|rename|replace|reset|resi[sz]e|restart|restore|resume|retry|revert|
    rotate|save|secure|send|seriali[sz]e|skip|subscribe|tie|undo|uninstall|unsubscribe|upgrade|upload|validate|verify)\s+
    (?:(?:an?|the|my|our|your|all|some|multiple|several|many|two|one|each|every|only|custom|new|old|this|that|it|
    them)\b|\w+s\b)
  | ^\W*(?:please\s+)?(?:build|cache|change|close|copy|define|export|filter|fix|import|join|keep|limit|load|log|make|
    merge|mock|move|open|pass|pause|put|read|render|run|schedule|serve|set|share|sort|split|start|stop|store|stream|switch|test|
    turn|update|use|wrap)\s+(?:an?|my|our|your|the|multiple|several|custom|this|that|it|them)\s
  | ^\W*(?:please\s+)?add\s+(?:an?|my|our|new|custom|support)\s
  | ^\W*(?:use|run|start|set\s+up|deploy|install)\s+[\w.-]+\s+(?:with|behind|in|inside|on|from|as|under|without|via)\s
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Something to do, said without asking: "Limit the size of uploads"."""
_GIVE = re.compile(r"\A\W*(?:give|find|name)\s+(?:me\s+|us\s+)?", re.IGNORECASE)
_OPPOSITES = (
    "up|down|increas\\w*|decreas\\w*|r[io]se|rising|f[ae]ll\\w*|grow\\w*|grew|shr[aiu]nk\\w*|gain\\w*|los[est]\\w*|more|less|fewer|higher|"
    "lower|better|worse|larger|smaller|bigger|faster|slower|longer|shorter|older|newer|younger|stronger|weaker|cheaper|"
    "earlier|later|before|after|above|below|first|last|left|right|positive\\w*|negative\\w*|profits?|win|won|"
    "improv\\w*|worsen\\w*|synchronous\\w*|asynchronous\\w*|mutable|immutable|optional|required"
)
_CHOICE = re.compile(
    rf"\A(?!\W*(?:can|could|may|might)\b)[^?]*?\b(?!more\s+or\s+less\s+(?!\w+\s+than\b|than\b)\w)(?P<a>{_OPPOSITES})(?:\s+than\s[^?]{{1,60}})?,?\s+or\s+(?:(?:is|are|was|were|does|do|did|has|have)\s+\w+\s+)?"
    rf"(?!(?P=a)\b)(?:{_OPPOSITES})\b(?!\s+equal)",
    re.IGNORECASE,
)
"""Two opposites to choose from: neither yes nor no answers that."""
_MONTH_OF_MAY = re.compile(r"\W*may\s+(?:\d|of\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Form:
    """The form, and what is compared."""

    kind: ShapeKind = "fact"
    sides: tuple[str, ...] = ()


def shape_of(question: str) -> Form:
    """By the question's own words; `fact` when nothing else is asked for."""
    sides = compared(question)
    if sides:
        return Form("comparison", sides)
    for kind, pattern in _OTHER_LANGUAGES:
        if re.search(pattern, question, re.IGNORECASE):
            return Form(kind)
    return Form(_english(asked_part(question)))


def _english(part: str) -> ShapeKind:
    if _SUMMARY.search(part):
        return "summary"
    if _WHY.search(part):
        return "why"
    task = _TASK.match(part) is not None
    named = _GIVE.sub("", part)
    if asks_amount(part) or (
        not task and not QUESTION_WORD.match(part) and not AUXILIARY.match(part) and names_amount(named)
    ):
        return "number"
    if _LIST.search(part):
        return "list"
    if task or _HOW.search(part):
        return "how"
    return "yes-no" if AUXILIARY.match(part) and not _MONTH_OF_MAY.match(part) and not _CHOICE.search(part) else "fact"
