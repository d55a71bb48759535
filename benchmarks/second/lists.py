"""Lists to learn from: a question, passages that were found for it, and which of them are steps of its answer.

    python -m benchmarks.second.lists --questions FOLDER --tokenizer tokenizer.json --base reader.onnx --out FOLDER

`FOLDER` is what `benchmarks.second.questions` wrote. Writes `texts.npz`, the passages as tokens of titles and
sentences, and `train.npz` and `held.npz`: for each question its tokens, the passages found, best first, and the
sentences of each that are shown (`kedge.text.sketch`). Passages are found as Kedge does it in outline: by keywords
(BM25), by the mean of their words' vectors, and from the best of these to those whose titles they name.
"""

from __future__ import annotations

import argparse
import gc
import json
import lzma
import math
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kedge.text.analyze import terms
from kedge.text.sketch import KEPT, TermedText, sketched, termed

FOUND = 32
"""Passages of a list."""
LONGEST = 60
"""Tokens that are kept of a sentence."""
QUESTION, TITLE = 80, 10
"""Tokens that are kept of a question and of a title."""
DEEP = 60
"""Passages that each way of searching gives."""
DENSE, LINKED, BRIDGED, GIVEN = 0.7, 0.25, 0.3, 0.3
"""What the best vector, a link from one of the best, what a step's answer finds and what comes with a question add."""
SEEDS = 8
"""Best passages whose links are followed."""
PUT_IN = 0.8
"""How often a passage that is a step and was not found is put among the last, in lists to train on."""
_NAME = re.compile(
    r"[A-Z0-9][\w'’.&-]*(?: (?:(?:of|the|de|and|for|in|von|van|du|la|on|to|a) ){0,2}[A-Z0-9][\w'’.&-]*){0,5}"
)
_QUALIFIED = re.compile(r" \([^)]*\)$")
Array = NDArray[Any]


@dataclass(slots=True)
class Pool:
    """Passages that are searched, and what finds them."""

    rows: Array
    """Their numbers among all passages."""
    words: dict[str, tuple[Array, Array]]
    """For each term, which passages have it and with what weight."""
    labels: Mapping[str, list[int]]
    """By what a title says."""


@dataclass(slots=True)
class World:
    """All passages, and what is known of each."""

    titles: list[str]
    termed: list[TermedText]
    counts: list[Counter[str]]
    linked: list[list[str]]
    """Names of more than a word, or of a title, in each."""


_WORLD: list[World] = []
_POOL: list[Pool] = []


def _looked_at(given: tuple[str, str]) -> tuple[TermedText, Counter[str], list[str]]:
    title, text = given
    names = [match.group().rstrip(".").removesuffix("'s") for match in _NAME.finditer(text[:1500])]
    return termed(title, text), Counter(terms(f"{title} {text}", "english")), list(dict.fromkeys(names))


def pool_of(world: World, rows: Array) -> Pool:
    lengths = np.array([sum(world.counts[row].values()) for row in rows], dtype=np.float32)
    norm = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    labels: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        labels[_QUALIFIED.sub("", world.titles[row])].append(place)
        for term, n in world.counts[row].items():
            found[term].append((place, n * 2.2 / (n + float(norm[place]))))
    words = {}
    for term, pairs in found.items():
        idf = math.log(1 + (len(rows) - len(pairs) + 0.5) / (len(pairs) + 0.5))
        words[term] = (
            np.array([place for place, _ in pairs], dtype=np.int32),
            np.array([weight * idf for _, weight in pairs], dtype=np.float32),
        )
    return Pool(rows, words, labels)


def keywords(pool: Pool, text: str) -> Array:
    scores = np.zeros(len(pool.rows), dtype=np.float32)
    for term in terms(text, "english"):
        if term in pool.words:
            places, weights = pool.words[term]
            scores[places] += weights
    return scores


def best_of(scores: Array, limit: int) -> Array:
    limit = min(limit, len(scores) - 1)
    best = np.argpartition(-scores, limit)[:limit]
    return best[np.argsort(-scores[best], kind="stable")]


