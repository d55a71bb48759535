"""Other languages than English: told where the model does not know them, with the command that brings one (T-14)."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.models.languages import ENGLISH_ONLY, command
from kedge.text.iso639 import UNKNOWN, language_of, language_of_question
from kedge.text.languages import DEFAULT, guess

SAMPLED = 400
"""Texts of a table that are looked at."""
FOREIGN = 0.2
"""Share of them with foreign letters from which on a table is not taken for an English one."""


def other_language(text: str) -> bool:
    """Whether a text is surely not in English: by its letters, or by its function words."""
    return _foreign_letters(text) or guess(text) != DEFAULT or language_of_question(text) not in ("en", UNKNOWN)


def offer_for(question: str, session: str, embedder: str) -> str:
    """What to tell who asks in another language than the model knows; empty where there is nothing to tell."""
    if embedder not in ENGLISH_ONLY or not other_language(question):
        return ""
    return _offer("question", session, embedder)


def offer_for_texts(texts: Sequence[str], session: str, embedder: str) -> str:
    """The same for who feeds a table, by a sample of its texts."""
    if embedder not in ENGLISH_ONLY or not texts:
        return ""
    foreign = sum(map(_foreign_letters, texts)) >= FOREIGN * len(texts)
    return _offer("table", session, embedder) if foreign or language_of(" ".join(texts)) not in ("en", UNKNOWN) else ""


def _offer(what: str, session: str, embedder: str) -> str:
    return (
        f"The {what} does not look English, and the model {embedder!r} finds rows by meaning in English only. "
        f"For other languages: {command(session)}"
    )


def _foreign_letters(text: str) -> bool:
    return any(letter.isalpha() and not letter.isascii() for letter in text)
