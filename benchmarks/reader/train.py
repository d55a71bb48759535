"""Teach the reader: `python -m benchmarks.reader.train --data D --base B --tokenizer T --out FOLDER`.

`--data` is `train` of the bench data with what `benchmarks.reader.packed` names beside it, `--base` the packed encoder
that `python -m benchmarks.reader.base` writes or a reader.onnx to go on from, `--tokenizer` the tokenizer.json of the
default embedder. Needs torch, transformers and a GPU; minutes on an H200. The end of each set is held back: articles,
questions or tables that the rest does not have, but for one that may be cut in two. The figures on it are printed at
the end. `--examples` keeps the examples in a file, for several trainings on the same machine.
"""

from __future__ import annotations

import argparse
import math
import pickle
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader import made, packed, prose, tables
from benchmarks.reader.encode import NOWHERE, EncodedExample, ExampleEncoder, collated
from benchmarks.reader.example import Example, restyled
from benchmarks.reader.export import network_state, read_tensors
from benchmarks.reader.needs import check, note, stop
from benchmarks.reader.weights import unpacked

if TYPE_CHECKING:
    from benchmarks.reader.shelf import Shelf

CARRIED = Path(__file__).resolve().parents[2] / "src/kedge/models/carried/data/reader.onnx"
PARTS = 8
IN_PARTS = ("hotpot", "squad1")
"""Sets whose examples several processes make."""
PART = {"squad1": 0.5}
"""What part of a large set is shown, another one for each seed, where a reader is trained further."""
TIMES = {"pubmed": 3, "quac": 4, "squad2": 3, "relations": 3}
"""How often a small set is shown in one epoch."""
ASKED = 5
"""How often a window of the written questions that answers is shown in one epoch."""
AS_THEY_ARE = (
    *("boolq", "quac", "tables", "companies", "privacy", "notes", "asked", "found", "asked-held", "plans"),
    *("relations", "relations-held"),
)
"""Sets whose questions are typed by people, or styled already."""
HELD = {"squad2": 0.1, "asked": 0.0, "found": 0.0, "asked-held": 1.0, "relations": 0.0, "relations-held": 1.0}
UNLIKELY = 1.0
"""Log-odds of the carried reader from which on a passage that was found beside the answer may answer too."""
WEIGHTS = {"trick": 1.0, "yes": 0.7, "span": 0.5, "support": 0.5}
EARLY = 0.3
"""How much the reading half way up counts beside the last."""
RATE, SIZE, MEAN = 3e-4, 384, 0.998
TELL = 200
"""Steps after which is said how far it is."""
WARM = 0.08
"""Share of the training in which the rate rises."""


FILES = {
    "squad1": "squad1_train.jsonl.xz", "squad2": "squad2_dev_19.jsonl.xz", "hotpot": "hotpot_dev.jsonl.xz",
    "boolq": "boolq.jsonl.xz", "pubmed": "pubmedqa.jsonl.xz", "privacy": "privacy_qa.jsonl.xz",
    "quac": "quac.jsonl.xz", "tables": "wikitablequestions.tar.xz", "asked": "asked.jsonl.xz",
    "found": "asked.jsonl.xz", "asked-held": "asked-held.jsonl.xz", "plans": "plans.jsonl.xz",
    "relations": "relations.jsonl.xz", "relations-held": "relations-held.jsonl.xz",
}  # fmt: skip
"""The sets that are read; the others are made."""
MADE = {"companies": 18_000, "notes": 9_000}
"""How many reports and notes are made."""


