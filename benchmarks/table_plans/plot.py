"""The calibration plot: the chance that was told against the share that was right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

SIZE, EDGE = 380, 70
COLOUR = "#0b6bcb"


def write_plot(path: Path, points: Sequence[tuple[float, float, int]]) -> None:
    """A dot for each tenth, its area by the number of questions."""
    whole = SIZE + 2 * EDGE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" font-family="system-ui, sans-serif" '
        'font-size="13">',
        "<title>Questions over tables that were held out: chance told, share right</title>",
        f'<rect width="{whole}" height="{whole}" fill="#ffffff"/>',
    ]
    for tenth in range(0, 11, 2):
        x, y = _at(tenth / 10, tenth / 10)
        parts.append(f'<path d="M{EDGE} {y}H{EDGE + SIZE}M{x} {EDGE}V{EDGE + SIZE}" stroke="#e2e5e9"/>')
        parts.append(f'<text x="{EDGE - 8}" y="{y + 4}" text-anchor="end">{tenth * 10} %</text>')
        parts.append(f'<text x="{x}" y="{EDGE + SIZE + 18}" text-anchor="middle">{tenth * 10} %</text>')
    middle = EDGE + SIZE / 2
    parts.append(f'<path d="M{EDGE} {EDGE + SIZE}L{EDGE + SIZE} {EDGE}" stroke="#9aa0a6" stroke-dasharray="4 4"/>')
    parts.append(f'<text x="{middle}" y="{EDGE + SIZE + 42}" text-anchor="middle">chance told</text>')
    turned = f'transform="rotate(-90 16 {middle})"'
    parts.append(f'<text x="16" y="{middle}" text-anchor="middle" {turned}>share right</text>')
    line = " ".join("{},{}".format(*_at(chance, right)) for chance, right, _ in points)
    parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOUR}" stroke-width="2"/>')
    most = max(count for _, _, count in points)
    for chance, right, count in points:
        x, y = _at(chance, right)
        parts.append(f'<circle cx="{x}" cy="{y}" r="{3 + 9 * (count / most) ** 0.5:.1f}" fill="{COLOUR}"/>')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _at(x: float, y: float) -> tuple[float, float]:
    return round(EDGE + SIZE * x, 1), round(EDGE + SIZE * (1 - y), 1)
