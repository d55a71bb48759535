"""The words that state a relation, by predicate and by which side of them is the subject."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kedge.core.values import Predicate


class CueSide(StrEnum):
    """Where the ends of a relation stand."""

    LEFT = "left"
    """Subject, words, object."""
    RIGHT = "right"
    """Object, words, subject: the passive."""
    AROUND = "around"
    """Words, object, comma, subject: "Unlike a trie, a suffix tree …"."""
    LISTED = "listed"
    """Words and objects alone; the subject is what the section is about: "Prerequisites: …"."""
    PAIR = "pair"
    """Words, subject, "and", object: "the difference between A and B"."""
    CLASSED = "classed"
    """Words, object, subject: "such cities as Berlin"."""
    JOINED = "joined"
    """Subject, "and", object, words: "A and B are equivalent"."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One way to state a relation."""

    predicate: Predicate
    side: CueSide
    confidence: float
    named: bool = False
    """The object must be a concept that is marked or titled, not merely a noun phrase."""
    kind: bool = False
    """The object says what kind of thing the subject is: "a greedy algorithm"."""
    opens: bool = False
    """The subject is what the sentence begins with, however far away."""
    close: bool = False
    """The subject must be a concept and stand right before the words, as before a participle."""


_ADVERB = r"(?:also|often|usually|just|only|still|even|then|sometimes|always|never\s+more|\w+ly)"
_BE = rf"(?:is|are|was|were|can\s+be|may\s+be|will\s+be|be|being)(?:\s+{_ADVERB}){{0,2}}"
_DO = rf"(?:(?:can|may|will|does|do)\s+(?:{_ADVERB}\s+)?|{_ADVERB}\s+)?"
_IN_TIME = r"(?:\s+in\s+(?:[¤\s]+|linear\s+|logarithmic\s+|polynomial\s+|constant\s+|quadratic\s+)(?:time)?)?"
_BY = r"(?:with(?:\s+the\s+help\s+of|\s+the\s+use\s+of)?|using|by(?:\s+(?:using|means\s+of|applying))?|via|through)"
_DONE = (
    r"(?:solved|provided|implemented|computed|calculated|built|found|done|answered|constructed|"
    r"performed|achieved|determined|obtained|handled|proved|written|stored|reduced|represented|checked|created|made|"
    r"generated|modelled|modeled|controlled|trained|processed|produced|measured|estimated|searched|sorted|maintained)"
)
_KIND = (
    r"(?:examples?|instances?|kinds?|types?|special\s+cases?|particular\s+cases?|forms?|"
    r"variants?|variations?|varieties|subtypes?|versions?)"
)
_PIECE = (
    r"(?:parts?|components?|members?|chapters?|sections?|subsets?|subtopics?|modules?|elements?|"
    r"pieces?|layers?|stages?|steps?)"
)
_KNOWING = (
    r"(?:(?:a\s+|an\s+|the\s+|some\s+|basic\s+|prior\s+|good\s+)*(?:knowledge|understanding|"
    r"familiarity|grasp)\s+(?:of|with)\s+)"
)
_LIKE = (
    r"(?:related|similar|equivalent|linked|analogous|connected|isomorphic|dual|identical|equal|"
    r"reduced|reducible|akin|"
    r"tied)"
)
_DERIVED = (
    r"(?:generali[sz]ations?|extensions?|modifications?|improvements?|optimi[sz]ations?|"
    r"adaptations?|refinements?|analog(?:ue)?s?|spin-?offs?|forks?|successors?|approximations?|"
    r"duals?|inverses?|counterparts?|relatives?|cousins?)"
)
_MORE = r"(?:\w{2,}er|better|worse|(?:more|less)\s+[\w-]+(?:\s+\w+)?)"
_MUCH = (
    r"(?:(?:much|slightly|somewhat|far|a\s+(?:little\s+)?(?:bit|lot)|significantly|considerably|"
    r"even|often|usually|\w+ly)\s+){0,4}"
)
_A = r"(?:(?:a|an|the|one\s+of\s+the|another)\s+)?(?:[\w-]+\s+)?"

