"""The `openai:` embedder against a local server that speaks the protocol, over real HTTP."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import numpy as np
import pytest

from kedge import Kedge
from kedge.core.errors import ConfigError, MissingExtraError, ModelError
from kedge.core.settings import Settings, load_settings
from kedge.models import registry
from kedge.models.embed import minilm
from kedge.models.embed.openai import open_embedder
from kedge.models.http import Backoff
from kedge.models.ports import Embedder
from tests.models.model_server import Fault, ModelServer, embedding, serving

T = TypeVar("T")
SECRET = "sk-very-secret-123456"


class Waits:
    """Remembers how long it was to wait, and does not."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
def waits() -> Waits:
    return Waits()


def settings(**values: object) -> Settings:
    return load_settings(environ={}, **values)


def opened(server: ModelServer, name: str, waits: Waits | None = None, **values: object) -> Embedder:
    backoff = Backoff(attempts=3, sleep=waits or Waits())
    return open_embedder(name, settings(embed_url=f"{server.url}/v1", **values), backoff)


def use(embedder: Embedder, work: Callable[[Embedder], Awaitable[T]]) -> T:
    async def run() -> T:
        try:
            return await work(embedder)
        finally:
            await embedder.close()

    return asyncio.run(run())


def embed(embedder: Embedder, texts: list[str]) -> np.ndarray:
    return use(embedder, lambda one: one.embed(texts))


def unit(row: np.ndarray) -> np.ndarray:
    return row / np.linalg.norm(row)


# ------------------------------------------------------------ what comes back


@pytest.mark.req("G-07", "Q-02")
def test_text_embedding_3_small_has_1536_dimensions_of_norm_1(server: ModelServer) -> None:
    server.width = 1536
    name = "openai:text-embedding-3-small"
    embedder = registry.open_embedder(name, settings(embed_url=f"{server.url}/v1"))
    rows = embed(embedder, ["an anchor", "a boat"])
    assert (embedder.name, embedder.dimension, embedder.window) == (name, 1536, 8191)
    assert rows.shape == (2, 1536)
    assert rows.dtype == np.float32
    assert np.allclose(rows[1], unit(embedding("a boat", 1536)), atol=1e-5)
    assert server.requests == [
        (
            "/v1/embeddings",
            {"model": "text-embedding-3-small", "input": ["an anchor", "a boat"], "encoding_format": "float"},
        )
    ]


@pytest.mark.req("Q-02")
def test_an_unknown_model_is_asked_for_its_dimension_once(server: ModelServer) -> None:
    server.width = 24
    embedder = opened(server, "openai:my/own-model")
    assert embedder.dimension == 24
    assert embed(embedder, ["a"]).shape == (1, 24)
    assert len(server.requests) == 2


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_rows_are_put_in_the_order_of_the_texts(server: ModelServer, encoding: str) -> None:
    server.reversed, server.encoding = True, encoding
    rows = embed(opened(server, "openai:x"), ["a", "b", "c"])
    assert np.allclose(rows, [unit(embedding(text, 8)) for text in "abc"], atol=1e-5)


def test_many_texts_go_in_batches_a_few_at_a_time(server: ModelServer) -> None:
    texts = [f"text {number}" for number in range(50)]
    server.faults = [Fault(delay=0.02) for _ in range(11)]
    rows = embed(opened(server, "openai:x?batch=5&dim=8"), texts)
    assert np.allclose(rows[37], unit(embedding("text 37", 8)), atol=1e-5)
    assert [len(body["input"]) for body in server.bodies("/v1/embeddings")] == [5] * 10
    assert 2 <= server.most_at_once <= 4


def test_no_texts_ask_nothing_and_an_empty_text_is_a_text(server: ModelServer) -> None:
    embedder = opened(server, "openai:x?dim=8")
    assert embed(embedder, []).shape == (0, 8)
    assert server.requests == []
    assert embed(embedder, ["", "a"]).shape == (2, 8)


def test_an_embedder_serves_one_event_loop_after_the_other(server: ModelServer) -> None:
    embedder = opened(server, "openai:x?dim=8")
    first = asyncio.run(embedder.embed(["a"]))
    second = asyncio.run(embedder.embed(["a"]))
    assert np.allclose(first, second)


