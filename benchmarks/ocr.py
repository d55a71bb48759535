"""How many words of printed and badly scanned pages are read, and how long it takes.

    python -m benchmarks.ocr FOLDER

FOLDER holds the PDFs of `PAGES` (below it, anywhere): pages of prose and tables, none with drawings whose letters the
text layer does not say. Each is printed at 150 dots an inch, worn as
a scanner wears it: turned by up to one degree, blurred, unevenly lit, noise added, packed as JPEG of quality 40. The
picture is read as a file of its own through the parsing process. A word of the text layer counts as read where the
result has it as often; the words of running heads, which parsing leaves out, are left out of both.
"""

from __future__ import annotations

import argparse
import io
import re
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pypdfium2
from PIL import Image, ImageFilter

from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.parse.reading import open_document
from kedge.ingest.sources.discovery import uploaded

LIMITS = ParseLimits(seconds=300, memory=2 << 30, output=64 << 20)
PAGES = (
    ("ALCE", 3), ("nutrients-13-01241", 4), ("react_paper", 6), ("2022 Q3 AAPL", 12), ("2023 Q2 AAPL", 15),
)  # fmt: skip
"""File and page: two columns, a journal, one column, two reports with tables."""
_DIVIDED = re.compile(r"[-\x02\ufffe\xad]\s*\r?\n\s*(?=[a-z])")
_WORD = re.compile(r"[^\W_]+")


def scanned(page: pypdfium2.PdfPage, seed: int) -> bytes:
    """The page as a bad scanner hands it out."""
    dice = np.random.default_rng(seed)
    printed = page.render(scale=150 / 72, grayscale=True).to_pil()
    turned = printed.rotate(float(dice.uniform(-1, 1)), resample=Image.Resampling.BICUBIC, fillcolor=255)
    blurred = turned.filter(ImageFilter.GaussianBlur(0.7))
    pixels = np.asarray(blurred, dtype=np.float32)
    light = np.linspace(0.82, 1.0, pixels.shape[1], dtype=np.float32)[None, :]
    worn = pixels * light * 0.95 + dice.normal(0, 9, pixels.shape)
    out = io.BytesIO()
    Image.fromarray(worn.clip(0, 255).astype(np.uint8)).save(out, "JPEG", quality=40)
    return out.getvalue()


def words(text: str) -> Counter[str]:
    """Words and numbers, in lower case; those divided at the end of a line as one."""
    return Counter(_WORD.findall(_DIVIDED.sub("", text).lower()))


def main() -> None:
    """A line for each page, then the share over all."""
    parser = argparse.ArgumentParser(description="Words of scanned pages that are read.")
    parser.add_argument("folder", type=Path)
    files = {path.stem: path for path in parser.parse_args().folder.rglob("*.pdf")}
    right = wanted = 0
    for number, (stem, place) in enumerate(PAGES):
        path = files[stem]
        with pypdfium2.PdfDocument(path) as document:
            page = document[place - 1]
            truth = words(page.get_textpage().get_text_range())
            picture = scanned(page, number)
        started = time.monotonic()
        reader = open_document(uploaded(f"{stem}-{place}.jpg", picture), LIMITS)
        found = words("\n".join(segment.document.text for segment in reader.segments))
        same = sum((truth & found).values())
        right, wanted = right + same, wanted + sum(truth.values())
        print(f"{path.name} page {place}: {same} of {sum(truth.values())} words, {time.monotonic() - started:.1f} s")
    print(f"{right} of {wanted} words: {right / wanted:.1%}")


if __name__ == "__main__":
    main()