def found_for(asked: dict[str, Any], near: tuple[Array, Array], shuffled: random.Random, train: bool) -> list[int]:
    """Places in the pool, best first."""
    world, pool = _WORLD[-1], _POOL[-1]
    scores = keywords(pool, asked["text"])
    top = max(float(scores.max()), 1e-6)
    total: dict[int, float] = {int(place): float(scores[place]) / top for place in best_of(scores, DEEP)}
    places, cosines = near
    low, high = float(cosines.min()), float(cosines.max())
    for place, cosine in zip(places.tolist(), cosines.tolist(), strict=True):
        share = DENSE * (cosine - low) / max(high - low, 1e-6)
        total[place] = total.get(place, float(scores[place]) / top) + share
    for place in sorted(total, key=lambda one: -total[one])[:SEEDS]:
        for name in world.linked[pool.rows[place]]:
            others = pool.labels.get(name, [])
            for other in sorted(others, key=lambda one: -scores[one])[:2]:
                if other != place:
                    total[other] = max(total.get(other, 0.0), float(scores[other]) / top + LINKED)
    for bridge in asked["bridges"][:3]:
        for place in best_of(keywords(pool, bridge), 3).tolist():
            total[place] = max(total.get(place, 0.0), float(scores[place]) / top + BRIDGED * shuffled.random())
    for place in asked["given"]:
        total[place] = max(total.get(place, 0.0), float(scores[place]) / top + GIVEN * shuffled.random())
    order = sorted(total, key=lambda one: -total[one])[:FOUND]
    if train:
        for place in asked["gold"]:
            if place not in order and shuffled.random() < PUT_IN:
                free = [at for at in range(len(order) // 3, len(order)) if order[at] not in asked["gold"]]
                order[shuffled.choice(free)] = place
    return order


def _listed(given: tuple[int, dict[str, Any], tuple[Array, Array], bool]) -> tuple[Array, Array, Array] | None:
    number, asked, near, train = given
    world, pool = _WORLD[-1], _POOL[-1]
    order = found_for(asked, near, random.Random(number), train)
    gold = set(asked["gold"])
    if not gold.intersection(order):
        return None
    numbers = [int(pool.rows[place]) for place in order]
    rows, right = np.full(FOUND, -1, np.int32), np.zeros(FOUND, bool)
    places = np.full((FOUND, KEPT), -1, np.int8)
    rows[: len(order)] = numbers
    right[: len(order)] = [place in gold for place in order]
    for at, one in enumerate(sketched(asked["text"], [world.termed[row] for row in numbers])):
        places[at, : len(one.places)] = one.places
    return rows, places, right


def flat(encoded: Sequence[Any], longest: int) -> tuple[Array, Array]:
    ids = [one.ids[:longest] for one in encoded]
    ends = np.cumsum([len(one) for one in ids]).astype(np.int64)
    return np.fromiter((token for one in ids for token in one), dtype=np.uint16, count=int(ends[-1])), ends


def means(tokens: Array, ends: Array, vectors: Array, rarity: Array, common: Array | None) -> tuple[Array, Array]:
    """The mean of each text's word vectors, rare words most, without what all have in common."""
    out = np.zeros((len(ends), vectors.shape[1]), np.float32)
    starts = np.concatenate([[0], ends[:-1]])

    def add(a: int) -> None:
        b = min(len(ends), a + 1000)
        here = tokens[starts[a] : ends[b - 1]].astype(np.int64)
        if len(here):
            begins = np.minimum(starts[a:b] - starts[a], len(here) - 1)
            out[a:b] = np.add.reduceat(vectors[here] * rarity[here][:, None], begins, axis=0)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add, range(0, len(ends), 1000)))
    out /= np.linalg.norm(out, axis=1, keepdims=True) + 1e-6
    if common is None:
        common = out.mean(0)
    out -= common
    out /= np.linalg.norm(out, axis=1, keepdims=True) + 1e-6
    return out, common


def nearest(questions: Array, passages: Array) -> tuple[Array, Array]:
    """Places and cosines of the `DEEP` nearest passages; on a GPU, where there is torch and one."""
    torch: Any = import_module("torch") if find_spec("torch") else None
    held = torch.from_numpy(passages).cuda() if torch and torch.cuda.is_available() else None
    places, cosines = [], []
    for at in range(0, len(questions), 1024):
        if held is not None:
            best = (torch.from_numpy(questions[at : at + 1024]).cuda() @ held.T).topk(DEEP)
            places.append(best.indices.cpu().numpy())
            cosines.append(best.values.cpu().numpy())
        else:
            near = questions[at : at + 1024] @ passages.T
            best_places = np.argpartition(-near, DEEP, axis=1)[:, :DEEP]
            places.append(best_places)
            cosines.append(np.take_along_axis(near, best_places, 1))
    return np.concatenate(places), np.concatenate(cosines)


