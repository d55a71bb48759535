"""Natural questions from statements, by rule: who did, when was, where did, how many."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from benchmarks.reader.example import Example
from benchmarks.reader.language import MONTHS, NAME, NUMBER, YEAR, names, sentences
from benchmarks.reader.lexicon import Lexicon

Kind: TypeAlias = Literal["subject", "front", "when", "many", "where", "by", "name", "thing"]

TOKEN = re.compile(r"[A-Za-zÀ-ÿ0-9'’.-]+|[,;:()\"“”]")
SIGNS = frozenset(',;:()"“”')
OPENING = re.compile(r"[^,]{3,60}, (?=[A-Z]|the |he |she |it |they )")
COUNTED = re.compile(r"\s+((?:[a-z]+ ){0,1}[a-z]{3,}s)\b")
THING = re.compile(r"\s+((?:a|an|the)\s+(?:[a-z-]+\s){0,3}[a-z-]{4,})")
AUXILIARIES = frozenset("is was are were has had have can could will would may might must should".split())
NO_VERB_AFTER = frozenset("the a an of in to and his her their its by".split())
OWNERS = frozenset({"His", "Her", "Its", "Their"})
PRONOUNS = frozenset({"He", "She", "It", "They"}) | OWNERS
LOWERED = frozenset({"The", "A", "An", "In", "This", "These", "Those"}) | PRONOUNS
BEFORE_YEAR = frozenset("in since until by of during".split())
BEFORE_PLACE = frozenset("in at from near to".split())
BEFORE_NAME = frozenset("the a of as with for against and named called".split())

QUESTION_WORDS: dict[Kind, tuple[str, ...]] = {
    "subject": ("Who", "What", "Which one"),
    "front": ("When", "In what year", "What year"),
    "when": ("When", "In what year", "What year"),
    "where": ("Where", "In which place", "What place"),
    "by": ("Who", "By whom"),
    "name": ("What", "Who", "Which"),
    "thing": ("What",),
}


@dataclass(frozen=True, slots=True)
class Clause:
    """The start of a statement, up to its verb."""

    subject: str
    start: int
    """Where the subject begins."""
    auxiliary: str
    """As it stands, or empty before a full verb in the past."""
    base: str
    """Base of the full verb, or empty."""
    verb: str
    """Auxiliary or verb as it stands."""
    end: int
    """Behind the verb."""


@dataclass(frozen=True, slots=True)
class Place:
    """Something in a statement that can be asked for."""

    kind: Kind
    start: int
    end: int
    cue: str = ""
    """The preposition before it, or the nouns that it counts."""
    cut: int = 0
    """How far behind its end the words reach that the question leaves out."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence taken apart."""

    sentence: str
    lead: int
    """Length of an opening in front of the subject: "In 1905, "."""
    clause: Clause

    @property
    def tail_at(self) -> int:
        """Where the words behind the verb begin."""
        return self.clause.end

    @property
    def rest(self) -> str:
        return self.sentence[self.clause.end :]

    @property
    def first(self) -> str:
        """First word of the subject."""
        return self.clause.subject.split()[0]

    @property
    def pronoun(self) -> bool:
        return self.first.capitalize() in PRONOUNS


def ask(random: Random, lexicon: Lexicon, title: str, text: str) -> Example | None:
    """A question on one statement of the passage, with its answer's place; None where no rule fits."""
    spans = [(start, end) for start, end in sentences(text) if 30 < end - start < 300]
    if not spans:
        return None
    start, end = random.choice(spans)
    statement = take_apart(lexicon, text[start:end].rstrip(".!? "))
    places = askable(statement) if statement else []
    if statement is None or not places:
        return None
    place = random.choice(places)
    subject = _subject(random, statement, title)
    question = re.sub(r"\s+", " ", _worded(random, statement, place, subject)).strip(" ,;:") + "?"
    if not 18 < len(question) < 200:
        return None
    question = question[0].upper() + question[1:]
    return Example(question, title, text, True, (start + place.start, start + place.end), "made")


def take_apart(lexicon: Lexicon, sentence: str) -> Statement | None:
    """Subject, verb and rest of a plain statement; None for any other sentence."""
    lead = 0
    clause = _clause(lexicon, sentence, lead)
    if clause is None:
        opening = OPENING.match(sentence)
        if opening is None:
            return None
        lead = opening.end()
        clause = _clause(lexicon, sentence, lead)
    if clause is None or not clause.subject or len(clause.subject.split()) > 9:
        return None
    return Statement(sentence, lead, clause)