# ------------------------------------------------------------ dimensions


@pytest.mark.req("D-19", "D-20")
@pytest.mark.parametrize(("server_does", "requests"), [("yes", 2), ("ignores", 2), ("refuses", 3)])
def test_qwen3_embedding_is_cut_to_1536_by_the_server_or_here(
    server: ModelServer, server_does: str, requests: int
) -> None:
    server.width, server.takes_dimensions = 4096, server_does
    embedder = opened(server, "openai:Qwen/Qwen3-Embedding-8B?dim=1536")

    async def twice(one: Embedder) -> tuple[np.ndarray, np.ndarray]:
        return (await one.embed(["a boat"]))[0], (await one.embed(["a boat"]))[0]

    first, second = use(embedder, twice)
    assert embedder.dimension == 1536
    assert np.allclose(first, unit(embedding("a boat", 4096)[:1536]), atol=1e-5)
    assert np.allclose(first, second)
    assert len(server.requests) == requests
    assert server.requests[0][1]["dimensions"] == 1536


@pytest.mark.req("D-19", "Q-02")
@pytest.mark.parametrize("name", ["openai:text-embedding-3-small", "openai:x?dim=16"])
def test_a_vector_of_another_length_is_refused(server: ModelServer, name: str) -> None:
    with pytest.raises(ModelError, match="8 dimensions instead of") as caught:
        embed(opened(server, name), ["a"])
    assert caught.value.details["found"] == 8
    assert caught.value.hint


@pytest.mark.req("D-19")
@pytest.mark.parametrize("name", ["openai:bge-m3?dim=256", "openai:text-embedding-3-small?dim=2000"])
def test_a_model_that_cannot_be_cut_so_is_not_opened(server: ModelServer, name: str) -> None:
    with pytest.raises(ConfigError, match=r"cut|cannot give"):
        opened(server, name)


# ------------------------------------------------------------ prefixes and windows


@pytest.mark.req("D-20", "T-02")
@pytest.mark.parametrize(
    ("name", "width", "query", "text"),
    [
        (
            "openai:Qwen/Qwen3-Embedding-8B",
            4096,
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:boat",
            "boat",
        ),
        ("openai:intfloat/multilingual-e5-small", 384, "query: boat", "passage: boat"),
        ("openai:nomic-embed-text:latest", 768, "search_query: boat", "search_document: boat"),
        ("openai:x?dim=8&query_prefix=ask%3A%20&text_prefix=say%20", 8, "ask: boat", "say boat"),
        ("openai:multilingual-e5-small?query_prefix=&text_prefix=", 384, "boat", "boat"),
    ],
)
def test_each_model_gets_its_prefixes(server: ModelServer, name: str, width: int, query: str, text: str) -> None:
    server.width = width

    async def both(one: Embedder) -> None:
        await one.embed_query("boat")
        await one.embed(["boat"])

    use(opened(server, name), both)
    assert [body["input"] for body in server.bodies("/v1/embeddings")] == [[query], [text]]


def test_what_is_beyond_the_window_is_not_sent(server: ModelServer) -> None:
    embed(opened(server, "openai:x?dim=8&window=12"), ["boat " * 100, "boat"])
    long, short = server.requests[0][1]["input"]
    assert long.strip() == "boat boat boat boat boat"
    assert short == "boat"


def test_tokens_are_guessed_on_the_high_side() -> None:
    exact = registry.open_embedder("minilm", settings(threads=1))
    guess = open_embedder("openai:x?dim=8&url=http://127.0.0.1:9/v1", settings())
    texts = [
        "Kedge anchors are light; they are used to move a vessel by hauling (1847).",
        "def embed(self, texts: Sequence[str]) -> Vectors:\n    return await gather(jobs)",
        "Un ancla de espía es un ancla ligera que se usa para mover un barco.",
        "小锚用于移动船只。",
        "",
    ]
    for text, low, high in zip(texts, exact.count_tokens(texts), guess.count_tokens(texts), strict=True):
        assert 0.95 * low <= high <= 2.5 * low, text


