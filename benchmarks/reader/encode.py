"""Examples in tokens: `[CLS] question [SEP] identity [SEP] statement statement … [SEP]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks.reader.example import Example
from kedge.models.read.window import IDENTITY_TOKENS, QUESTION_TOKENS, WINDOW

NOWHERE = -1
TOGETHER = 40
"""Groups out of whose examples those of like length are put together."""
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EncodedExample:
    """One example in tokens."""

    ids: NDArray[np.int32]
    owner: NDArray[np.int16]
    """For each token its statement; NOWHERE for question and identity."""
    second: int
    """Where the identity begins."""
    span: tuple[int, int]
    about: int
    trick: int
    yes: int
    support: Floats
    """For each statement 1 or 0; NOWHERE where it is not known."""


class ExampleEncoder:
    """Puts examples into tokens."""

    def __init__(self, tokenizer: Path) -> None:
        self._tokens = Tokenizer.from_file(str(tokenizer))
        self._tokens.no_padding()
        self._tokens.no_truncation()
        self._open, self._close = (self._tokens.token_to_id(name) for name in ("[CLS]", "[SEP]"))

    def encode(self, example: Example, random: Random) -> EncodedExample:
        """The example; of a long window those statements that hold the answer and some around them."""
        question, identity, *said = self._tokens.encode_batch(
            [example.question, example.identity, *example.statements], add_special_tokens=False
        )
        head = [self._open, *question.ids[:QUESTION_TOKENS], self._close]
        ids = [*head, *identity.ids[:IDENTITY_TOKENS], self._close]
        owner = [NOWHERE] * len(ids)
        low = _first(example, [len(one.ids) for one in said], WINDOW - len(ids) - 1, random)
        span = (NOWHERE, NOWHERE)
        for number, one in enumerate(said[low:], low):
            room = WINDOW - 1 - len(ids)
            if room <= 0:
                break
            if example.span is not None and example.span[0] == number:
                held = [
                    len(ids) + at
                    for at, (left, right) in enumerate(one.offsets[:room])
                    if right > example.span[1] and left < example.span[2]
                ]
                span = (held[0], held[-1]) if held else span
            ids += one.ids[:room]
            owner += [number - low] * len(one.ids[:room])
        count = max(owner) + 1
        support = [float(low + at in example.support) if example.support_known else NOWHERE for at in range(count)]
        lost = example.span is not None and span[0] == NOWHERE
        return EncodedExample(
            np.array([*ids, self._close], np.int32),
            np.array([*owner, NOWHERE], np.int16),
            len(head),
            span,
            NOWHERE if lost else example.about,
            example.trick,
            example.yes,
            np.array(support, np.float32),
        )


def _first(example: Example, lengths: Sequence[int], room: int, random: Random) -> int:
    if sum(lengths) <= room or not lengths:
        return 0
    wanted = example.span[0] if example.span else min(example.support, default=0)
    low, used, back = wanted, min(lengths[wanted], room), random.randint(0, wanted)
    while low > 0 and wanted - low < back and used + lengths[low - 1] <= room:
        low -= 1
        used += lengths[low]
    return low


def grouped(shown: NDArray[np.int64], lengths: NDArray[np.int64], size: int, random: Random) -> list[NDArray[np.int64]]:
    """The places that are shown, shuffled into groups of so many; those of like length together."""
    order = np.random.default_rng(random.getrandbits(32)).permutation(shown)
    chunks = [order[at : at + TOGETHER * size] for at in range(0, len(order), TOGETHER * size)]
    chunks = [chunk[np.argsort(lengths[chunk], kind="stable")] for chunk in chunks]
    groups = [chunk[at : at + size] for chunk in chunks for at in range(0, len(chunk), size)]
    random.shuffle(groups)
    return groups


def collated(group: Sequence[EncodedExample]) -> dict[str, NDArray[Any]]:
    """Examples side by side, filled up."""
    longest = (max(len(one.ids) for one in group) + 15) // 16 * 16
    most = max(1, *(len(one.support) for one in group))
    shape = (len(group), longest)
    batch: dict[str, NDArray[Any]] = {
        "ids": np.zeros(shape, np.int64),
        "mask": np.zeros(shape, np.int64),
        "kinds": np.zeros(shape, np.int64),
        "owner": np.full(shape, NOWHERE, np.int64),
        "support": np.full((len(group), most), NOWHERE, np.float32),
        "span": np.array([one.span for one in group], np.int64),
        "about": np.array([one.about for one in group], np.float32),
        "trick": np.array([one.trick for one in group], np.float32),
        "yes": np.array([one.yes for one in group], np.int64),
    }
    for row, one in enumerate(group):
        end = len(one.ids)
        batch["ids"][row, :end] = one.ids
        batch["mask"][row, :end] = 1
        batch["kinds"][row, one.second : end] = 1
        batch["owner"][row, :end] = one.owner
        batch["support"][row, : len(one.support)] = one.support
    return batch
