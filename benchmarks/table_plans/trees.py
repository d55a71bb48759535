"""Boosted trees that ask one question per level, learned with histograms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kedge.answer.sheets.choice import Trees

BINS = 32
DEPTH = 5
COUNT = 300
RATE = 0.08
ROWS, COLUMNS = 0.5, 0.25
"""Shares of lines and figures that each tree sees."""
RIDGE = 20.0
Floats = NDArray[np.float64]


def fit_trees(  # noqa: PLR0917 (settings of one thing)
    rows: Floats,
    right: NDArray[np.bool_],
    seed: int = 0,
    count: int = COUNT,
    depth: int = DEPTH,
    columns: float = COLUMNS,
) -> Trees:
    """Logistic loss, Newton steps."""
    random = np.random.default_rng(seed)
    edges = [_edges(rows[:, column]) for column in range(rows.shape[1])]
    binned = np.stack([_binned(rows[:, column], edges[column]) for column in range(rows.shape[1])], axis=1)
    usable = [column for column, found in enumerate(edges) if len(found)]
    base = float(np.log(right.mean() / (1 - right.mean())))
    total = np.full(len(rows), base)
    asked = np.zeros((count, depth), dtype=np.int16)
    limits = np.full((count, depth), np.inf, dtype=np.float32)
    leaves = np.zeros((count, 1 << depth), dtype=np.float32)
    for tree in range(count):
        chance = 1 / (1 + np.exp(-total))
        sample = np.flatnonzero(random.random(len(rows)) < ROWS)
        slope, bend = (right - chance)[sample], (chance * (1 - chance))[sample]
        seen = random.choice(usable, max(1, int(len(usable) * columns)), replace=False)
        leaf = np.zeros(len(sample), dtype=np.int64)
        looked_at = [np.ascontiguousarray(binned[sample, column], dtype=np.int64) for column in seen]
        whole = np.zeros(len(rows), dtype=np.int64)
        for level in range(depth):
            column, cut = _best_split(looked_at, leaf, 1 << level, slope, bend)
            chosen = int(seen[column])
            asked[tree, level] = chosen
            limits[tree, level] = edges[chosen][min(cut, len(edges[chosen]) - 1)]
            above = binned[:, chosen] > cut
            whole += above.astype(np.int64) << level
            leaf = whole[sample]
        sums = np.bincount(leaf, weights=slope, minlength=1 << depth)
        bends = np.bincount(leaf, weights=bend, minlength=1 << depth)
        leaves[tree] = RATE * sums / (bends + RIDGE)
        total += leaves[tree][whole]
    return Trees(asked, limits, leaves, base)


def _edges(values: Floats) -> Floats:
    known = np.unique(values[np.isfinite(values)])
    if len(known) < 2:
        return np.array([])
    if len(known) > BINS:
        known = np.unique(np.quantile(values[np.isfinite(values)], np.linspace(0, 1, BINS)))
    return np.asarray((known[:-1] + known[1:]) / 2, dtype=np.float32).astype(np.float64)


def _binned(values: Floats, edges: Floats) -> NDArray[np.int8]:
    """0 for what is below all edges or not known; else the number of edges below it."""
    found = np.searchsorted(edges, np.nan_to_num(values, nan=-np.inf), side="left")
    return found.astype(np.int8)


def _best_split(
    binned: list[NDArray[np.int64]], leaf: NDArray[np.int64], leaves: int, slope: Floats, bend: Floats
) -> tuple[int, int]:
    """The figure and the bin above which all leaves are split, for the largest gain together."""
    best = (-1.0, 0, 0)
    at_leaf = leaf * (BINS + 1)
    for column, values in enumerate(binned):
        at = at_leaf + values
        sums = np.bincount(at, weights=slope, minlength=leaves * (BINS + 1)).reshape(leaves, BINS + 1)
        bends = np.bincount(at, weights=bend, minlength=leaves * (BINS + 1)).reshape(leaves, BINS + 1)
        below, above = np.cumsum(sums, axis=1)[:, :-1], np.cumsum(sums[:, ::-1], axis=1)[:, ::-1][:, 1:]
        low, high = np.cumsum(bends, axis=1)[:, :-1], np.cumsum(bends[:, ::-1], axis=1)[:, ::-1][:, 1:]
        gain = (below**2 / (low + RIDGE) + above**2 / (high + RIDGE)).sum(axis=0)
        cut = int(gain.argmax())
        if gain[cut] > best[0]:
            best = (float(gain[cut]), column, cut)
    return best[1], best[2]