_TABLE: tuple[tuple[Predicate, CueSide, float, str, str], ...] = (
    # predicate, side, confidence, flags (n: named, k: kind, o: opens, c: close), words
    (Predicate.PREREQUISITE, CueSide.LEFT, 0.9, "", rf"{_DO}(?:requires?|needs?|assumes?|presupposes?)\s+{_KNOWING}"),
    (Predicate.PREREQUISITE, CueSide.LEFT, 0.9, "", r"(?:builds?|built)\s+(?:up)?on(?:\s+top\s+of)?"),
    (Predicate.PREREQUISITE, CueSide.LEFT, 0.75, "n", rf"{_DO}(?:requires?|needs?|presupposes?|depends?\s+on)"),
    (
        Predicate.PREREQUISITE,
        CueSide.RIGHT,
        0.9,
        "",
        rf"{_BE}\s+{_A}(?:prerequisites?|requirements?|preconditions?)\s+(?:of|for|to)",
    ),
    (Predicate.PREREQUISITE, CueSide.RIGHT, 0.75, "n", rf"{_BE}\s+(?:required|needed)\s+(?:by|for)"),
    (
        Predicate.PREREQUISITE,
        CueSide.LISTED,
        0.8,
        "",
        r"(?:prerequisites?|required\s+knowledge|you\s+should\s+know|requires|needs)\s*:\s*"
        r"|you\s+(?:should|must|need\s+to)\s+(?:already\s+)?(?:know|understand|be\s+familiar\s+with)\s+"
        r"|if\s+you\s+are\s+not\s+familiar\s+with\s+|(?:we|this\s+(?:article|page|lesson|chapter|"
        r"section|guide))\s+assumes?\s+"
        rf"(?:that\s+you\s+(?:know|understand|are\s+familiar\s+with)\s+|{_KNOWING})",
    ),
    (Predicate.PART_OF, CueSide.LEFT, 0.9, "", rf"(?:{_BE}|forms?|available\s+as|as)\s+{_A}{_PIECE}\s+of"),
    (Predicate.PART_OF, CueSide.LEFT, 0.8, "n", r"together\s+(?:form|make\s+up)"),
    (
        Predicate.PART_OF,
        CueSide.LEFT,
        0.7,
        "",
        rf"{_BE}\s+(?:contained|included|embedded|incorporated|housed|bundled|shipped|integrated)\s+(?:with(?:in)?|in(?:to)?)",
    ),
    (Predicate.PART_OF, CueSide.LEFT, 0.75, "", rf"{_DO}belongs?\s+to"),
    (
        Predicate.PART_OF,
        CueSide.RIGHT,
        0.7,
        "n",
        rf"{_DO}(?:consists?\s+of|comprises?|contains?|includes?|contained|included)|{_BE}\s+(?:composed|made\s+up|made)\s+of"
        rf"|{_BE}\s+(?:divided|split|separated)\s+into"
        rf"|{_DO}(?:comes?|ships?)\s+with|{_DO}(?:features?|incorporates?|bundles?)|{_BE}\s+equipped\s+with",
    ),
    (Predicate.EXAMPLE_OF, CueSide.LEFT, 0.9, "", rf"{_BE}\s+{_A}{_KIND}\s+of"),
    (
        Predicate.EXAMPLE_OF,
        CueSide.RIGHT,
        0.75,
        "",
        r"(?:such\s+as|for\s+(?:example|instance),?|e\.g\.,?|like|including|especially|namely|notably|particularly)",
    ),
    (Predicate.EXAMPLE_OF, CueSide.CLASSED, 0.8, "", r"such(?=\s+(?:[\w-]+\s+){1,4}as\s)"),
    (Predicate.EXAMPLE_OF, CueSide.RIGHT, 0.7, "", rf"{_DO}(?:includes?|included)"),
    (Predicate.EXAMPLE_OF, CueSide.LEFT, 0.75, "c", r"(?:and|or)\s+(?:an)?other"),
    (
        Predicate.EXAMPLE_OF,
        CueSide.LEFT,
        0.7,
        "k",
        rf"(?:is|are|was|were|remains?|becomes?)\s+(?:{_ADVERB}\s+)?(?:an?|the|one\s+of\s+(?:the|many|several)|another|any)\b",
    ),
    (
        Predicate.EXAMPLE_OF,
        CueSide.LEFT,
        0.6,
        "k",
        r"(?:acts?|acted|serves?|served|functions?|used)\s+as(?=\s+(?:an?|the)\b)",
    ),
    (
        Predicate.EXAMPLE_OF,
        CueSide.RIGHT,
        0.6,
        "",
        r"(?:is|are|was|were)(?!\s+(?:an?|one|not|no|also|very|more|most|less|too|so|to|\w+ed|\w+ly|\w+ing|of|in|on|at|as|by)\b)",
    ),
    (Predicate.EXAMPLE_OF, CueSide.RIGHT, 0.7, "", r"(?:called|named|termed|dubbed|known\s+as|referred\s+to\s+as)"),
    (Predicate.EXAMPLE_OF, CueSide.LEFT, 0.6, "k", r"are(?=\s+(?!\w+(?:ed|ly|en|ing|wn|ble|lt|nt)\b))"),
    (
        Predicate.IMPLEMENTS,
        CueSide.LEFT,
        0.85,
        "",
        rf"{_DO}(?:implement(?:s|ed)?|reali[sz]es?|(?:provides?|offers?)\s+{_A}implementations?\s+of)|{_BE}\s+{_A}implementations?\s+of",
    ),
    (Predicate.IMPLEMENTS, CueSide.RIGHT, 0.7, "n", rf"{_BE}\s+implemented\s+(?:in|by)"),
    (
        Predicate.USES,
        CueSide.LEFT,
        0.85,
        "",
        rf"{_DO}(?:use[sd]?|utili[sz]e[sd]?|employ(?:s|ed)?|exploits?|appl(?:y|ies|ied)|rel(?:y|ies|ied)\s+(?:up)?on|"
        rf"wraps?|make[s]?\s+use\s+of|made\s+use\s+of|takes?\s+advantage\s+of|leverages?|adopts?|combines?|"
        rf"reuses?|runs?\s+on|run)"
        rf"|{_BE}\s+(?:based|built)\s+(?:up)?on(?:\s+top\s+of)?|"
        rf"{_BE}\s+{_DONE}(?:\s+\w+ly)?{_IN_TIME}(?:\s+\w+ly)?\s+{_BY}"
        rf"|works?\s+(?:{_BY}|on\s+top\s+of)|{_BE}\s+(?:powered|driven|backed)\s+by|{_BE}\s+stored\s+(?:in|as)"
        rf"|switch(?:ed|es)?\s+to|{_BE}\s+(?:\w+ly\s+)?implemented\s+in",
    ),
    (
        Predicate.USES,
        CueSide.LEFT,
        0.7,
        "nc",
        r"(?:(?:by\s+|while\s+)?(?:using|applying|wrapping|combining)|with\s+the\s+(?:help|use)\s+of|based\s+(?:up)?on|"
        r"built\s+(?:up)?on|implemented\s+(?:with|using)|via|on\s+top\s+of|written\s+in|driven\s+by|by\s+means\s+of)",
    ),
    (
        Predicate.USES,
        CueSide.RIGHT,
        0.75,
        "n",
        rf"{_BE}\s+(?:used|useful|applied|exploited)\s+(?:in|by|(?:for|to)\s+(?:\w+ing\s+|solve\s+|"
        rf"\w+\s+)?)|(?:the\s+)?use\s+of",
    ),
    (
        Predicate.COMPARED_TO,
        CueSide.LEFT,
        0.85,
        "",
        rf"(?:{_BE}|runs?|works?|performs?)\s+{_MUCH}{_MORE}(?:\s*\([^()]*\))?\s+than|(?:compared|in\s+comparison|"
        rf"in\s+contrast|as\s+opposed)\s+(?:to|with)"
        rf"|{_DO}outperforms?|{_DO}differs?\s+from|{_BE}\s+(?:preferable|superior|inferior)\s+to|"
        rf"{_BE}\s+different\s+from|(?:is|are)\s+(?:\w+\s+)?as\s+\w+\s+as"
        r"|unlike|(?:has|have)\s+(?:an?\s+|the\s+|\w+\s+)?advantages?\s+over|(?:uses?|takes?|needs?|"
        r"requires?)\s+(?:less|more)\s+\w+\s+than",
    ),
    (Predicate.COMPARED_TO, CueSide.LEFT, 0.8, "", r"(?:differ(?:s|ed)?)\s+in\s++[^\s.;][^.;]{0,59}?\sfrom"),
    (
        Predicate.RELATED_TO,
        CueSide.LEFT,
        0.75,
        "",
        r"(?:(?:is|are)\s+)?(?:comparable|analogous|akin)\s+to|(?:in\s+)?(?:\w+\s+)?the\s+same\s+way\s+as",
    ),
    (
        Predicate.COMPARED_TO,
        CueSide.LEFT,
        0.75,
        "no",
        rf"{_MUCH}(?:\w{{2,}}er|better|worse|(?:more|less)\s+\w+)\s+than",
    ),
    (Predicate.COMPARED_TO, CueSide.LEFT, 0.8, "nc", r"(?:versus|vs\.?)"),
    (
        Predicate.RELATED_TO,
        CueSide.LEFT,
        0.75,
        "n",
        rf"{_DO}(?:generali[sz]es?|extends?|replaces?|complements?|improves?)",
    ),
    (
        Predicate.RELATED_TO,
        CueSide.PAIR,
        0.8,
        "",
        r"(?:connections?|relations?|relationships?|links?|correspondence)\s+between",
    ),
    (
        Predicate.RELATED_TO,
        CueSide.PAIR,
        0.7,
        "",
        r"(?:reduces?|relates?|converts?|connects?|links?|transforms?)(?=\s)",
    ),
    (
        Predicate.COMPARED_TO,
        CueSide.AROUND,
        0.8,
        "",
        r"(?:unlike|compared\s+(?:to|with)|in\s+contrast\s+(?:to|with)|as\s+opposed\s+to)",
    ),
    (
        Predicate.RELATED_TO,
        CueSide.AROUND,
        0.75,
        "n",
        r"(?:just\s+)?(?:like|similar(?:ly)?\s+to|as\s+with|analogous\s+to)",
    ),
    (
        Predicate.COMPARED_TO,
        CueSide.PAIR,
        0.85,
        "",
        r"(?:differences?|comparison|trade-?offs?|choice)\s+between|compar(?:es?|ing)",
    ),
    (
        Predicate.RELATED_TO,
        CueSide.LEFT,
        0.8,
        "",
        rf"{_BE}\s+{_LIKE}\s+to|resembles?|{_BE}\s+{_A}{_DERIVED}\s+(?:of|to)|{_BE}\s+derived\s+from|"
        rf"corresponds?\s+to|{_BE}\s+(?:seen|viewed|regarded|thought\s+of|considered)\s+as|(?:has|"
        rf"have)\s+the\s+same\s+\w+\s+as|{_BE}\s+the\s+same\s+as(?:\s+(?:for|in|with))?|{_BE}\s+reduced\s+to|"
        rf"{_BE}\s+(?:associated|combined)\s+with|reduces?\s+to|{_BE}\s+inspired\s+by|evolved\s+(?:from|into)|"
        rf"(?:connection|relation|relationship|similarity)\s+(?:to|with)|(?:{_BE}\s+)?(?:an?\s+)?alternatives?\s+to"
        rf"|(?:{_BE}\s+)?(?:also\s+(?:known\s+as|called)|compatible\s+with)|{_BE}\s+(?:short\s+for|synonymous\s+with)",
    ),
    (
        Predicate.RELATED_TO,
        CueSide.JOINED,
        0.8,
        "",
        r"are\s+(?:\w+ly\s+)?(?:related|similar|equivalent|linked|identical)\b(?!\s+to)",
    ),
    (
        Predicate.RELATED_TO,
        CueSide.LISTED,
        0.6,
        "n",
        r"(?:see\s+also|read\s+more\s+(?:about|in)|more\s+(?:about|on\s+this\s+in))\s*:?",
    ),
)

