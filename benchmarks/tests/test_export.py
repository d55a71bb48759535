"""The graphs that Kedge carries: the files are those that the export commands write, and compute what was trained."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.models import tiny_bert
from tests.support.paths import ROOT

from benchmarks.export.e5 import write_e5
from benchmarks.reader import export
from benchmarks.reader.export import EARLY, layout, network_state, read_tensors, write_reader
from benchmarks.reader.weights import save, unpacked
from kedge.core.errors import ModelError
from kedge.models.carried.files import DIGESTS, FOLDER, carried
from kedge.models.embed.e5 import GRAPH
from kedge.models.embed.onnx import open_session
from kedge.models.read.reader import FILE

READER = FOLDER / FILE


# ------------------------------------------------------------ the files


def test_every_graph_in_the_folder_has_its_digest() -> None:
    assert {path.name for path in FOLDER.glob("*.onnx")} == set(DIGESTS)
    for name in DIGESTS:
        assert carried(name) == FOLDER / name


def test_the_graph_of_e5_is_what_its_command_writes(tmp_path: Path) -> None:
    assert write_e5(tmp_path / GRAPH) == DIGESTS[GRAPH]
    assert (tmp_path / GRAPH).read_bytes() == (FOLDER / GRAPH).read_bytes()


def test_the_reader_is_what_its_command_writes_from_its_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["export", str(READER), "--out", str(tmp_path / FILE)])
    export.main()
    assert DIGESTS[FILE] in capsys.readouterr().out
    assert (tmp_path / FILE).read_bytes() == READER.read_bytes()


def test_a_reader_is_taken_up_again_where_training_ended() -> None:
    state = network_state(read_tensors(READER))
    kept = layout(state)
    assert all(np.array_equal(values, kept[name]) for name, values in read_tensors(READER).items())


def test_of_several_trainings_the_mean_is_taken(tmp_path: Path) -> None:
    for name, factor in (("one", 1.0), ("two", 3.0)):
        (tmp_path / name).mkdir()
        save({key: factor * value for key, value in reader_state().items()}, tmp_path / name / "reader.npz")
        (tmp_path / name / "reader.npz").rename(tmp_path / name / "reader.npz.0")
    found = export.mean_of([tmp_path / "one", tmp_path / "two"])
    for name, value in reader_state().items():
        assert np.allclose(found[name], 2 * value, atol=0.05 * (np.abs(value).max() + 1e-6))


def test_parts_of_training_give_the_file_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In any order, also of more than ten."""
    save(reader_state(), tmp_path / "reader.npz")
    raw = (tmp_path / "reader.npz").read_bytes()
    size = -(-len(raw) // 12)
    parts = [tmp_path / f"reader.npz.{number}" for number in range(12)]
    for number, part in enumerate(parts):
        part.write_bytes(raw[number * size : (number + 1) * size])
    read = export.read_parts(sorted(parts))
    whole = unpacked(tmp_path / "reader.npz")
    assert set(read) == set(whole)
    assert all(np.array_equal(read[name], whole[name]) for name in whole)
    monkeypatch.setattr(export, "write_reader", partial(write_reader, heads=tiny_bert.HEADS))
    monkeypatch.setattr(sys, "argv", ["export", *map(str, parts), "--out", str(tmp_path / FILE)])
    export.main()
    assert hashlib.sha256((tmp_path / FILE).read_bytes()).hexdigest() in capsys.readouterr().out
    open_session(tmp_path / FILE, 1)


def test_weights_that_are_not_there_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["export", str(tmp_path / FILE)])
    with pytest.raises(SystemExit, match="Not there"):
        export.main()


def test_an_onnx_file_is_no_part_among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["export", str(READER), str(READER)])
    with pytest.raises(SystemExit, match="alone"):
        export.main()


def test_the_wheel_carries_them(tmp_path: Path) -> None:
    hatchling = pytest.importorskip("hatchling.builders.wheel")
    built = next(hatchling.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))
    with zipfile.ZipFile(built) as wheel:
        for name, digest in DIGESTS.items():
            assert hashlib.sha256(wheel.read(f"kedge/models/carried/data/{name}")).hexdigest() == digest


# ------------------------------------------------------------ what they compute


def reader_state() -> tiny_bert.Tensors:
    """A small random reader, under the names of training."""
    draw = np.random.default_rng(11)
    width = tiny_bert.WIDTH
    heads = {"span.weight": (2, width), "span.bias": (2,), "support.weight": (1, width), "support.bias": (1,)}
    heads |= {"pool.weight": (width, 3 * width), "pool.bias": (width,), "out.weight": (4, width), "out.bias": (4,)}
    heads |= {f"{EARLY}{name}": shape for name, shape in heads.items()}
    state = {f"bert.{name}": value for name, value in tiny_bert.tensors().items()}
    return state | {name: draw.normal(0, 0.5, size=shape).astype(np.float32) for name, shape in heads.items()}


