"""Other words for the same value: women and F, Texas and TX, German and Germany, rainy and rain."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files

from kedge.kinds.tables.asking.words import Token, words

_SHORT = 3
_SOME = 5
_NEARLY_ALL = 0.8


def same_as(asked: Sequence[Token]) -> Iterator[tuple[str, ...]]:
    """Forms, as comparable words, that mean the same as these tokens."""
    said = tuple(token.word for token in asked)
    if len(said) == 1 and said[0].isalpha() and not _spelt(asked[0]):
        # A short word in small letters is hardly a code: or, in, me.
        return
    yield from _table().get(said, ())
    if len(said) == 1:
        yield from _bare(asked[0].folded)


def kind_of_values(values: Sequence[str]) -> str:
    """`state` or `country` when nearly all of these are names or codes of such."""
    known = _members()
    for kind, forms in known.items():
        if len(values) >= _SOME and sum(words(value) in forms for value in values) >= _NEARLY_ALL * len(values):
            return kind
    return ""


@lru_cache(maxsize=1)
def _members() -> dict[str, frozenset[tuple[str, ...]]]:
    raw = tomllib.loads(files("kedge.kinds.tables.asking.lexicon").joinpath("same.toml").read_text("utf-8"))
    return {
        kind: frozenset(words(form.strip()) for group in raw[section] for form in group.split(","))
        for kind, section in (("state", "states"), ("country", "countries"))
    }


def _spelt(token: Token) -> bool:
    return len(token.word) >= _SHORT or token.text.isupper()


def _bare(word: str) -> Iterator[tuple[str, ...]]:
    """The noun of an adjective: rainy, sunny, foggy."""
    if len(word) > 4 and word.endswith("y"):
        yield (word[:-1],)
        if word[-2] == word[-3]:
            yield (word[:-2],)


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    raw = tomllib.loads(files("kedge.kinds.tables.asking.lexicon").joinpath("same.toml").read_text("utf-8"))
    out: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for groups in raw.values():
        for group in groups:
            forms = list(dict.fromkeys(words(form.strip()) for form in group.split(",")))
            for form in forms:
                out.setdefault(form, []).extend(other for other in forms if other != form)
    return {form: tuple(others) for form, others in out.items()}
