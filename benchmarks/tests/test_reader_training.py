"""What surrounds the training of the reader (`benchmarks.reader`), as far as it needs no torch."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.reader import __main__ as command
from benchmarks.reader.example import Example
from benchmarks.reader.export import LAYERS, STEPS, layout, quantised, read_tensors, write_reader
from benchmarks.reader.needs import need
from benchmarks.reader.neighbours import neighbours
from benchmarks.reader.sources import Questions, read_questions, read_snli
from benchmarks.reader.stages import held_out
from benchmarks.reader.tokens import NOWHERE, WINDOW, batches, encode, open_tokenizer
from kedge.core.settings import Settings
from kedge.models.read.reader import open_reader

WIDTH, WIDE = 8, 12
TOKENIZER = open_tokenizer()
READER = open_reader(Settings(threads=1))


def state() -> dict[str, NDArray[Any]]:
    """Tensors named as in the trained model, but small."""
    shapes: dict[str, tuple[int, ...]] = {
        "bert.embeddings.word_embeddings.weight": (20, WIDTH),
        "bert.embeddings.position_embeddings.weight": (512, WIDTH),
        "bert.embeddings.token_type_embeddings.weight": (2, WIDTH),
        "bert.embeddings.LayerNorm.weight": (WIDTH,),
        "bert.embeddings.LayerNorm.bias": (WIDTH,),
        "span.weight": (2, WIDTH),
        "span.bias": (2,),
        "cls.0.weight": (WIDTH, 2 * WIDTH),
        "cls.0.bias": (WIDTH,),
        "cls.3.weight": (1, WIDTH),
        "cls.3.bias": (1,),
    }
    for layer in range(LAYERS):
        at = f"bert.encoder.layer.{layer}"
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            shapes |= {f"{at}.attention.{name}.weight": (WIDTH, WIDTH), f"{at}.attention.{name}.bias": (WIDTH,)}
        shapes |= {f"{at}.intermediate.dense.weight": (WIDE, WIDTH), f"{at}.intermediate.dense.bias": (WIDE,)}
        shapes |= {f"{at}.output.dense.weight": (WIDTH, WIDE), f"{at}.output.dense.bias": (WIDTH,)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{at}.{name}.weight": (WIDTH,), f"{at}.{name}.bias": (WIDTH,)}
    chance = np.random.default_rng(3)
    return {name: chance.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def test_the_file_holds_every_weight_under_its_short_name(tmp_path: Path) -> None:
    tensors = state()
    write_reader(layout(tensors), tmp_path / "reader.onnx")
    held = read_tensors(tmp_path / "reader.onnx")
    for long, short in (
        ("bert.embeddings.word_embeddings", "emb.word"),
        ("bert.encoder.layer.0.attention.self.query", "l0.q"),
        ("bert.encoder.layer.3.attention.self.key", "l3.k"),
        ("bert.encoder.layer.4.attention.self.value", "l4.v"),
        ("bert.encoder.layer.5.attention.output.dense", "l5.ao"),
        ("bert.encoder.layer.6.intermediate.dense", "l6.fi"),
        ("bert.encoder.layer.11.output.dense", "l11.fo"),
    ):
        steps, scale = held[f"{short}.w"], held[f"{short}.s"].astype(np.float32)
        assert steps.dtype == np.int8
        assert np.abs(steps * scale[:, None] - tensors[f"{long}.weight"]).max() <= 0.51 * scale.max()
    for long, short in (
        ("bert.encoder.layer.2.intermediate.dense.bias", "l2.fi.b"),
        ("bert.encoder.layer.2.attention.output.LayerNorm.weight", "l2.aln.w"),
        ("bert.encoder.layer.2.output.LayerNorm.bias", "l2.oln.b"),
        ("bert.embeddings.token_type_embeddings.weight", "emb.kind"),
        ("bert.embeddings.LayerNorm.weight", "emb.norm.w"),
        ("span.weight", "span.w"),
        ("cls.0.weight", "head.0.w"),
        ("cls.3.bias", "head.1.b"),
    ):
        assert held[short].dtype == np.float32
        assert np.allclose(held[short], tensors[long], atol=2e-3)
    assert held["emb.place"].shape == (WINDOW, WIDTH)
    assert len(held) == LAYERS * (6 * 3 + 2 * 2) + 12
    assert set(held) == set(layout(tensors))


@given(st.lists(st.lists(st.floats(-50, 50, width=32), min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_matrix_in_bytes_is_near_the_matrix(rows: list[list[float]]) -> None:
    matrix = np.array(rows, np.float32)
    steps, scale = quantised(matrix)
    assert (scale > 0).all()
    assert np.abs(steps.astype(int)).max() <= STEPS + 1
    step = scale.astype(np.float32)[:, None]
    assert (np.abs(steps * step - matrix) <= 0.51 * step + 1e-6).all()


WORDS = "The tower of Oslo was designed by Ada Stone in 1905 near the harbour".split()


@given(st.integers(1, 900), st.data())
def test_the_answers_tokens_are_in_the_window(length: int, data: st.DataObject) -> None:
    words = [WORDS[at % len(WORDS)] for at in range(length)]
    at = data.draw(st.integers(0, length - 1))
    start = len(" ".join(words[:at])) + (at > 0)
    example = Example("Who designed it?", "Oslo", " ".join(words), True, (start, start + len(words[at])))
    (one,) = encode(TOKENIZER, [example])
    first, last = one.answer
    assert len(one.ids) <= WINDOW
    assert one.body <= first <= last < len(one.ids) - 1
    assert TOKENIZER.decode(one.ids[first : last + 1].tolist()).strip() == words[at].lower()


def test_a_batch_marks_question_passage_and_text() -> None:
    examples = [
        Example("Who?", "Oslo", "Ada Stone.", True, (0, 3)),
        Example("When was the tower of Oslo built?", "", "In 1905.", False),
    ]
    encoded = encode(TOKENIZER, examples)
    (batch,) = batches(encoded, 2)
    assert batch.ids.shape[1] % 8 == 0
    for row, at in enumerate(batch.places):
        one = encoded[at]
        assert batch.mask[row].sum() == len(one.ids)
        assert batch.kinds[row].tolist().index(1) == one.second
        assert batch.inside[row].sum() == len(one.ids) - 1 - one.body
        assert batch.answerable[row] == one.answerable
    assert [NOWHERE, NOWHERE] in batch.answers.tolist()


def test_batches_hold_each_example_once_in_an_order_of_the_seed() -> None:
    examples = [Example("Who? " * (at % 7), "", "Ada. " * (at % 5), True) for at in range(50)]
    encoded = encode(TOKENIZER, examples)
    orders = [[at for batch in batches(encoded, 8, Random(seed)) for at in batch.places] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(50))


@given(st.integers(2, 9), st.integers(2, 12))
def test_each_article_is_held_out_once_and_never_from_the_final_model(folds: int, count: int) -> None:
    articles = [f"article {at}" for at in range(count)]
    held = [article for fold in range(folds) for article in held_out(articles, folds, fold)]
    assert sorted(held) == sorted(articles)
    assert held_out(articles, folds, folds) == set()


def _lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def questions(tmp_path: Path) -> Questions:
    texts = {"a": "Ada Stone designed the tower.", "b": "Oslo has a harbour.", "c": "The tower is white."}
    _lines(tmp_path / "squad2/corpus.jsonl", [{"_id": k, "title": "The_tower", "text": v} for k, v in texts.items()])
    asked = [
        ("1", "Who designed the tower?", ["Ada Stone"], False, []),
        ("2", "Who painted the harbour?", [], True, ["a tower", "harbour"]),
    ]
    keys = ("_id", "text", "answers", "unanswerable", "plausible_answers")
    _lines(tmp_path / "squad2/queries.jsonl", [dict(zip(keys, row, strict=True)) for row in asked])
    (tmp_path / "squad2/qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t1\n", "utf-8")
    return read_questions(tmp_path)


def test_questions_come_with_their_passage_and_the_place_of_an_answer(questions: Questions) -> None:
    first, second = questions.examples
    assert (first.title, first.article, first.answer, first.answerable) == ("The tower", "The_tower", "Ada Stone", True)
    assert (second.answer, second.answerable, second.place) == ("harbour", False, 1)
    assert questions.gold == (0, 1)


def test_neighbours_share_rare_words_and_hold_the_own_passage(
    questions: Questions, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert neighbours(questions) == [[0, 2, 1], [1, 0, 2]]
    monkeypatch.setattr("benchmarks.reader.neighbours.FOUND", 1)
    swapped = Questions(questions.ids, questions.examples, questions.passages, (1, 1))
    assert neighbours(swapped) == [[0, 1], [1]]


def test_pairs_of_snli_ask_whether_one_sentence_follows(tmp_path: Path) -> None:
    labels = ("entailment", "neutral", "contradiction", "-")
    rows = [{"gold_label": label, "sentence1": "A man sings.", "sentence2": label} for label in labels]
    _lines(tmp_path / "snli.jsonl", rows)
    found = [(one.question, one.text, one.answerable) for one in read_snli(tmp_path / "snli.jsonl")]
    assert found == [(label, "A man sings.", label == "entailment") for label in labels[:3]]


def _call(monkeypatch: pytest.MonkeyPatch, folder: Path, *more: str) -> None:
    given_ = [part for name in ("data", "base", "wordnet", "snli", "out") for part in (f"--{name}", str(folder / name))]
    monkeypatch.setattr(sys, "argv", ["reader", *given_, *more])
    command.main()


def test_missing_files_are_named_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as end:
        _call(monkeypatch, tmp_path)
    message = str(end.value)
    assert str(tmp_path / "base") in message
    assert "data.noun" in message
    assert "squad2" in message
    assert "benchmarks/README.md" in message
    assert not (tmp_path / "out").exists()


def test_a_bad_number_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        _call(monkeypatch, tmp_path, "--folds", "1")
    assert "--folds must be 2 or more" in capsys.readouterr().err


def test_a_missing_package_says_what_to_install() -> None:
    with pytest.raises(SystemExit, match="pip install torch transformers onnx"):
        need("a_package_that_is_not_there")


@given(st.text(max_size=80), st.text(max_size=30), st.text(max_size=400))
def test_what_is_read_in_use_is_what_was_trained_on(question: str, title: str, text: str) -> None:
    """The same tokens in the same places: else the shipped model sees what it never learned from."""
    window = next(iter(READER._windows(question, [(title, text)])))
    (trained,) = encode(TOKENIZER, [Example(question, title, text, False, None)])
    assert window.ids == trained.ids.tolist()
    assert (window.second, window.body) == (trained.second, trained.body)
