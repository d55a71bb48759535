"""Teach readers what a larger network understands: `python -m benchmarks.reader.distil`.

`--data`, `--tokenizer` and `--examples` are those of `benchmarks.reader.train`, `--teacher` what
`benchmarks.reader.teacher` packed. The teacher learns from the examples first. Then two readers learn beside each other
from the examples and from what the teacher says of them: one goes on from the carried file, one from every second of
its layers. Writes OUT/twelve and OUT/six. Needs torch, transformers and a GPU; 15 minutes on an H200.
"""

from __future__ import annotations

import argparse
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader.encode import EncodedExample
from benchmarks.reader.export import network_state, read_tensors
from benchmarks.reader.needs import check, note
from benchmarks.reader.train import (
    CARRIED,
    EARLY,
    PART,
    SIZE,
    WEIGHTS,
    Pace,
    WeightTrainer,
    dealt_out,
    figures,
    fit,
    known_mean,
    leave_out_answers,
    made_sets,
    spans_known,
)
from benchmarks.reader.weights import unpacked

if TYPE_CHECKING:
    from benchmarks.reader.shelf import Shelf

TEACHER_RATE = 1e-4
RATES = {"twelve": 2.4e-4, "six": 4.5e-4}
TAUGHT = 0.6
"""How much the teacher's word counts beside what is known of an example."""
SPARED = {"companies": 0.5, "tables": 0.6, "boolq": 0.7}
"""Parts of sets that say much the same again and again."""


def taught_loss(model: Any, said: tuple[Any, Any, Any, Any], batch: dict[str, Any]) -> Any:
    """How far a reader, half way up too, is from what is known of each example and what the teacher says of it."""
    from benchmarks.reader.network import torch

    with torch.autocast("cuda", torch.bfloat16):
        last, early = model.readings(batch["ids"], batch["mask"], batch["kinds"], batch["owner"])
    return far_from(last, said, batch) + EARLY * far_from(early, said, batch)


def far_from(own: tuple[Any, Any, Any, Any], said: tuple[Any, Any, Any, Any], batch: dict[str, Any]) -> Any:
    """How far one reading of a batch is from what is known and from what the teacher says."""
    from benchmarks.reader.network import per_statement, torch

    functional = torch.nn.functional
    first, last, support, heads = own
    total = torch.zeros((), device="cuda")
    for place, name, weight in ((0, "about", 1.0), (1, "trick", WEIGHTS["trick"])):
        aim = _aim(batch[name], torch.sigmoid(said[3][:, place]))
        total = total + weight * functional.binary_cross_entropy_with_logits(heads[:, place], aim)
    aim = _one_of(batch["yes"], said[3][:, 2:4])
    missed = functional.cross_entropy(heads[:, 2:4], aim, reduction="none")
    total = total + WEIGHTS["yes"] * known_mean(missed, batch["yes"] >= 0)
    for place, (guess, other) in enumerate(((first, said[0]), (last, said[1]))):
        missed = functional.cross_entropy(guess, _one_of(batch["span"][:, place], other), reduction="none")
        total = total + WEIGHTS["span"] * known_mean(missed, spans_known(batch))
    count = batch["support"].shape[1]
    means = per_statement(support, batch["owner"], count)
    there = torch.arange(count, device="cuda")[None] <= batch["owner"].max(1).values[:, None]
    aim = _aim(batch["support"], torch.sigmoid(per_statement(said[2], batch["owner"], count)))
    missed = functional.binary_cross_entropy_with_logits(means, aim, reduction="none")
    return total + WEIGHTS["support"] * known_mean(missed, there)


def _aim(known: Any, said: Any) -> Any:
    """The teacher's word alone where nothing is known (-1), else both."""
    from benchmarks.reader.network import torch

    return torch.where(known >= 0, TAUGHT * said + (1 - TAUGHT) * known, said)


def _one_of(known: Any, said: Any) -> Any:
    """Shares over several places: the teacher's, and all for the one that is known."""
    from benchmarks.reader.network import torch

    own = torch.nn.functional.one_hot(known.clamp(min=0), said.shape[1]).float()
    return TAUGHT * said.softmax(1) + (1 - TAUGHT) * own


def distil(teacher: Any, students: dict[str, Any], shelf: Shelf, pace: Pace, seed: int) -> None:
    """Teach all students beside each other: what the teacher says of a batch is computed once."""
    from benchmarks.reader.network import torch

    trainers = {name: WeightTrainer(model, RATES[name]) for name, model in students.items()}
    teacher.eval()
    for done, batch in pace.batches(shelf, seed, SIZE):
        with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
            said = teacher(batch["ids"], batch["mask"], batch["kinds"], batch["owner"])
        for trainer in trainers.values():
            trainer.step(taught_loss(trainer.model, said, batch), done)
    for trainer in trainers.values():
        trainer.finish()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader.distil", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--base", type=Path, default=CARRIED, help="the reader to go on from (%(default)s)")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--examples", type=Path, help="file for the examples: read where it is there, else written")
    parser.add_argument("--seconds", type=float, nargs=2, default=(420.0, 780.0), help="most, for teacher and readers")
    parser.add_argument("--epochs", type=int, nargs=2, default=(3, 6))
    parser.add_argument("--limit", type=int, help="about how many examples, for a trial")
    given = parser.parse_args()
    check()
    if given.examples and given.examples.is_file():
        sets = pickle.loads(given.examples.read_bytes())  # written below
    else:
        sets = made_sets(given.data, given.tokenizer)
        if given.examples:
            given.examples.write_bytes(pickle.dumps(sets))
    note(str({name: len(found) for name, found in sets.items()}))
    from benchmarks.reader.network import ReaderNetwork, TeacherNetwork, every_second_layer, torch, write
    from benchmarks.reader.shelf import Shelf

    torch.manual_seed(1)
    carried: dict[str, NDArray[np.float32]] = network_state(read_tensors(given.base))
    students = {
        "twelve": ReaderNetwork(carried).cuda(),
        "six": ReaderNetwork(every_second_layer(carried)).cuda(),
    }
    leave_out_answers(sets, students["twelve"])
    if given.limit:
        sets = {name: found[:: max(1, len(found) * len(sets) // given.limit)] for name, found in sets.items()}
    shown, _ = dealt_out(sets, {**PART, **SPARED}, 1)
    teacher = TeacherNetwork(unpacked(given.teacher)).cuda()
    fit(teacher, Shelf(shown), Pace(given.epochs[0], given.seconds[0]), TEACHER_RATE, 1)
    shown, held = dealt_out(sets, {**PART, **SPARED}, 2)
    tell("teacher", teacher, held)
    distil(teacher, students, Shelf(shown), Pace(given.epochs[1], given.seconds[1]), 2)
    for name, model in students.items():
        (given.out / name).mkdir(parents=True, exist_ok=True)
        write(model, given.out / name)
        tell(name, model, held)
    note("done")


def tell(name: str, model: Any, held: dict[str, list[EncodedExample]]) -> None:
    """Figures over what was held back."""
    for source, found in held.items():
        if found:
            print(f"{name}, {source}: {figures(model, found)}", flush=True)


if __name__ == "__main__":
    main()
