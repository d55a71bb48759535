"""Rows by meaning, with real models: by what a row says as a whole, with one threshold, in several languages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge.core.errors import MissingExtraError
from kedge.core.settings import load_settings
from kedge.core.values import Answer, IngestRequest, Query, Scope, SearchResult
from kedge.engine.engine import Engine
from kedge.kinds.tables.finding.languages import offer_for, offer_for_texts
from kedge.kinds.tables.finding.scores import weights_of
from kedge.models.registry import open_embedder

SCOPE = Scope("default", "trade")
ROWS = """Company,Country,Category,Product,Date,Value,Quantity
ABC Import Export Corp,Vietnam,Electronics,Smartphone parts - Model XYZ,2024-10-15,25000,500
Saigon Foods,Vietnam,Food,Frozen shrimp,2024-10-16,18000,900
Hanoi Tech,Vietnam,Electronics,Memory modules DDR4,2024-10-17,9000,300
Berlin Auto GmbH,Germany,Automotive,Brake discs,2024-10-18,7000,140
Lyon Textiles,France,Textiles,Cotton fabric rolls,2024-10-19,4000,80
Shenzhen Micro,China,Electronics,LED displays,2024-10-20,22000,700
Nordic Timber,Sweden,Wood,Pine planks,2024-10-21,3000,60
"""


class Trade:
    """A table, the example's if no other is given, fed once into a home of its own."""

    def __init__(self, folder: Path, embedder: str, rows: str = ROWS, **settings: object) -> None:
        self._settings = load_settings(environ={}, home=folder, embedder=embedder, threads=1, **settings)
        self._loop = asyncio.new_event_loop()
        self._opened = Engine.open(self._settings)
        self.engine = self._loop.run_until_complete(self._opened.__aenter__())
        csv = folder / "trade.csv"
        csv.write_text(rows, "utf-8")
        self.job = self._loop.run_until_complete(self.engine.ingest(IngestRequest(SCOPE, (str(csv),), kind="table")))

    def search(self, question: str, **more: object) -> SearchResult:
        query = Query(question, SCOPE, top_k_given=False, **more)  # type: ignore[arg-type]
        return self._loop.run_until_complete(self.engine.search(query))

    def ask(self, question: str) -> Answer:
        return self._loop.run_until_complete(self.engine.ask(Query(question, SCOPE)))

    def products(self, question: str) -> list[str]:
        return [str(hit.passage.metadata["columns"]["Product"]) for hit in self.search(question).hits]  # type: ignore[index,call-overload]

    def reindex(self, embedder: str) -> None:
        self._loop.run_until_complete(self.engine.reindex(SCOPE, embedder))

    def close(self) -> None:
        self._loop.run_until_complete(self._opened.__aexit__(None, None, None))
        self._loop.close()


@pytest.fixture(scope="module")
def trade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trade]:
    made = Trade(tmp_path_factory.mktemp("trade"), "minilm")
    yield made
    made.close()


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trade]:
    """The same above `table_texts`: texts are composed, and rows embedded as a whole when they are asked for."""
    made = Trade(tmp_path_factory.mktemp("composed"), "minilm", table_texts=0)
    yield made
    made.close()


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trade]:
    try:
        open_embedder("e5-multilingual", load_settings(environ={}))
    except MissingExtraError:
        pytest.skip("the extra multilingual is not installed")
    made = Trade(tmp_path_factory.mktemp("foreign"), "e5-multilingual")
    yield made
    made.close()


@pytest.mark.req("T-15", "T-05")
@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("seafood exports", "Frozen shrimp"),
        ("RAM sticks", "Memory modules DDR4"),
        ("smartphone components", "Smartphone parts - Model XYZ"),
    ],
)
def test_a_row_is_found_by_what_it_says_as_a_whole(trade: Trade, question: str, first: str) -> None:
    found = trade.products(question)
    assert found[:1] == [first]
    assert question != "seafood exports" or "Smartphone parts - Model XYZ" not in found


@pytest.mark.req("T-15")
def test_a_row_that_is_both_comes_before_one_that_is_either(trade: Trade, composed: Trade) -> None:
    for table in (trade, composed):
        hits = table.search("electronics from Vietnam", threshold=0.0).hits
        columns = [hit.passage.metadata["columns"] for hit in hits]
        both = [(one["Category"], one["Country"]) == ("Electronics", "Vietnam") for one in columns]  # type: ignore[index,call-overload]
        assert both == [True, True, False, False, False, False, False]


@pytest.mark.req("T-16", "T-15")
@pytest.mark.parametrize("question", ["seafood", "RAM sticks", "smartphone components"])
def test_the_threshold_means_the_same_for_whole_and_composed_texts(
    trade: Trade, composed: Trade, question: str
) -> None:
    assert trade.products(question)[:1] == composed.products(question)[:1] != []


@pytest.mark.req("T-16", "T-05")
@pytest.mark.parametrize("question", ["dinosaur bones", "quantum physics lectures", "video games", "tax law"])
def test_nothing_irrelevant_reaches_the_threshold(trade: Trade, composed: Trade, foreign: Trade, question: str) -> None:
    for table in (trade, composed, foreign):
        found = table.search(question)
        assert found.hits == ()
        assert "No relevant data found" in found.warnings[-1]


