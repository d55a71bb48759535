"""Rerankers keep the contract of `kedge.models.ports.Reranker`: on a local server over real HTTP, and as ONNX files."""

from __future__ import annotations

import asyncio
import math
import shutil
from pathlib import Path

import pytest

from kedge.core.errors import ConfigError, ModelError
from kedge.core.settings import load_settings
from kedge.models import registry
from kedge.models.embed import minilm
from kedge.models.http import Backoff
from kedge.models.ports import Reranker
from kedge.models.rerank.endpoint import open_reranker
from tests.models.model_server import Fault, ModelServer
from tests.models.tiny_onnx import write_cross_encoder

SETTINGS = load_settings(environ={}, threads=1)
QUERY = "light anchor"
TEXTS = ["interest rates", "a light anchor", "an anchor", ""]
SECRET = "co-very-secret-123456"


def rank(reranker: Reranker, query: str = QUERY, texts: list[str] = TEXTS) -> list[float]:
    async def run() -> list[float]:
        try:
            return await reranker.rerank(query, texts)
        finally:
            await reranker.close()

    return asyncio.run(run())


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


# ------------------------------------------------------------ on a server


@pytest.mark.req("D-20")
@pytest.mark.parametrize(
    ("path", "options", "logits"),
    [
        ("", "api=tei", False),
        ("", "api=tei&scores=logit", False),
        ("/v1", "api=cohere&model=m", False),
        ("/v1", "api=vllm&model=Qwen/Qwen3-Reranker-4B", False),
        ("/v1", "model=m&scores=logit", True),
    ],
)
def test_every_protocol_gives_the_same_scores(server: ModelServer, path: str, options: str, logits: bool) -> None:
    server.logits = logits
    name = f"endpoint:{server.url}{path}?{options}"
    reranker = registry.open_reranker(name, SETTINGS)
    assert rank(reranker) == pytest.approx([sigmoid(-1), sigmoid(3), sigmoid(1), sigmoid(-1)])
    assert reranker.name == name


def test_no_texts_ask_nothing(server: ModelServer) -> None:
    assert rank(registry.open_reranker(f"endpoint:{server.url}?api=tei", SETTINGS), QUERY, []) == []
    assert server.requests == []


def test_texts_are_bounded_in_number_and_length(server: ModelServer) -> None:
    reranker = registry.open_reranker(f"endpoint:{server.url}?api=tei&batch=2&chars=30", SETTINGS)
    scores = rank(reranker, QUERY, ["x " * 5000, "y", "z", "w", "light " + "v " * 400])
    assert [len(body["texts"]) for body in server.bodies("/rerank")].count(2) == 2
    assert max(len(text) for body in server.bodies("/rerank") for text in body["texts"]) == 30
    assert scores[4] > max(scores[:4])


@pytest.mark.req("D-20")
def test_qwen3_s_template_is_put_around_query_and_text(server: ModelServer) -> None:
    name = f"endpoint:{server.url}/v1?api=vllm&model=Qwen/Qwen3-Reranker-4B&template=qwen3"
    rank(registry.open_reranker(name, SETTINGS), QUERY, ["text with {} braces"])
    body = server.bodies("/v1/rerank")[0]
    assert body["query"].endswith(f"<Query>: {QUERY}\n")
    assert body["query"].startswith("<|im_start|>system\nJudge whether")
    assert body["documents"][0].startswith("<Document>: text with {} braces<|im_end|>")
    assert body["documents"][0].endswith("<think>\n\n</think>\n\n")


def test_logits_taken_for_probabilities_are_found_out(server: ModelServer) -> None:
    server.logits = True
    with pytest.raises(ModelError, match="scores=logit"):
        rank(registry.open_reranker(f"endpoint:{server.url}/v1?model=m", SETTINGS))


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(status=500), "500"),
        (Fault(status=404), "404"),
        (Fault(cut=True), "cannot be reached"),
        (Fault(delay=0.5), "did not answer"),
        (Fault(status=200, body="nothing"), "not JSON"),
        (Fault(status=200, body="{}"), "one score for each"),
        (Fault(status=200, body='[{"index": 9, "score": 1}]'), "one score for each"),
        (Fault(status=200, body='[{"index": 0, "score": "high"}]'), "one score for each"),
    ],
)
def test_a_fault_is_a_model_error(server: ModelServer, fault: Fault, message: str) -> None:
    async def at_once(_: float) -> None:
        pass

    server.faults = [fault] * 2
    quick = load_settings(environ={}, model_timeout=0.15)
    reranker = open_reranker(f"endpoint:{server.url}?api=tei", quick, Backoff(attempts=2, sleep=at_once))
    with pytest.raises(ModelError, match=message):
        rank(reranker, QUERY, ["a"])


def test_fewer_scores_than_texts_are_a_model_error(server: ModelServer) -> None:
    server.fewer = 1
    with pytest.raises(ModelError, match="each of 4 texts"):
        rank(registry.open_reranker(f"endpoint:{server.url}?api=tei", SETTINGS))


