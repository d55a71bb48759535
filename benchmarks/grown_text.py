"""A corpus of any size: real passages first, then passages put together from real sentences.

What grows like real text:

- words: every sentence is one that somebody wrote, taken from a passage and from its nearest neighbours in meaning, as
  many as a real passage has; so postings of a word grow in proportion to the corpus, rare and common words alike;
- names: a new passage has a title of its own, joined of two real titles on the same topic (the article's own where the
  whole topic is one article), and speaks of its subject by that; all other names stay, so the passages per concept
  grow with the corpus, the common names most;
- links: where a sentence names the passage it comes from, half of the time the newest passage made of that one is named
  instead; so new titles are mentioned by others and the title graph grows by new nodes rather than by hubs alone;
- vectors: the normalised mean of the real vectors of the passages that gave the sentences, with Gaussian noise. It is a
  stand-in for embedding 80,000 texts (an hour and more): near its topic, no two alike.

What it does not model: no sentence and hardly a word is new after the real text ends, so the vocabulary stops growing
(real text: slowly) and names that would stay rare become common in proportion, which makes the graph's work larger than
in real text; near-copies are more frequent than in real text, which makes ties and crowded neighbourhoods likelier; all
passages are short; quality of the results says nothing and is not measured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import folder
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Passage, Scope, embed_text
from kedge.ingest.sources.source import Source
from kedge.kinds.documents.way_in import DocumentMaker
from kedge.models.ports import Embedder, Vectors
from kedge.text.concepts import concept_key
from kedge.text.sentences import sentences

REAL = ("2wikimultihop", "hotpotqa_train100", "squad2", "scifact", "cranfield", "cacm")
"""Sets in the order in which they are taken in."""
NEIGHBOURS = 6
NOISE = 0.35
"""Length of the noise beside the mean's 1."""
MAX_CHARS = 800
"""Of a made passage: one passage whatever its words."""
_PARENTHESIS = re.compile(r"\s*\([^)]*\)\s*$")


@dataclass(frozen=True, slots=True)
class Row:
    """One document of the corpus."""

    id: str
    title: str
    text: str
    embedded: tuple[str, ...]
    """What is embedded of it: one text for each passage."""

    def line(self) -> str:
        return json.dumps({"_id": self.id, "title": self.title, "text": self.text}, ensure_ascii=False) + "\n"


def real_rows(embedder: Embedder) -> Iterator[tuple[Row, list[Passage]]]:
    """All documents of the open sets with the passages that an ingest makes of them."""
    settings, maker = load_settings(), DocumentMaker()
    for name in REAL:
        request = IngestRequest(Scope(DEFAULT_TENANT, "bench"), (str(folder(name) / "corpus.jsonl"),))
        for source in maker.discover(request, settings):
            if not isinstance(source, Source):
                continue
            opened = maker.open(source, request, "", embedder, settings)
            passages = [passage for piece in opened.pieces for passage in piece]
            texts = tuple(passage.embed_text for passage in passages)
            yield Row(f"{name}-{source.external_id}", source.title or "", str(source.content), texts), passages


@dataclass(slots=True)
class Recombiner:
    """Makes passages of the sentences of real ones."""

    passages: Sequence[Passage]
    vectors: Vectors
    """One row per passage."""
    seed: int = 7
    _newest: dict[int, str] = field(default_factory=dict)
    """Place of a passage → title of the newest one made of it."""

    def rows(self) -> Iterator[tuple[Row, Vectors]]:
        """Without end: made documents of one passage each, with their vectors."""
        rng = np.random.default_rng(self.seed)
        parts = [_sentences(passage.text) for passage in self.passages]
        near = _neighbours(self.vectors, NEIGHBOURS)
        usable = [place for place, found in enumerate(parts) if found]
        number = 0
        while True:
            for place in rng.permutation(usable):
                topic = [int(place), *(int(other) for other in near[place] if parts[other])]
                yield self._made(number, topic, parts, rng)
                number += 1

    def _made(
        self, number: int, topic: list[int], parts: Sequence[Sequence[str]], rng: np.random.Generator
    ) -> tuple[Row, Vectors]:
        own = self.passages[topic[0]].title
        others = [self.passages[place].title for place in topic if self.passages[place].title != own]
        title = _joined(own, str(rng.choice(others)), rng) if others else own
        wanted = max(2, len(parts[int(rng.choice(topic))]))
        places = [topic[0], *(int(place) for place in rng.choice(topic, wanted - 1))]
        chosen = [parts[topic[0]][0], *(str(rng.choice(parts[place])) for place in places[1:])]
        text = ""
        for place, sentence in zip(places, dict.fromkeys(chosen), strict=False):
            if text and len(text) + len(sentence) > MAX_CHARS:
                break
            text += (" " if text else "") + self._renamed(sentence, place, topic[0], title, rng)
        self._newest[topic[0]] = title
        noise = rng.standard_normal(self.vectors.shape[1]).astype(np.float32)
        vector = _unit(self.vectors[places].sum(axis=0)) + NOISE * _unit(noise)
        return Row(f"made-{number}", title, text, (embed_text(title, (), text),)), _unit(vector)

    def _renamed(self, sentence: str, place: int, subject: int, title: str, rng: np.random.Generator) -> str:
        """The sentence with the name of the passage it comes from replaced: by the new title, or by a newer one."""
        own = _PARENTHESIS.sub("", self.passages[place].title)
        if place != subject:
            title = self._newest.get(place, own) if rng.random() < 0.5 else own
        return sentence.replace(own, _PARENTHESIS.sub("", title)) if len(own) > 3 else sentence


def _sentences(text: str) -> list[str]:
    found = (" ".join(text[start:end].split()) for start, end in sentences(text))
    return [sentence for sentence in found if 20 <= len(sentence) <= MAX_CHARS // 2]


def _joined(first: str, second: str, rng: np.random.Generator) -> str:
    """A title of the first words of one and the last words of the other; never one common word, which no title is."""
    head, tail = _PARENTHESIS.sub("", first).split()[:10], _PARENTHESIS.sub("", second).split()[-10:]
    cut = int(rng.integers(1, len(head) + 1)) if head else 0
    keep = int(rng.integers(1, len(tail) + 1)) if tail else 0
    title = " ".join([*head[:cut], *tail[len(tail) - keep :]][:10])
    return title if " " in concept_key(title) else " ".join([*head, *tail][:10])


def _neighbours(vectors: Vectors, count: int) -> NDArray[np.int64]:
    """Places of the nearest others, one row per vector."""
    found = np.empty((len(vectors), count), dtype=np.int64)
    for start in range(0, len(vectors), 1024):
        scores = vectors[start : start + 1024] @ vectors.T
        scores[np.arange(len(scores)), np.arange(start, start + len(scores))] = -2.0
        found[start : start + 1024] = np.argpartition(-scores, count, axis=1)[:, :count]
    return found


def _unit(vector: Vectors) -> Vectors:
    unit: Vectors = vector / np.float32(max(float(np.linalg.norm(vector)), 1e-9))
    return unit


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """A JSONL corpus."""
    with path.open("w", encoding="utf-8") as out:
        out.writelines(row.line() for row in rows)
