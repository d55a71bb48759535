"""The judge: how probable it is that a set of passages answers the question.

It looks at the set, not at one passage: how much of the question the evidence covers, whether the names in the question
occur at all, how near the nearest sentence is and whether the channels agree. A logistic model over these features
gives the probability; its weights are data, made by `python -m benchmarks.judge` from open sets. Embedders spread
their cosines differently: `data/judge_granite.json` is for the default one, `data/judge.json`, made with MiniLM, for
others.
It judges what is not read: other languages than English, and everything where the reader is turned off.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Literal

from kedge.text.antonyms import contradicts
from kedge.text.evidence import EvidencePassage, EvidenceSentence, TermMatcher, passage_terms
from kedge.text.question import Question, is_negated, steps

Confidence = Literal["high", "medium", "low", "insufficient"]

THRESHOLD = 0.6
"""Answer at or above this probability, refuse below (D-11)."""
_TOP_SENTENCES = 3
_TYPED = frozenset({"name", "date", "number", "complexity"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """One retrieved passage with what each channel said about it."""

    passage: EvidencePassage
    """Text and title."""
    cosine: float | None = None
    """Dense similarity to the question, if the dense channel scored it."""
    keyword_score: float | None = None
    """BM25 score, if the keyword channel found it."""
    vector_rank: int | None = None
    """Rank in the dense channel, from 1."""
    keyword_rank: int | None = None
    """Rank in the keyword channel, from 1."""
    graph_rank: int | None = None
    """Rank in the graph channel, from 1."""


@dataclass(frozen=True, slots=True)
class EvidenceFeatures:
    """What the judge knows about a set of evidence; every value lies in or near [0, 1]."""

    sentence_cosine: float | None
    """Similarity of the nearest sentence to the question; None without embeddings."""
    passage_cosine: float | None
    """Similarity of the nearest passage; None without a dense channel."""
    sentence_coverage: float
    """Share of the question, weighted by rarity, in the best sentence and its passage's title."""
    set_coverage: float
    """The same for all passages together: high where several passages are needed."""
    sentence_gap: float
    """Rarity of the rarest question term that the best sentence lacks; 0 when it has all."""
    set_gap: float
    """Rarity of the rarest question term that no passage has."""
    names_in_sentence: float
    """Share of the question's names and numbers in the best sentence; 1 when it has none."""
    names_in_set: float
    """Share of the question's names and numbers in all passages together."""
    phrases: float
    """Share of neighbouring question terms that are neighbours in the best passage."""
    negation_unmet: float
    """1 when the question denies something and the best sentence denies nothing."""
    opposite: float
    """1 when the best sentence says the opposite of a word in the question (last for first)."""
    type_missing: float
    """1 when the question asks for a name, date or number and the best sentences offer none."""
    agreement: float
    """1 when the dense and the keyword channel put the same passage first."""
    keyword_strength: float
    """Best BM25 score as a share of the highest that this question could reach."""
    spread: float
    """Share of the question that only several passages together cover, no single one."""
    title_coverage: float
    """Share of the question that titles of passages are, each wholly named in it, where it leads from one to another:
    through several of them, or by several steps from one. That a page is named does not mean that it has the answer."""


