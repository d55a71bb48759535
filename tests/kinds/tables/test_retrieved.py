"""How rows are retrieved: how many, in which order with a reranking model, and what is told of it."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

import pytest

from kedge import Kedge
from kedge.kinds.tables.finding.amount import amount_of
from kedge.models.embed import minilm
from tests.kinds.tables.conftest import Desk, Run, write_sales
from tests.models.tiny_onnx import write_cross_encoder


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Counts the words that question and row share."""
    folder = tmp_path / "model"
    folder.mkdir()
    write_cross_encoder(folder / "model.onnx")
    shutil.copy(minilm.carrier_folder() / "tokenizer.json", folder / "tokenizer.json")
    return f"onnx-rerank:{folder}"


@pytest.fixture
def foods(tmp_path: Path) -> Path:
    path = tmp_path / "foods.csv"
    lines = ["name,note"]
    lines += [f"salt {number},salt salt salt" for number in range(5)]
    lines += ["salt and pepper grinder,salt for the table in a wooden grinder"]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.req("T-17", "T-10")
def test_rows_are_reranked_by_the_model_of_the_settings(run: Run, foods: Path, model: str) -> None:
    question = "a wooden grinder for salt on the table"

    async def plain(desk: Desk) -> list[tuple[str, float]]:
        await desk.feed(foods)
        hits = (await desk.search(question, 10, threshold=0.0)).hits
        return [(hit.passage.text, hit.score) for hit in hits]

    async def reranked(desk: Desk) -> list[tuple[str, float]]:
        hits = (await desk.search(question, 10, threshold=0.0)).hits
        return [(hit.passage.text, hit.score) for hit in hits]

    before, after = run(plain), run(reranked, reranker=model)
    assert {text for text, _ in before} == {text for text, _ in after}
    assert [score for _, score in before] != [score for _, score in after]
    assert [score for _, score in after] == sorted((score for _, score in after), reverse=True)
    assert "wooden grinder" in after[0][0]


@pytest.mark.req("T-18", "T-05")
def test_a_search_of_a_table_gives_a_hundred_rows_unless_told_otherwise(tmp_path: Path) -> None:
    csv = tmp_path / "sales.csv"
    csv.write_text("thing,color\n" + "".join(f"anchor {number},blue\n" for number in range(150)), "utf-8")
    with Kedge(tmp_path / "home", embedder="hash:64", collection="t") as kedge:
        kedge.ingest(csv, kind="table")
        assert len(kedge.search("anchor blue", threshold=0.0).hits) == 100
        assert len(kedge.search("anchor blue", threshold=0.0, top_k=7).hits) == 7


@pytest.mark.req("T-18", "T-10")
@pytest.mark.parametrize(
    ("question", "k"),
    [
        ("What is crunchy?", 100),
        ("Compare apples and pears", 400),
        ("How many are there in total?", 500),
    ],
)
def test_how_many_rows_a_question_needs(question: str, k: int) -> None:
    assert amount_of(question).k == k


@pytest.mark.req("T-19")
def test_a_retrieval_says_what_it_was(run: Run, tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.feed(write_sales(tmp_path / "sales.csv", 60))
        answer = await desk.ask("pretzels and crispy things", threshold=0.1)
        told = answer.metadata
        assert told["query"] == "pretzels and crispy things"
        assert told["relevance_threshold"] == 0.1
        rows = told["rows"]
        assert isinstance(rows, list)
        assert told["retrieval_count"] == len(rows)
        assert datetime.fromisoformat(str(told["retrieved_at"])).tzinfo is not None

    run(scenario)


@pytest.mark.req("T-20")
def test_an_index_tells_of_itself(run: Run, foods: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.feed(foods)
        index = (await desk.session()).index
        assert index is not None
        told = (index["status"], index["transaction_count"], index["embedding_dimensions"], index["error"])
        assert told == ("ready", 6, 256, None)
        assert datetime.fromisoformat(str(index["indexed_at"])).tzinfo is not None

    run(scenario)


@pytest.mark.req("T-18", "T-10")
@pytest.mark.parametrize(
    ("question", "k", "entities"),
    [
        ("Vergleiche Äpfel und Birnen", 400, 2),
        ("Unterschied zwischen Äpfeln und Birnen", 400, 2),
        ("Compara manzanas y peras", 400, 2),
        ("Quelle est la différence entre les pommes et les poires ?", 400, 2),
        ("Wie viele Äpfel gibt es insgesamt?", 500, 0),
        ("¿Cuántas manzanas hay?", 500, 0),
        ("Combien de pommes y a-t-il ?", 500, 0),
        ("knusprige Sachen", 100, 0),
    ],
)
def test_how_many_rows_is_told_in_the_languages_of_plans(question: str, k: int, entities: int) -> None:
    amount = amount_of(question)
    assert (amount.k, len(amount.entities)) == (k, entities)


@pytest.mark.req("T-18", "T-10", "T-05")
def test_each_thing_that_is_compared_gets_its_own_rows(run: Run, tmp_path: Path) -> None:
    """Many rows of one thing do not crowd out the few of the other."""
    path = tmp_path / "fruit.csv"
    rows = [f"apple {number},red" for number in range(600)] + [f"pear {number},green" for number in range(30)]
    path.write_text("thing,color\n" + "\n".join(rows) + "\n", "utf-8")

    async def scenario(desk: Desk) -> None:
        await desk.feed(path)
        found = (await desk.search("apple versus pear", top_k=5, top_k_given=False)).hits
        texts = [hit.passage.text for hit in found]
        assert sum("pear" in text for text in texts) == 30
        assert 200 <= sum("apple" in text for text in texts) <= 202  # a word may look like another to this model
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
        few = await desk.ask("news about apple things", top_k=7, threshold=0.1)
        assert few.metadata["k"] == 7
        assert few.metadata["retrieval_count"] == 7

    run(scenario)
