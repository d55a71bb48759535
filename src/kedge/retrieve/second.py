"""The second step: where a question takes several passages, they are read beside each other and put first.

"Who runs the port of the town where the ferry was built?" has hardly a word of the passage that answers it: that one
speaks of the town's name. Which passages are steps of the answer shows when they are read together, so a small network
reads the question beside the best candidates (`models/read/chain.py`): once, and where it finds few steps for so long a
question, once more the next candidates beside the surest of the first. A question is judged to need it by what is known
anyway: it asks, it describes something beside what it names, and no candidate holds most of its words. Others pay
nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kedge.core.values import Passage
from kedge.models.read.chain import ChainReader
from kedge.retrieve.fuse import Fused
from kedge.retrieve.parameters import PARAMETERS
from kedge.retrieve.topical import NAMED
from kedge.text.languages import DEFAULT, guess
from kedge.text.question import asks

READ = 16
"""Best candidates that are read beside each other."""
FURTHER, SUREST = 12, 4
"""Next candidates that are read beside the surest of these, where steps seem to be missing."""
_SECOND = PARAMETERS["second"]
WEIGHT: float = _SECOND["weight"]
"""What a passage that is surely a step gains, as a share of the best score."""
COVERED: float = _SECOND["covered"]
"""Share of the question's words, by rarity, from which on a passage may be the whole answer."""
WORDS_A_STEP: float = _SECOND["words_a_step"]
"""Different words of the question, function words aside, for each step found, above which some seem to be missing."""
MANY: int = _SECOND["words"]
"""Different words, function words aside, from which on a question may take steps without describing anything."""
_DESCRIBED = re.compile(
    r"(?<=\s)(?:that|who|whom|whose|which|where)\b|\w['’]s\b|\bof (?:the|an?)\b|\bof\b.*\bof\b", re.I
)
"""Somebody or something that is described where another question would name it."""


def takes_steps(question: str, covered: float, words: int) -> bool:
    """Whether a question is judged to take several passages.

    `covered` is the largest share of the weight of its words that one candidate holds, `words` how many it has.
    """
    return (
        covered < COVERED
        and (words >= MANY or _DESCRIBED.search(question) is not None)
        and NAMED.search(question) is not None
        and asks(question)
        and sum(letter.isalpha() and not letter.isascii() for letter in question) * 5 < len(question)
        and guess(question) == DEFAULT
    )


def best_cover(weights: Mapping[int, float], candidates: Sequence[Mapping[int, float]]) -> float:
    """The largest share of the question's weight that the terms of one candidate hold; 1 where it has no weight."""
    total = sum(weights.values())
    if not total:
        return 1.0
    return max((sum(weights[term] for term in weights if term in held) for held in candidates), default=0.0) / total


def by_steps(
    reader: ChainReader, question: str, words: int, ranked: Sequence[Fused], passages: Mapping[str, Passage]
) -> tuple[list[Fused], dict[str, float]]:
    """The hits in their new order, and how surely each that was read is a step of the answer.

    `words`: how many the question has, as for `takes_steps`. `passages` are those of the hits that may be read, at most
    `READ` + `FURTHER`; the others keep their score. Raises ModelError.
    """
    head = [item.passage_id for item in ranked if item.passage_id in passages]
    if len(head) < 2:
        return list(ranked), {}
    odds = _read(reader, question, head[:READ], passages)
    further = head[READ:]
    if further and max(odds.values()) > 0 and words > WORDS_A_STEP * sum(map(_share, odds.values())):
        surest = set(sorted(odds, key=lambda key: -odds[key])[:SUREST])
        again = _read(reader, question, [*(key for key in head[:READ] if key in surest), *further], passages)
        odds |= {key: (value + odds.get(key, value)) / 2 for key, value in again.items()}
    sure = {key: _share(value) for key, value in odds.items()}
    best = max(ranked[0].score, 1e-9)
    moved = [replace(item, score=item.score + WEIGHT * best * sure.get(item.passage_id, 0.0)) for item in ranked]
    return sorted(moved, key=lambda item: (-item.score, item.passage_id)), sure


def _read(reader: ChainReader, question: str, keys: Sequence[str], passages: Mapping[str, Passage]) -> dict[str, float]:
    odds = reader.read(question, [(passages[key].title, passages[key].text) for key in keys])
    return dict(zip(keys, odds.tolist(), strict=True))


def _share(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))
