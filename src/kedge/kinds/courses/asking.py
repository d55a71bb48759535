"""What a question asks of a course's structure: its lessons, how many, what comes next, what a lesson says or needs.

A question is one of structure only as a whole: it begins and ends as one of `_SHAPES` does, and what it names is there.
Everything else is a question about what the lessons teach.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kedge.kinds.courses.place import module_name
from kedge.kinds.courses.values import Lesson

Part = Literal[
    "lessons", "count", "modules", "count modules", "after", "first", "last", "summary", "needed", "spared", "before"
]

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "last")
_ORDINAL = rf"(?:{'|'.join(_ORDINALS)})"
_MODULE = rf"(?:(?:the\s+)?(?:module|part)\s+[\w-]+(?:'s)?|(?:the\s+)?{_ORDINAL}\s+(?:module|part)(?:'s)?)"
_CHAPTER = r"(?:(?:the\s+)?(?:chapter|unit|week)\s+\d+)"
_COURSE = r"(?:(?:(?:the|this|that)\s+)?(?:whole\s+)?(?:course|book|curriculum)|it|total|all|there)"
_WHERE = rf"(?:{_CHAPTER}\s+(?:of|in)\s+{_MODULE}|{_CHAPTER}|{_MODULE}|{_COURSE})"
_NARROW = rf"(?:{_CHAPTER}\s+(?:of|in)\s+{_MODULE}|{_CHAPTER}|{_MODULE})"
_INSIDE = (
    r"(?:\s+(?:are|is|does|do|has|in|of|from|within|for|exist|belong\s+to|make\s+up)?\s*(?:there\s+)?"
    rf"(?:in\s+|of\s+)?{_WHERE})*"
)
_HAVE = r"(?:\s+(?:have|has|contain|hold|include|cover|teach|consist\s+of|belong|come|are\s+there))?"
_ONE, _OTHER, _DONE = r"(?P<one>.+?)", r"(?P<other>.+?)", r"(?P<done>.+?)"
_LEAD = (
    r"\W*(?:(?:please|so|and|ok(?:ay)?|well|hi|hello|(?:can|could|would|will)\s+you(?:\s+please)?|tell\s+me|i\s+want\s+to\s+know"
    r"|do\s+you\s+know)[\s,:]+)*"
)
_TAIL = r"(?:\s+(?:please|for\s+me|in\s+total|altogether|briefly|in\s+short|exactly|then|now|next))*\W*"
_STUDY = (
    r"(?:do|learn|study|read|take|watch|know|understand|master|finish|complete|have|see|go\s+through"
    r"|be\s+familiar\s+with)"
)
_MUST = r"(?:must|should|do|can|could|shall)\s+(?:i|we|you|one)\s+(?:need\s+to\s+|have\s+to\s+|already\s+|first\s+)*"
_NEEDS = r"(?:require|need|depend\s+on|build\s+(?:up)?on|presuppose|assume)"

_SHAPES: tuple[tuple[Part, str], ...] = (
    ("count modules", rf"(?:how\s+many\s+modules|(?:what\s+is\s+)?the\s+number\s+of\s+modules){_INSIDE}{_HAVE}"),
    (
        "count",
        rf"(?:how\s+many\s+lessons|(?:what\s+is\s+)?(?:the\s+)?number\s+of\s+lessons){_INSIDE}{_HAVE}(?:\s+in\s+{_WHERE})?",
    ),
    (
        "needed",
        rf"(?:is|are)\s+{_ONE}\s+(?:really\s+)?(?:(?:needed|required|necessary|a\s+(?:prerequisite|requirement|precondition))"
        rf"\s+(?:for|of|to|before|by))\s+(?:(?:understand(?:ing)?|learn(?:ing)?|follow(?:ing)?|taking|doing)\s+)?{_OTHER}",
    ),
    ("needed", rf"{_MUST}(?:need\s+)?(?:{_STUDY}\s+)?{_ONE}\s+(?:before|for|to\s+{_STUDY})\s+{_OTHER}"),
    ("spared", rf"(?:can|could|may)\s+i\s+(?:skip|leave\s+out)\s+{_ONE}\s+(?:before|for)\s+{_OTHER}"),
    ("spared", rf"(?:can|could|may)\s+i\s+{_STUDY}\s+{_OTHER}\s+(?:without|before)\s+{_ONE}"),
    ("needed", rf"do(?:es)?\s+{_OTHER}\s+{_NEEDS}\s+{_ONE}"),
    ("before", rf"(?:what|which\s+lessons?)\s+(?:does|do)\s+{_ONE}\s+{_NEEDS}(?:\s+on)?"),
    ("before", rf"what\s+(?:is|are)\s+(?:needed|required|necessary)\s+(?:for|before|to\s+{_STUDY})\s+{_ONE}"),
    ("before", rf"(?:what|which\s+lessons?)\s+(?:do|must|should)\s+i\s+(?:need|know|have)\s+for\s+{_ONE}"),
    (
        "after",
        rf"(?:what|which\s+lesson|what\s+lesson)\s+(?:(?:comes|is|follows|is\s+taught|{_MUST}{_STUDY})\s+)?(?:next\s+)?"
        rf"(?:right\s+|directly\s+)?(?:after|behind|follows|following|on)\s+{_ONE}",
    ),
    ("after", rf"(?:(?:what|which)\s+is\s+)?(?:the\s+)?(?:next\s+)?lesson\s+(?:next\s+)?(?:after|following)\s+{_ONE}"),
    (
        "after",
        rf"(?:after\s+{_ONE}|i\s+(?:have\s+)?(?:just\s+)?(?:finished|completed|did|done|read|took)\s+{_DONE})"
        rf"[,.;:!]*\s+(?:and\s+)?(?:(?:what|which\s+lesson)\s+(?:comes|is|follows|{_MUST}{_STUDY}))",
    ),
    ("first", rf"(?:what|which)\s+(?:is\s+the\s+first\s+lesson|lesson\s+(?:is\s+(?:the\s+)?|comes\s+)first){_INSIDE}"),
    (
        "first",
        rf"where\s+(?:do|should|can|must)\s+(?:i|we)\s+(?:start|begin)|where\s+does\s+{_WHERE}\s+(?:start|begin)",
    ),
    ("last", rf"(?:what|which)\s+(?:is\s+the\s+last\s+lesson|lesson\s+(?:is\s+(?:the\s+)?|comes\s+)last){_INSIDE}"),
    (
        "lessons",
        rf"(?:what|which)\s+(?:are\s+(?:all\s+)?the\s+)?(?:lessons|topics(?=.*\b(?:module|part|chapter|unit|week)\b))"
        rf"{_INSIDE}{_HAVE}(?:\s+(?:in|to)\s+{_WHERE})?",
    ),
    (
        "lessons",
        r"(?:(?:list|show|name|give|enumerate)\s+(?:me\s+)?)?(?:(?:a\s+)?list\s+of\s+)?(?:all\s+|every\s+)?(?:of\s+)?(?:the\s+)?"
        rf"(?:lessons?|table\s+of\s+contents|contents|syllabus)\s*(?:of|in|from)\s+{_WHERE}",
    ),
    ("lessons", r"(?:list|show|name|give|enumerate)\s+(?:me\s+)?(?:all\s+|every\s+)?(?:of\s+)?(?:the\s+)?lessons?"),
    ("lessons", rf"(?:list|show|name|give)\s+(?:me\s+)?(?:all\s+)?(?:of\s+)?{_MODULE}\s+lessons"),
    ("lessons", rf"what\s+is\s+(?:taught\s+)?in\s+{_NARROW}|what\s+does\s+{_NARROW}\s+(?:cover|teach|contain|include)"),
    (
        "modules",
        rf"(?:(?:what|which)(?:\s+are)?|list|show|name|give)\s+(?:me\s+)?(?:all\s+)?(?:the\s+)?modules{_INSIDE}{_HAVE}",
    ),
    (
        "summary",
        rf"(?:summari[sz]e|sum\s+up|recap|(?:(?:give|write|make)\s+(?:me\s+)?)?(?:a\s+|an\s+|the\s+)?(?:brief\s+|short\s+)?"
        rf"(?:summary|overview|gist|recap)\s+of)\s+{_ONE}",
    ),
    ("summary", rf"what\s+(?:is|was)\s+{_ONE}\s+about|explain\s+(?=lesson\b){_DONE}"),
    ("summary", rf"what\s+does\s+{_ONE}\s+(?:cover|teach|say|deal\s+with|talk\s+about|explain)"),
    (
        "summary",
        rf"what\s+(?:do|will|can)\s+(?:i|we|you)\s+learn\s+in\s+{_ONE}|what\s+is\s+taught\s+in\s+{_DONE}",
    ),
)
_COMPILED = tuple((part, re.compile(rf"{_LEAD}(?:{shape}){_TAIL}", re.IGNORECASE)) for part, shape in _SHAPES)

_NAMED_MODULE = re.compile(
    rf"\b(?:(?:module|part)\s+(?P<module>[\w-]+)|(?P<ordinal>{_ORDINAL})\s+(?:module|part))", re.IGNORECASE
)
_NAMED_CHAPTER = re.compile(r"\b(?:chapter|unit|week)\s+(?P<chapter>\d+)", re.IGNORECASE)
_SAID_LESSON = re.compile(
    r"(?:the\s+)?lessons?\s+(?:(?:on|about|called|titled|named)\s+)?|(?:learning\s+)?about\s+", re.IGNORECASE
)
_NUMBER = re.compile(
    r"(?:(?:module\s+)?(?P<module>[\w-]+?)\s*[/,:]\s*(?:lesson\s+)?|module\s+(?P<before>[\w-]+)\s+(?:lesson\s+)?)?"
    r"(?:(?P<chapter>\d+)\.)?(?P<lesson>\d+)(?:\s*,?\s*(?:of|in|from)\s+(?:the\s+)?(?P<after>module\s+[\w-]+))?",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"(?:the|an?)\s+", re.IGNORECASE)
_OF_MODULE = re.compile(r"\s+(?:of|in|from)\s+(?:the\s+)?module\s+(?P<module>[\w-]+)\Z", re.IGNORECASE)
LONGEST = 300
"""Characters of a question that may be one of structure."""


@dataclass(frozen=True, slots=True)
class StructureQuestion:
    """What is asked of the course's structure."""

    part: Part
    module: str | None = None
    chapter: int | None = None
    lessons: tuple[Lesson, ...] = ()
    """Lessons that it names; for `needed` and `spared` the one that may be needed and the one that may need it."""

    def shown(self, lessons: Sequence[Lesson]) -> list[Lesson]:
        """Those of the module and chapter that it names, as they are taught."""
        return [
            one
            for one in lessons
            if self.module in (None, one.place.module) and self.chapter in (None, one.place.chapter)
        ]


