"""Fitting the reader, and scoring with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader.model import Reader, torch
from benchmarks.reader.needs import note
from benchmarks.reader.tokens import Batch, Encoded, batches

SPAN_WEIGHT = 0.5
SCORED = 256


@dataclass(frozen=True, slots=True)
class Plan:
    """How to fit."""

    epochs: int
    rate: float
    size: int
    """Examples in a batch."""
    warm: float
    """Share of the steps in which the rate rises."""
    floor: float = 0.0
    """Share of the rate that is left at the end."""
    decay: float | None = None
    """Take the moving mean of the weights, with this decay, over the last 70 % of the steps."""


STAGE_1 = Plan(epochs=1, rate=1.5e-4, size=128, warm=0.1)
STAGE_2 = Plan(epochs=6, rate=1e-4, size=48, warm=0.08, floor=0.02, decay=0.996)


def fit(
    model: Reader, make: Callable[[], Sequence[Encoded]], plan: Plan, random: Random, *, device: str, name: str
) -> None:
    """Fit to what `make` gives for each epoch. The number of steps is reckoned from the first."""
    weights = list(model.parameters())
    optimizer = torch.optim.AdamW(
        [
            {"params": [one for one in weights if one.ndim > 1], "weight_decay": 0.01},
            {"params": [one for one in weights if one.ndim <= 1], "weight_decay": 0.0},
        ],
        lr=plan.rate,
        betas=(0.9, 0.98),
        fused=device == "cuda",
    )
    encoded = make()
    steps = plan.epochs * math.ceil(len(encoded) / plan.size)
    warm = plan.warm * steps

    def rate(step: int) -> float:
        return min((step + 1) / warm, max(plan.floor, (steps - step) / (steps - warm)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    mean = [one.detach().clone() for one in weights]
    step = 0
    model.train()
    for epoch in range(plan.epochs):
        if epoch:
            encoded = make()
        total = torch.zeros((), device=device)
        for batch in batches(encoded, plan.size, random):
            loss = loss_of(model, batch, device)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            schedule.step()
            step += 1
            total += loss.detach() * len(batch.places)
            if plan.decay is not None:
                _follow(mean, weights, 1 - plan.decay if step > 0.3 * steps else 1.0)
        loss_now = float(total) / len(encoded)
        note(f"{name}: epoch {epoch + 1} of {plan.epochs}, {len(encoded):,} examples, loss {loss_now:.4f}")
    if plan.decay is not None:
        _follow(weights, mean, 1.0)


def _follow(mean: Sequence[Any], weights: Sequence[Any], share: float) -> None:
    """Move each of `mean` a share of the way to its weight."""
    with torch.no_grad():
        for one, other in zip(mean, weights, strict=True):
            one.lerp_(other, share)


def loss_of(model: Reader, batch: Batch, device: str) -> Any:
    """Whether there is an answer, and half as much where it (or a plausible one) stands."""
    first, last, odds = _run(model, batch, device)
    answers, answerable = _on(batch.answers, device), _on(batch.answerable, device)
    functional = torch.nn.functional
    loss = functional.binary_cross_entropy_with_logits(odds, answerable)
    known = answers[:, 0] >= 0
    if known.any():
        starts = functional.cross_entropy(first[known], answers[known, 0])
        ends = functional.cross_entropy(last[known], answers[known, 1])
        loss = loss + SPAN_WEIGHT * (starts + ends) / 2
    return loss


def score(model: Reader, encoded: Sequence[Encoded], device: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Log-odds of each example, and whether the likeliest start lies in its answer."""
    model.eval()
    odds = np.zeros(len(encoded))
    hits = np.zeros(len(encoded), np.bool_)
    with torch.no_grad():
        for batch in batches(encoded, SCORED):
            first, _, found = _run(model, batch, device)
            start = first.argmax(1).cpu().numpy()
            odds[batch.places] = found.cpu().numpy()
            hits[batch.places] = (start >= batch.answers[:, 0]) & (start <= batch.answers[:, 1])
    return odds, hits


def _run(model: Reader, batch: Batch, device: str) -> tuple[Any, Any, Any]:
    """Half precision on a GPU, where it is fast; full on a CPU."""
    given = (_on(array, device) for array in (batch.ids, batch.mask, batch.kinds, batch.inside))
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        found: tuple[Any, Any, Any] = model(*given)
    return found


def _on(array: NDArray[Any], device: str) -> Any:
    return torch.from_numpy(array).to(device, non_blocking=True)