def examples(data: Path, name: str, part: int, random: Random) -> Sequence[Example]:
    """The examples of one set."""
    if name in MADE:
        return list((made.companies if name == "companies" else made.notes)(random, MADE[name]))
    path = data / FILES[name]
    if name == "squad1":
        return list(prose.squad(path, random, 0.6, name, spoil=0.45, share=(part, PARTS)))
    read_here: dict[str, Callable[[], Iterator[Example]]] = {
        "squad2": lambda: prose.squad(path, random, 0.5, name),
        "hotpot": lambda: prose.hotpot(path, random, share=(part, PARTS)),
        "boolq": lambda: prose.boolq(path, random),
        "pubmed": lambda: prose.pubmed(path),
        "privacy": lambda: prose.privacy(path, random),
        "quac": lambda: prose.quac(path, random),
        "tables": lambda: tables.wikitables(path, random),
        "asked": lambda: packed.asked(path, random, ASKED),
        "found": lambda: packed.found(path),
        "asked-held": lambda: packed.asked(path, random, 1),
        "plans": lambda: packed.plans(path, random),
        "relations": lambda: packed.relations(path, random),
        "relations-held": lambda: packed.relations(path, random),
    }
    return list(read_here[name]())


def encoded(data: Path, tokenizer: Path, job: tuple[str, int]) -> list[EncodedExample]:
    """One set, or a part of it, in tokens."""
    name, part = job
    random = Random(f"{name} {part}")
    encoder = ExampleEncoder(tokenizer)
    found = examples(data, name, part, random)
    for one in found:
        if name not in AS_THEY_ARE:
            one.question = restyled(one.question, random, 0.3)
    return [encoder.encode(one, random) for one in found]


def loss_of(model: Any, at: dict[str, Any]) -> Any:
    """What is known of each example of a batch, weighted. Nothing is asked back from the GPU."""
    from benchmarks.reader.network import torch

    with torch.autocast("cuda", torch.bfloat16):
        last, *early = model.readings(at["ids"], at["mask"], at["kinds"], at["owner"])
    return sum((EARLY * missed_by(one, at) for one in early), missed_by(last, at))


def missed_by(reading: tuple[Any, Any, Any, Any], at: dict[str, Any]) -> Any:
    """How far one reading of a batch is from what is known of it."""
    from benchmarks.reader.network import per_statement, torch

    functional = torch.nn.functional
    first, last, support, heads = reading
    total = torch.zeros((), device="cuda")
    for place, name, weight in ((0, "about", 1.0), (1, "trick", WEIGHTS["trick"])):
        total = total + weight * known_mean(_apart(heads[:, place], at[name]), at[name] >= 0)
    known = at["yes"] >= 0
    decided = functional.cross_entropy(heads[:, 2:4], at["yes"].clamp(min=0), reduction="none")
    total = total + WEIGHTS["yes"] * known_mean(decided, known)
    known = spans_known(at)
    for place, said in enumerate((first, last)):
        missed = functional.cross_entropy(said, at["span"][:, place].clamp(min=0), reduction="none")
        total = total + WEIGHTS["span"] * known_mean(missed, known)
    means = per_statement(support, at["owner"], at["support"].shape[1])
    return total + WEIGHTS["support"] * known_mean(_apart(means, at["support"]), at["support"] >= 0)


def spans_known(at: dict[str, Any]) -> Any:
    """Of which examples of a batch the few words that answer are known."""
    return (at["span"][:, 0] >= 0) & (at["trick"] != 1)


def known_mean(values: Any, known: Any) -> Any:
    """The mean of those that are known; 0 where none is."""
    from benchmarks.reader.network import torch

    return torch.where(known, values, 0.0).sum() / known.sum().clamp(min=1)


def _apart(said: Any, label: Any) -> Any:
    from benchmarks.reader.network import torch

    return torch.nn.functional.binary_cross_entropy_with_logits(said, label.clamp(min=0.0), reduction="none")


class WeightTrainer:
    """AdamW with a rate that rises and falls, and the moving mean of the weights at the end."""

    def __init__(self, model: Any, rate: float) -> None:
        from benchmarks.reader.network import torch

        self.model, self._rate, self._clip = model, rate, torch.nn.utils.clip_grad_norm_
        self._weights = list(model.parameters())
        self._optimizer = torch.optim.AdamW(
            [
                {"params": [one for one in self._weights if one.ndim > 1], "weight_decay": 0.01},
                {"params": [one for one in self._weights if one.ndim <= 1], "weight_decay": 0.0},
            ],
            lr=rate,
            betas=(0.9, 0.98),
            fused=True,
        )
        self._mean = [one.detach().clone() for one in self._weights]
        model.train()

    def step(self, loss: Any, done: float) -> None:
        """Learn from a loss, after a share of the whole training is done."""
        from benchmarks.reader.network import torch

        for group in self._optimizer.param_groups:
            group["lr"] = self._rate * min((done + 1e-4) / WARM, max(0.02, (1 - done) / (1 - WARM)))
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self._clip(self._weights, 1.0)
        self._optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(self._mean, [one.detach() for one in self._weights], 1 - MEAN if done > 0.4 else 1.0)

    def finish(self) -> None:
        """The mean takes the place of the weights."""
        from benchmarks.reader.network import torch

        with torch.no_grad():
            for kept, one in zip(self._mean, self._weights, strict=True):
                one.copy_(kept)


