"""The mean vectors of texts and of questions, which embedders with a narrow space take away: `models/data/*.npy`.

English passages and questions are of 2wikimultihop and cacm, so that the other sets stay unseen. For a multilingual
model ten other languages have the same weight as English (`many_languages.py`). Prints the cosines of unrelated English
pairs before and after. Run: python -m benchmarks.centres [bge-small] [e5-multilingual] [granite]
"""

from __future__ import annotations

import asyncio
import json
import random
import sys

import numpy as np

from benchmarks import many_languages
from benchmarks.data import folder
from kedge.core.settings import load_settings
from kedge.models.embed import bge, e5, granite
from kedge.models.ports import Embedder

MODELS = {bge.NAME: bge, e5.NAME: e5, granite.NAME: granite}
WORDS = 120
TEXTS = {"2wikimultihop": 150, "cacm": 30}
QUESTIONS = {"2wikimultihop": 100, "cacm": 30}


def sample(file: str, counts: dict[str, int], rng: random.Random) -> list[str]:
    """So many texts of each set."""
    picked = []
    for name, count in counts.items():
        with (folder(name) / file).open(encoding="utf-8") as lines:
            texts = [str(json.loads(line)["text"]) for line in lines]
        rng.shuffle(texts)
        picked += texts[:count]
    return picked


async def main(names: list[str]) -> None:
    rng = random.Random(1)
    texts, questions = sample("corpus.jsonl", TEXTS, rng), sample("queries.jsonl", QUESTIONS, rng)
    for name in names or list(MODELS):
        module = MODELS[name]
        path, module.CENTRES = module.CENTRES, None
        embedder = module.open_embedder(name, load_settings(environ={}))
        passages = await embedder.embed([" ".join(text.split()[:WORDS]) for text in texts])
        asked = np.stack([await embedder.embed_query(text) for text in questions])
        centres = np.stack([passages.mean(axis=0), asked.mean(axis=0)])
        if module is e5:
            centres = (centres + await elsewhere(embedder)) / 2
        np.save(path, centres)
        print(f"{name}: {spread(asked, passages)} → {spread(asked - centres[1], passages - centres[0])}")


async def elsewhere(embedder: Embedder) -> np.ndarray:
    """The centres of the other languages, each of the same weight."""
    texts = [(await embedder.embed(some)).mean(axis=0) for some in many_languages.STATEMENTS.values()]
    asked = [
        np.mean([await embedder.embed_query(one) for one in some], axis=0) for some in many_languages.QUESTIONS.values()
    ]
    return np.stack([np.mean(texts, axis=0), np.mean(asked, axis=0)])


def spread(questions: np.ndarray, texts: np.ndarray) -> str:
    """Mean and deviation of the cosines between all questions and all texts."""
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (questions, texts)]
    cosines = unit[0] @ unit[1].T
    return f"{cosines.mean():.3f} ± {cosines.std():.3f}"


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
