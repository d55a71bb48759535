"""What surrounds the training of the reader (`benchmarks.reader`), as far as it needs no torch."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokenizers import Tokenizer

from benchmarks.reader import base, train
from benchmarks.reader.encode import NOWHERE, ExampleEncoder, collated, grouped
from benchmarks.reader.example import Example
from benchmarks.reader.export import STEPS, layout, quantised, read_tensors, write_reader
from benchmarks.reader.needs import check, need
from benchmarks.reader.weights import save, unpacked
from kedge.models.carried.tokenizer import tokenizer_file
from kedge.models.read import reader as in_use
from kedge.models.read.window import IDENTITY_TOKENS, QUESTION_TOKENS, WINDOW

WIDTH, WIDE = 8, 12
ENCODER = ExampleEncoder(tokenizer_file())
TOKENIZER = Tokenizer.from_file(str(tokenizer_file()))


# ------------------------------------------------------------ weights


def state() -> dict[str, NDArray[Any]]:
    """Tensors named as in the trained network, but small."""
    shapes: dict[str, tuple[int, ...]] = {
        "bert.embeddings.word_embeddings.weight": (20, WIDTH),
        "bert.embeddings.position_embeddings.weight": (512, WIDTH),
        "bert.embeddings.token_type_embeddings.weight": (2, WIDTH),
        "bert.embeddings.LayerNorm.weight": (WIDTH,),
        "bert.embeddings.LayerNorm.bias": (WIDTH,),
        "span.weight": (2, WIDTH),
        "span.bias": (2,),
        "support.weight": (1, WIDTH),
        "support.bias": (1,),
        "pool.weight": (WIDTH, 3 * WIDTH),
        "pool.bias": (WIDTH,),
        "out.weight": (4, WIDTH),
        "out.bias": (4,),
    }
    for layer in range(7):
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
        ("bert.encoder.layer.1.attention.self.key", "l1.k"),
        ("bert.encoder.layer.4.attention.self.value", "l4.v"),
        ("bert.encoder.layer.5.attention.output.dense", "l5.ao"),
        ("bert.encoder.layer.6.intermediate.dense", "l6.fi"),
        ("bert.encoder.layer.1.output.dense", "l1.fo"),
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
        ("support.bias", "support.b"),
        ("pool.weight", "pool.w"),
        ("out.bias", "out.b"),
    ):
        assert held[short].dtype == np.float32
        assert np.allclose(held[short], tensors[long], atol=2e-3)
    assert held["emb.place"].shape == (WINDOW, WIDTH)
    assert set(held) == set(layout(tensors))


@given(st.lists(st.lists(st.floats(-50, 50, width=32), min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_matrix_in_bytes_is_near_the_matrix(rows: list[list[float]]) -> None:
    matrix = np.array(rows, np.float32)
    steps, scale = quantised(matrix)
    assert (scale > 0).all()
    assert np.abs(steps.astype(int)).max() <= STEPS + 1
    step = scale.astype(np.float32)[:, None]
    half = float(np.finfo(np.float16).smallest_subnormal) / 2  # as far as a step may be from the one that was meant
    assert (np.abs(steps * step - matrix) <= 0.51 * step + (STEPS + 1) * half).all()


def test_packed_weights_are_near_the_weights(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    whole = {
        "large.weight": chance.normal(size=(400, 300)).astype(np.float32),
        "small.weight": chance.normal(size=(4, 300)).astype(np.float32),
        "bias": chance.normal(size=300).astype(np.float32),
    }
    whole["large.weight"][7] = 0
    save(whole, tmp_path / "base.npz")
    read = unpacked(tmp_path / "base.npz")
    assert set(read) == set(whole)
    assert np.array_equal(read["small.weight"], whole["small.weight"])
    assert np.array_equal(read["bias"], whole["bias"])
    step = np.abs(whole["large.weight"]).max(axis=1, keepdims=True) / 127
    assert (np.abs(read["large.weight"] - whole["large.weight"]) <= 0.51 * step + 1e-6).all()


def test_another_base_than_that_of_the_carried_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").write_bytes(b"another")
    for name, said in (("model.onnx", "is not the file"), ("nowhere.onnx", "is not there")):
        monkeypatch.setattr(sys, "argv", ["base", str(tmp_path / name), str(tmp_path / "base.npz")])
        with pytest.raises(SystemExit, match=said):
            base.main()
    assert not (tmp_path / "base.npz").exists()


# ------------------------------------------------------------ examples in tokens


WORDS = "The tower of Oslo was designed by Ada Stone in 1905 near the harbour".split()


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.integers(0, 999), st.data())
def test_the_answers_tokens_are_in_the_window(lengths: list[int], seed: int, data: st.DataObject) -> None:
    """Of a long passage that part is taken which holds the answer."""
    said = [[WORDS[at % len(WORDS)] for at in range(length)] for length in lengths]
    number = data.draw(st.integers(0, len(said) - 1))
    at = data.draw(st.integers(0, len(said[number]) - 1))
    start = len(" ".join(said[number][:at])) + (at > 0)
    span = (number, start, start + len(said[number][at]))
    statements = [" ".join(words) for words in said]
    one = ENCODER.encode(Example("Who designed it?", "Oslo", statements, 1, 0, -1, span, {number}, True), Random(seed))
    first, last = one.span
    assert len(one.ids) == len(one.owner) <= WINDOW
    assert one.about == 1
    assert one.second < first <= last < len(one.ids) - 1
    assert TOKENIZER.decode(one.ids[first : last + 1].tolist()).strip() == said[number][at].lower()
    assert one.support.tolist().index(1) == one.owner[first] == one.owner[last]
    assert one.support.sum() == 1


def test_an_answer_that_no_window_holds_is_not_taught() -> None:
    long = "tower " * 400 + "Ada"
    one = ENCODER.encode(Example("Who?", "", [long], 1, 0, -1, (0, len(long) - 3, len(long)), {0}, True), Random(1))
    assert one.span == (NOWHERE, NOWHERE)
    assert one.about == NOWHERE


def test_a_batch_marks_question_passage_and_statements() -> None:
    examples = [
        Example("Who?", "Oslo", ["Ada Stone.", "It is high."], 1, 0, -1, (0, 0, 3), {0}, True),
        Example("When was the tower of Oslo built?", "", ["In 1905."], trick=1),
        Example("Is it high?", "", ["It is."], 1, yes=1),
    ]
    encoded = [ENCODER.encode(one, Random(1)) for one in examples]
    batch = collated(encoded)
    assert batch["ids"].shape[1] % 16 == 0
    for row, one in enumerate(encoded):
        assert batch["mask"][row].sum() == len(one.ids)
        assert batch["kinds"][row].tolist().index(1) == one.second
        assert batch["kinds"][row].sum() == len(one.ids) - one.second
        assert (batch["owner"][row] >= 0).sum() == (one.owner >= 0).sum()
    assert batch["support"].tolist() == [[1, 0], [NOWHERE, NOWHERE], [NOWHERE, NOWHERE]]
    assert batch["about"].tolist() == [1, NOWHERE, 1]
    assert batch["trick"].tolist() == [0, 1, NOWHERE]
    assert batch["yes"].tolist() == [NOWHERE, NOWHERE, 1]
    assert batch["span"][1:].tolist() == [[NOWHERE, NOWHERE]] * 2


def test_groups_hold_each_place_once_in_an_order_of_the_seed_those_of_like_length_together() -> None:
    shown, lengths = np.array([*range(90), 7, 7]), np.arange(90) % 9
    orders = [[group.tolist() for group in grouped(shown, lengths, 8, Random(seed))] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(place for group in orders[0] for place in group) == sorted(shown.tolist())
    assert all(np.ptp(lengths[group]) <= 1 for group in orders[0])


class RecordingSession:
    """Stands for the network: keeps what it is given."""

    def __init__(self) -> None:
        self.given: list[dict[str, NDArray[Any]]] = []

    def run(self, _names: Sequence[str], given: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
        self.given.append(given)
        count = given["ids"].shape[1]
        return [np.zeros(shape, np.float32) for shape in ((1, 2, count), (1, count), (1, 4))]


@pytest.fixture(scope="module")
def windows() -> Any:
    """What the reader in use gives to the network for a question and a passage, window by window."""
    session = RecordingSession()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_use, "open_session", lambda _model, _threads: session)
        reader = in_use.Reader(Path("reader.onnx"), Tokenizer.from_file(str(tokenizer_file())), 1)

    def of(question: str, identity: str, statements: list[str]) -> list[dict[str, NDArray[Any]]]:
        session.given.clear()
        reader.read(question, [in_use.Readable(identity, statements)])
        return list(session.given)

    return of


@given(st.text(max_size=80), st.text(max_size=30), st.lists(st.text(max_size=90), min_size=1, max_size=4))
def test_what_is_read_in_use_is_what_was_trained_on(
    windows: Any, question: str, identity: str, statements: list[str]
) -> None:
    """The same tokens in the same places: else the shipped model sees what it never learned from."""
    found = windows(question, identity, statements)
    trained = ENCODER.encode(Example(question, identity, statements), Random(1))
    if len(found) == 1:
        batch = collated([trained])
        end = len(trained.ids)
        assert found[0]["ids"][0].tolist() == trained.ids.tolist()
        assert found[0]["mask"][0].tolist() == batch["mask"][0, :end].tolist()
        assert found[0]["kinds"][0].tolist() == batch["kinds"][0, :end].tolist()
        assert found[0]["inside"][0].tolist() == (trained.owner >= 0).tolist()


def test_a_long_question_and_identity_are_cut_alike(windows: Any) -> None:
    question, identity, statements = "tower " * 200, "harbour " * 200, ["Ada Stone built it.", "In 1905."]
    (found,) = windows(question, identity, statements)
    trained = ENCODER.encode(Example(question, identity, statements), Random(1))
    assert found["ids"][0].tolist() == trained.ids.tolist()
    assert (trained.owner >= 0).tolist().index(True) == QUESTION_TOKENS + IDENTITY_TOKENS + 3


def test_a_long_passage_is_read_in_windows_that_begin_as_in_training(windows: Any) -> None:
    statements = [" ".join(WORDS)] * 60
    found = windows("Who designed it?", "Oslo", statements)
    trained = ENCODER.encode(Example("Who designed it?", "Oslo", statements), Random(1))
    assert len(found) > 1
    for one in found:
        count = one["ids"].shape[1] - 1
        assert count < WINDOW
        assert one["ids"][0, :count].tolist() == trained.ids[:count].tolist()


# ------------------------------------------------------------ the command


def test_missing_files_are_named_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given_ = [part for name in ("data", "base", "tokenizer", "out") for part in (f"--{name}", str(tmp_path / name))]
    monkeypatch.setattr(sys, "argv", ["train", *given_])
    with pytest.raises(SystemExit) as end:
        train.main()
    message = str(end.value)
    assert str(tmp_path / "base") in message
    assert "squad1_train.jsonl.xz" in message
    assert "wikitablequestions.tar.xz" in message
    assert "benchmarks/README.md" in message
    assert not (tmp_path / "out").exists()


def test_a_missing_package_says_what_to_install() -> None:
    with pytest.raises(SystemExit, match="pip install torch transformers"):
        need("a_package_that_is_not_there")
    with pytest.raises(SystemExit, match="a_package_that_is_not_there: not installed"):
        check(("numpy", "a_package_that_is_not_there"))
    check(("numpy",))