@pytest.mark.req("T-14", "T-16", "T-02")
@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("linh kiện điện thoại thông minh", "Smartphone parts - Model XYZ"),
        ("composants pour smartphones", "Smartphone parts - Model XYZ"),
        ("tôm đông lạnh", "Frozen shrimp"),
        ("冷冻虾", "Frozen shrimp"),
        ("módulos de memoria", "Memory modules DDR4"),
        ("smartphone components", "Smartphone parts - Model XYZ"),
    ],
)
def test_a_question_in_another_language_finds_its_row_at_the_same_threshold(
    foreign: Trade, question: str, wanted: str
) -> None:
    assert foreign.products(question)[:1] == [wanted]


@pytest.mark.req("T-14")
def test_the_default_install_offers_other_languages_in_one_step(trade: Trade) -> None:
    command = "pip install 'kedge[multilingual]' && kedge collection reindex trade --embedder e5-multilingual"
    question = "linh kiện điện thoại thông minh"
    assert command in " ".join(trade.search(question).warnings)
    assert command in str(trade.ask(question).metadata["warnings"])
    assert command not in " ".join(trade.search("smartphone components").warnings)


@pytest.mark.req("T-14")
def test_the_offered_command_does_what_it_says(tmp_path: Path, foreign: Trade) -> None:
    assert foreign.job.warnings == ()
    table = Trade(tmp_path, "minilm")
    table.reindex("e5-multilingual")
    assert table.products("linh kiện điện thoại thông minh")[:1] == ["Smartphone parts - Model XYZ"]
    assert not table.search("linh kiện điện thoại thông minh").warnings
    table.close()


@pytest.mark.req("T-14")
@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["Tôm đông lạnh", "Linh kiện điện thoại", "Hà Nội"], True),
        (["Gambas de la costa", "El aceite de los olivos", "Queso"], True),
        (["Frozen shrimp", "Café Müller", "Brake discs", "Pine planks", "Paper", "Coal"], False),
    ],
)
def test_feeding_a_table_in_another_language_is_told(texts: list[str], told: bool) -> None:
    assert bool(offer_for_texts(texts, "t", "minilm")) is told
    assert not offer_for_texts(texts, "t", "e5-multilingual")
    assert not offer_for("смартфоны", "t", "use-multilingual")


@pytest.mark.req("T-16")
def test_an_unknown_model_is_brought_to_scale_by_what_it_measures() -> None:
    known = weights_of("minilm", (), composed=False)
    twice = weights_of("some-other", (0.5, 0.7), composed=False)
    assert twice.cells == known.cells
    assert float(twice.slope) > 1
    low, high = twice.slope * 0.5 + twice.shift, twice.slope * 0.7 + twice.shift
    assert (round(low, 4), round(high, 4)) == (0.1399, 0.4722)
    assert weights_of("some-other", (0.3, 0.31), composed=False) == known


@pytest.mark.req("T-02", "T-15")
def test_each_row_has_its_text_and_a_vector_of_it(trade: Trade) -> None:
    hit = trade.search("Frozen shrimp").hits[0]
    assert hit.passage.text.startswith(
        "Company: Saigon Foods; Country: Vietnam; Category: Food; Product: Frozen shrimp; "
    )

    async def vectors() -> tuple[int, int]:
        async with trade.engine.kinds.named("table").open_sessions.reading(SCOPE) as generation:
            rows, dimension = generation.index().row_vectors.shape
            return rows, dimension

    assert trade._loop.run_until_complete(vectors()) == (7, 384)


@pytest.mark.req("T-10")
def test_both_channels_together_order_better_than_either_alone(trade: Trade, tmp_path: Path) -> None:
    """Words alone put the export company before the shrimp; meaning alone puts one part number before another."""

    def firsts(table: Trade, question: str) -> tuple[str, str, str]:
        hits = table.search(question, threshold=0.0).hits
        by_meaning = max(hits, key=lambda hit: hit.vector_score or 0.0)
        by_words = max(hits, key=lambda hit: hit.keyword_score or 0.0)
        both, meaning, words = (hit.passage.text for hit in (hits[0], by_meaning, by_words))
        return both, meaning, words

    both, meaning, words = firsts(trade, "seafood exports")
    assert "Frozen shrimp" in both
    assert "Frozen shrimp" in meaning
    assert "ABC Import Export Corp" in words
    kinds = ("Pump seal kit", "Bearing set", "Drive belt")
    rows = "".join(f"{kinds[place % 3]} QX-{7180 + 7 * place},spare part for pumps\n" for place in range(30))
    parts = Trade(tmp_path, "minilm", f"name,note\n{rows}Olive oil,food\n")
    both, meaning, words = firsts(parts, "gaskets QX-7264")
    parts.close()
    assert "QX-7264" in both
    assert "QX-7264" not in meaning
    assert "QX-7264" in words


@pytest.mark.req("T-19")
def test_a_retrieval_tells_the_vector_of_the_question_on_request(trade: Trade) -> None:
    async def ask(*, embedding: bool) -> Answer:
        return await trade.engine.ask(Query("seafood exports", SCOPE, embedding=embedding))

    told = trade._loop.run_until_complete(ask(embedding=True)).metadata
    vector = told["query_embedding"]
    assert isinstance(vector, list)
    assert len(vector) == 384
    assert told["retrieval_count"] == len(told["rows"]) == len(told["scores"])  # type: ignore[arg-type]
    assert all(score >= told["relevance_threshold"] for score in told["scores"])  # type: ignore[union-attr,operator]
    assert "query_embedding" not in trade._loop.run_until_complete(ask(embedding=False)).metadata