_MARKS: tuple[tuple[Predicate, CueSide, float, str, str], ...] = (
    # the same, for what begins with a mark
    (Predicate.EXAMPLE_OF, CueSide.LEFT, 0.6, "k", r",(?=\s+(?:an?|the|one\s+of)\s+[\w-])"),
)


def _flagged(row: tuple[Predicate, CueSide, float, str, str]) -> Cue:
    predicate, side, confidence, flags, _ = row
    return Cue(
        predicate, side, confidence, named="n" in flags, kind="k" in flags, opens="o" in flags, close="c" in flags
    )


_CUES = tuple(_flagged(row) for row in (*_TABLE, *_MARKS))
_PATTERNS = tuple(
    re.compile(rf"(?<![\w-])(?:{row[-1]})(?!(?<=[\w-])[\w-])" if row in _TABLE else row[-1], re.IGNORECASE)
    for row in (*_TABLE, *_MARKS)
)
_DENIED = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bcannot|\bwithout|\bnor|\bno\s+longer|\binstead\s+of|"
    r"\brather\s+than|\bwhether|\bhow|\bno\s+need|\b(?:im|not\s+)possible|\bunable)\s+(?:\w+\s+)?\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class StatedCue:
    """A cue in a sentence."""

    cue: Cue
    start: int
    end: int


def stated(sentence: str) -> Iterator[StatedCue]:
    """The cues of a sentence, by place and the surer first; what is denied or lies inside another is left out."""
    found: list[StatedCue] = []
    for cue, pattern in zip(_CUES, _PATTERNS, strict=True):
        for match in pattern.finditer(sentence):
            if _DENIED.search(sentence, max(0, match.start() - 24), match.start()) is None:
                found.append(StatedCue(cue, match.start(), match.end()))
    found.sort(key=lambda one: (one.start - one.end, one.start, -one.cue.confidence))
    taken: list[StatedCue] = []
    for one in found:
        if all(one.end <= other.start or other.end <= one.start or _same(one, other) for other in taken):
            taken.append(one)
    yield from sorted(taken, key=lambda one: (one.start, -one.cue.confidence))


def _same(one: StatedCue, other: StatedCue) -> bool:
    """Whether two ways to read the same words stand side by side: "unlike" joins what is around it, or opens; what is
    "included" is a part or an example."""
    same = one.cue.predicate is other.cue.predicate
    return (one.cue.side is not other.cue.side) if same else (one.start, one.end) == (other.start, other.end)
