"""What embedders know of languages, and the command that brings one that knows a hundred (T-14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote

from kedge.text.iso639 import NAMES, UNKNOWN, language_of_question

ENGLISH_ONLY = frozenset(("minilm", "minilm:int8", "bge-small", "granite"))
"""Embedders that know English alone."""
MULTILINGUAL = "e5-multilingual"
MOSTLY = 0.5
"""Share of the passages whose language is known from which on a collection is not an English one."""


def command(collection: str) -> str:
    """Brings a model that knows about a hundred languages to a collection; for a shell, whatever the collection's name.

    >>> command("my notes").partition(" && ")[2]
    "kedge collection reindex 'my notes' --embedder e5-multilingual"
    """
    name = quote(collection)
    return f"pip install 'kedge[multilingual]' && kedge collection reindex {name} --embedder {MULTILINGUAL}"


def offer_for_passages(languages: Mapping[str, int], collection: str, embedder: str) -> str:
    """What to tell who takes in passages of these languages (ISO 639-1, with their numbers); empty: nothing.

    >>> offer_for_passages({"en": 5, "es": 4}, "notes", "minilm")
    ''
    """
    known = {code: number for code, number in languages.items() if code != UNKNOWN}
    foreign = {code: number for code, number in known.items() if code != "en"}
    if embedder not in ENGLISH_ONLY or sum(foreign.values()) < MOSTLY * sum(known.values()) or not foreign:
        return ""
    most = max(foreign, key=lambda code: (foreign[code], code))
    return (
        f"Most passages are not in English (most often: {most}), and the model {embedder!r} finds by meaning in "
        f"English only; by words they are found. For other languages, and across languages: {command(collection)}"
    )


def offer_for_question(question: str, found: Sequence[str], collection: str, embedder: str) -> str:
    """What to tell who asks in another language than what was found is in (`found`: their languages); empty: nothing.

    >>> offer_for_question("Who painted it?", ["en"], "notes", "minilm")
    ''
    """
    asked = language_of_question(question)
    known = [code for code in found if code != UNKNOWN]
    if embedder not in ENGLISH_ONLY or asked in ("en", UNKNOWN) or 2 * known.count(asked) >= len(known):
        return ""
    return (
        f"The question looks like {NAMES.get(asked, asked)}, what was found does not, and the model {embedder!r} finds "
        f"by meaning in English only. To ask across languages: {command(collection)}"
    )