@dataclass(frozen=True, slots=True)
class Pace:
    """How long is trained: so many epochs, but no longer than some seconds."""

    epochs: int
    seconds: float = math.inf

    def batches(self, shelf: Shelf, seed: int, size: int) -> Iterator[tuple[float, dict[str, Any]]]:
        """Each batch with the share of the training that is done before it."""
        random, started, step = Random(seed), time.time(), 0
        steps = self.epochs * math.ceil(len(shelf) / size)
        for epoch in range(self.epochs):
            for batch in shelf.batches(size, random):
                done = max(step / steps, (time.time() - started) / self.seconds)
                if done >= 1:
                    note(f"the time is up in epoch {epoch + 1} of {self.epochs}, after {step} of {steps} steps")
                    return
                yield done, batch
                step += 1
                if step % TELL == 0:
                    note(f"{step} steps, {time.time() - started:.0f} s, {done:.2f} done")
            note(f"epoch {epoch + 1} of {self.epochs}, {time.time() - started:.0f} s")


def fit(model: Any, shelf: Shelf, pace: Pace, rate: float, seed: int) -> None:
    """Teach a network what is known of the examples."""
    trainer = WeightTrainer(model, rate)
    for done, batch in pace.batches(shelf, seed, SIZE):
        trainer.step(loss_of(model, batch), done)
    trainer.finish()


def figures(model: Any, held: Sequence[EncodedExample]) -> str:
    """How well held-back examples are read."""
    from benchmarks.reader.network import per_statement, torch

    model.eval()
    heads, hits, best, order = {}, [], [], sorted(range(len(held)), key=lambda at: len(held[at].ids))
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
        for low in range(0, len(order), 256):
            group = order[low : low + 256]
            at = {name: torch.from_numpy(value).cuda() for name, value in collated([held[i] for i in group]).items()}
            first, last, support, out = model(at["ids"], at["mask"], at["kinds"], at["owner"])
            means = per_statement(support, at["owner"], at["support"].shape[1]).cpu().numpy()
            starts, ends = first.argmax(1).cpu().numpy(), last.argmax(1).cpu().numpy()
            for row, place in enumerate(group):
                one = held[place]
                heads[place] = out[row].cpu().numpy()
                if one.span[0] != NOWHERE and one.trick != 1:
                    hits.append(starts[row] <= one.span[1] and ends[row] >= one.span[0])
                if (one.support == 1).any() and len(one.support) > 1:
                    best.append(one.support[int(means[row][: len(one.support)].argmax())] == 1)
    said = [f"{len(held)} examples"]
    for head, name in enumerate(("about", "trick")):
        labels = [
            (float(heads[at][head]), getattr(one, name) == 1) for at, one in enumerate(held) if getattr(one, name) >= 0
        ]
        if len({label for _, label in labels}) == 2:
            said.append(f"{name} AUROC {_auroc(labels):.3f}")
    if hits:
        said.append(f"spans that overlap {np.mean(hits):.3f}")
    if best:
        said.append(f"best statement right {np.mean(best):.3f}")
    decided = [(heads[at][3] > heads[at][2]) == (one.yes == 1) for at, one in enumerate(held) if one.yes >= 0]
    if decided:
        said.append(f"yes or no right {np.mean(decided):.3f}")
    return ", ".join(said)


