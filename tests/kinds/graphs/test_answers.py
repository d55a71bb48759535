"""Questions to a graph are answered from paths, with the nodes cited, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge import Kedge
from kedge.core.values import Answer
from kedge.stores.graph.nodes import Node
from tests.kinds.graphs.conftest import FAMILY

SHOP = """id,type,title,description,price
p1,Product,Chai,Spiced tea in boxes of twenty bags.,18
p2,Product,Chang,A dark beer from the north.,19
p3,Product,Aniseed Syrup,Thick and sweet.,10
s1,Supplier,Exotic Liquids,Imports drinks.,
s2,Supplier,New Orleans Cajun Delights,Sauces and spices.,
c1,Category,Beverages,Soft drinks and teas.,
c2,Category,Condiments,Sauces and spreads.,
t1,City,London,,
t2,City,Seattle,,
n1,Country,United Kingdom,,
"""
SHOP_EDGES = """source,type,target
s1,SUPPLIES,p1
s1,SUPPLIES,p2
s1,SUPPLIES,p3
p1,PART_OF,c1
p2,PART_OF,c1
p3,PART_OF,c2
s1,located_in,t1
s2,located_in,t2
t1,belongsToCountry,n1
"""


@pytest.fixture(scope="module")
def kedge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kedge]:
    """With the real embedder: wording is matched by meaning."""
    folder = tmp_path_factory.mktemp("answers")
    for name, text in {"family.tsv": FAMILY, "shop_nodes.csv": SHOP, "shop_edges.csv": SHOP_EDGES}.items():
        (folder / name).write_text(text, "utf-8")
    with Kedge(folder / "home") as opened:
        opened.ingest(folder / "family.tsv", kind="graph", collection="family")
        opened.ingest(folder / "shop_nodes.csv", folder / "shop_edges.csv", kind="graph", collection="shop")
        yield opened


def cited(answer: Answer) -> list[str]:
    return [citation.url.removeprefix("node:") for citation in answer.citations]


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("who is the father of ada ?", {"lord_byron"}),
        ("what is ada 's job ?", {"mathematician"}),
        ("where was ada 's father born ?", {"london"}),
        ("what is the occupation of ada 's husband ?", {"politician"}),
        ("which nation is the spouse of Ada from ?", {"united_kingdom"}),
        ("in which country was the mother of ada born ?", {"england"}),
        ("where was the father of the father of ada born ?", {"plymouth"}),
        ("where was ada's paternal grandfather born?", {"plymouth", "london", "kirkby_mallory"}),
        ("whose father is john_byron ?", {"lord_byron", "augusta_leigh"}),
        ("Where was Lord Byron born?", {"london"}),
    ],
)
def test_one_to_three_steps_in_other_words(kedge: Kedge, question: str, gold: set[str]) -> None:
    answer = kedge.ask(question, collection="family")
    assert set(cited(answer)[:3]) & gold, answer.answer


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("Which products does Exotic Liquids supply?", {"p1", "p2", "p3"}),
        ("Who supplies Chai?", {"s1"}),
        ("Which category does Chai belong to?", {"c1"}),
        ("In which city is the supplier of Chai?", {"t1"}),
        ("In which country is the supplier of Chang?", {"n1"}),
        ("What is the price of Chang?", {"p2"}),
        ("Which products in Beverages are supplied by Exotic Liquids?", {"p1", "p2"}),
    ],
)
def test_typed_nodes_properties_and_two_entities(kedge: Kedge, question: str, gold: set[str]) -> None:
    answer = kedge.ask(question, collection="shop")
    assert cited(answer)[0] in gold, answer.answer
    assert gold <= set(cited(answer)), answer.answer


@pytest.mark.req("G-05")
def test_the_answer_cites_nodes_and_shows_the_path(kedge: Kedge) -> None:
    answer = kedge.ask("where was ada 's father born ?", collection="family")
    assert answer.citations[0].id == "[Node 1]"
    assert "[Node 1]" in answer.answer
    assert answer.short_answer == "london"
    assert answer.metadata["kind"] == "graph"
    path = answer.metadata["paths"][0]  # type: ignore[index]
    assert [node["id"] for node in path["nodes"]] == ["ada", "lord_byron", "london"]  # type: ignore[index, union-attr, call-overload]
    assert [(edge["source"], edge["type"], edge["target"]) for edge in path["edges"]] == [  # type: ignore[index, union-attr, call-overload]
        ("ada", "father", "lord_byron"),
        ("lord_byron", "place_of_birth", "london"),
    ]
    for citation in answer.citations:
        _, passages = kedge.document(citation.document_id)
        assert passages[0].id == citation.passage_id
        assert passages[0].text[citation.start : citation.end] == citation.snippet


@pytest.mark.req("G-04")
def test_cited_nodes_come_with_at_most_three_neighbours(kedge: Kedge) -> None:
    answer = kedge.ask("Who supplies Chai?", collection="shop")
    nodes = {node["node_id"]: node for node in answer.metadata["nodes"]}  # type: ignore[index, union-attr, call-overload]
    assert 0 < len(nodes["s1"]["neighbours"]) <= 3  # type: ignore[arg-type, index, call-overload]


def test_a_value_is_cited_by_the_line_that_holds_it(kedge: Kedge) -> None:
    answer = kedge.ask("What is the price of Chang?", collection="shop")
    assert answer.short_answer == "19"
    assert answer.citations[0].snippet == "price: 19"


def test_how_many_may_be_a_value(kedge: Kedge) -> None:
    (node,) = [one for one in kedge.nodes("shop") if one.id == "p1"]
    kedge.update_node("p1", properties={**node.properties, "unitsInStock": 35}, collection="shop")
    assert kedge.ask("How many units of Chai are in stock?", collection="shop").short_answer == "35"


def test_how_many_are_counted(kedge: Kedge) -> None:
    answer = kedge.ask("How many products does Exotic Liquids supply?", collection="shop")
    assert answer.short_answer == "3"
    assert set(cited(answer)[:3]) == {"p1", "p2", "p3"}


@pytest.mark.req("G-05")
@pytest.mark.parametrize(
    "question",
    [
        "Who is the mayor of Chai?",
        "What is the melting point of iron?",
        "Which football club does ada play for ?",
        "How do I reset my password?",
    ],
)
def test_what_the_graph_does_not_say_is_refused(kedge: Kedge, question: str) -> None:
    answer = kedge.ask(question, collection="shop" if "Chai" in question else "family")
    assert answer.refused, answer.answer
    assert answer.answer.startswith("I don't have enough information")
    assert answer.citations == ()


@pytest.mark.req("G-04", "G-05")
def test_a_node_near_enough_answers_by_its_text(kedge: Kedge) -> None:
    kedge.create_node(
        Node("kedging", "Method", "Kedging", "Kedging is moving a ship by hauling on a line tied to a small anchor."),
        collection="ships",
    )
    answer = kedge.ask("What is kedging a ship with a small anchor?", collection="ships")
    assert not answer.refused
    assert answer.citations[0].id == "[Node 1]"
    assert "hauling" in answer.answer
    far = kedge.ask("What is moved by a tug?", collection="ships")
    assert far.refused


def test_names_are_found_in_spite_of_case_accents_and_small_slips(kedge: Kedge) -> None:
    for question in (
        "who supplies CHAI",
        "Which city is New Orleans Cajun Delight located in?",
        "who supplies the chaï?",
    ):
        answer = kedge.ask(question, collection="shop")
        assert cited(answer)[:1] in (["s1"], ["t2"]), answer.answer


def test_streaming_gives_the_same_answer_in_pieces(kedge: Kedge) -> None:
    question = "where was ada 's father born ?"
    events = list(kedge.stream(question, collection="family"))
    text = "".join(event.content or "" for event in events if event.type == "token")
    answer = kedge.ask(question, collection="family")
    assert text == answer.answer
    assert sorted(event.citation.id for event in events if event.citation) == [one.id for one in answer.citations]
    assert [event.type for event in events[-2:]] == ["metadata", "done"]


def test_mediators_are_passed_through(tmp_path: Path) -> None:
    triples = "ada\tpeople.person.marriage\tm.0x1\nm.0x1\tpeople.marriage.spouse\twilliam\nwilliam\tnationality\tuk\n"
    (tmp_path / "kb.tsv").write_text(triples, "utf-8")
    with Kedge(tmp_path / "home", collection="g") as kedge:
        kedge.ingest(tmp_path / "kb.tsv", kind="graph")
        assert cited(kedge.ask("who is the spouse of ada ?"))[0] == "william"
        assert cited(kedge.ask("what is the nationality of ada 's spouse ?"))[0] == "uk"
