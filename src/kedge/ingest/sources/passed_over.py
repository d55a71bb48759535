"""What is said of files that a folder, an archive or a connected place has and that are not taken in."""

from __future__ import annotations

from collections.abc import Mapping

from kedge.ingest.parse.formats import JSONL_SUFFIX
from kedge.ingest.parse.ocr_extra import PICTURE_SUFFIXES

LINK = "symlink"
"""In the place of a suffix: a link that leads out of the folder."""
_SAVE = {".doc": "DOCX", ".dot": "DOCX", ".xls": "XLSX", ".ppt": "PPTX", ".pps": "PPTX"}
_PACKED = frozenset((".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".tbz2", ".xz", ".txz", ".zst"))
_MARKED = frozenset((".adoc", ".asciidoc"))


def notes(passed_over: Mapping[str, int]) -> list[str]:
    """A line for each suffix, with what to do where something can be done.

    >>> notes({".doc": 2, ".bin": 1})
    ['1 file passed over: .bin is no document format.', '2 files passed over: .doc is not read; save them as DOCX.']
    """
    return [
        f"{count} {'file' if count == 1 else 'files'} passed over: {_why(suffix, 'it' if count == 1 else 'them')}."
        for suffix, count in sorted(passed_over.items())
    ]


def _why(suffix: str, them: str) -> str:
    if suffix in _SAVE:
        return f"{suffix} is not read; save {them} as {_SAVE[suffix]}"
    if suffix in _PACKED:
        return f"{suffix} is not unpacked; unpack {them} and take in what is inside"
    if suffix in _MARKED:
        return f"{suffix} is not looked for; name {them} to take in the text with its marks"
    if suffix in PICTURE_SUFFIXES:
        return f"{suffix} needs `pip install 'kedge[ocr]'`"
    return {
        "": f"no suffix says what {'it is' if them == 'it' else 'they are'}",
        LINK: "a link that leads out of the folder is not followed",
        JSONL_SUFFIX: ".jsonl begins with no document",
    }.get(suffix, f"{suffix} is no document format")