def test_tokens_are_counted_by_a_tokenizer_file_or_by_the_server(server: ModelServer) -> None:
    folder = quote(str(minilm.carrier_folder()))
    text = "hauling a vessel"
    by_file = opened(server, f"openai:x?dim=8&tokenizer={folder}")
    assert by_file.count_tokens([text, ""]) == registry.open_embedder("minilm", settings()).count_tokens([text, ""])
    by_server = opened(server, "openai:x?dim=8&tokenizer=tei&batch=2")
    assert by_server.count_tokens([text, "", "a"]) == [3, 0, 1]
    assert [path for path, _ in server.requests] == ["/tokenize"] * 2


def test_the_server_s_tokens_decide_what_is_cut(server: ModelServer) -> None:
    text = "hauling vessels everywhere"  # three tokens there, nine by the guess
    embed(opened(server, "openai:x?dim=8&tokenizer=tei&window=5"), [text])
    assert server.bodies("/v1/embeddings")[0]["input"] == [text]


def test_counting_works_within_an_event_loop(server: ModelServer) -> None:
    async def count(one: Embedder) -> list[int]:
        return one.count_tokens(["a b"])

    assert use(opened(server, "openai:x?dim=8&tokenizer=tei"), count) == [2]


# ------------------------------------------------------------ faults


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=429),
        Fault(status=500),
        Fault(status=503),
        Fault(cut=True),
    ],
)
def test_a_passing_fault_is_tried_again(server: ModelServer, waits: Waits, fault: Fault) -> None:
    server.faults = [fault, fault]
    rows = embed(opened(server, "openai:x?dim=8", waits), ["a"])
    assert rows.shape == (1, 8)
    assert len(server.requests) == 3
    first, second = waits.seconds
    assert 0.25 <= first <= 0.5 <= second <= 1.0


def test_the_server_says_how_long_to_wait(server: ModelServer, waits: Waits) -> None:
    server.faults = [
        Fault(status=429, headers={"Retry-After": "7"}),
        Fault(status=503, headers={"Retry-After": "Wed, 21 Oct 2065 07:28:00 GMT"}),
    ]
    embed(opened(server, "openai:x?dim=8", waits), ["a"])
    assert waits.seconds == [7.0, 30.0]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(status=429), "429"),
        (Fault(status=500, body="<html>proxy error</html>"), "500: <html>proxy error"),
        (Fault(cut=True), "cannot be reached"),
        (Fault(delay=0.6), "did not answer within 0.15 s"),
    ],
)
def test_a_lasting_fault_is_a_model_error(server: ModelServer, fault: Fault, message: str) -> None:
    server.faults = [fault] * 3
    with pytest.raises(ModelError, match=message) as caught:
        embed(opened(server, "openai:x?dim=8", model_timeout=0.15), ["a"])
    assert caught.value.hint
    assert len(server.requests) == 3


def test_nobody_listening_is_a_model_error(waits: Waits) -> None:
    with serving() as gone:
        url = gone.url
    embedder = open_embedder(f"openai:x?dim=8&url={url}/v1", settings(), Backoff(attempts=2, sleep=waits))
    with pytest.raises(ModelError, match="cannot be reached"):
        embed(embedder, ["a"])
    assert len(waits.seconds) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("not json", "not JSON"),
        ("[]", "no list of vectors"),
        ('{"data": "x"}', "no list of vectors"),
        ('{"data": [{"index": 1, "embedding": [1, 2]}]}', "numbered"),
        ('{"data": [{"index": 0, "embedding": ["x"]}]}', "cannot be read"),
        ('{"data": [{"index": 0, "embedding": null}]}', "cannot be read|empty"),
        ('{"data": [{"index": 0, "embedding": [NaN, 1]}]}', "not finite"),
        ('{"data": [{"index": 0, "embedding": [0, 0]}]}', "zero"),
        ('{"data": [{"index": 0, "embedding": "%%%"}]}', "cannot be read"),
    ],
)
def test_an_answer_of_another_shape_is_a_model_error(server: ModelServer, body: str, message: str) -> None:
    server.faults = [Fault(status=200, body=body)]
    with pytest.raises(ModelError, match=message):
        embed(opened(server, "openai:x?dim=2"), ["a"])
    assert len(server.requests) == 1


