"""Teach the chain reader.

    python -m benchmarks.second.train --data LISTS --base reader.onnx --out FOLDER --shape six-16

`--data` holds what `python -m benchmarks.second.lists` wrote. Needs torch and a GPU, minutes on an H200. Starts from
some layers of the carried reader, whose word vectors stay as they are, prints figures on what was held back, and writes
`SHAPE.npz` (matrices in bytes) for `python -m benchmarks.second.export`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader.export import quantised
from benchmarks.reader.needs import need
from benchmarks.second.base import tensors_of
from benchmarks.second.questions import HOTPOT, RELATED
from kedge.models.read.window import CHAIN_QUESTION, CHAIN_TITLE

torch: Any = need("torch")
nn: Any = torch.nn
F: Any = torch.nn.functional

Tensors: TypeAlias = dict[str, NDArray[Any]]
Example: TypeAlias = tuple[NDArray[np.int64], int, NDArray[np.int64], NDArray[np.float32]]
"""Tokens, where the passages begin, where each opens, and whether it is a step."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What is read, and by how much."""

    layers: tuple[int, ...]
    """Of the reader's twelve, those that are trained further."""
    passages: int
    window: int


SHAPES = {
    "six-16": Shape((0, 2, 4, 7, 9, 11), 16, 512),
    "four-16": Shape((0, 4, 8, 11), 16, 512),
    "four-24": Shape((0, 4, 8, 11), 24, 640),
    "six-24": Shape((0, 2, 4, 7, 9, 11), 24, 640),
}
FOUND = 0.85
"""How often a step that is not among the first passages is put there."""
TWICE = (HOTPOT, 3, 4, RELATED + 4)
"""Sources whose lists are shown twice: few, and as people ask or of many steps."""
OPEN, CLOSE = 101, 102
HEADS, WIDTH, WIDE = 12, 384, 1536


def full(tensors: Tensors, name: str) -> Any:
    return torch.from_numpy(tensors[f"{name}.w"].astype(np.float32) * tensors[f"{name}.s"].astype(np.float32)[:, None])


def plain(tensors: Tensors, name: str) -> Any:
    return torch.from_numpy(tensors[name].astype(np.float32).copy())