def prepare(folder: Path, tokenizer: Tokenizer, base: Mapping[str, Array], out: Path, most: int = 0) -> None:
    """Write all files below `out`, in as many processes as there are cores. `most`: questions of each side."""
    started = time.time()
    gc.disable()  # millions of small objects that stay

    def note(text: str) -> None:
        print(f"{time.time() - started:.0f} s  {text}", flush=True)

    tokenizer.no_padding()
    tokenizer.no_truncation()
    with lzma.open(folder / "pool.jsonl.xz", "rt", encoding="utf-8") as file:
        given = [json.loads(line) for line in file]
    if most:
        given = given[:: max(1, len(given) // (20 * most))]
    with get_context("fork").Pool() as pool:
        looked = pool.map(_looked_at, [(title, text) for _, title, text, _ in given], chunksize=256)
    world = World(
        [one[1] for one in given],
        [one for one, _, _ in looked],
        [one for _, one, _ in looked],
        [one for _, _, one in looked],
    )
    _WORLD.append(world)
    note(f"{len(given)} passages")
    titles = flat(tokenizer.encode_batch_fast([one or "-" for one in world.titles], add_special_tokens=False), TITLE)
    sentences = flat(
        tokenizer.encode_batch_fast([text for one in world.termed for text in one.sentences], add_special_tokens=False),
        LONGEST,
    )
    firsts = np.cumsum([0, *(len(one.sentences) for one in world.termed)]).astype(np.int64)
    np.savez(
        out / "texts.npz",
        title_tokens=titles[0], title_ends=titles[1], tokens=sentences[0], ends=sentences[1], firsts=firsts,
    )  # fmt: skip
    note("tokens")
    vectors = base["emb.word.w"].astype(np.float32) * base["emb.word.s"].astype(np.float32)[:, None]
    whole_ends = sentences[1][firsts[1:] - 1]
    counts = np.bincount(sentences[0], minlength=len(vectors)).astype(np.float32)
    rarity = (1e-3 / (1e-3 + counts / counts.sum())).astype(np.float32)
    passages, common = means(sentences[0], whole_ends, vectors, rarity, None)
    keys = {one[0]: row for row, one in enumerate(given)}
    for side in ("held", "train"):
        rows = np.array([row for row, one in enumerate(given) if one[3] in (side, "both")])
        places = {int(row): place for place, row in enumerate(rows)}
        _POOL.append(pool_of(world, rows))
        with lzma.open(folder / f"{side}.jsonl.xz", "rt", encoding="utf-8") as file:
            asked = [json.loads(line) for line in file]
        if most:
            asked = asked[:: max(1, len(asked) // most)]
        for one in asked:
            one["steps"] = len(one["gold"])
            for name in ("gold", "given"):
                one[name] = [places[keys[key]] for key in one[name] if keys.get(key) in places]
        questions = flat(
            tokenizer.encode_batch_fast([one["text"] for one in asked], add_special_tokens=False), QUESTION
        )
        near = nearest(means(*questions, vectors, rarity, common)[0], passages[rows])
        note(f"{side}: nearest passages of {len(asked)}")
        jobs = [(at, one, (near[0][at], near[1][at]), side == "train") for at, one in enumerate(asked)]
        with get_context("fork").Pool() as pool:
            made = pool.map(_listed, jobs, chunksize=64)
        kept = [(at, one) for at, one in enumerate(made) if one is not None]
        np.savez(
            out / f"{side}.npz",
            question_tokens=questions[0],
            question_ends=questions[1],
            asked=np.array([at for at, _ in kept], dtype=np.int32),
            rows=np.stack([one[0] for _, one in kept]),
            places=np.stack([one[1] for _, one in kept]),
            gold=np.stack([one[2] for _, one in kept]),
            steps=np.array([asked[at]["steps"] for at, _ in kept], dtype=np.int8),
            source=np.array([asked[at]["source"] for at, _ in kept], dtype=np.int8),
        )
        note(f"{side}: {len(kept)} lists")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.second.lists", description=__doc__)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="base.npz or reader.onnx")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most", type=int, default=0)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    from benchmarks.second.base import tensors_of

    prepare(given.questions, Tokenizer.from_file(str(given.tokenizer)), tensors_of(given.base), given.out, given.most)


if __name__ == "__main__":
    main()
