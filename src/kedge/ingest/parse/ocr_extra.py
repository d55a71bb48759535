"""Whether pictures of text can be read; light, because every file is told apart with it."""

from __future__ import annotations

from importlib.util import find_spec

OFFER = "Install what reads pictures of text (OCR), `pip install 'kedge[ocr]'`, and ingest again."

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")


def can_read_pictures() -> bool:
    """Whether the extra is installed."""
    return find_spec("rapidocr") is not None
