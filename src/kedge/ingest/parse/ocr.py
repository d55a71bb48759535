"""Pictures of text to lines with their places, by rapidocr (`kedge[ocr]`): its models lie in its wheel.

Nothing is fetched: the files of the models are named, and a missing one is an error.
"""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from kedge.core.errors import UnreadableError
from kedge.ingest.parse.pdf.columns import gutter_of
from kedge.ingest.parse.pdf.page import Line, in_lines
from kedge.ingest.parse.pdf.runs import PageWord, Run

LONGEST_SIDE = 2000
"""Pixels of the longer side of a page that is read; A4 at about 170 dots an inch."""
_MODELS = {"Det.model_path": "*_det_*.onnx", "Rec.model_path": "*_rec_*.onnx"}
_LINE_SHARE = 0.72
"""Of the height of a box, what is the size of its type."""
_SURE = 0.5


def lines_of(pixels: np.ndarray[Any, Any], width: float, height: float) -> list[Line]:
    """Lines of a page in reading order, `width` × `height` in the unit of their places, the lower edge at 0.

    `pixels` are rows of BGR, the uppermost first. UnreadableError where the models are not there.
    """
    found = _engine()(pixels, use_cls=False)
    if found.boxes is None or found.txts is None:
        return []
    across, down = width / pixels.shape[1], height / pixels.shape[0]
    sure = found.scores if found.scores is not None else [1.0] * len(found.txts)
    runs = [
        _run(box, text, across, down, height)
        for box, text, score in zip(found.boxes, found.txts, sure, strict=True)
        if text.strip() and score >= _SURE
    ]
    if not runs:
        return []
    usual = median(run.size for run in runs)
    for run in runs:  # a box follows its letters, so lines of one type differ a little
        if 0.7 * usual < run.size < 1.35 * usual:
            run.size = usual
    return in_lines(runs, gutter_of(runs, width))


def _run(box: np.ndarray[Any, Any], text: str, across: float, down: float, height: float) -> Run:
    x0, x1 = float(box[:, 0].min()) * across, float(box[:, 0].max()) * across
    top, bottom = height - float(box[:, 1].min()) * down, height - float(box[:, 1].max()) * down
    run = Run(x0, x1, bottom, top, (top - bottom) * _LINE_SHARE)
    wide, at = (x1 - x0) / max(len(text), 1), 0
    for word in text.split():
        at = text.index(word, at)
        run.words.append(PageWord(x0 + at * wide, x0 + (at + len(word)) * wide, word))
        at += len(word)
    return run


@cache
def _engine() -> Any:
    import rapidocr

    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    folder = Path(str(rapidocr.__file__)).parent / "models"
    paths: dict[str, Any] = {"Global.log_level": "error"}
    for key, pattern in _MODELS.items():
        models = sorted(folder.glob(pattern))
        if not models:
            raise UnreadableError(
                "The models that read pictures are not in their package.",
                hint="Install it anew: pip install --force-reinstall 'kedge[ocr]'.",
            )
        paths[key] = str(models[-1])
    return rapidocr.RapidOCR(params=paths)
