"""Long descriptions of nodes: how large a piece of them should be embedded at a time (G-23).

    python -m benchmarks.graph_long_texts [--articles 60] [--embedder minilm] [--sizes 248,128,96,64,48]

Nodes are articles of SQuAD, as much of each as a node's text may hold (8,000 characters with the title); questions are
those that were asked about its paragraphs. `first` is the share of questions whose article is the nearest by its
nearest piece, `first_of_last_third` the same for the questions about that part of a text, `pieces` the vectors a node.

Control: `one` embeds each text once, of which the model sees its window and no more.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.data import folder
from kedge.core.settings import load_settings
from kedge.core.values import embed_text
from kedge.kinds.graphs.indexing import MAX_TEXT_CHARS
from kedge.kinds.graphs.pieces import pieces
from kedge.models.ports import Embedder
from kedge.models.registry import open_embedder

QUESTIONS = 6
"""Of each article."""


@dataclass(frozen=True)
class Article:
    title: str
    text: str
    asked: tuple[tuple[str, int], ...]
    """Questions, and where in the text the paragraph of each begins."""


def articles(limit: int) -> list[Article]:
    """The first of the training set, with their paragraphs in order."""
    held: dict[str, list[tuple[str, list[str]]]] = {}
    with lzma.open(folder("train") / "squad1_train.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["title"] not in held and len(held) == limit:
                break
            asked = [one["text"] for one in row["questions"]]
            held.setdefault(row["title"], []).extend([(row["text"], asked)] if asked else [])
    return [_article(title.replace("_", " "), paragraphs) for title, paragraphs in held.items()]


def _article(title: str, paragraphs: Sequence[tuple[str, list[str]]]) -> Article:
    text, asked = "", []
    for paragraph, questions in paragraphs:
        if len(title) + 1 + len(text) + len(paragraph) + 1 > MAX_TEXT_CHARS:
            break
        asked.append((questions[0], len(text)))
        text += paragraph + "\n"
    step = max(1, len(asked) // QUESTIONS)
    return Article(title, text.strip(), tuple(asked[::step][:QUESTIONS]))


async def measure(found: Sequence[Article], model: Embedder, size: int | None) -> dict[str, float]:
    """The figures for pieces of that many tokens; None: one vector for each node."""
    spans = [[(0, len(one.text))] if size is None else pieces(one.title, one.text, model, size) for one in found]
    texts = [embed_text(one.title, (), one.text[a:b]) for one, own in zip(found, spans, strict=True) for a, b in own]
    owners = np.array([place for place, own in enumerate(spans) for _ in own])
    vectors = np.asarray(await model.embed(texts))
    right, late = [], []
    for place, one in enumerate(found):
        for question, at in one.asked:
            best = int(owners[int(np.argmax(vectors @ await model.embed_query(question)))])
            right.append(best == place)
            if at > 2 * len(one.text) / 3:
                late.append(best == place)
    return {
        "pieces": round(len(texts) / len(found), 1),
        "questions": len(right),
        "first": round(float(np.mean(right)), 3),
        "first_of_last_third": round(float(np.mean(late)), 3),
    }


async def run(limit: int, embedder: str, sizes: Sequence[int]) -> AsyncIterator[tuple[str, dict[str, float]]]:
    """Figures by size, as they come."""
    model = open_embedder(embedder, load_settings(environ={}))
    try:
        found = articles(limit)
        for size in (None, *sizes):
            yield str(size or "one"), await measure(found, model, size)
    finally:
        await model.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--articles", type=int, default=60)
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--sizes", default="248,128,96,64,48")
    given = parser.parse_args()
    sizes = [int(one) for one in given.sizes.split(",")]

    async def show() -> None:
        async for size, figures in run(given.articles, given.embedder, sizes):
            print(f"{size:>5}  {json.dumps(figures)}", flush=True)

    asyncio.run(show())


if __name__ == "__main__":
    main()
