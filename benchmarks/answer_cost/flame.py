"""Where the processor time of answers goes, as a picture: `python -m benchmarks.answer_cost.flame`.

    python -m benchmarks.answer_cost.flame [--squad2 HOME] [--real HOME] [--questions N] [--out FILE.svg]

A thread looks at all others every few milliseconds and books the processor time that each has used since to the frames
it stands in. So waiting costs nothing, and native code counts for the line that called it. On a busy machine
looks come late, and more is used between two of them.
"""

from __future__ import annotations

import argparse
import asyncio
import html
import json
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from benchmarks.answer_cost.__main__ import WARM, Asked, questions_of
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, Query, Scope
from kedge.engine.engine import Engine

EVERY, SWITCH = 0.002, 0.0002
"""Seconds between two looks, and after which a thread that runs Python makes way for one."""
WIDTH, ROW, SMALLEST = 1400, 15, 0.0008
"""Pixels of the picture and of a row; the smallest share that is drawn."""
RESTING, BETWEEN = ("concurrent.futures.thread", "selectors"), ("(used between two looks)",)
"""Where threads stand that wait for work, and what stands for what these have done since the last look."""
PASSED_OVER = ("asyncio", "threading", "runpy", "contextlib", "concurrent", "__main__", "benchmarks")
"""Modules whose frames are not drawn."""
Stack = tuple[str, ...]


@dataclass(slots=True)
class Flame:
    """A frame with the seconds that were used in it and below it."""

    name: str
    seconds: float = 0.0
    inner: dict[str, Flame] = field(default_factory=dict)

    def add(self, stack: Stack, seconds: float) -> None:
        """Book the seconds to the stack, outermost first."""
        self.seconds += seconds
        if stack:
            self.inner.setdefault(stack[0], Flame(stack[0])).add(stack[1:], seconds)


def used(thread: int) -> float | None:
    """Processor seconds of a thread so far; None where it has ended."""
    try:
        return time.clock_gettime(time.pthread_getcpuclockid(thread))
    except OSError:
        return None


def stack_of(frame: FrameType | None) -> Stack:
    """Names of what runs, outermost first: module and function."""
    if frame is not None and frame.f_globals.get("__name__") in RESTING:
        return BETWEEN
    names: list[str] = []
    while frame is not None:
        code = frame.f_code
        names.append(f"{frame.f_globals.get('__name__', '?')}:{code.co_qualname}")
        frame = frame.f_back
    return tuple(
        name for name in reversed(names) if not name.startswith(("asyncio", "threading", "runpy", "contextlib"))
    )


@contextmanager
def watching(found: Counter[Stack]) -> Iterator[None]:
    """Book what threads use while the block runs."""
    over, usual = threading.Event(), sys.getswitchinterval()

    def look() -> None:
        before: dict[int, float] = {}
        while not over.wait(EVERY):
            for thread, frame in sys._current_frames().items():
                now = used(thread) if thread != threading.get_ident() else None
                if now is not None:
                    found[stack_of(frame)] += max(0.0, now - before.get(thread, now))
                    before[thread] = now

    watcher = threading.Thread(target=look, daemon=True)
    sys.setswitchinterval(SWITCH)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        sys.setswitchinterval(usual)


async def watched(home: Path, asked: list[Asked], found: Counter[Stack]) -> None:
    """Ask everything of a copy of the home; what the first questions load is not booked."""
    with tempfile.TemporaryDirectory(prefix="kedge-flame-") as made:
        copy = shutil.copytree(home, Path(made) / "home")
        async with Engine.open(load_settings(home=copy)) as engine:

            async def ask(one: Asked) -> None:
                line = json.loads(one.line())
                await engine.ask(Query(line["question"], Scope(DEFAULT_TENANT, line["collection"])))

            for one in asked[:WARM]:
                await ask(one)
            with watching(found):
                for one in asked[WARM:]:
                    await ask(one)


def drawn(root: Flame, title: str) -> str:
    """The picture: outermost on top, as wide as the share of the time, the name and share of each when pointed at."""
    boxes: list[str] = []
    deepest = 0

    def draw(flame: Flame, left: float, depth: int) -> None:
        nonlocal deepest
        share = flame.seconds / root.seconds
        if share < SMALLEST:
            return
        deepest = max(deepest, depth)
        width, top = WIDTH * share, 24 + ROW * depth
        told = html.escape(f"{flame.name} {100 * share:.1f} %")
        shown = html.escape(flame.name[: max(0, int(width / 6.2))]) if width > 30 else ""
        hue = 30 if "kedge" in flame.name else 200
        boxes.append(
            f'<g><title>{told}</title><rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW - 1}" '
            f'fill="hsl({hue + sum(map(ord, flame.name)) % 25},75%,70%)"/>'
            f'<text x="{left + 2:.1f}" y="{top + 11}">{shown}</text></g>'
        )
        for one in sorted(flame.inner.values(), key=lambda each: -each.seconds):
            draw(one, left, depth + 1)
            left += WIDTH * one.seconds / root.seconds

    draw(root, 0.0, 0)
    size = f'width="{WIDTH}" height="{24 + ROW * (deepest + 1)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="10">'
    return f'{head}<text x="4" y="15" font-size="13">{html.escape(title)}</text>{"".join(boxes)}</svg>\n'


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answer_cost.flame", description=__doc__)
    parser.add_argument("--squad2", type=Path, metavar="HOME", help="a home with the collection squad2")
    parser.add_argument("--real", type=Path, metavar="HOME", help="a home with the collections of real_questions")
    parser.add_argument("--questions", type=int, default=168, help="most questions of each set")
    parser.add_argument("--out", type=Path, default=Path("answer.svg"))
    given = parser.parse_args()
    found: Counter[Stack] = Counter()
    count = 0
    for name, home in (("squad2", given.squad2), ("real_questions", given.real)):
        if home:
            asked = questions_of(name, given.questions)
            count += len(asked) - WARM
            asyncio.run(watched(home, asked, found))
    if not count:
        parser.error("name a home: --squad2 HOME, --real HOME or both")
    root = Flame("all")
    for stack, seconds in found.items():
        root.add(stack, seconds)
    each = 1000 * root.seconds / count
    given.out.write_text(drawn(root, f"{each:.0f} ms of processor time an answer, {count} answers"), encoding="utf-8")
    print(f"{given.out}: {each:.1f} ms an answer")
    alone: Counter[str] = Counter()
    for stack, seconds in found.items():
        alone[stack[-1] if stack else "?"] += seconds
    for name, seconds in alone.most_common(25):
        print(f"{100 * seconds / root.seconds:5.1f} %  {name}")


if __name__ == "__main__":
    main()
