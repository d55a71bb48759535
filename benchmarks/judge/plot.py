"""The plot of what more answers cost: share of answerable questions answered against unanswerable ones answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.judge.fit import Array, Flags

Curve = Sequence[tuple[float, float, float]]
"""(threshold, answered share of answerable, share of unanswerable answered)."""
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
SIZE, EDGE = 420, 76
COLOURS = {"dense": "#0b6bcb", "lexical": "#7b7f86", "dense_foreign": "#3a8f5c", "lexical_foreign": "#c4571a"}
LABELS = {
    "dense": "words and embeddings",
    "lexical": "words alone",
    "dense_foreign": "other languages",
    "lexical_foreign": "other languages, words alone",
}


def risk_coverage(answerable: Flags, scores: Array) -> list[tuple[float, float, float]]:
    """The curve of one judge."""
    return [
        (threshold, float((scores[answerable] >= threshold).mean()), float((scores[~answerable] >= threshold).mean()))
        for threshold in THRESHOLDS
    ]


def write_plot(path: Path, curves: Mapping[str, Curve], threshold: float) -> None:
    """One line for each judge; a dot at the threshold in force."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE + 2 * EDGE} {SIZE + 2 * EDGE}" '
        'font-family="system-ui, sans-serif" font-size="13">',
        "<title>Answered questions against false answers on squad2, held-out articles</title>",
        f'<rect width="{SIZE + 2 * EDGE}" height="{SIZE + 2 * EDGE}" fill="#ffffff"/>',
    ]
    for tenth in range(0, 11, 2):
        x, y = _at(tenth / 10, tenth / 10)
        parts.append(f'<path d="M{EDGE} {y}H{EDGE + SIZE}M{x} {EDGE}V{EDGE + SIZE}" stroke="#e2e5e9"/>')
        parts.append(f'<text x="{EDGE - 8}" y="{y + 4}" text-anchor="end">{tenth * 10} %</text>')
        parts.append(f'<text x="{x}" y="{EDGE + SIZE + 18}" text-anchor="middle">{tenth * 10} %</text>')
    middle = EDGE + SIZE / 2
    parts.append(f'<text x="{middle}" y="{EDGE + SIZE + 42}" text-anchor="middle">unanswerable, answered</text>')
    turned = f'transform="rotate(-90 16 {middle})"'
    parts.append(f'<text x="16" y="{middle}" text-anchor="middle" {turned}>answerable, answered</text>')
    for line, (name, curve) in enumerate(curves.items()):
        points = " ".join("{},{}".format(*_at(wrong, answered)) for _, answered, wrong in curve)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        for at, answered, wrong in curve:
            if at == threshold:
                x, y = _at(wrong, answered)
                parts.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{COLOURS[name]}"/>')
        y = EDGE + SIZE - 84 + 20 * line
        parts.append(f'<text x="{EDGE + SIZE - 186}" y="{y}" fill="{COLOURS[name]}">● {LABELS[name]}</text>')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _at(wrong: float, answered: float) -> tuple[float, float]:
    return round(EDGE + SIZE * wrong, 1), round(EDGE + SIZE * (1 - answered), 1)