def test_the_key_is_sent_and_never_shown(server: ModelServer) -> None:
    server.key = SECRET
    name = f"endpoint:{server.url}/v1?model=m"
    assert rank(registry.open_reranker(name, load_settings(environ={"KEDGE_RERANK_KEY": SECRET})))
    wrong = registry.open_reranker(name, load_settings(environ={"KEDGE_RERANK_KEY": SECRET + "-old"}))
    with pytest.raises(ModelError, match="KEDGE_RERANK_KEY") as caught:
        rank(wrong)
    assert SECRET not in repr(caught.value.as_json()) + repr(wrong.__dict__)


@pytest.mark.parametrize(
    "name",
    [
        "endpoint:",
        "endpoint:host:8080?api=tei",
        "endpoint:http://host/v1",
        "endpoint:http://host?api=soap",
        "endpoint:http://host?api=tei&scores=stars",
        "endpoint:http://host?api=tei&template=x",
        "endpoint:http://host?api=tei&chars=0",
        "endpoint:http://host?api=tei&top=3",
        "endpoint:http://user:word@host?api=tei",
        "onnx-rerank:/nowhere",
        "onnx-rerank:/nowhere?template={query}",
        "onnx-rerank:/nowhere?template={query}{query}{passage}",
        "nothing",
    ],
)
def test_a_name_that_cannot_be_is_a_config_error(name: str) -> None:
    with pytest.raises(ConfigError):
        registry.open_reranker(name, SETTINGS)


# ------------------------------------------------------------ from a folder


def folder(tmp_path: Path, outputs: int = 1, *, pairs: bool = True) -> str:
    write_cross_encoder(tmp_path / "model.onnx", outputs, pairs=pairs)
    shutil.copy(minilm.carrier_folder() / "tokenizer.json", tmp_path / "tokenizer.json")
    return f"onnx-rerank:{tmp_path}"


@pytest.mark.req("D-20")
@pytest.mark.parametrize("outputs", [1, 2])
def test_a_cross_encoder_reads_query_and_text_together(tmp_path: Path, outputs: int) -> None:
    scores = rank(registry.open_reranker(folder(tmp_path, outputs), SETTINGS))
    assert scores == pytest.approx([sigmoid(-2), sigmoid(0), sigmoid(-1), sigmoid(-2)])


def test_padding_and_batches_do_not_change_scores(tmp_path: Path) -> None:
    reranker = registry.open_reranker(folder(tmp_path), SETTINGS)
    texts = [f"{'boat ' * (number % 23)} light {'anchor' if number % 2 else ''}" for number in range(40)]
    assert rank(reranker, QUERY, texts) == pytest.approx([rank(reranker, QUERY, [text])[0] for text in texts])
    assert rank(reranker, QUERY, []) == []


def test_the_text_is_cut_to_the_window_and_a_long_query_leaves_it_half(tmp_path: Path) -> None:
    reranker = registry.open_reranker(folder(tmp_path) + "?window=16", SETTINGS)
    seen, unseen = rank(reranker, QUERY, ["anchor " + "boat " * 50, "boat " * 50 + "anchor"])
    assert seen > unseen
    assert rank(reranker, "light " * 300, ["light", "boat"]) == pytest.approx([sigmoid(-1), sigmoid(-2)])


@pytest.mark.req("D-20")
def test_a_template_puts_query_and_text_into_one_text(tmp_path: Path) -> None:
    name = folder(tmp_path, pairs=False) + "?template=Query%3A%20{query}%0AText%20-%20{passage}"
    reranker = registry.open_reranker(name, SETTINGS)
    assert rank(reranker) == pytest.approx([sigmoid(-3), sigmoid(1), sigmoid(-1), sigmoid(-3)])
    assert rank(reranker, "{passage} boat", ["{query}"]) == pytest.approx([sigmoid(3)])  # three tokens twice


def test_a_template_keeps_its_end_when_the_text_is_cut(tmp_path: Path) -> None:
    name = folder(tmp_path, pairs=False) + "?window=16&template={passage}%20-%20{query}%20anchor"
    reranker = registry.open_reranker(name, SETTINGS)
    texts = ["anchor a b c d e f g h i j k l m n o p", "a b c d e f g h i j k l m n o p anchor", ""]
    assert rank(reranker, "light", texts) == pytest.approx([sigmoid(-1), sigmoid(-3), sigmoid(-3)])
    assert len(rank(reranker, "light " * 300, ["light"])) == 1


def test_a_model_that_cannot_run_is_a_model_error(tmp_path: Path) -> None:
    name = folder(tmp_path)
    raw = (tmp_path / "model.onnx").read_bytes()
    (tmp_path / "model.onnx").write_bytes(raw.replace(b"attention_mask", b"attention_musk"))
    with pytest.raises(ModelError, match="failed"):
        rank(registry.open_reranker(name, SETTINGS))


def test_a_model_of_another_kind_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="another kind"):
        rank(registry.open_reranker(folder(tmp_path, 5), SETTINGS))
