"""The two stages: made examples first, then squad2, once for each fold of its articles and once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader.base import read_base
from benchmarks.reader.example import Example, Text
from benchmarks.reader.examples import Asked, made
from benchmarks.reader.export import layout, write_reader
from benchmarks.reader.lexicon import Lexicon
from benchmarks.reader.needs import note
from benchmarks.reader.tokens import Encoded, encode, open_tokenizer
from kedge.evals.metrics import auroc

BLOCK = 10_000
"""Examples that one worker makes at a time, with a seed of their own."""
FIRST_BLOCK, FIRST_FOLD = 100, 50
"""First seeds."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Where the weights come from and go to, and how to train."""

    base: Path
    out: Path
    device: str
    epochs: int
    folds: int

    @property
    def first_weights(self) -> Path:
        """Weights after the first stage."""
        return self.out / "stage1.pt"

    @property
    def weights(self) -> Path:
        return self.out / "reader.onnx"


@dataclass(frozen=True, slots=True)
class Scored:
    """What a model says of questions that it has not seen."""

    places: list[int]
    odds: NDArray[np.float64]
    """Of each question on its own passage."""
    hits: NDArray[np.bool_]
    pairs: list[tuple[int, int, float]]
    """Question, passage and log-odds, for all neighbours."""


def made_block(lexicon: Lexicon, texts: Sequence[Text], block: tuple[int, int]) -> list[Encoded]:
    """So many made examples from one seed, in tokens."""
    seed, wanted = block
    return encode(open_tokenizer(), made(Random(seed), lexicon, texts, wanted))


def made_examples(lexicon: Lexicon, texts: Sequence[Text], wanted: int, workers: int) -> list[Encoded]:
    """Made examples from worker processes: the same ones for any number of workers."""
    sizes = [min(BLOCK, wanted - at) for at in range(0, wanted, BLOCK)]
    blocks = [(FIRST_BLOCK + index, size) for index, size in enumerate(sizes)]
    found: list[Encoded] = []
    with ProcessPoolExecutor(min(workers, len(blocks)), get_context("spawn")) as pool:
        for block in pool.map(partial(made_block, lexicon, texts), blocks):
            found += block
            note(f"{len(found):,} of {wanted:,} examples made")
    return found


def first_stage(setup: Setup, encoded: Sequence[Encoded], asked: Asked) -> dict[str, float | None]:
    """Train on made examples, keep the weights, and say what they reach on squad2 without having seen it."""
    from benchmarks.reader import training
    from benchmarks.reader.model import Reader, torch

    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(0)
    model = Reader(read_base(setup.base)).to(setup.device)
    training.fit(model, lambda: encoded, training.STAGE_1, Random(0), device=setup.device, name="stage 1")
    half = {name: value.half().cpu() for name, value in model.state_dict().items()}
    torch.save(half, setup.first_weights)
    examples = asked.questions.examples
    odds, hits = training.score(model, encode(open_tokenizer(), examples), setup.device)
    return figures(examples, odds, hits)


def second_stage(setup: Setup, asked: Asked) -> tuple[dict[str, float | None], dict[str, dict[str, float]]]:
    """Train the folds and the final model, at once on a GPU, one by one on a CPU.

    Returns figures, and log-odds by question and passage from models that have not seen the question's article.
    """
    questions = asked.questions
    odds, hits = np.zeros(len(questions.ids)), np.zeros(len(questions.ids), np.bool_)
    pairs: dict[str, dict[str, float]] = {}
    with ProcessPoolExecutor(setup.folds + 1 if setup.device == "cuda" else 1, get_context("spawn")) as pool:
        for scored in pool.map(partial(train_one, setup, asked), range(setup.folds + 1)):
            odds[scored.places], hits[scored.places] = scored.odds, scored.hits
            for question, passage, value in scored.pairs:
                row = pairs.setdefault(questions.ids[question], {})
                row[questions.passages[passage].id] = round(value, 3)
    return figures(questions.examples, odds, hits), pairs


def held_out(articles: Sequence[str], folds: int, fold: int) -> set[str]:
    """Articles that a fold's model does not see; none for the final one, whose number is `folds`."""
    return set(articles[fold::folds]) if fold < folds else set()


def train_one(setup: Setup, asked: Asked, fold: int) -> Scored:
    """One model of the second stage: it scores what it has not seen, and the final one is written."""
    from benchmarks.reader import training
    from benchmarks.reader.model import Reader, torch

    name = f"fold {fold + 1}" if fold < setup.folds else "final"
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(1)
    model = Reader(read_base(setup.base)).to(setup.device)
    model.load_state_dict({key: value.float() for key, value in torch.load(setup.first_weights).items()})
    held = held_out(asked.questions.articles, setup.folds, fold)
    train = [example for example in asked.questions.examples if example.article not in held]
    random, tokenizer = Random(FIRST_FOLD + fold), open_tokenizer()
    plan = replace(training.STAGE_2, epochs=setup.epochs)
    training.fit(
        model, lambda: encode(tokenizer, asked.epoch(random, train)), plan, Random(2), device=setup.device, name=name
    )
    if not held:
        state = {key: value.float().cpu().numpy() for key, value in model.state_dict().items()}
        note(f"{setup.weights}: sha256 {write_reader(layout(state), setup.weights)}")
        return Scored([], np.zeros(0), np.zeros(0, np.bool_), [])
    unseen = [example for example in asked.questions.examples if example.article in held]
    odds, hits = training.score(model, encode(tokenizer, unseen), setup.device)
    near = [(example, passage) for example in unseen for passage in asked.neighbours[example.place]]
    read = [
        example.unanswered(title=asked.questions.passages[passage].title, text=asked.questions.passages[passage].text)
        for example, passage in near
    ]
    values, _ = training.score(model, encode(tokenizer, read), setup.device)
    note(f"{name}: {len(unseen):,} questions and {len(near):,} pairs scored")
    pairs = [(example.place, passage, float(value)) for (example, passage), value in zip(near, values, strict=True)]
    return Scored([example.place for example in unseen], odds, hits, pairs)


def figures(examples: Sequence[Example], odds: NDArray[np.float64], hits: NDArray[np.bool_]) -> dict[str, float | None]:
    """How well answerable questions are told from the others, and how often the answer's start is found."""
    labels = [example.answerable for example in examples]
    area = auroc(odds.tolist(), labels)
    hit = float(hits[np.array(labels)].mean()) if any(labels) else None
    return {"auroc": area and round(area, 4), "hit": hit and round(hit, 4)}
