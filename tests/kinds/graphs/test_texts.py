"""Questions that a node's own text answers, answers of the wrong sort, and what is read, shown and recorded of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from kedge import Kedge
from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, Answer, Metadata, Query, Scope
from kedge.engine.engine import Engine
from kedge.kinds.graphs.asking.threshold import node_threshold
from kedge.models.registry import open_embedder
from kedge.stores.graph.nodes import Edge, Node
from tests.models.llm_server import LLMServer, serving

NODES = (
    Node("curie", "Person", "Marie Curie", "Marie Curie researched radioactivity and won two Nobel Prizes."),
    Node("pierre", "Person", "Pierre Curie", "Pierre Curie found piezoelectricity together with his brother."),
    Node("milvus", "Software", "Milvus", "A vector database is a store that finds the nearest embeddings."),
    Node("neo4j", "Software", "Neo4j", "Neo4j is a graph database that stores relationships between things."),
    Node("redis", "Software", "Redis", "Redis is an in-memory key-value store that is often used as a cache."),
    Node("k2", "Mountain", "K2", "K2 is a mountain that many climbers fear.", properties={"first_ascent": 1954}),
    Node("karakoram", "Range", "Karakoram", ""),
    Node("lacedelli", "Person", "Lino Lacedelli", ""),
)
EDGES = (
    Edge("e1", "curie", "pierre", "married_to"),
    Edge("e2", "k2", "karakoram", "part_of"),
    Edge("e3", "lacedelli", "k2", "climbed"),
)


def filled(kedge: Kedge) -> Kedge:
    for node in NODES:
        kedge.create_node(node)
    for edge in EDGES:
        kedge.create_edge(edge)
    return kedge


@pytest.fixture(scope="module")
def kedge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kedge]:
    with Kedge(tmp_path_factory.mktemp("texts"), collection="g") as opened:
        yield filled(opened)


@pytest.fixture(scope="module")
def model() -> Iterator[LLMServer]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, model: LLMServer) -> Iterator[Kedge]:
    home = tmp_path_factory.mktemp("written")
    with Kedge(home, collection="g", llm="openai:test", llm_url=f"{model.url}/v1") as opened:
        yield filled(opened)


def first(answer: Answer) -> str:
    return answer.citations[0].url.removeprefix("node:") if answer.citations else ""


@pytest.mark.req("G-14", "G-04")
@pytest.mark.parametrize(
    ("question", "node"),
    [
        ("Who researched radioactivity?", "curie"),
        ("What is a vector database?", "milvus"),
        ("Which database stores relationships?", "neo4j"),
        ("Who won two Nobel Prizes?", "curie"),
        ("What is Redis?", "redis"),
        ("Which tool can I use as a cache?", "redis"),
    ],
)
def test_a_question_that_a_nodes_text_answers_cites_that_node(kedge: Kedge, question: str, node: str) -> None:
    answer = kedge.ask(question)
    assert first(answer) == node, answer.answer
    own = next(one for one in NODES if one.id == node).description
    assert answer.citations[0].snippet in own


@pytest.mark.req("G-14", "G-05")
@pytest.mark.parametrize(
    "question", ["Who painted the Night Watch?", "How do I bake bread?", "What is moved by a tug?"]
)
def test_a_foreign_question_is_refused(kedge: Kedge, question: str) -> None:
    assert kedge.ask(question).refused


@pytest.mark.req("G-14")
@pytest.mark.parametrize(
    "question",
    ["How high is K2?", "How tall is Lino Lacedelli?", "When was Lino Lacedelli born?", "Who owns the Karakoram?"],
)
def test_an_answer_is_of_the_sort_that_is_asked_for(kedge: Kedge, question: str) -> None:
    assert kedge.ask(question).refused


def test_what_has_the_sort_is_still_answered(kedge: Kedge) -> None:
    assert kedge.ask("When was the first ascent of K2?").short_answer == "1954"
    assert first(kedge.ask("Who climbed K2?")) == "lacedelli"
    assert first(kedge.ask("In which range is K2?")) == "karakoram"


@pytest.mark.req("G-14")
def test_the_threshold_is_calibrated_for_each_model() -> None:
    settings = Settings()
    assert settings.node_threshold is None
    own, other = (asyncio.run(node_threshold(open_embedder(name, settings))) for name in ("minilm", "hash:64"))
    assert 0.3 < own < 0.6
    assert other != own


@pytest.mark.req("G-15", "G-05")
@pytest.mark.parametrize(
    ("question", "node", "neighbour"),
    [
        ("Who is Pierre Curie?", "pierre", "Marie Curie"),
        ("Who is Marie Curie?", "curie", "Pierre Curie"),
        ("Tell me about Marie Curie", "curie", "Pierre Curie"),
        ("What is K2?", "k2", "Karakoram"),
    ],
)
def test_a_node_is_told_by_its_own_text_with_its_neighbours_beside_it(
    kedge: Kedge, question: str, node: str, neighbour: str
) -> None:
    answer = kedge.ask(question)
    assert [one.url for one in answer.citations] == [f"node:{node}"]
    assert answer.answer.startswith(next(one for one in NODES if one.id == node).description)
    (told,) = answer.metadata["nodes"]  # type: ignore[misc, union-attr]
    assert neighbour in [one["title"] for one in told["neighbours"]]  # type: ignore[index, call-overload, union-attr]


@pytest.mark.req("G-15")
def test_a_node_without_text_is_told_by_its_edges(kedge: Kedge) -> None:
    assert kedge.ask("What is the Karakoram?").answer == "K2 part of Karakoram. [Node 1]"


@pytest.mark.req("G-16", "G-04")
def test_below_the_threshold_no_model_is_asked_and_above_it_sentences_stream(written: Kedge, model: LLMServer) -> None:
    model.requests.clear()
    assert written.ask("How do I bake bread?").refused
    assert model.requests == []
    model.say = lambda _system, _user: "Marie Curie won two Nobel Prizes [1]. She also won a chess cup in 1999 [1]."
    events = list(written.stream("Who won two Nobel Prizes?"))
    assert len(model.requests) == 1
    kinds = [event.type for event in events]
    assert kinds.index("citation") < len(kinds) - 2
    text = "".join(event.content or "" for event in events)
    assert text.startswith("Marie Curie won two Nobel Prizes. [Node 1]")
    assert "chess" not in text


@pytest.mark.req("G-17", "G-04")
@pytest.mark.parametrize("question", ["Who won two Nobel Prizes?", "Who was Marie Curie married to?"])
def test_the_model_reads_title_description_type_and_neighbours_by_title(
    written: Kedge, model: LLMServer, question: str
) -> None:
    model.say = lambda _system, _user: "Nothing."
    written.ask(question)
    _, prompt = model.prompt()
    for part in ("Marie Curie", "researched radioactivity", "person", "Marie Curie married to Pierre Curie."):
        assert part in prompt
    assert "married to pierre." not in prompt


@pytest.mark.req("G-18", "G-05")
@pytest.mark.parametrize("question", ["Who won two Nobel Prizes?", "Who climbed K2?", "Who is Marie Curie?"])
def test_sources_and_evidence_have_the_marks_of_the_citations(kedge: Kedge, question: str) -> None:
    events = list(kedge.stream(question))
    cited = [event.citation.id for event in events if event.citation]
    metadata = next(event.metadata for event in events if event.metadata)
    assert cited[0] == "[Node 1]"
    assert [one["id"] for one in metadata["sources"]] == cited  # type: ignore[index, union-attr, call-overload]
    nodes = metadata["evidence"]["nodes"]  # type: ignore[index, call-overload]
    assert {mark for one in nodes for mark in one.get("citations", ())} == set(cited)  # type: ignore[union-attr]


@pytest.mark.req("G-18")
def test_a_refusal_has_no_sources(kedge: Kedge) -> None:
    metadata = kedge.ask("Who painted the Night Watch?").metadata
    assert metadata["sources"] == []
    assert [one["type"] for one in metadata["evidence"]["nodes"]] == ["question"]  # type: ignore[index, union-attr, call-overload]
    assert metadata["citation_count"] == 0


@pytest.mark.req("G-19")
def test_times_tell_every_step(kedge: Kedge, written: Kedge, model: LLMServer) -> None:
    assert {"embed", "search", "fetch", "total"} <= set(kedge.ask("Who won two Nobel Prizes?").metadata["timings_ms"])  # type: ignore[arg-type]
    assert {"graph", "fetch", "total"} <= set(kedge.ask("Who climbed K2?").metadata["timings_ms"])  # type: ignore[arg-type]
    model.say = lambda _system, _user: "Marie Curie won two Nobel Prizes [1]."
    assert "generate" in written.ask("Who won two Nobel Prizes?").metadata["timings_ms"]  # type: ignore[operator]


@pytest.mark.req("G-19")
def test_a_refusal_is_recorded_as_one(tmp_path_factory: pytest.TempPathFactory) -> None:
    settings = load_settings(None, {}, home=tmp_path_factory.mktemp("recorded"), embedder="hash:64")

    async def scenario() -> Metadata:
        async with Engine.open(settings) as engine:
            scope = Scope(DEFAULT_TENANT, "g")
            await engine.kinds.named("graph").nodes.create(scope, NODES[0])
            assert (await engine.ask(Query("How do I bake bread?", scope))).refused
            return await engine.stores.catalog.analytics.summary(DEFAULT_TENANT)

    summary = asyncio.run(scenario())
    assert (summary["queries"], summary["refusals"]) == (1, 1)
