"""Pictures of pages (PNG, JPEG, TIFF and others) to text, see `kedge.ingest.parse.ocr`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kedge.core.errors import EmptySourceError, NoTextLayerError, SourceTooLargeError, UnreadableError
from kedge.core.values import ParsedDocument
from kedge.ingest.parse.ocr import LONGEST_SIDE, lines_of
from kedge.ingest.parse.ocr_extra import OFFER, can_read_pictures
from kedge.ingest.parse.pdf.document import ReadPage, document_of_pages
from kedge.ingest.telling import tell

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

MAX_PIXELS = 100_000_000
MAX_PICTURES = 500
"""Pictures of one file."""


def parse_picture(source: Source) -> ParsedDocument:
    """The words of all pictures of a file, a page each. Raises SourceFault, which offers the extra where it misses."""
    if not can_read_pictures():
        raise NoTextLayerError(f"{source.name} is a picture.", hint=OFFER)
    import numpy as np
    from PIL import Image, ImageOps, UnidentifiedImageError

    pages: list[ReadPage] = []
    try:
        with source.open() as stream, Image.open(stream) as file:
            count = getattr(file, "n_frames", 1)
            if count > MAX_PICTURES:
                raise SourceTooLargeError(f"{source.name} holds over {MAX_PICTURES} pictures.", hint="Split it.")
            for number in range(count):
                file.seek(number)
                if file.width * file.height > MAX_PIXELS:
                    raise SourceTooLargeError(
                        f"{source.name} has over {MAX_PIXELS:,} pixels.", hint="Scan it at 200 to 300 dots an inch."
                    )
                upright = ImageOps.exif_transpose(file).convert("RGB")
                upright.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
                pixels = np.ascontiguousarray(np.asarray(upright)[:, :, ::-1])
                width, height = _in_points(upright.width, upright.height)
                pages.append(ReadPage(height, lines_of(pixels, width, height)))
                tell(number + 1, count, picture=True)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UnreadableError(
            f"{source.name} is a picture that cannot be opened ({type(error).__name__}).",
            hint="It is damaged; make it anew.",
        ) from error
    if not any(line.text for page in pages for line in page.lines):
        raise EmptySourceError(f"{source.name} shows no text.", hint="Remove it from what you ingest.")
    return document_of_pages(pages, {}, [])


def _in_points(width: int, height: int) -> tuple[float, float]:
    """The size of a page as layout rules know it: its longer side is that of A4."""
    scale = 842 / max(width, height)
    return width * scale, height * scale
