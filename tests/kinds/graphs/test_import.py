"""Graphs come in from tables, triples, JSON and Cypher; what cannot be read is said, the rest is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kedge import Kedge
from kedge.core.errors import KedgeError

TRIPLES = {
    "header.tsv": "subject\trelation\tobject\nada\tknows\tbob\nbob\tlives_in\tlondon\n",
    "bare.tsv": "ada\tknows\tbob\nbob\tlives_in\tlondon\n",
    "pipes.txt": "ada|knows|bob\nbob|lives_in|london\n",
    "commas.csv": "head,relation,tail\nada,knows,bob\nbob,lives_in,london\n",
    "twice.tsv": "ada\tknows\tbob\nada\tknows\tbob\r\nbob\tlives_in\tlondon\n\n",
    "bom.tsv": "\ufeffada\tknows\tbob\nbob\tlives_in\tlondon\n",
    "lines.jsonl": '{"source": "ada", "type": "knows", "target": "bob"}\n["bob", "lives_in", "london"]\n',
    "list.json": '[["ada", "knows", "bob"], ["bob", "lives_in", "london"]]',
}


def edges(kedge: Kedge) -> set[tuple[str, str, str]]:
    return {(edge.source, edge.type, edge.target) for edge in kedge.edges()}


def take_in(kedge: Kedge, folder: Path, **files: str) -> list[str]:
    """Write the files (`a_csv` is `a.csv`), take them in together, return what could not be read."""
    paths = []
    for name, text in files.items():
        path = folder / ".".join(name.rsplit("_", 1))
        path.write_text(text, "utf-8")
        paths.append(path)
    return [error.message for error in kedge.ingest(*paths, kind="graph").errors]


@pytest.mark.parametrize("name", TRIPLES)
def test_triples_in_many_forms_are_the_same_graph(kedge: Kedge, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(TRIPLES[name], "utf-8")
    job = kedge.ingest(path, kind="graph")
    assert not job.errors
    assert edges(kedge) == {("ada", "knows", "bob"), ("bob", "lives_in", "london")}
    assert [node.id for node in kedge.nodes()] == ["ada", "bob", "london"]
    assert [hit.passage.external_id for hit in kedge.search("london", top_k=1).hits] == ["london"]


def test_pairs_become_edges_of_one_type(kedge: Kedge, tmp_path: Path) -> None:
    assert take_in(kedge, tmp_path, pairs_tsv="ada\tbob\nbob\ttokyo 東京\n") == []
    assert edges(kedge) == {("ada", "related to", "bob"), ("bob", "related to", "tokyo 東京")}


def test_nodes_and_edges_come_from_two_tables_in_any_order(kedge: Kedge, tmp_path: Path) -> None:
    faults = take_in(
        kedge,
        tmp_path,
        edges_csv="source,target,type,since\nada,byron,father,1815\nada,nobody,knows,\n",
        nodes_csv='id,type,title,description,aliases,born\nada,Person,"Lovelace, Ada",Wrote.,Countess;Ada King,1815\n',
    )
    assert faults == []
    ada = kedge.node("ada")
    assert (ada.type, ada.title, ada.description) == ("Person", "Lovelace, Ada", "Wrote.")
    assert ada.aliases == ("Countess", "Ada King")
    assert ada.properties == {"born": 1815}
    assert {edge.target: dict(edge.properties) for edge in kedge.edges()} == {"byron": {"since": 1815}, "nobody": {}}
    assert kedge.node("nobody").title == "nobody"


def test_headers_of_neo4j_are_read(kedge: Kedge, tmp_path: Path) -> None:
    take_in(
        kedge,
        tmp_path,
        people_csv="personId:ID(Person),name,age:int,tags:string[],:LABEL\n1,Ada,36,a;b,Person;Author\n2,Bob,7,,Person\n",
        knows_csv=":START_ID(Person),:END_ID(Person),:TYPE,since:int\n1,2,KNOWS,1830\n",
    )
    ada = kedge.node("1")
    assert (ada.title, ada.type, dict(ada.properties)) == ("Ada", "Person", {"age": 36, "tags": ["a", "b"]})
    (edge,) = kedge.edges()
    assert (edge.source, edge.type, edge.target, dict(edge.properties)) == ("1", "KNOWS", "2", {"since": 1830})


def test_json_with_nodes_and_edges_and_an_export_by_lines(kedge: Kedge, tmp_path: Path) -> None:
    whole = {
        "nodes": [{"id": 1, "label": "Person", "name": "Ada", "born": 1815}, {"id": "x", "properties": {"a": [1]}}],
        "links": [{"source": 1, "target": "x", "type": "has"}],
    }
    export = (
        '{"type": "node", "id": "7", "labels": ["City"], "properties": {"name": "London", "size": 2}}\n'
        '{"type": "relationship", "label": "IN", "start": {"id": "1"}, "end": {"id": "7"}, "properties": {"y": 3}}\n'
    )
    assert take_in(kedge, tmp_path, whole_json=json.dumps(whole), export_jsonl=export) == []
    assert kedge.node("1").title == "Ada"
    assert kedge.node("1").type == "Person"
    assert kedge.node("x").properties == {"a": [1]}
    assert (kedge.node("7").title, kedge.node("7").type) == ("London", "City")
    assert edges(kedge) == {("1", "has", "x"), ("1", "IN", "7")}


SCRIPT = """CREATE CONSTRAINT x IF NOT EXISTS FOR (p:Product) REQUIRE (p.productID) IS UNIQUE;
LOAD CSV WITH HEADERS FROM "https://example.org/products.csv" AS row
MERGE (n:Product {productID: row.productID}) SET n += row, n.price = toFloat(row.price);
LOAD CSV WITH HEADERS FROM "file:///makers.csv" AS row
MERGE (n:Maker {makerID: row.makerID}) SET n += row;
MATCH (p:Product), (m:Maker) WHERE p.makerID = m.makerID MERGE (m)-[:MAKES]->(p);
LOAD CSV WITH HEADERS FROM "file:///parts.csv" AS row
MATCH (p:Product), (q:Product) WHERE p.productID = row.whole AND q.productID = row.part
MERGE (p)-[d:CONTAINS]->(q) SET d = row;
CREATE (a:Person {name: "O'Neil; Ada", age: 36})-[:LIKES {much: true}]->(b:Person {name: 'Bob'});
"""


def test_a_cypher_script_loads_the_tables_beside_it(kedge: Kedge, tmp_path: Path) -> None:
    for name, text in {
        "products.csv": "productID,productName,makerID,price\n1,Clock,7,9.50\n2,Wheel,8,1.25\n",
        "makers.csv": "makerID,companyName\n7,Tick\n8,Round\n",
        "parts.csv": "whole,part,amount\n1,2,12\n",
        "load.cypher": SCRIPT,
    }.items():
        (tmp_path / name).write_text(text, "utf-8")
    job = kedge.ingest(tmp_path / "load.cypher", kind="graph")
    assert not job.errors
    assert edges(kedge) == {
        ("Maker/7", "MAKES", "Product/1"),
        ("Maker/8", "MAKES", "Product/2"),
        ("Product/1", "CONTAINS", "Product/2"),
        ("Person/O'Neil; Ada", "LIKES", "Person/Bob"),
    }
    clock = kedge.node("Product/1")
    assert (clock.title, clock.type, clock.properties["price"]) == ("Clock", "Product", 9.5)
    (amount,) = [edge.properties["amount"] for edge in kedge.edges() if edge.type == "CONTAINS"]
    assert amount == 12


def test_what_cannot_be_read_is_named_by_line_and_the_rest_is_kept(kedge: Kedge, tmp_path: Path) -> None:
    faults = take_in(kedge, tmp_path, some_tsv=f"ada\tknows\tbob\nada\tknows\nada\tknows\t{'x' * 600}\n\tknows\tada\n")
    assert len(faults) == 3
    assert any("Line 2" in fault for fault in faults)
    assert edges(kedge) == {("ada", "knows", "bob")}
    assert take_in(kedge, tmp_path, bad_json="{") == [f for f in take_in(kedge, tmp_path, bad_json="{") if "JSON" in f]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("empty.tsv", b""),
        ("latin.tsv", "é\tknows\tà\n".encode("latin-1")),
        ("picture.png", b"\x89PNG"),
        ("wide.csv", b"a,b,c,d\n1,2,3,4\n"),
        ("none.json", b'{"a": 1}'),
        ("none.cypher", b"RETURN 1;"),
    ],
)
def test_what_is_no_graph_is_refused_with_a_hint(kedge: Kedge, tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    (error,) = kedge.ingest(path, kind="graph").errors
    assert error.hint


def test_a_missing_file_and_an_address_are_errors(kedge: Kedge, tmp_path: Path) -> None:
    for source in (tmp_path / "nothing.tsv", "https://example.org/kb.tsv"):
        with pytest.raises(KedgeError) as caught:
            kedge.ingest(str(source), kind="graph")
        assert caught.value.hint


def test_taking_in_again_changes_nothing_and_recreate_starts_anew(kedge: Kedge, family: Path, tmp_path: Path) -> None:
    first = kedge.ingest(family, kind="graph")
    again = kedge.ingest(family, kind="graph")
    assert (first.passages_created, again.passages_created) == (14, 0)
    other = tmp_path / "other.tsv"
    other.write_text("x\tknows\ty\n", "utf-8")
    kedge.ingest(other, kind="graph", mode="recreate")
    assert [node.id for node in kedge.nodes()] == ["x", "y"]
    assert not kedge.reconcile().missing


def test_a_collection_holds_one_kind(kedge: Kedge, family: Path, tmp_path: Path) -> None:
    kedge.ingest(family, kind="graph")
    note = tmp_path / "note.md"
    note.write_text("# Note\n\nSome words.", "utf-8")
    with pytest.raises(KedgeError, match="holds graph"):
        kedge.ingest(note)