def _clause(lexicon: Lexicon, sentence: str, lead: int) -> Clause | None:
    tokens = list(TOKEN.finditer(sentence, lead))
    for index, token in enumerate(tokens[:14]):
        word = token.group()
        if word in SIGNS:
            return None
        if index == 0 or not word.islower():
            continue
        behind = sentence[lead : token.start()]
        subject, start = behind.strip(), lead + len(behind) - len(behind.lstrip())
        if word in AUXILIARIES:
            return Clause(subject, start, word, "", word, token.end())
        if tokens[index - 1].group().lower() in NO_VERB_AFTER:
            continue
        base, form = lexicon.lemma(word) or ("", "")
        passive = index + 1 < len(tokens) and tokens[index + 1].group() == "by"
        if form == "ed" and base in lexicon.verbs and not passive:
            return Clause(subject, start, "", base, word, token.end())
    return None


def askable(statement: Statement) -> list[Place]:
    """What the statement can be asked for, in the order of the rules."""
    clause, rest, at = statement.clause, statement.rest, statement.tail_at
    found: list[Place] = []
    if not statement.pronoun and (NAME.match(clause.subject) or clause.subject.startswith("The ")):
        found.append(Place("subject", clause.start, clause.start + len(clause.subject)))
    found += [Place("front", *match.span()) for match in YEAR.finditer(statement.sentence[: statement.lead])]
    for match in YEAR.finditer(rest):
        before = _word_before(rest, match.start())
        if before in BEFORE_YEAR:
            found.append(Place("when", at + match.start(), at + match.end(), before))
    for match in NUMBER.finditer(rest):
        counted = COUNTED.match(rest[match.end() :])
        if counted and not YEAR.fullmatch(match.group()):
            found.append(Place("many", at + match.start(), at + match.end(), counted.group(1), counted.end()))
    for start, end in names(rest):
        before = _word_before(rest, start)
        if rest[start:end].split()[0] in MONTHS:
            continue
        if before in BEFORE_PLACE:
            found.append(Place("where", at + start, at + end, before))
        elif before == "by":
            found.append(Place("by", at + start, at + end, before))
        elif start < 4 or before in BEFORE_NAME:
            found.append(Place("name", at + start, at + end, before))
    thing = THING.match(rest)
    if thing:
        found.append(Place("thing", at + thing.start(1), at + thing.end(1)))
    return found


def _word_before(text: str, at: int) -> str:
    words = text[:at].split()
    return words[-1] if words else ""


def _subject(random: Random, statement: Statement, title: str) -> str:
    """How the question names the subject: a pronoun gives way to the title, nine times in ten."""
    subject = statement.clause.subject
    if statement.first.capitalize() in OWNERS:
        return f"{title}'s {' '.join(subject.split()[1:])}"
    if statement.pronoun and random.random() < 0.9:
        return title
    return subject[0].lower() + subject[1:] if statement.first in LOWERED else subject


def _worded(random: Random, statement: Statement, place: Place, subject: str) -> str:
    clause, rest = statement.clause, statement.rest
    words = _question_words(statement, place)
    asked = random.choice(words) if len(words) > 1 else words[0]
    if place.kind == "subject":
        return f"{asked} {clause.verb} {_tail(random, rest)}"
    if place.kind != "front":
        start, end = place.start - statement.tail_at, place.end - statement.tail_at
        if place.kind in ("when", "where", "by"):  # the preposition goes too
            start = rest[:start].rstrip().rfind(place.cue)
        rest = rest[:start] + rest[end + place.cut :]
    tail = _tail(random, rest)
    question = f"{asked} {clause.auxiliary or 'did'} {subject} {clause.base} {tail}"
    return f"{question} by" if place.kind == "by" and asked == "Who" else question


def _question_words(statement: Statement, place: Place) -> tuple[str, ...]:
    if place.kind == "subject" and not NAME.match(statement.clause.subject):
        return ("What",)
    if place.kind == "where" and place.cue == "from":
        return ("From where",)
    if place.kind == "many":
        return (f"How many {place.cue}",)
    return QUESTION_WORDS[place.kind]


def _tail(random: Random, rest: str) -> str:
    """The words behind the verb: one or two clauses of them, not many more than a dozen."""
    tail = re.sub(r"\s+", " ", rest).strip(" ,")
    clauses = re.split(r",\s+", tail)
    kept = 1 if random.random() < 0.7 else 2
    if len(clauses) > 1:
        tail = ", ".join(clauses[:kept])
    words = tail.split()
    return " ".join(words[: random.randint(8, 14)]) if len(words) > 14 else tail
