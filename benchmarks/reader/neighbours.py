"""The passages that keyword search finds for each question of squad2."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np

from benchmarks.reader.sources import Questions
from kedge.text.analyze import terms

FOUND = 25
SATURATION = 1.2


def neighbours(questions: Questions) -> list[list[int]]:
    """Indexes of the best passages for each question by BM25 without length norm; its own is always among them."""
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for index, passage in enumerate(questions.passages):
        for term, count in Counter(terms(passage.title) + terms(passage.text)).items():
            postings[term].append((index, count))
    total = len(questions.passages)
    found: list[list[int]] = []
    for example, own in zip(questions.examples, questions.gold, strict=True):
        scores = np.zeros(total)
        for term in dict.fromkeys(terms(example.question)):
            holders = postings.get(term, [])
            rarity = math.log(1 + (total - len(holders) + 0.5) / (len(holders) + 0.5))
            for index, count in holders:
                scores[index] += rarity * count * (SATURATION + 1) / (count + SATURATION)
        top: list[int] = np.argsort(-scores, kind="stable")[:FOUND].tolist()
        found.append(top if own in top else [*top, own])
    return found
