"""Teach the chain reader: `python -m benchmarks.second.train --data LISTS --out FOLDER`.

`--data` holds what `python -m benchmarks.second.lists` wrote. Needs torch and a GPU, minutes on an H200. Starts from
six layers of the carried reader, whose word vectors stay as they are, prints figures on what was held back, and writes
`chain-6.npz.*` (weights in half precision, in parts of 15 MB) for `python -m benchmarks.second.export`.
"""

from __future__ import annotations

import argparse
import io
import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader.export import read_tensors
from benchmarks.reader.needs import need
from kedge.models.carried.files import FOLDER
from kedge.models.read.reader import FILE
from kedge.models.read.window import CHAIN_QUESTION, CHAIN_TITLE, CHAIN_WINDOW

torch: Any = need("torch")
nn: Any = torch.nn
F: Any = torch.nn.functional

Tensors: TypeAlias = dict[str, NDArray[Any]]
Example: TypeAlias = tuple[NDArray[np.int64], int, NDArray[np.int64], NDArray[np.float32]]
"""Tokens, where the passages begin, where each opens, and whether it is a step."""
LAYERS = (0, 2, 4, 7, 9, 11)
"""Of the reader's twelve, those that are trained further."""
SIZES = (10, 12, 14, 16, 16, 16)
"""Passages of a list."""
FOUND = 0.85
"""How often all steps are among them."""
OPEN, CLOSE = 101, 102
HEADS, WIDTH, WIDE = 12, 384, 1536
PART_BYTES = 15_000_000


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


class ChainNetwork(nn.Module):  # type: ignore[misc]
    """Log-odds, at the token that opens each passage, that it is a step of the answer."""

    def __init__(self, tensors: Tensors, layers: Sequence[int]) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(full(tensors, "emb.word"), freeze=True)  # shared with the reader
        known = plain(tensors, "emb.place")
        places = (
            torch.cat([known, known[-(CHAIN_WINDOW - len(known)) :]])[:CHAIN_WINDOW]
            if len(known) < CHAIN_WINDOW
            else known[:CHAIN_WINDOW]
        )
        self.places = nn.Embedding.from_pretrained(places.clone(), freeze=False)
        self.kinds = nn.Embedding.from_pretrained(plain(tensors, "emb.kind"), freeze=False)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.norm.weight.data.copy_(plain(tensors, "emb.norm.w"))
        self.norm.bias.data.copy_(plain(tensors, "emb.norm.b"))
        self.layers = nn.ModuleList(ChainLayer(tensors, number) for number in layers)
        self.pool = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, 1)
        self.drop = nn.Dropout(0.1)

    def forward(self, ids: Any, kinds: Any, mask: Any, opens: Any) -> Any:
        """ids, kinds, mask (texts, tokens); opens (texts, passages): where each passage opens."""
        at = torch.arange(ids.shape[1], device=ids.device)
        hidden = self.drop(self.norm(self.words(ids) + self.places(at)[None] + self.kinds(kinds)))
        allowed = mask[:, None, None, :].bool()
        for layer in self.layers:
            hidden = layer(hidden, allowed)
        opening = torch.gather(hidden, 1, opens[:, :, None].expand(-1, -1, WIDTH))
        return self.out(self.drop(torch.tanh(self.pool(opening))))[..., 0].float()