class ChainLayer(nn.Module):  # type: ignore[misc]  # torch need not be installed to check the types
    """One layer, from the reader's."""

    def __init__(self, tensors: Tensors, number: int) -> None:
        super().__init__()
        for short, rows, columns in (
            ("q", WIDTH, WIDTH),
            ("k", WIDTH, WIDTH),
            ("v", WIDTH, WIDTH),
            ("ao", WIDTH, WIDTH),
            ("fi", WIDE, WIDTH),
            ("fo", WIDTH, WIDE),
        ):
            linear = nn.Linear(columns, rows)
            linear.weight.data.copy_(full(tensors, f"l{number}.{short}"))
            linear.bias.data.copy_(plain(tensors, f"l{number}.{short}.b"))
            setattr(self, short, linear)
        for short in ("aln", "oln"):
            norm = nn.LayerNorm(WIDTH, eps=1e-12)
            norm.weight.data.copy_(plain(tensors, f"l{number}.{short}.w"))
            norm.bias.data.copy_(plain(tensors, f"l{number}.{short}.b"))
            setattr(self, short, norm)
        self.drop = nn.Dropout(0.1)

    def forward(self, hidden: Any, mask: Any) -> Any:
        texts, tokens, _ = hidden.shape

        def split(linear: Any) -> Any:
            return linear(hidden).view(texts, tokens, HEADS, WIDTH // HEADS).transpose(1, 2)

        mixed = F.scaled_dot_product_attention(split(self.q), split(self.k), split(self.v), attn_mask=mask)
        mixed = mixed.transpose(1, 2).reshape(texts, tokens, WIDTH)
        hidden = self.aln(hidden + self.drop(self.ao(mixed)))
        return self.oln(hidden + self.drop(self.fo(F.gelu(self.fi(hidden)))))


class Head(nn.Module):  # type: ignore[misc]
    """Log-odds from the vectors of the tokens that open the passages."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, 1)
        self.drop = nn.Dropout(0.1)

    def forward(self, opening: Any) -> Any:
        return self.out(self.drop(torch.tanh(self.pool(opening))))[..., 0].float()


class ChainNetwork(nn.Module):  # type: ignore[misc]
    """Log-odds, at the token that opens each passage, that it is a step of the answer."""

    def __init__(self, tensors: Tensors, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding.from_pretrained(full(tensors, "emb.word"), freeze=True)  # shared with the reader
        known = plain(tensors, "emb.place")
        while len(known) < shape.window:
            known = torch.cat([known, known[-min(len(known), shape.window - len(known)) :]])
        self.places = nn.Embedding.from_pretrained(known[: shape.window].clone(), freeze=False)
        self.kinds = nn.Embedding.from_pretrained(plain(tensors, "emb.kind"), freeze=False)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.norm.weight.data.copy_(plain(tensors, "emb.norm.w"))
        self.norm.bias.data.copy_(plain(tensors, "emb.norm.b"))
        self.layers = nn.ModuleList(ChainLayer(tensors, number) for number in shape.layers)
        self.head = Head()
        self.drop = nn.Dropout(0.1)

    def forward(self, ids: Any, kinds: Any, mask: Any, opens: Any) -> Any:
        """ids, kinds, mask (texts, tokens); opens (texts, passages): where each passage opens."""
        at = torch.arange(ids.shape[1], device=ids.device)
        hidden = self.drop(self.norm(self.words(ids) + self.places(at)[None] + self.kinds(kinds)))
        allowed = mask[:, None, None, :].bool()
        for layer in self.layers:
            hidden = layer(hidden, allowed)
        return self.head(torch.gather(hidden, 1, opens[:, :, None].expand(-1, -1, WIDTH)))


def go_on(model: Any, path: Path) -> None:
    """Take the weights that an earlier training wrote; those of places that it did not have are its last."""
    with np.load(path) as file:
        state = {name: file[name].astype(np.float32) for name in file.files}
    for name in [name for name in state if name.endswith(".s")]:
        state[name.removesuffix(".s")] *= state.pop(name)[:, None]
    lacking = max(0, model.shape.window - len(state["places.weight"]))
    places = [state["places.weight"], *([state["places.weight"][-lacking:]] if lacking else [])]
    state["places.weight"] = np.concatenate(places)[: model.shape.window]
    model.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()}, strict=False)


def split(tokens: NDArray[Any], ends: NDArray[Any]) -> list[NDArray[np.int64]]:
    return np.split(tokens.astype(np.int64), ends[:-1])


class Lists:
    """What `benchmarks.second.lists` wrote."""

    def __init__(self, folder: Path, side: str) -> None:
        with np.load(folder / "texts.npz") as file:
            self.titles = split(file["title_tokens"], file["title_ends"])
            self.sentences, self.firsts = split(file["tokens"], file["ends"]), file["firsts"]
        with np.load(folder / f"{side}.npz") as file:
            self.questions = split(file["question_tokens"], file["question_ends"])
            self.asked, self.rows, self.places = file["asked"], file["rows"], file["places"]
            self.gold, self.steps, self.source = file["gold"], file["steps"], file["source"]

    def __len__(self) -> int:
        return len(self.asked)

    def packed(self, at: int, order: Sequence[int], window: int) -> Example:
        """Tokens, where the second part begins, where each passage opens, and whether it is gold."""
        question = self.questions[self.asked[at]][:CHAIN_QUESTION]
        room = (window - 2 - len(question)) // len(order) - 1
        parts, opens, total = [np.array([OPEN]), question], [], 1 + len(question)
        for place in order:
            row = self.rows[at, place]
            title = self.titles[row][:CHAIN_TITLE]
            left = room - len(title)
            chosen = []
            for number in self.places[at, place]:
                if number >= 0 and left > 0:
                    tokens = self.sentences[self.firsts[row] + number][:left]
                    left -= len(tokens)
                    chosen.append((number, tokens))
            opens.append(total)
            one = [np.array([CLOSE]), title, *(tokens for _, tokens in sorted(chosen, key=lambda pair: pair[0]))]
            parts += one
            total += sum(map(len, one))
        ids = np.concatenate([*parts, [CLOSE]])
        return ids, 1 + len(question), np.array(opens), self.gold[at, list(order)].astype(np.float32)

    def there(self, at: int) -> list[int]:
        return [int(place) for place in np.flatnonzero(self.rows[at] >= 0)]


def batch(examples: Sequence[Example]) -> list[NDArray[Any]]:
    longest = max(len(ids) for ids, *_ in examples)
    most = max(len(opens) for _, _, opens, _ in examples)
    ids = np.zeros((len(examples), longest), np.int64)
    kinds, mask = np.zeros_like(ids), np.zeros_like(ids)
    opens, gold, real = (np.zeros((len(examples), most), kind) for kind in (np.int64, np.float32, bool))
    for row, (tokens, second, places, right) in enumerate(examples):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
        kinds[row, second : len(tokens)] = 1
        opens[row, : len(places)], gold[row, : len(places)], real[row, : len(places)] = places, right, True
    return [ids, kinds, mask, opens, real, gold]


def orders(lists: Lists, shuffled: random.Random, most: int) -> Iterator[tuple[int, list[int]]]:
    """The first passages of each list, mostly with all gold, half of the time in the order in which they were found."""
    numbers = [at for at in range(len(lists)) for _ in range(1 + (int(lists.source[at]) in TWICE))]
    shuffled.shuffle(numbers)
    for at in numbers:
        there = lists.there(at)
        size = most if shuffled.random() < 0.75 else shuffled.randint(min(8, most), most)
        some = shuffled.random() < 0.4
        chosen = sorted(shuffled.sample(there, min(size, len(there)))) if some else there[:size]
        for place in there:
            if lists.gold[at, place] and place not in chosen and shuffled.random() < FOUND:
                free = [n for n, one in enumerate(chosen) if not lists.gold[at, one]]
                if free:
                    chosen[shuffled.choice(free[len(free) // 3 :])] = place
        if not lists.gold[at, chosen].any():
            continue
        if shuffled.random() < 0.5:
            shuffled.shuffle(chosen)
        yield at, chosen


def feed(lists: Lists, seed: int, given: argparse.Namespace, shape: Shape, waiting: Any) -> None:
    """Batches without end."""
    shuffled = random.Random(seed)
    while True:
        examples = []
        for at, order in orders(lists, shuffled, shape.passages):
            examples.append(lists.packed(at, order, shape.window))
            if len(examples) == given.size:
                waiting.put(batch(examples))
                examples = []


def loss_of(scores: Any, gold: Any, real: Any) -> Any:
    each = F.binary_cross_entropy_with_logits(scores, gold, reduction="none") * real
    point = each.sum(1) / real.sum(1)
    shares = torch.log_softmax(scores.masked_fill(~real, -1e4), 1)
    right = gold * real
    rank = -(shares * right).sum(1) / right.sum(1).clamp(min=1)
    return (point + 0.5 * rank).mean()


def sent(arrays: Sequence[NDArray[Any]], device: Any) -> list[Any]:
    return [torch.from_numpy(one).to(device, non_blocking=True) for one in arrays]


@torch.no_grad()  # type: ignore[untyped-decorator]
def figures(model: Any, lists: Lists, device: Any, most: int = 0) -> dict[int, tuple[float, ...]]:
    """By source, over all steps, found or not: recall in the first five as found, of those read, and as read.

    Then whether all are in the first five, and the mean average precision over those that are there.
    """
    model.eval()
    found: dict[int, list[tuple[float, ...]]] = {}
    numbers = list(range(len(lists)))[: most or None]
    size = model.shape.passages
    for start in range(0, len(numbers), 64):
        chosen = [(at, lists.there(at)[:size]) for at in numbers[start : start + 64]]
        *given, _, _ = sent(batch([lists.packed(at, order, model.shape.window) for at, order in chosen]), device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            values = model(*given).cpu().numpy()
        for row, (at, order) in enumerate(chosen):
            right, total = lists.gold[at, order], int(lists.steps[at])
            hits = right[np.argsort(-values[row, : len(order)], kind="stable")]
            ranks = np.flatnonzero(hits) + 1
            precision = float(np.mean(np.arange(1, len(ranks) + 1) / ranks)) if len(ranks) else 0.0
            found.setdefault(int(lists.source[at]), []).append(
                (
                    right[:5].sum() / total,
                    right.sum() / total,
                    hits[:5].sum() / total,
                    float(hits[:5].sum() == total),
                    precision,
                )
            )
    model.train()
    return {
        key: (len(rows), *(round(float(value), 4) for value in np.mean(rows, 0))) for key, rows in sorted(found.items())
    }


def train(shape: Shape, tensors: Tensors, given: argparse.Namespace, device: Any) -> Any:
    torch.manual_seed(given.seed)
    learn, held = Lists(given.data, "train"), Lists(given.data, "held")
    context = multiprocessing.get_context("fork")
    waiting = context.Queue(24)
    feeders = [
        context.Process(target=feed, args=(learn, 1000 * given.seed + n, given, shape, waiting), daemon=True)
        for n in range(given.feeders)
    ]
    for one in feeders:
        one.start()
    model = ChainNetwork(tensors, shape)
    if given.start:
        go_on(model, given.start)
    model = model.to(device)
    decay = [one for one in model.parameters() if one.ndim > 1 and one.requires_grad]
    rest = [one for one in model.parameters() if one.ndim <= 1]
    optimiser = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}],
        lr=given.rate,
        fused=device.type == "cuda",
    )
    mean = {name: one.detach().clone() for name, one in model.state_dict().items() if name != "words.weight"}
    started, step, total, seen = time.time(), 0, 0.0, 0
    print(f"{given.shape}: {len(learn)} lists", flush=True)
    while True:
        done = max((time.time() - started) / given.seconds, step / given.most if given.most else 0.0)
        if done >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = given.rate * min(1.0, done / 0.06 + 0.01, max(0.02, (1 - done) / 0.94))
        *arrays, real, gold = sent(waiting.get(timeout=120), device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            scores = model(*arrays)
        loss = loss_of(scores, gold, real)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        step, seen = step + 1, seen + len(gold)
        if step % 10 == 0:
            total = 0.9 * (total or float(loss.detach())) + 0.1 * float(loss.detach())
        keep = min(0.998, step / (step + 20))
        with torch.no_grad():
            state = model.state_dict()
            names = [name for name, one in mean.items() if one.is_floating_point()]
            torch._foreach_lerp_([mean[name] for name in names], [state[name] for name in names], 1 - keep)
        if step % 200 == 0:
            print(f"{given.shape} step {step} loss {total:.4f} lists {seen} {time.time() - started:.0f} s", flush=True)
    for one in feeders:
        one.terminate()
    model.load_state_dict(mean, strict=False)
    print(f"{given.shape}: {step} steps, {seen} lists, {time.time() - started:.0f} s; by source: (questions,")
    print("recall@5 as found, all that is read, recall@5 as read, all in the first five, average precision)")
    for key, row in figures(model, held, device).items():
        print("  ", given.shape, key, row, flush=True)
    return model


def write(model: Any, path: Path) -> None:
    """The tensors by name; a layer's matrices in bytes, `.s` the size of a step of each row."""
    out: dict[str, Any] = {}
    for name, one in model.state_dict().items():
        values = one.detach().float().cpu().numpy()
        if name.startswith("layers.") and values.ndim == 2:
            out[name], out[f"{name}.s"] = quantised(values)
        elif name != "words.weight":
            out[name] = values.astype(np.float16)
    np.savez_compressed(path, **out)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.second.train", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="reader.onnx")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="what an earlier training wrote, to go on from")
    parser.add_argument("--shape", choices=SHAPES, default="six-16")
    parser.add_argument("--size", type=int, default=48)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--feeders", type=int, default=3)
    parser.add_argument("--most", type=int, default=0, help="stop after so many steps")
    parser.add_argument("--seconds", type=float, default=200, help="stop after so long")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    torch.set_num_threads(2)
    given.out.mkdir(parents=True, exist_ok=True)
    write(train(SHAPES[given.shape], tensors_of(given.base), given, device), given.out / f"{given.shape}.npz")


if __name__ == "__main__":
    main()