def test_fewer_rows_than_texts_are_a_model_error(server: ModelServer) -> None:
    server.fewer = 1
    with pytest.raises(ModelError, match="2 vectors for 3 texts"):
        embed(opened(server, "openai:x?dim=8"), ["a", "b", "c"])


def test_a_failed_batch_stops_the_others(server: ModelServer) -> None:
    server.faults = [Fault(status=404)] + [Fault(delay=0.05)] * 50
    with pytest.raises(ModelError, match="404"):
        embed(opened(server, "openai:x?dim=8&batch=1"), ["a"] * 50)
    assert len(server.requests) < 20


def test_a_batch_that_is_too_large_says_what_to_set(server: ModelServer) -> None:
    server.faults = [Fault(status=413)]
    with pytest.raises(ModelError, match="batch="):
        embed(opened(server, "openai:x?dim=8"), ["a"])


# ------------------------------------------------------------ keys and names


def test_the_key_is_sent_and_never_shown(server: ModelServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server.key = SECRET
    good = opened(server, "openai:x?dim=8", embed_key=SECRET)
    assert embed(good, ["a"]).shape == (1, 8)
    bad = opened(server, "openai:x?dim=8", embed_key=SECRET + "-old")
    server.faults = []
    with pytest.raises(ModelError, match="KEDGE_EMBED_KEY") as caught:
        embed(bad, ["a"])
    server.faults = [Fault(status=418, body=f"you sent {SECRET}")]
    with pytest.raises(ModelError, match="you sent") as echoed:
        embed(good, ["a"])
    configured = settings(embed_key=SECRET)
    shown: list[Any] = [caught.value, caught.value.as_json(), echoed.value, good.__dict__, configured, caplog.text]
    shown += [configured.model_dump(mode="json"), good.name]
    assert all(SECRET not in repr(one) + str(one) for one in shown)


@pytest.mark.req("G-07")
def test_openai_without_a_key_says_what_to_set() -> None:
    with pytest.raises(ConfigError, match="KEDGE_EMBED_KEY"):
        registry.open_embedder("openai:text-embedding-3-small", settings())


def test_the_key_comes_from_the_environment() -> None:
    loaded = load_settings(environ={"KEDGE_EMBED_KEY": SECRET, "KEDGE_EMBED_URL": "http://host/v1"})
    assert loaded.embed_key is not None
    assert loaded.embed_key.get_secret_value() == SECRET
    assert loaded.embed_url == "http://host/v1"


@pytest.mark.parametrize(
    "name",
    [
        "openai:",
        "openai:x?size=3",
        "openai:x?dim=8&dim=9",
        "openai:x?dim=-1",
        "openai:x?dim=many",
        "openai:x?dim=8&batch=0",
        "openai:x?dim=8&url=ftp://host",
        "openai:x?dim=8&url=http://[bad",
        "openai:x?dim=8&url=http://user:word@host/v1",
        "openai:x?dim=8&tokenizer=/nowhere",
    ],
)
def test_a_name_that_cannot_be_is_a_config_error(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_embedder(name, settings(embed_url="http://127.0.0.1:9/v1"))
    assert "word" not in str(caught.value).replace("password", "")


@pytest.mark.req("D-20")
@pytest.mark.parametrize(
    ("name", "extra"), [("st:/models/qwen3-embedding-8b", "torch"), ("use-multilingual", "multilingual")]
)
def test_a_missing_driver_names_its_extra(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("kedge.models.embed.torch", "kedge.models.embed.use"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    for module in ("sentence_transformers", "onnxruntime_extensions"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"kedge\[{extra}\]"):
        registry.open_embedder(name, settings())


def test_the_home_of_a_collection_can_pin_the_name(server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Anchors\n\nA kedge is a light anchor used to move a vessel.\n", "utf-8")
    name = f"openai:x?dim=8&url={server.url}/v1"
    with Kedge(tmp_path / "home", embedder=name) as kedge:
        kedge.ingest(tmp_path / "a.md")
    with Kedge(tmp_path / "home") as kedge:
        assert kedge.search("light anchor").hits
        assert kedge.collections()[0].embedder == name
