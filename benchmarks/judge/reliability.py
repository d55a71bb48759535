"""The plot of how far a probability can be trusted: what was said against what came true, for each form of question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

Points = Sequence[tuple[float, bool]]
"""Probability, and whether it came true."""
BINS = 5
LEAST = 5
"""Questions of a bin that is drawn."""
SIDE, GAP, TOP = 170, 46, 40
ACROSS = 4


def write_reliability(path: Path, curves: Mapping[str, Points]) -> None:
    """A small square for each form; a dot for each bin, larger where there are more questions."""
    rows = -(-len(curves) // ACROSS)
    width, height = ACROSS * (SIDE + GAP) + GAP, rows * (SIDE + GAP + TOP) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="12">',
        "<title>Probability said against share that came true, by form of question, held out</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for at, (name, points) in enumerate(curves.items()):
        left = GAP + (at % ACROSS) * (SIDE + GAP)
        top = TOP + (at // ACROSS) * (SIDE + GAP + TOP)
        parts.append(f'<text x="{left}" y="{top - 8}">{name} ({len(points)})</text>')
        parts.append(
            f'<path d="M{left} {top}v{SIDE}h{SIDE}M{left} {top + SIDE}l{SIDE} -{SIDE}" fill="none" stroke="#c9ced4"/>'
        )
        for said, came, count in binned(points):
            x, y = left + SIDE * said, top + SIDE * (1 - came)
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{min(11.0, 2 + count**0.5 / 2):.1f}" fill="#0b6bcb" '
                'fill-opacity="0.75"/>'
            )
        for share in (0, 1):
            parts.append(f'<text x="{left + SIDE * share}" y="{top + SIDE + 16}" text-anchor="middle">{share}</text>')
            parts.append(f'<text x="{left - 8}" y="{top + SIDE * (1 - share) + 4}" text-anchor="end">{share}</text>')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def binned(points: Points) -> list[tuple[float, float, int]]:
    """Mean probability, share that came true and count of each bin that has enough questions."""
    found = []
    for low in range(BINS):
        own = [(said, came) for said, came in points if low == min(BINS - 1, int(said * BINS))]
        if len(own) >= LEAST:
            found.append((sum(said for said, _ in own) / len(own), sum(came for _, came in own) / len(own), len(own)))
    return found
