"""Words and their relations, from the files of WordNet 3.0 (Debian's `wordnet-base`: /usr/share/wordnet)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

Form: TypeAlias = Literal["", "s", "ed", "ing"]
Relation: TypeAlias = Literal["synonyms", "opposites", "siblings"]
Key: TypeAlias = tuple[str, str]
"""Part of speech, and the offset of a synset or a word."""

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
SENSE_PARTS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
VOWELS = "aeiou"
FILES = (*(f"{kind}.{part}" for kind in ("data", "index") for part in PARTS), "cntlist.rev", "verb.exc")


@dataclass(frozen=True, slots=True)
class Entry:
    """What may stand in a word's place."""

    synonyms: tuple[str, ...] = ()
    """Means the same."""
    opposites: tuple[str, ...] = ()
    """Denies it."""
    siblings: tuple[str, ...] = ()
    """Another of the same kind."""


@dataclass(frozen=True)
class Lexicon:
    """Frequent English words."""

    words: dict[str, Entry]
    irregular: dict[str, str]
    """Irregular form of a verb → its base."""
    verbs: frozenset[str]
    nouns: frozenset[str]

    @cached_property
    def _past(self) -> dict[str, str]:
        past: dict[str, str] = {}
        for form, base in self.irregular.items():
            if not form.endswith("ing"):
                past.setdefault(base, form)
        return past

    def _knows(self, word: str) -> bool:
        return word in self.words or word in self.verbs or word in self.nouns

    def lemma(self, word: str) -> tuple[str, Form] | None:
        """Base and form of a word; None for one that is not known."""
        if word in self.irregular and word not in self.words:
            return self.irregular[word], "ing" if word.endswith("ing") else "ed"
        if self._knows(word):
            return word, ""
        endings: tuple[tuple[str, Form], ...] = (("ies", "s"), ("ied", "ed"))
        for ending, form in endings:
            if word.endswith(ending) and word[:-3] + "y" in self.words:
                return word[:-3] + "y", form
        return self._cut(word)

    def _cut(self, word: str) -> tuple[str, Form] | None:
        endings: tuple[tuple[str, Form], ...] = (("ing", "ing"), ("ed", "ed"), ("es", "s"), ("s", "s"))
        for ending, form in endings:
            if not word.endswith(ending):
                continue
            stem = word[: -len(ending)]
            tried = [stem]
            if form in ("ing", "ed"):
                tried.append(stem + "e")
                if stem[-1:] == stem[-2:-1]:  # planned → plan
                    tried.append(stem[:-1])
            for base in tried:
                if len(base) > 2 and self._knows(base):
                    return base, form
        return None

    def inflect(self, base: str, form: Form) -> str:
        """A base in a form."""
        soft_y = base.endswith("y") and base[-2:-1] not in VOWELS
        match form:
            case "ed" if base in self._past:
                return self._past[base]
            case "ed" if base.endswith("e"):
                return base + "d"
            case "ed":
                return base[:-1] + "ied" if soft_y else base + "ed"
            case "ing":
                return (base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing"
            case "s":
                return base[:-1] + "ies" if soft_y else base + ("es" if base.endswith(("s", "x", "ch", "sh")) else "s")
            case _:
                return base

    def variants(self, word: str, relation: Relation) -> list[str]:
        """Words of that relation, in the form of `word`."""
        found = self.lemma(word)
        if found is None or found[0] not in self.words:
            return []
        others: tuple[str, ...] = getattr(self.words[found[0]], relation)
        return [self.inflect(other, found[1]) for other in others]


@dataclass(frozen=True, slots=True)
class _Synset:
    words: list[str]
    above: list[Key]
    below: list[Key]
    opposites: list[tuple[Key, int, int]]
    """Synset, and which of our words (from 1; 0 for all) is the opposite of which of its words."""


def read_lexicon(folder: Path) -> Lexicon:
    """Read WordNet's files. Raises FileNotFoundError naming what is missing."""
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise FileNotFoundError(f"{folder} lacks WordNet's {', '.join(missing)}")
    synsets = {key: synset for name, part in PARTS.items() for key, synset in _synsets(folder / f"data.{name}", part)}
    senses = {key: offsets for name, part in PARTS.items() for key, offsets in _senses(folder / f"index.{name}", part)}
    counts = _counts(folder / "cntlist.rev")
    words: dict[str, Entry] = {}
    for (part, word), offsets in senses.items():
        if not word.isalpha() or len(word) < 3 or counts[part, word] < 2:
            continue
        if part != max("nvar", key=lambda other: counts[other, word]):
            continue
        entry = _entry(part, word, offsets, synsets, counts)
        if entry != Entry():
            words[word] = entry
    irregular = {
        form: base
        for form, base, *_ in (line.split() for line in _lines(folder / "verb.exc"))
        if form.isalpha() and counts["v", base] > 0
    }
    verbs, nouns = (
        frozenset(word for p, word in senses if p == part and "_" not in word and counts[part, word] > 0)
        for part in "vn"
    )
    return Lexicon(words, irregular, verbs, nouns)


def _entry(part: str, word: str, offsets: list[str], synsets: dict[Key, _Synset], counts: Counter[Key]) -> Entry:
    def frequent(other: str) -> bool:
        return other.isalpha() and counts[part, other.lower()] >= 2

    first = synsets[part, offsets[0]]
    synonyms = {other.lower() for other in first.words if frequent(other)} - {word}
    opposites: set[str] = set()
    for synset in (synsets[part, offset] for offset in offsets[:2]):
        for key, ours, theirs in synset.opposites:
            other = synsets[key].words[theirs - 1].lower()
            if ours and synset.words[ours - 1].lower() == word and "_" not in other:
                opposites.add(other)
    siblings: set[str] = set()
    for above in first.above[:1]:
        for key in synsets[above].below[:60]:
            if key[1] != offsets[0]:
                siblings |= {other for other in synsets[key].words[:1] if other.islower() and frequent(other)}
    siblings -= synonyms | {word}
    return Entry(tuple(sorted(synonyms)[:6]), tuple(sorted(opposites)[:4]), tuple(sorted(siblings)[:25]))


def _lines(path: Path) -> list[str]:
    """All lines but those of the licence, which begin with two blanks."""
    return [line for line in path.read_text("latin-1").split("\n") if line and not line.startswith("  ")]


def _synsets(path: Path, part: str) -> Iterator[tuple[Key, _Synset]]:
    for line in _lines(path):
        fields = line.split("|")[0].split()
        count = int(fields[3], 16)
        words = [fields[4 + 2 * index].split("(")[0] for index in range(count)]
        at = 4 + 2 * count
        synset = _Synset(words, [], [], [])
        for index in range(int(fields[at])):
            symbol, offset, other, places = fields[at + 1 + 4 * index : at + 5 + 4 * index]
            key = (other.replace("s", "a"), offset)
            if symbol in ("@", "@i"):
                synset.above.append(key)
            elif symbol == "~":
                synset.below.append(key)
            elif symbol == "!":
                synset.opposites.append((key, int(places[:2], 16), int(places[2:], 16)))
        yield (part, fields[0]), synset


def _senses(path: Path, part: str) -> Iterator[tuple[Key, list[str]]]:
    for line in _lines(path):
        fields = line.split()
        yield (part, fields[0]), fields[-int(fields[2]) :]


def _counts(path: Path) -> Counter[Key]:
    """How often a word stands in WordNet's tagged texts, by part of speech."""
    counts: Counter[Key] = Counter()
    for line in _lines(path):
        sense, _, count = line.split()
        word, _, rest = sense.partition("%")
        counts[SENSE_PARTS[rest[0]], word] += int(count)
    return counts
