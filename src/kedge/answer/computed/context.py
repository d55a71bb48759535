"""What stands around a table: words of a question that only say which table is meant are not read over its cells."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kedge.answer.computed.tables import DocumentTable
from kedge.answer.computed.wanted import says_how
from kedge.text.analyze import terms
from kedge.text.statements.rows import is_caption

LANGUAGE = "english"
_WORD = re.compile(r"[^\W_]+(?:['’]s\b)?|[^\w\s]")
_LEADS = frozenset("in on of for from with at by to the a an its their our this that according within across".split())


def words_above(table: DocumentTable) -> frozenset[str]:
    """The terms of title, headings, caption and parts of a table."""
    passage = table.passage
    texts = [passage.title, passage.identity, *passage.section_path, table.lead]
    texts += [row.statement.group for row in table.rows]
    texts += [line for line in passage.text.split("\n") if is_caption(line)]
    return frozenset(_terms(texts))


def words_inside(texts: Iterable[str]) -> frozenset[str]:
    """The terms of cells and headings."""
    return frozenset(_terms(texts))


def unsaid(words: Iterable[str], known: frozenset[str]) -> list[str]:
    """The words of which nothing in or above a table has the term; letters by themselves say nothing."""
    glued = " ".join(known)
    return [
        word
        for word in words
        if len(word) > 1 and not set(terms(word, LANGUAGE)) <= known and not (word.isdigit() and word in glued)
    ]


def named(words: Iterable[str], names: Iterable[str]) -> list[str]:
    """The words that stand in one of some headings."""
    known = words_inside(names)
    return [word for word in words if known & set(_terms([word]))]


def without_context(question: str, inside: frozenset[str], above: frozenset[str]) -> str:
    """The question without the words that stand above the table and nowhere inside it, and what leads up to them."""
    spans = [(match.start(), match.end()) for match in _WORD.finditer(question)]
    words = [question[start:end] for start, end in spans]
    gone = [_only_above(word, inside, above) for word in words]
    if not any(gone) or not any(not one and word.lower() not in _LEADS for one, word in zip(gone, words, strict=True)):
        return question
    for place, word in enumerate(words):  # the number of a module, the sign between two words that go
        beside = (place and gone[place - 1]) or (place + 1 < len(words) and gone[place + 1])
        if beside and (word.isdigit() or not word[0].isalnum()) and word not in "?,":
            gone[place] = place > 0 and gone[place - 1]
    for place in range(len(words) - 2, -1, -1):
        if gone[place + 1] and words[place].lower() in _LEADS:
            gone[place] = True
    return _kept(question, spans, gone)


def _kept(question: str, spans: list[tuple[int, int]], gone: list[bool]) -> str:
    kept = [question[start:end] for (start, end), one in zip(spans, gone, strict=True) if not one]
    if len(kept) == len(spans):
        return question
    out, at = [], 0
    for (start, end), one in zip(spans, gone, strict=True):
        if one:
            out.append(question[at:start])
            at = end
    out.append(question[at:])
    return " ".join("".join(out).split())


def _only_above(word: str, inside: frozenset[str], above: frozenset[str]) -> bool:
    known = set(_terms([word]))
    return bool(known) and not word.isdigit() and not says_how(word) and known <= above and not known & inside


def _terms(texts: Iterable[str]) -> list[str]:
    return [term for text in texts for term in terms(text, LANGUAGE)]
