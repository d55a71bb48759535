"""Recall of typed relations on sentences that state one, and the triples of a folder to be read for precision.

    python -m benchmarks.relations [--show] [--reader none]
    python -m benchmarks.relations --read FOLDER [--count 200] [--reader none]

Each sentence is looked for in its own document, which is read, cut and extracted as an ingest does it, with the titles
of its collection known. `gold.txt` is what the first rules and their words were built on.
Control: `unseen.txt`, a random draw that was labelled before anything was run on it; whoever changes a rule because of
it needs a new one.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import folder
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, Document, IngestRequest, Passage, Scope, Triple
from kedge.engine.engine import Engine
from kedge.ingest.extract.claims import RelationJudge
from kedge.ingest.extract.concepts import extract
from kedge.ingest.extract.judge import reader_judge
from kedge.text.concepts import title_aliases
from kedge.text.sentences import sentences

HERE = Path(__file__).parent
SETS = ("gold.txt", "fresh.txt", "unseen.txt")
ROOT = HERE.parents[1]
PLACES = {"docs": ROOT / "docs", "demo": ROOT / "src" / "kedge" / "data" / "demo"}


@dataclass(frozen=True, slots=True)
class Gold:
    """A sentence and the triples that it states, any of which will do."""

    place: str
    file: str
    begins: str
    stated: tuple[tuple[frozenset[str], str, frozenset[str]], ...]

    def met_by(self, triples: Iterable[Triple]) -> bool:
        """Whether one of the triples is one of these; sides of a symmetric relation may change places."""
        return any(self.states(one.subject, one.predicate, one.object) for one in triples)

    def states(self, subject: str, predicate: str, target: str) -> bool:
        """Whether this is one of them."""
        for subjects, stated, objects in self.stated:
            if predicate != stated:
                continue
            if subject in subjects and target in objects:
                return True
            if predicate in ("RELATED_TO", "COMPARED_TO") and target in subjects and subject in objects:
                return True
        return False


def read_gold(name: str) -> list[Gold]:
    """The sentences of a file, in its order."""
    lines = [line for line in (HERE / name).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = []
    for line in lines:
        place, file, begins, stated = (part.strip() for part in line.split(" | "))
        triples = tuple(parsed(one) for one in stated.split(";"))
        rows.append(Gold(place, file, begins, triples))
    return rows


def parsed(text: str) -> tuple[frozenset[str], str, frozenset[str]]:
    """Subjects, predicate and objects of a line like `a/b USES c`."""
    words = text.split()
    at = next(place for place, word in enumerate(words) if word.isupper() and len(word) > 3)
    ends = (" ".join(part).split("/") for part in (words[:at], words[at + 1 :]))
    subjects, objects = (frozenset(one.strip() for one in part) for part in ends)
    return subjects, words[at], objects


class Corpus:
    """A folder as an ingest sees it."""

    def __init__(
        self, documents: dict[str, Document], passages: list[Passage], judge: RelationJudge | None = None
    ) -> None:
        self.passages = passages
        titles = frozenset(key for document in documents.values() for key in title_aliases(document.title))
        self.titles = titles
        found = extract(documents, passages, lambda keys: {key for key in keys if key in titles}, judge=judge)
        self.triples = found.triples

    @classmethod
    async def read(cls, source: Path, reader: str = "minilm") -> Corpus:
        """Through an engine in memory; `reader` as the setting."""
        judge = reader_judge(load_settings(reader=reader, relations="reader"))
        memory = {
            "vector_url": "memory:",
            "catalog_url": "memory:",
            "graph_url": "memory:",
            "embedder": "hash",
            "reader": "none",
        }
        scope = Scope(DEFAULT_TENANT, "relations")
        with tempfile.TemporaryDirectory() as home:
            async with Engine.open(load_settings(home=home, **memory)) as engine:
                await engine.ingest(IngestRequest(scope, (str(source),)))
                passages = [one async for page in engine.stores.catalog.passages.scan(scope) for one in page]
                found = {one.document_id for one in passages}
                documents = {key: await engine.stores.catalog.documents.get(DEFAULT_TENANT, key) for key in found}
        return cls({key: one for key, one in documents.items() if one is not None}, passages, judge)

    def sentence(self, file: str, begins: str) -> tuple[Passage, str] | None:
        """The first sentence of a file that begins so."""
        wanted = " ".join(begins.split())
        for passage in self.passages:
            if passage.url.endswith(file) or passage.external_id == file:
                for start, end in sentences(passage.text):
                    if wanted in (text := " ".join(passage.text[start:end].split())):
                        return passage, text
        return None

    def of(self, passage: Passage) -> list[Triple]:
        """Triples of the passage."""
        return [one for one in self.triples if one.passage_id == passage.id]


async def recall(name: str, reader: str, *, show: bool) -> None:
    """Print how many of a file's sentences give what they state."""
    gold = read_gold(name)
    corpora: dict[str, Corpus] = {}
    for place in dict.fromkeys(one.place for one in gold if not one.place.startswith("package")):
        corpora[place] = await Corpus.read(PLACES.get(place) or folder(place), reader)
    right = 0
    for one in gold:
        corpus = corpora.get(one.place) or await quoted(one, reader)
        found = corpus.sentence(one.file if one.place in corpora else "", one.begins)
        triples = corpus.of(found[0]) if found else []
        met = one.met_by(triples)
        right += met
        if show and not met:
            print(f"- {one.place} {one.file}: {found[1][:200] if found else 'NOT THERE: ' + one.begins}")
            print("    ", [(t.subject, t.predicate.value, t.object) for t in triples][:6])
    print(f"{name:10} {right}/{len(gold)} {right / len(gold):.2f}")


async def quoted(one: Gold, reader: str) -> Corpus:
    """A sentence that is quoted in full, as a document of its own."""
    with tempfile.TemporaryDirectory() as made:
        file = Path(made) / "quoted.md"
        file.write_text(f"# {one.place.removeprefix('package: ')}\n\n{one.begins}\n", encoding="utf-8")
        return await Corpus.read(file, reader)


async def reading(source: Path, count: int, reader: str) -> None:
    """Print triples of a folder with their passage's sentences, a fixed random choice of them."""
    corpus = await Corpus.read(source, reader)
    passages = {one.id: one for one in corpus.passages}
    chosen = random.Random(0).sample(corpus.triples, min(count, len(corpus.triples)))
    print(f"{len(corpus.triples)} triples of {len(corpus.passages)} passages; {len(chosen)} to be read")
    for number, one in enumerate(chosen, 1):
        passage = passages[one.passage_id]
        texts = [" ".join(passage.text[slice(*span)].split()) for span in sentences(passage.text)]
        ends = set(f"{one.subject} {one.object}".split())
        best = max(texts, key=lambda text: (sum(end in text.lower() for end in ends), -len(text)))
        print(f"{number}. {one.subject} |{one.predicate.value}| {one.object}  [{passage.title}]\n     {best[:240]}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS, action="append", help="only this file of sentences")
    parser.add_argument("--show", action="store_true", help="list what was missed")
    parser.add_argument("--read", type=Path, help="print triples of this folder instead")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--reader", choices=("minilm", "none"), default="minilm", help="what judges beside the weights")
    args = parser.parse_args()
    if args.read:
        asyncio.run(reading(args.read, args.count, args.reader))
        return
    for name in args.set or SETS:
        asyncio.run(recall(name, args.reader, show=args.show))


if __name__ == "__main__":
    main()