def structure_asked(question: str, lessons: Sequence[Lesson]) -> StructureQuestion | None:
    """What the question asks of the structure; None when it asks for something else, or names what is not there."""
    text = _plain(question)
    if len(text) > LONGEST:
        return None
    for part, pattern in _COMPILED:
        found = pattern.fullmatch(text)
        if found is None:
            continue
        named = {name: value for name, value in found.groupdict().items() if value}
        asked = _naming(part, named, lessons) if named else _within(part, text, lessons)
        if asked is not None:
            return asked
    return None


def lessons_called(name: str, lessons: Sequence[Lesson]) -> list[Lesson]:
    """The lessons of a title or number, several where modules share it. A title of one word is meant as one where it is
    written as the course writes it, or called a lesson: "Sampling", "the lesson on sampling", not "sampling"."""
    plain = " ".join(name.split()).strip(" \"'“”?!,;:")
    said = _SAID_LESSON.match(plain)
    plain = plain[said.end() :] if said else plain
    number = _NUMBER.fullmatch(plain)
    if number is not None and (said or number["chapter"] is not None):
        return _numbered(number, lessons)
    module = _OF_MODULE.search(plain)
    bare = _ARTICLE.sub("", _OF_MODULE.sub("", plain).strip(" \"'“”"), count=1)
    titled = [one for one in lessons if _same_title(bare, one.title)]
    titled = [one for one in titled if module is None or one.place.module == module_name(module["module"])]
    sure = said is not None or " " in bare
    return [one for one in titled if sure or one.title.removeprefix("The ") == bare]


