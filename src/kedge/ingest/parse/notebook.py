"""Jupyter notebooks to text: cells of markdown as they are, code between fences, what it printed below it."""

from __future__ import annotations

import json
from typing import Any

from kedge.core.errors import EmptySourceError, UnreadableError
from kedge.core.values import ParsedDocument
from kedge.ingest.parse.markdown import MarkdownParser

MAX_OUTPUT = 2000
"""Characters of what one cell printed."""


def parse_notebook(text: str, name: str) -> ParsedDocument:
    """The notebook as markdown. Raises UnreadableError and EmptySourceError."""
    try:
        book = json.loads(text)
        cells = book["cells"] if "cells" in book else [cell for sheet in book["worksheets"] for cell in sheet["cells"]]
        told = book.get("metadata", {})
        language = str(
            told.get("kernelspec", {}).get("language") or told.get("language_info", {}).get("name") or "python"
        )
        parts = [part for cell in cells for part in _cell(cell, language)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(f"{name} is no notebook.", hint="Open it in Jupyter and save it again.") from error
    if not parts:
        raise EmptySourceError(f"{name} holds no cells with text.", hint="Remove it, or fill it and ingest again.")
    return MarkdownParser().parse("\n\n".join(parts) + "\n")


def _cell(cell: dict[str, Any], language: str) -> list[str]:
    kind = cell.get("cell_type")
    source = _joined(cell.get("source", cell.get("input", ""))).strip("\n")
    if not source.strip():
        return []
    if kind == "heading":
        return [f"{'#' * int(cell.get('level', 1))} {source}"]
    if kind != "code":
        return [source] if kind == "markdown" else []
    printed = "\n".join(filter(None, (_printed(output) for output in cell.get("outputs", ()))))
    shown = [_fenced(source, language)]
    if printed.strip():
        shown.append(_fenced(printed[:MAX_OUTPUT].rstrip(), "text"))
    return shown


def _printed(output: dict[str, Any]) -> str:
    if output.get("output_type") == "error":
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    return _joined(output.get("text") or output.get("data", {}).get("text/plain", ""))


def _joined(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _fenced(text: str, language: str) -> str:
    fence = "````" if "```" in text else "```"
    return f"{fence}{language}\n{text}\n{fence}"
