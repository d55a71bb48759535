"""Long texts of one thing, read within a bound on the processor's time: `growing.py WAY SECONDS`.

Prints each case before it begins, so that the last line of an unfinished run names the one that took too long.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from selectolax.lexbor import LexborHTMLParser

from kedge.answer.conversation.asking import resolve_among
from kedge.core.errors import EmptySourceError
from kedge.ingest.chunk.passages import ChunkLimits, chunk
from kedge.ingest.parse.html_frame import drop_frame
from kedge.ingest.parse.own import MARKDOWN_APART
from kedge.ingest.parse.reading import open_document
from kedge.ingest.sources.discovery import uploaded
from kedge.kinds.graphs.files.reading import open_graph_file
from kedge.kinds.tables.feeding.dialect import column_names
from kedge.models.embed.hashed import HashEmbedder
from kedge.surfaces.server.chores import done_chore
from kedge.text.concepts import discussed
from kedge.text.orders import ordering_spans
from kedge.text.sentences import sentences

UNITS = (
    *(" ", "\t", "\n", "\r\n", " \n", "\xa0", "\u2028", "=", "-", "=\n", "-\n", ".", "…", "?!", "# a\n", "# a ", "#"),
    *("a ", "a. ", "A ", "x", "1. ", "- a\n", "> ", "| a ", "(", "[", "[a](b) ", "<!--", "<a", "`", "$", "$$\n"),
    *("<chat_history>", "\nuser:", "\\(", "---\n", "ignore ", "игнорир", "\u0301\n"),
)
"""Of each a text of the shorter length, alone and between two letters."""
LONGER = (
    ("", " ", ""),
    ("a\n\n", "\xa0", "\n\nb"),
    ("a", ".", "b"),
    ("# a", " ", "b"),
    ("", "\\[\n", ""),
    ("- a\n", "  \\[\n", "b\n\\]"),
    ("<!-- title", " ", "b"),
    ("# system", " ", "b"),
    ("as a", "\t", "b"),
    ("{{", "env", "b"),
    ("", "=\n", "b"),
)
"""(what comes before, what is repeated, what comes after): of each a text of the longer length."""


def _read(name: str) -> Callable[[str], object]:
    """As the way in does it: opened, cut into segments, the segments into passages."""
    embedder = HashEmbedder(64)

    def read(text: str) -> None:
        try:
            for segment in open_document(uploaded(name, text.encode())).segments:
                chunk(segment.document, embedder.count_tokens, ChunkLimits.for_window(256), base=segment.base)
        except EmptySourceError:
            pass

    return read


def _frame(text: str) -> None:
    """A page of which only what frames the content is looked for."""
    drop_frame(LexborHTMLParser(text).body)


def _header(text: str) -> None:
    """The first line of a table: a column a word."""
    words = text.split()
    column_names(words, len(words))


def _chat(text: str) -> None:
    """What a chat client sends: a question, one before it, and a chore over a conversation that does not end."""
    resolve_among(text, [text])
    done_chore(f"### Task:\n{text}", [])
    done_chore(f"### Task: a title\n<chat_history>{text}", [])
    done_chore(f"### Task: a title\n<chat_history>user: {text}</chat_history>", [])


def _graph(text: str) -> None:
    """One JSON list with a node and an edge for each letter."""
    rows = [row for place, letter in enumerate(text) for row in ({"id": place, "title": letter}, [place, "to", place])]
    with TemporaryDirectory() as folder:
        path = Path(folder, "graph.json")
        path.write_text(json.dumps(rows), "utf-8")
        graph = open_graph_file(path, path.name)
        assert len([*graph.nodes(), *graph.edges()]) == len(rows)


WAYS: dict[str, tuple[int, int, Callable[[str], object]]] = {
    "text": (40_000, 200_000, _read("a.txt")),
    "markdown": (4_000, MARKDOWN_APART // 2, _read("a.md")),
    "rst": (60_000, 60_000, _read("a.rst")),
    "frame": (500_000, 500_000, _frame),
    "table": (300_000, 300_000, _read("a.md")),
    "sentences": (40_000, 200_000, sentences),
    "orders": (8_000, 80_000, ordering_spans),
    "concepts": (8_000, 80_000, lambda text: discussed(text, set)),
    "chat": (40_000, 200_000, _chat),
    "header": (8_000, 8_000, _header),
    "graph": (20_000, 20_000, _graph),
}
"""The shorter and the longer length, and what reads. Longer markdown is read in a process that has a bound itself."""


COUNTED = {
    "header": ("a ", "A "),
    "graph": ("a",),
    "rst": (".. _a:\n\n", ".. _a: b\n", "a_ "),
    "frame": ("<div>a<a href=b>c</a>", '<div class="nav">a', "<ul><li><a href=b>c</a>", "<p>a<a href=b>c</a>"),
    "table": ("| a | 1 |\n", "|---|---|\n| a | 1 |\n", "| | 2024 |\n"),
}
"""Ways for which it does not matter what the text is made of, but how much of it there is: the units that they get."""


def texts(way: str) -> Iterator[tuple[str, str]]:
    """(name, text) of every case, the longer ones first."""
    shorter, longer, _ = WAYS[way]
    for before, unit, after in () if way in COUNTED else LONGER:
        yield f"{before!r} {unit!r} {after!r}", before + unit * (longer // len(unit.encode())) + after
    for unit in COUNTED.get(way, UNITS):
        many = unit * (shorter // len(unit.encode()))
        yield repr(unit), many
        yield f"a {unit!r} b", f"a{many}b"


if __name__ == "__main__":
    import resource  # not on Windows

    way, seconds = sys.argv[1], int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    read = WAYS[way][2]
    for name, text in texts(way):
        print(name, flush=True)
        read(text)
    print("done")
