"""How many pages of a PDF are read in a second, parsing alone, beside what the libraries under it take for their text.

    python -m benchmarks.pdf FOLDER

Time is that of the processor in one process, so that a busy machine counts the same; each file is read once by each.
At last stands how many cells of tables are under their row and column, beside pdfplumber, for the files of
`benchmarks.pdf_tables` that are in FOLDER.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import pdfplumber
import pypdfium2
from pdfminer.high_level import extract_text

from benchmarks.pdf_tables import fidelity
from kedge.ingest.parse.pdf.read import parse_pdf


def _pdfium(path: Path) -> None:
    """Text alone, in the order of the file."""
    with pypdfium2.PdfDocument(path) as document:
        for page in document:
            page.get_textpage().get_text_range()


def _pdfplumber(path: Path) -> None:
    """Text and ruled tables of every page."""
    with pdfplumber.open(path) as document:
        for page in document.pages:
            page.extract_text()
            page.extract_tables()


def _pdfminer(path: Path) -> None:
    """Text with its layout, no tables."""
    extract_text(path)


def _kedge(path: Path) -> None:
    parse_pdf(path)


WAYS: dict[str, Callable[[Path], None]] = {
    "kedge": _kedge,
    "pdfplumber": _pdfplumber,
    "pdfminer.six": _pdfminer,
    "pypdfium2": _pdfium,
}


def main() -> None:
    """A line for each file, then the pages a second of all."""
    parser = argparse.ArgumentParser(description="Pages of PDFs read in a second.")
    parser.add_argument("folder", type=Path)
    files = sorted(parser.parse_args().folder.rglob("*.pdf"))
    total = dict.fromkeys(WAYS, 0.0)
    pages = 0
    for path in files:
        with pypdfium2.PdfDocument(path) as document:
            count = len(document)
        pages += count
        took = {}
        for name, read in WAYS.items():
            started = time.process_time()
            read(path)
            took[name] = time.process_time() - started
            total[name] += took[name]
        print(f"{path.name}: {count} pages; " + ", ".join(f"{name} {count / took[name]:.0f}/s" for name in WAYS))
    fidelity({path.stem: path for path in files})
    print(f"{pages} pages; " + ", ".join(f"{name} {pages / total[name]:.1f}/s" for name in WAYS))


if __name__ == "__main__":
    main()
