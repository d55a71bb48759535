"""Examples that lie on the GPU, from which batches are taken without going back to the processor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader.encode import NOWHERE, EncodedExample, grouped
from benchmarks.reader.needs import need

torch: Any = need("torch")


class Shelf:
    """Every example once, end to end; batches refer to them by place, so one that is shown often takes no more room."""

    def __init__(self, shown: Sequence[EncodedExample]) -> None:
        own = list({id(one): one for one in shown}.values())
        places = {id(one): place for place, one in enumerate(own)}
        self._shown = np.array([places[id(one)] for one in shown])
        self._lengths = np.array([len(one.ids) for one in own])
        self._counts = np.array([len(one.support) for one in own])
        self._ids = _on_device(np.concatenate([one.ids for one in own]))
        self._owner = _on_device(np.concatenate([one.owner for one in own]))
        self._support = _on_device(np.concatenate([one.support for one in own]))
        self._start = _on_device(np.cumsum(self._lengths) - self._lengths)
        self._support_start = _on_device(np.cumsum(self._counts) - self._counts)
        self._length, self._count = _on_device(self._lengths), _on_device(self._counts)
        self._second = _on_device(np.array([one.second for one in own]))
        self._span = _on_device(np.array([one.span for one in own]))
        self._about = _on_device(np.array([one.about for one in own], np.float32))
        self._trick = _on_device(np.array([one.trick for one in own], np.float32))
        self._yes = _on_device(np.array([one.yes for one in own]))

    def __len__(self) -> int:
        return len(self._shown)

    def batches(self, size: int, random: Random) -> Iterator[dict[str, Any]]:
        """All that is shown once, shuffled, those of like length together."""
        for group in grouped(self._shown, self._lengths, size, random):
            yield self._batch(group)

    def _batch(self, group: NDArray[np.int64]) -> dict[str, Any]:
        at = _on_device(group)
        column = torch.arange((int(self._lengths[group].max()) + 15) // 16 * 16, device="cuda")[None]
        inside = column < self._length[at, None]
        place = (self._start[at, None] + column).clamp(max=len(self._ids) - 1)
        number = torch.arange(max(1, int(self._counts[group].max())), device="cuda")[None]
        support = (self._support_start[at, None] + number).clamp(max=len(self._support) - 1)
        return {
            "ids": torch.where(inside, self._ids[place], 0).long(),
            "mask": inside.long(),
            "kinds": (inside & (column >= self._second[at, None])).long(),
            "owner": torch.where(inside, self._owner[place], NOWHERE).long(),
            "support": torch.where(number < self._count[at, None], self._support[support], float(NOWHERE)),
            "span": self._span[at],
            "about": self._about[at],
            "trick": self._trick[at],
            "yes": self._yes[at],
        }


def _on_device(values: NDArray[Any]) -> Any:
    return torch.from_numpy(values).cuda(non_blocking=True)
