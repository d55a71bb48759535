"""Embedders from local folders: safetensors without torch, and what the folder's own files say."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from kedge.core.errors import ConfigError, ModelError
from kedge.core.settings import load_settings
from kedge.models.embed import minilm
from kedge.models.registry import open_embedder
from tests.models.tiny_bert import WORDS, slowly, tensors, write_folder

SETTINGS = load_settings(environ={}, threads=1)
TEXT = "light anchor boat"


def ids(text: str) -> list[int]:
    return [1, *(WORDS.index(word) for word in text.split()), 2]


def unit(row: np.ndarray) -> np.ndarray:
    return row / np.linalg.norm(row)


def embed(name: str, *texts: str) -> np.ndarray:
    return asyncio.run(open_embedder(name, SETTINGS).embed(list(texts)))


@pytest.mark.req("D-20")
@pytest.mark.parametrize(("kind", "prefix", "first"), [("bert", "", 0), ("bert", "bert.", 0), ("xlm-roberta", "", 2)])
def test_safetensors_give_what_the_formulas_give(tmp_path: Path, kind: str, prefix: str, first: int) -> None:
    weights = tensors()
    write_folder(tmp_path, weights, kind, prefix=prefix)
    texts = [TEXT, "", "rates", "boat " * 20]
    rows = embed(f"safetensors:{tmp_path}", *texts)
    expected = [unit(slowly(weights, ids(text), first).mean(axis=0)) for text in texts]
    assert np.allclose(rows, expected, atol=1e-5)


@pytest.mark.parametrize(("dtype", "close"), [("F16", 0.999), ("BF16", 0.99)])
def test_half_precision_is_read(tmp_path: Path, dtype: str, close: float) -> None:
    write_folder(tmp_path / "full", tensors())
    write_folder(tmp_path / "half", tensors(), dtype=dtype)
    full, half = (embed(f"safetensors:{tmp_path / name}", TEXT)[0] for name in ("full", "half"))
    assert close < full @ half
    assert not np.array_equal(full, half)


@pytest.mark.req("D-19")
def test_a_folder_is_cut_to_fewer_dimensions_and_no_more(tmp_path: Path) -> None:
    write_folder(tmp_path, tensors())
    whole, part = embed(f"safetensors:{tmp_path}", TEXT)[0], embed(f"safetensors:{tmp_path}?dim=6", TEXT)[0]
    assert np.allclose(part, unit(whole[:6]), atol=1e-6)
    with pytest.raises(ConfigError, match="cannot be cut to 17"):
        open_embedder(f"safetensors:{tmp_path}?dim=17", SETTINGS)


@pytest.mark.parametrize(
    ("config", "pick"),
    [
        ({"pooling_mode_cls_token": True}, 0),
        ({"pooling_mode_lasttoken": True}, -1),
    ],
)
def test_pooling_is_what_the_folder_says(tmp_path: Path, config: dict[str, bool], pick: int) -> None:
    weights = tensors()
    write_folder(tmp_path, weights)
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(config))
    rows = embed(f"safetensors:{tmp_path}", TEXT, "boat " * 9)
    assert np.allclose(rows[0], unit(slowly(weights, ids(TEXT))[pick]), atol=1e-5)


@pytest.mark.req("T-02", "D-20")
@pytest.mark.parametrize(
    ("files", "window"),
    [
        ({}, 512),
        ({"sentence_bert_config.json": {"max_seq_length": 20}}, 20),
        ({"kedge.json": {"window": 30}, "sentence_bert_config.json": {"max_seq_length": 20}}, 30),
    ],
)
def test_a_folder_named_like_a_known_model_gets_its_prefixes_and_window(
    tmp_path: Path, files: dict[str, object], window: int
) -> None:
    weights = tensors()
    folder = tmp_path / "multilingual-e5-small"
    write_folder(folder, weights)
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    embedder = open_embedder(f"safetensors:{folder}", SETTINGS)
    assert embedder.window == window - 2  # "passage" and ":" stand before every text
    text, question = asyncio.run(embedder.embed(["boat"]))[0], asyncio.run(embedder.embed_query("boat"))
    assert np.allclose(text, unit(slowly(weights, ids("passage : boat")).mean(axis=0)), atol=1e-5)
    assert np.allclose(question, unit(slowly(weights, ids("query : boat")).mean(axis=0)), atol=1e-5)


def test_prefixes_in_the_folder_win(tmp_path: Path) -> None:
    folder = tmp_path / "multilingual-e5-small"
    write_folder(folder, tensors())
    prompts = {"prompts": {"query": "light ", "document": "rates "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    (folder / "kedge.json").write_text(json.dumps({"text_prefix": "anchor ", "pooling": "cls"}))
    embedder = open_embedder(f"safetensors:{folder}", SETTINGS)
    text, question = asyncio.run(embedder.embed(["boat"]))[0], asyncio.run(embedder.embed_query("boat"))
    assert np.allclose(text, unit(slowly(tensors(), ids("anchor boat"))[0]), atol=1e-5)
    assert np.allclose(question, unit(slowly(tensors(), ids("light boat"))[0]), atol=1e-5)


def test_a_longer_text_is_cut_to_the_window(tmp_path: Path) -> None:
    write_folder(tmp_path, tensors())
    (tmp_path / "kedge.json").write_text('{"window": 8}')
    rows = embed(f"safetensors:{tmp_path}", "boat " * 6, "boat " * 100)
    assert np.allclose(rows[0], rows[1], atol=1e-5)


@pytest.mark.parametrize("damage", ["cut", "header", "tensor"])
def test_damaged_weights_are_a_model_error(tmp_path: Path, damage: str) -> None:
    weights = tensors()
    if damage == "tensor":
        weights.pop("encoder.layer.1.output.dense.bias")
    write_folder(tmp_path, weights)
    path = tmp_path / "model.safetensors"
    whole = path.read_bytes()
    if damage == "cut":
        path.write_bytes(whole[:-100])
    elif damage == "header":
        path.write_bytes(b"\xff" * 8 + whole[8:])
    with pytest.raises(ModelError):
        open_embedder(f"safetensors:{tmp_path}", SETTINGS)


@pytest.mark.parametrize("name", ["safetensors:{}", "onnx:{}", "safetensors:{}?cut=3", "onnx:{}?dim=x"])
def test_a_folder_of_another_kind_is_a_config_error(tmp_path: Path, name: str) -> None:
    write_folder(tmp_path, tensors(), kind="qwen3")
    with pytest.raises(ConfigError):
        open_embedder(name.format(tmp_path), SETTINGS)


def test_a_file_that_is_no_model_is_a_model_error(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes((minilm.carrier_folder() / "tokenizer.json").read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="cannot be loaded"):
        open_embedder(f"onnx:{tmp_path}", SETTINGS)