def _plain(question: str) -> str:
    """The question with straight quotes and `what is` in full."""
    straight = " ".join(question.replace("’", "'").split())
    return re.sub(r"\b(what|where|which)'s\b", r"\1 is", straight, flags=re.IGNORECASE)


def _same_title(name: str, title: str) -> bool:
    return _ARTICLE.sub("", title, count=1).casefold().strip(" ?!") == name.casefold().strip(" ?!")


def _naming(part: Part, named: dict[str, str], lessons: Sequence[Lesson]) -> StructureQuestion | None:
    """The question where it names lessons; None where that is no lesson, or not two where it takes two."""
    found = [lessons_called(named[name], lessons) for name in ("one", "other", "done") if name in named]
    if part not in ("needed", "spared"):
        return StructureQuestion(part, lessons=tuple(found[0])) if found[0] else None
    pair = tuple(one[0] for one in found if len(one) == 1)
    return StructureQuestion(part, lessons=pair) if len(pair) == 2 and pair[0] is not pair[1] else None


def _within(part: Part, question: str, lessons: Sequence[Lesson]) -> StructureQuestion | None:
    module, chapter = _NAMED_MODULE.search(question), _NAMED_CHAPTER.search(question)
    asked = StructureQuestion(
        part, _module_of(module, lessons) if module else None, int(chapter["chapter"]) if chapter else None
    )
    return asked if asked.shown(lessons) else None


def _module_of(said: re.Match[str], lessons: Sequence[Lesson]) -> str:
    """The module that "module 2" or "the second module" means."""
    if said["module"]:
        return module_name(said["module"])
    taught = list(dict.fromkeys(one.place.module for one in lessons))
    place = -1 if said["ordinal"].lower() == "last" else _ORDINALS.index(said["ordinal"].lower())
    return taught[place] if place < len(taught) else ""


def _numbered(number: re.Match[str], lessons: Sequence[Lesson]) -> list[Lesson]:
    """Lessons of that number; of all modules where none is named."""
    own = number["module"] or number["before"] or number["after"]
    wanted = module_name(own) if own else None
    return [
        one
        for one in lessons
        if one.place.lesson == int(number["lesson"])
        and (number["chapter"] is None or one.place.chapter == int(number["chapter"]))
        and wanted in (None, one.place.module)
    ]
