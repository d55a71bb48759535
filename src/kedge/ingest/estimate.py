"""How many passages sources will give, told from their size before anything of them is read."""

from __future__ import annotations

from pathlib import Path

from kedge.core.values import IngestRequest

BYTES_PER_TOKEN = 4
"""Of plain text, about; markup makes the estimate a little high."""


def estimated_passages(request: IngestRequest, passage_tokens: int) -> int | None:
    """Bytes of all sources over those of a passage, at least one each; None where the size of one is not known.

    Files, folders and uploads have a size; addresses have none before they are fetched, patterns none at all.
    """
    sizes = [_bytes(Path(place).expanduser()) for place in (*request.sources, *(path for _, path in request.uploads))]
    known = [size for size in sizes if size is not None]
    if not known or len(known) != len(sizes) or any("://" in source for source in request.sources):
        return None
    return sum(max(1, -(-size // (BYTES_PER_TOKEN * passage_tokens))) for size in known)


def _bytes(path: Path) -> int | None:
    try:
        if path.is_dir():
            return sum(item.stat().st_size for item in path.rglob("*") if item.is_file())
        return path.stat().st_size
    except OSError:  # what cannot be seen is reported when it is read
        return None
