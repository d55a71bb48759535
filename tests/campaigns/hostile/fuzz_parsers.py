"""Coverage-guided fuzzing of everything that reads files of strangers, in this process.

    python -m benchmarks.fuzz_parsers [--target NAME] [--seconds 60]      (needs `pip install atheris`)

Targets: the parsers of documents with the chunker behind them (offsets must be exact), encodings, corpora, tables,
graph files. Only a KedgeError may come out. A finding is printed with its bytes, and the exit status is not 0. Without
atheris the same targets run under hypothesis in `tests/hostile/test_fuzz.py`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from kedge.core.errors import KedgeError
from kedge.ingest.chunk.passages import ChunkLimits, chunk
from kedge.ingest.parse.decode import decode
from kedge.ingest.parse.formats import format_named
from kedge.ingest.sources.corpus import read_corpus
from kedge.ingest.sources.discovery import uploaded
from kedge.kinds.graphs.files.reading import open_graph_file
from kedge.kinds.tables.feeding.files import TableFile, stage

LIMITS = ChunkLimits.for_window(128, 0)


def count_tokens(texts: Sequence[str]) -> list[int]:
    return [len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]


def document(format: str) -> Callable[[bytes], None]:
    """Parse and cut; passages are slices of the text, in order, that cover every block."""

    def run(data: bytes) -> None:
        try:
            segments = list(format_named(format).segments(uploaded("a", data)))
        except KedgeError:
            return
        for parsed in (segment.document for segment in segments):
            covered = 0
            for piece in chunk(parsed, count_tokens, LIMITS, title="t"):
                assert parsed.text[piece.start : piece.end] == piece.text
                assert piece.start >= covered
                covered = piece.end
            for block in parsed.blocks:
                assert 0 <= block.start <= block.end <= len(parsed.text)
            parsed.text.encode()

    return run


@contextmanager
def _kept(data: bytes, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield path


def encoding(data: bytes) -> None:
    try:
        decode(data).encode()
    except KedgeError:
        return


def corpus(data: bytes) -> None:
    for row in read_corpus(uploaded("a.jsonl", data)):
        str(row.url).encode()


def table(name: str) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        with _kept(data, name) as path, duckdb.connect() as connection:
            try:
                stage(connection, TableFile("u", name, path, len(data)), {}, lambda _bytes: None)
            except KedgeError:
                return

    return run


def graph(name: str) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        with _kept(data, name) as path:
            try:
                opened = open_graph_file(path, name, path / "beside")
                for row in (*opened.nodes(), *opened.edges()):
                    str(row)
            except KedgeError:
                return

    return run


TARGETS: dict[str, Callable[[bytes], None]] = {
    "markdown": document("markdown"),
    "text": document("text"),
    "html": document("html"),
    "encoding": encoding,
    "corpus": corpus,
    "table": table("a.csv"),
    "json table": table("a.jsonl"),
    "json list": table("a.json"),
    "cypher": graph("a.cypher"),
    "graph table": graph("a.csv"),
    "graph json": graph("a.json"),
    "graph lines": graph("a.jsonl"),
}
"""PDF and Parquet are parsed in a process of their own, where a crash is an error like others."""


def _fuzz(target: str, seconds: int) -> None:
    import atheris

    atheris.instrument_func(TARGETS[target])
    options = [f"-max_total_time={seconds}", "-max_len=4096", "-timeout=20", "-verbosity=0", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *options], TARGETS[target])
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    given = parser.parse_args()
    if given.target:
        _fuzz(given.target, given.seconds)
        return
    failed = []
    for target in TARGETS:
        command = [
            sys.executable,
            "-m",
            "tests.campaigns.hostile.fuzz_parsers",
            "--target",
            target,
            "--seconds",
            str(given.seconds),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(f"{target}: {'no finding' if done.returncode == 0 else done.stderr[-1500:]}", flush=True)
        failed += [target] if done.returncode else []
    sys.exit(1 if failed else 0)