class Lists:
    """What `benchmarks.second.lists` wrote."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as file:
            held = {name: file[name] for name in file.files}
        starts = np.concatenate([[0], held["ends"][:-1]])
        self.texts = [held["tokens"][a:b].astype(np.int64) for a, b in zip(starts, held["ends"], strict=True)]
        self.questions, self.rows, self.places = held["questions"], held["rows"], held["places"]
        self.gold, self.source = held["gold"], held["source"]

    def __len__(self) -> int:
        return len(self.questions)

    def packed(self, at: int, order: Sequence[int]) -> Example:
        """Tokens, where the second part begins, where each passage opens, and whether it is gold."""
        question = self.texts[self.questions[at]][:CHAIN_QUESTION]
        room = (CHAIN_WINDOW - 2 - len(question)) // len(order) - 1
        parts, opens, total = [np.array([OPEN]), question], [], 1 + len(question)
        for place in order:
            title = self.texts[self.rows[at, place, 0]][:CHAIN_TITLE]
            left = room - len(title)
            chosen = []
            for n, number in enumerate(self.rows[at, place, 1:]):
                if number and left > 0:
                    tokens = self.texts[number][:left]
                    left -= len(tokens)
                    chosen.append((self.places[at, place, n], tokens))
            opens.append(total)
            one = [np.array([CLOSE]), title, *(tokens for _, tokens in sorted(chosen, key=lambda pair: pair[0]))]
            parts += one
            total += sum(map(len, one))
        ids = np.concatenate([*parts, [CLOSE]])
        return ids, 1 + len(question), np.array(opens), self.gold[at, order].astype(np.float32)

    def passages(self, at: int) -> list[int]:
        return [int(place) for place in np.flatnonzero(self.rows[at, :, 0])]


def batch(examples: Sequence[Example], device: Any) -> list[Any]:
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
    return [torch.from_numpy(one).to(device, non_blocking=True) for one in (ids, kinds, mask, opens, gold, real)]


def orders(lists: Lists, shuffled: random.Random) -> Iterator[tuple[int, list[int]]]:
    """All gold and some others of each list, in any order."""
    numbers = list(range(len(lists)))
    shuffled.shuffle(numbers)
    for at in numbers:
        there = lists.passages(at)
        size = shuffled.choice(SIZES)
        gold = [int(one) for one in there if lists.gold[at, one]]
        rest = [int(one) for one in there if not lists.gold[at, one]]
        shuffled.shuffle(rest)
        if shuffled.random() >= FOUND and len(gold) > 1:  # not all steps are always found
            gold.remove(shuffled.choice(gold))
        order = gold + rest[: max(2, size - len(gold))]
        shuffled.shuffle(order)
        yield at, order


def loss_of(scores: Any, gold: Any, real: Any) -> Any:
    each = F.binary_cross_entropy_with_logits(scores, gold, reduction="none") * real
    point = each.sum(1) / real.sum(1)
    shares = torch.log_softmax(scores.masked_fill(~real, -1e4), 1)
    right = gold * real
    rank = -(shares * right).sum(1) / right.sum(1).clamp(min=1)
    return (point + 0.5 * rank).mean()


@torch.no_grad()  # type: ignore[untyped-decorator]
def figures(model: Any, lists: Lists, device: Any, size: int = 16) -> dict[int, tuple[float, ...]]:
    """By source: mean average precision, recall of the first as many as there are gold, all of them there."""
    model.eval()
    found: dict[int, list[tuple[float, ...]]] = {}
    shuffled = random.Random(1)
    numbers = list(range(len(lists)))
    for start in range(0, len(numbers), 64):
        chosen = []
        for at in numbers[start : start + 64]:
            there = [int(one) for one in lists.passages(at)]
            gold = [one for one in there if lists.gold[at, one]]
            rest = [one for one in there if not lists.gold[at, one]]
            order = gold + rest[: max(0, size - len(gold))]
            shuffled.shuffle(order)
            chosen.append((at, order))
        ids, kinds, mask, opens, gold, real = batch([lists.packed(at, order) for at, order in chosen], device)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            scores = model(ids, kinds, mask, opens)
        scores = scores.masked_fill(~real, -1e4).cpu().numpy()
        for row, (at, order) in enumerate(chosen):
            right = lists.gold[at, order]
            best = np.argsort(-scores[row, : len(order)], kind="stable")
            hits = right[best]
            ranks = np.flatnonzero(hits) + 1
            precision = float(np.mean(np.arange(1, len(ranks) + 1) / ranks)) if len(ranks) else 0.0
            n = int(right.sum())
            found.setdefault(int(lists.source[at]), []).append(
                (precision, hits[:n].mean(), hits[:5].sum() / n, float(hits[:n].all()))
            )
    model.train()
    return {
        key: (len(rows), *(round(float(value), 4) for value in np.mean(rows, 0))) for key, rows in sorted(found.items())
    }


def train(layers: Sequence[int], tensors: Tensors, given: argparse.Namespace, device: Any) -> Any:
    torch.manual_seed(given.seed)
    shuffled = random.Random(given.seed)
    learn, held = Lists(given.data / "train.npz"), Lists(given.data / "held.npz")
    model = ChainNetwork(tensors, layers).to(device)
    decay = [one for one in model.parameters() if one.ndim > 1 and one.requires_grad]
    rest = [one for one in model.parameters() if one.ndim <= 1]
    optimiser = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}], lr=given.rate
    )
    steps = given.epochs * math.ceil(len(learn) / given.size)
    steps = min(steps, given.most or steps)
    warm = max(1, int(0.06 * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / warm, max(0.02, (steps - step) / max(1, steps - warm)))
    )
    mean = {name: one.detach().clone() for name, one in model.state_dict().items() if name != "words.weight"}
    started, step, total = time.time(), 0, 0.0
    print(f"layers {layers}: {len(learn)} lists, {steps} steps", flush=True)
    while step < steps:
        waiting = []
        for at, order in orders(learn, shuffled):
            waiting.append(learn.packed(at, order))
            if len(waiting) < given.size:
                continue
            ids, kinds, mask, opens, gold, real = batch(waiting, device)
            waiting = []
            with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
                scores = model(ids, kinds, mask, opens)
            loss = loss_of(scores, gold, real)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            step += 1
            total += float(loss.detach()) if step % 10 == 0 else 0.0
            keep = min(0.998, step / (step + 20))
            with torch.no_grad():
                state = model.state_dict()
                for name, kept in mean.items():
                    kept.mul_(keep).add_(state[name], alpha=1 - keep)
            if step % 200 == 0 or step == steps:
                print(f"step {step} loss {total / 20:.4f} {time.time() - started:.0f} s", flush=True)
                total = 0.0
            if step >= steps or (given.seconds and time.time() - started > given.seconds):
                step = steps
                break
    model.load_state_dict(mean, strict=False)
    print("steps: (lists, average precision, R-precision, recall@5, all in R)")
    for key, row in figures(model, held, device).items():
        print("  ", key, row, flush=True)
    return model


def write(model: Any, folder: Path, name: str) -> None:
    buffer = io.BytesIO()
    state = {
        key: one.detach().cpu().numpy().astype(np.float16)
        for key, one in model.state_dict().items()
        if key != "words.weight"
    }
    np.savez_compressed(buffer, **state)
    raw = buffer.getvalue()
    for number, at in enumerate(range(0, len(raw), PART_BYTES)):
        (folder / f"{name}.npz.{number}").write_bytes(raw[at : at + PART_BYTES])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.second.train", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--base", type=Path, default=FOLDER / FILE)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--size", type=int, default=48)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=0, help="stop after so many steps")
    parser.add_argument("--seconds", type=float, default=0, help="stop after so long")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    given.out.mkdir(parents=True, exist_ok=True)
    write(train(LAYERS, read_tensors(given.base), given, device), given.out, f"chain-{len(LAYERS)}")


if __name__ == "__main__":
    main()