def reading(
    state: tiny_bert.Tensors, given: dict[str, np.ndarray], *, early: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spans, support and heads, straight from the formulas of `benchmarks.reader.network`; or those half way up."""
    bert = {name.removeprefix("bert."): value for name, value in state.items() if name.startswith("bert.")}
    layers = tiny_bert.LAYERS // 2 if early else tiny_bert.LAYERS
    rows = tiny_bert.slowly(bert, given["ids"].tolist(), kinds=given["kinds"].tolist(), layers=layers)
    at, inside = EARLY if early else "", given["inside"]
    spans = np.where(inside, state[f"{at}span.weight"] @ rows.T + state[f"{at}span.bias"][:, None], -1e4)
    raised = np.exp(spans - spans.max(axis=1, keepdims=True))
    likely = (raised / raised.sum(axis=1, keepdims=True)).mean(axis=0)
    support = rows @ state[f"{at}support.weight"][0] + state[f"{at}support.bias"][0]
    weight = inside / (1 + np.exp(-support))
    held = weight / (weight.sum() + 1e-3)
    places = np.concatenate([rows[0], likely @ rows, held @ rows])
    pooled = np.tanh(state[f"{at}pool.weight"] @ places + state[f"{at}pool.bias"])
    return spans, support, state[f"{at}out.weight"] @ pooled + state[f"{at}out.bias"]


WINDOWS = (5, 9, 24)
"""Tokens of a window; the first holds no statement."""


def window(count: int) -> dict[str, np.ndarray]:
    """A window of so many random tokens, as the reader gives it to the network."""
    draw = np.random.default_rng(count)
    ids, kinds = draw.integers(0, len(tiny_bert.WORDS), count), (np.arange(count) >= 3).astype(np.int64)
    inside = (np.arange(count) >= 4) & (np.arange(count) < count - 1) & (count != WINDOWS[0])
    return {"ids": ids, "kinds": kinds, "mask": np.ones(count, np.int32), "inside": inside}


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, np.ndarray], float], list[np.ndarray]]:
    """The small reader, exported: what it makes of rows of windows that are read to the end from some log-odds on."""
    path = tmp_path_factory.mktemp("reader") / FILE
    write_reader(layout(reader_state()), path, heads=tiny_bert.HEADS)
    session = open_session(path, 1)

    def run(rows: dict[str, np.ndarray], least: float) -> list[np.ndarray]:
        given = {**rows, "least": np.array(least, np.float32)}
        found: list[np.ndarray] = session.run(["spans", "support", "heads"], given)
        return found

    return run


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("count", WINDOWS)
def test_the_exported_reader_computes_what_is_trained(
    network: Callable[[dict[str, np.ndarray], float], list[np.ndarray]], count: int, early: bool
) -> None:
    given, least = window(count), np.inf if early else -np.inf
    found = network({name: value[None] for name, value in given.items()}, least)
    for own, wanted in zip(found, reading(reader_state(), given, early=early), strict=True):
        assert np.abs(own[0] - wanted).max() < 0.15
    if given["inside"].any():
        padded = {name: np.stack([np.pad(value, (0, 6)), np.pad(value, (3, 3))]) for name, value in given.items()}
        among = network(padded, least)
        assert np.allclose(among[0][0][:, :count], found[0][0], atol=0.02)
        assert np.allclose(among[1][0][:count], found[1][0], atol=0.02)
        assert np.allclose(among[2][0], found[2][0], atol=0.02)


def test_a_window_is_read_to_the_end_where_it_may_answer_as_seen_half_way_up(
    network: Callable[[dict[str, np.ndarray], float], list[np.ndarray]],
) -> None:
    rows = {name: value[None] for name, value in window(24).items()}
    (early,), (last,) = network(rows, np.inf)[2], network(rows, -np.inf)[2]
    assert not np.allclose(early, last)
    assert np.array_equal(network(rows, early[0])[2][0], last)
    assert np.array_equal(network(rows, np.nextafter(early[0], np.float32(np.inf)))[2][0], early)


def test_weights_of_another_shape_are_a_model_error() -> None:
    with pytest.raises(ModelError, match="cannot be loaded"):
        open_session(carried(GRAPH), 1, weights={"l0.q.b": np.zeros(7, np.float32)})


def test_a_graph_without_its_weights_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="cannot be loaded"):
        open_session(carried(GRAPH), 1)
