"""From hits to a verdict: which sentences matter, what the judge makes of the set, what could be quoted from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kedge.answer.compose.events import evidence_of, without_orders
from kedge.answer.compose.extract import ExtractedAnswer, extract_answer
from kedge.answer.compose.several import extract_several
from kedge.answer.judge.calibrated import (
    EvidenceFeatures,
    default_judge,
    judge_features,
    passages_to_read,
    with_reading,
)
from kedge.answer.read import Readings
from kedge.answer.write.context import heading
from kedge.core.settings import Settings
from kedge.core.stages import stage
from kedge.core.values import Collection, Query, SearchHit
from kedge.retrieve.ports import CollectionSource
from kedge.retrieve.rarity import as_idf, term_weights
from kedge.stores.ports import VectorStore
from kedge.text.evidence import MAX_CANDIDATES, EvidencePassage, EvidenceSentence, candidate_sentences, rank_sentences
from kedge.text.form import shape_of
from kedge.text.question import Question, parse_question

HOPELESS = 0.1
"""Below this, evidence is refused without the reader, which costs most of the judge's time."""
SEVERAL = 24
"""Sentences that are looked at for a comparison, a list or a summary."""


@dataclass(frozen=True, slots=True)
class SeenEvidence:
    """A question and the evidence found for it, measured."""

    question: Question
    collection: Collection
    hits: tuple[SearchHit, ...]
    passages: tuple[EvidencePassage, ...]
    """Text and heading of each hit."""
    ranked: tuple[EvidenceSentence, ...]
    """The sentences that come nearest to the question, best first."""

    def features(self) -> EvidenceFeatures:
        """What the judge goes by, without the reader."""
        return judge_features(self.question, [evidence_of(hit) for hit in self.hits], self.ranked)


class Judging:
    """Measures evidence and judges it."""

    def __init__(self, settings: Settings, vectors: VectorStore, collections: CollectionSource) -> None:
        self.readings = Readings(settings)
        """What the reader thinks of passages."""
        self._vectors = vectors
        self._collections = collections

    async def question(self, query: Query, collection: Collection) -> Question:
        """The question as the judge and the check of sentences read it."""
        weights = await term_weights(self._vectors, collection, query.text)
        return parse_question(query.text, as_idf(weights, collection))

    async def look(self, query: Query, collection: Collection, hits: Sequence[SearchHit]) -> SeenEvidence:
        """The hits (best first) with their sentences."""
        question = await self.question(query, collection)
        passages = tuple(EvidencePassage(hit.passage.text, heading(hit.passage)) for hit in hits)
        ranked = await self._sentences(question, collection, passages) if hits else []
        return SeenEvidence(question, collection, tuple(hits), passages, tuple(ranked))

    async def probability(self, seen: SeenEvidence) -> float:
        """How probable it is that the evidence answers the question; 0 without evidence."""
        if not seen.hits:
            return 0.0
        features = seen.features()
        alone = default_judge().probability(features)
        if alone < HOPELESS:
            return alone
        wanted = passages_to_read(len(seen.hits), seen.ranked)
        with stage("read", passages=len(wanted)):
            read = await self.readings.of(seen.question.text, seen.passages, wanted)
        return default_judge().probability(with_reading(features, read, seen.ranked)) if read else alone

    async def extracted(self, seen: SeenEvidence) -> ExtractedAnswer | None:
        """One fact from what the judge saw; for more than one fact, more sentences are looked at."""
        shape = shape_of(seen.question.text)
        if shape.kind in ("comparison", "list", "summary"):
            wider = await self._sentences(seen.question, seen.collection, seen.passages, SEVERAL)
            found = extract_several(seen.question, shape, seen.passages, wider)
            if found is not None:
                return found
        return extract_answer(seen.question, seen.passages, seen.ranked)

    async def _sentences(
        self,
        question: Question,
        collection: Collection,
        passages: Sequence[EvidencePassage],
        limit: int = MAX_CANDIDATES,
    ) -> list[EvidenceSentence]:
        candidates = without_orders(candidate_sentences(question, passages, limit=limit), passages)
        if not candidates:
            return []
        embedder = await self._collections.embedder_of(collection)
        vectors = await embedder.embed([sentence.text for sentence in candidates])
        return rank_sentences(candidates, await embedder.embed_query(question.text), vectors)
