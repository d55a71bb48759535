"""From hits to a verdict: what could be answered from them, and how probable it is that this is right.

Evidence in English is read: its statements are weighed by the reader, the best make the answer, and the judge weighs
that. Evidence in other languages, and all where the reader is turned off, is judged by words and embeddings alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kedge.answer.compose.choose import choose
from kedge.answer.compose.events import evidence_of, without_orders
from kedge.answer.compose.extract import extract_answer
from kedge.answer.compose.quote import ExtractedAnswer
from kedge.answer.compose.several import extract_several
from kedge.answer.compose.show import shown
from kedge.answer.evidence import ReadPassage, read_evidence
from kedge.answer.judge.calibrated import EvidenceFeatures, judge_features, judge_of
from kedge.answer.judge.reading import NO_SHARE, Signs, read_judge, signs_of, tells_share
from kedge.answer.read import Readings, is_english
from kedge.answer.spelling import corrected
from kedge.answer.write.context import heading
from kedge.core.settings import Settings
from kedge.core.stages import stage
from kedge.core.values import Collection, Query, SearchHit
from kedge.retrieve.ports import CollectionSource
from kedge.retrieve.rarity import as_idf, term_weights
from kedge.retrieve.when import with_newest_time
from kedge.stores.bundle import Stores
from kedge.stores.narrowing import narrowing
from kedge.text.analyze import term_id, terms
from kedge.text.evidence import MAX_CANDIDATES, EvidencePassage, EvidenceSentence, candidate_sentences, rank_sentences
from kedge.text.form import Form, shape_of
from kedge.text.question import Question, parse_question

SEVERAL = 24
"""Sentences that are looked at for a comparison, a list or a summary, where nothing is read."""
SEVERAL_FACTS = frozenset({"comparison", "list", "summary"})
"""Forms of questions that more than one statement answers."""


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """What could be answered, and how probable it is that it is right."""

    question: Question
    probability: float
    extracted: ExtractedAnswer | None
    """None where nothing could be quoted."""
    read: int = 0
    """How many passages were read."""
    signs: Signs | None = None
    """What the judge went by, where the evidence was read."""
    features: EvidenceFeatures | None = None
    """What it went by where nothing was read."""


class Judging:
    """Reads evidence, chooses what it says and judges that."""

    def __init__(self, settings: Settings, stores: Stores, collections: CollectionSource) -> None:
        self.readings = Readings(settings)
        """What the reader thinks of passages."""
        self._vectors = stores.vectors
        self._catalog = stores.catalog
        self._collections = collections

    async def question(self, query: Query, collection: Collection) -> Question:
        """The question as the judge and the check of sentences read it."""
        weights = await self._weights(query, collection)
        return parse_question(query.text, as_idf(weights, collection))

    async def as_meant(self, query: Query, collection: Collection, hits: Sequence[SearchHit]) -> str:
        """The question without slips of the pen, as far as the hits have the words that were meant, and with the time
        of the newest report where that is asked for."""
        passages = [hit.passage for hit in hits]
        if not self.readings.can(query.text, passages):
            return query.text
        text = with_newest_time(query.text, passages)
        known = await self.readings.words()
        weights = await self._weights(query, collection)

        def strange(word: str) -> bool:
            return not known(word) and not any(weights.get(term_id(term)) for term in terms(word))

        return corrected(text, strange, (f"{heading(one)}\n{one.text}" for one in passages))

    async def _weights(self, query: Query, collection: Collection) -> dict[int, float]:
        within = await narrowing(self._catalog, collection.scope)
        return await term_weights(self._vectors, collection, query.text, within)

    async def verdict(self, query: Query, collection: Collection, hits: Sequence[SearchHit]) -> AnswerVerdict:
        """What the hits (best first) say to the question."""
        question = await self.question(query, collection)
        if not hits:
            return AnswerVerdict(question, 0.0, None)
        if self.readings.can(query.text, [hit.passage for hit in hits]):
            return await self._read(question, hits)
        return await self._unread(question, collection, hits)

    async def _read(self, question: Question, hits: Sequence[SearchHit]) -> AnswerVerdict:
        form = shape_of(question.text)
        with stage("read", passages=len(hits)):
            read = await self.readings.of(question, [hit.passage for hit in hits])
        return composed(question, form, read, hits)

    async def _unread(self, question: Question, collection: Collection, hits: Sequence[SearchHit]) -> AnswerVerdict:
        passages = [EvidencePassage(hit.passage.text, heading(hit.passage)) for hit in hits]
        ranked = await self._sentences(question, collection, passages)
        features = judge_features(question, [evidence_of(hit) for hit in hits], ranked)
        form = shape_of(question.text)
        extracted = None
        if form.kind in SEVERAL_FACTS:
            wider = await self._sentences(question, collection, passages, SEVERAL)
            extracted = extract_several(question, form, passages, wider)
        return AnswerVerdict(
            question,
            judge_of(collection.embedder).probability(features, foreign=not is_english(question.text)),
            extracted or extract_answer(question, passages, ranked),
            features=features,
        )

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


def composed(question: Question, form: Form, read: Sequence[ReadPassage], hits: Sequence[SearchHit]) -> AnswerVerdict:
    """What the passages that were read say, and how probable it is that this is right."""
    evidence = read_evidence(question, hits, read)
    choice = choose(question, form, evidence)
    if choice is None:
        return AnswerVerdict(question, 0.0, None, len(read))
    signs = signs_of(question, choice, evidence, form.kind)
    extracted = shown(question, form.kind, choice, evidence.passages)
    probability = read_judge().probability(signs, form.kind)
    if not tells_share(question.text, choice):
        probability = min(probability, NO_SHARE)
    return AnswerVerdict(question, probability, extracted, len(read), signs)