def judge_features(
    question: Question, evidence: Sequence[Evidence], ranked: Sequence[EvidenceSentence]
) -> EvidenceFeatures:
    """Measure `evidence` (best first) and its sentences (from `kedge.text.evidence.rank_sentences`), unread."""
    split = [passage_terms(item.passage) for item in evidence]
    matcher = TermMatcher.of(question, {term for title, text in split for term in (*title, *text)})
    found = [matcher.matched([*title, *text]) for title, text in split]
    everything = frozenset().union(*found)
    best = ranked[0] if ranked else None
    best_terms = best.matched if best else frozenset()
    home = best.passage if best else 0
    top = ranked[:_TOP_SENTENCES]
    set_coverage = question.coverage(everything)
    return EvidenceFeatures(
        sentence_cosine=max((s.cosine for s in ranked if s.cosine is not None), default=None),
        passage_cosine=max((e.cosine for e in evidence if e.cosine is not None), default=None),
        sentence_coverage=best.coverage if best else 0.0,
        set_coverage=set_coverage,
        sentence_gap=_gap(question, best_terms),
        set_gap=_gap(question, everything),
        names_in_sentence=_share(question.names, best_terms),
        names_in_set=_share(question.names, everything),
        phrases=_phrases(question, matcher, split[home][1] if split else []),
        negation_unmet=float(question.negated and best is not None and not is_negated(best.text)),
        opposite=float(best is not None and contradicts(question.text, best.text)),
        type_missing=float(question.kind in _TYPED and not any(s.answers for s in top)),
        agreement=float(any(e.vector_rank == 1 and e.keyword_rank == 1 for e in evidence)),
        keyword_strength=max((e.keyword_score or 0.0 for e in evidence), default=0.0) / (2.2 * question.total_weight),
        spread=set_coverage - max((question.coverage(matched) for matched in found), default=0.0),
        title_coverage=_title_coverage(question, [title for title, _ in split]),
    )


@dataclass(frozen=True, slots=True)
class Judge:
    """A logistic model: a set of weights for each combination of what is known."""

    weights: Mapping[str, Mapping[str, float]]
    """By `variant_of` the features: weight by feature, and `bias`."""

    def probability(self, features: EvidenceFeatures, *, foreign: bool = False) -> float:
        """Calibrated probability in [0, 1] that the evidence answers the question. `foreign`: it is not in English."""
        weights = self.weights[variant_of(features, foreign=foreign)]
        logit = weights["bias"]
        for field in fields(features):
            weight = weights.get(field.name, 0.0)
            if weight:
                logit += weight * float(getattr(features, field.name) or 0.0)
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def variant_of(features: EvidenceFeatures, *, foreign: bool = False) -> str:
    """Which weights go with these features: whether there were embeddings, and whether trick questions are expected.

    What people ask in other languages is judged by weights that were fitted with few of the questions that were written
    to mislead: without a reader they cannot be told apart, and good ones would be refused with them.
    """
    embedded = features.sentence_cosine is not None and features.passage_cosine is not None
    return ("dense" if embedded else "lexical") + ("_foreign" if foreign else "")


CALIBRATED = {"granite": "judge_granite.json"}
"""Embedders with weights of their own."""
USUAL = "judge.json"
"""Weights of the others."""


@cache
def judge_of(embedder: str) -> Judge:
    """The judge with the calibration that is shipped for an embedder."""
    kept = files("kedge.answer.judge").joinpath("data", CALIBRATED.get(embedder, USUAL))
    return Judge(json.loads(kept.read_text(encoding="utf-8"))["weights"])


def confidence(probability: float, threshold: float = THRESHOLD) -> Confidence:
    """The level shown to people: the room above the threshold is cut in three."""
    if probability < threshold:
        return "insufficient"
    step = (1.0 - threshold) / 3
    if probability < threshold + step:
        return "low"
    return "medium" if probability < threshold + 2 * step else "high"


def _gap(question: Question, found: frozenset[str]) -> float:
    missing = [question.weight_of[term] for term in question.terms if term not in found]
    return max(missing, default=0.0) / question.ceiling


def _title_coverage(question: Question, titles: Sequence[Sequence[str]]) -> float:
    asked = set(question.terms)
    named = {tuple(title) for title in titles if title and asked.issuperset(title)}
    if len(named) < 2 and steps(question.text) < 2:
        return 0.0
    return question.coverage(frozenset(term for title in named for term in title))


def _share(wanted: frozenset[str], found: frozenset[str]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 1.0


def _phrases(question: Question, matcher: TermMatcher, text: Sequence[str]) -> float:
    pairs = list(pairwise(question.terms))
    as_asked = [matcher.spellings.get(term) for term in text]
    present = set(pairwise(as_asked))
    return sum(pair in present for pair in pairs) / len(pairs) if pairs else 0.0