def verdicts(model: Any, examples: Sequence[EncodedExample]) -> NDArray[np.float32]:
    """The four verdicts on each example, in order."""
    from benchmarks.reader.network import torch

    model.eval()
    out = np.zeros((len(examples), 4), np.float32)
    order = sorted(range(len(examples)), key=lambda at: len(examples[at].ids))
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
        for low in range(0, len(order), 256):
            group = order[low : low + 256]
            at = {
                name: torch.from_numpy(value).cuda() for name, value in collated([examples[i] for i in group]).items()
            }
            out[group] = model(at["ids"], at["mask"], at["kinds"], at["owner"])[3].cpu().numpy()
    return out


def _auroc(labels: Sequence[tuple[float, bool]]) -> float:
    good = np.array([score for score, label in labels if label])
    bad = np.array([score for score, label in labels if not label])
    above = (good[:, None] > bad[None, :]).mean() + 0.5 * (good[:, None] == bad[None, :]).mean()
    return float(above)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader.train", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", type=Path, help="file for the examples: read where it is there, else written")
    given = parser.parse_args()
    wanted = [given.base, given.tokenizer, *(given.data / name for name in FILES.values())]
    missing = [str(path) for path in wanted if not path.is_file()]
    if missing:
        stop(f"Not there: {', '.join(missing)}\nbenchmarks/README.md, The reader, says where to get it.")
    check()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.examples and given.examples.is_file():
        sets = pickle.loads(given.examples.read_bytes())  # written below
    else:
        sets = made_sets(given.data, given.tokenizer)
        if given.examples:
            given.examples.write_bytes(pickle.dumps(sets))
    note(str({name: len(found) for name, found in sets.items()}))
    if not given.epochs:
        return
    whole = given.base.suffix == ".onnx"
    from benchmarks.reader.network import ReaderNetwork, torch, write
    from benchmarks.reader.shelf import Shelf

    leave_out_answers(sets, ReaderNetwork(network_state(read_tensors(CARRIED))).cuda())
    shown, held = dealt_out(sets, PART if whole else {}, given.seed)

    torch.manual_seed(given.seed)
    start = network_state(read_tensors(given.base)) if whole else unpacked(given.base)
    model = ReaderNetwork(start).cuda()
    fit(model, Shelf(shown), Pace(given.epochs), given.rate, given.seed)
    for name, found in held.items():
        if found:
            print(f"{name}: {figures(model, found)}", flush=True)
    write(model, given.out)


def leave_out_answers(sets: dict[str, list[EncodedExample]], reader: Any) -> None:
    """Of the windows that were found beside the answer, those that a reader takes to answer too are left out."""
    doubted = verdicts(reader, sets["found"])[:, 0]
    sets["found"] = [one for one, about in zip(sets["found"], doubted, strict=True) if about < UNLIKELY]
    note(f"{len(doubted) - len(sets['found'])} of {len(doubted)} that were found may answer")


def dealt_out(
    sets: Mapping[str, list[EncodedExample]], part: Mapping[str, float], seed: int
) -> tuple[list[EncodedExample], dict[str, list[EncodedExample]]]:
    """What is shown in an epoch, of some sets a part only; and what is held back of each set."""
    shown: list[EncodedExample] = []
    held: dict[str, list[EncodedExample]] = {}
    for name, found in sets.items():
        kept = round(len(found) * (1 - HELD.get(name, 0.04)))
        own = found[:kept]
        if name in part:
            own = Random(seed).sample(own, round(part[name] * kept))
        shown += own * TIMES.get(name, 1)
        held[name] = Random(5).sample(found[kept:], min(1500, len(found) - kept))
    return shown, held


def made_sets(data: Path, tokenizer: Path) -> dict[str, list[EncodedExample]]:
    """The examples of every set in tokens, made by all processors."""
    jobs = [(name, part) for name in (*FILES, *MADE) for part in range(PARTS if name in IN_PARTS else 1)]
    sets: dict[str, list[EncodedExample]] = {}
    with ProcessPoolExecutor() as pool:
        for (name, _), found in zip(jobs, pool.map(partial(encoded, data, tokenizer), jobs), strict=True):
            sets.setdefault(name, []).extend(found)
    return sets


if __name__ == "__main__":
    main()
