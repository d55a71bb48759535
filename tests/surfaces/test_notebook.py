"""What notebooks show: escaped, small, without scripts, with citations linked."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge import Kedge
from kedge.core.values import Answer, Citation, Json, Passage, SearchHit, SearchResult
from kedge.stores.graph.nodes import Edge, Node
from tests.support.surfaces import EMBEDDER, QUESTION, write_corpus

TAGS = {"div", "p", "b", "a", "ol", "li", "span", "blockquote", "table", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {"class", "style", "href", "id", "rel", "target"}
CLIENT = "import kedge.surfaces.client"
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "https://evil.test/\"onmouseover='alert(1)'",
    "</div></body><iframe src=//evil.test>",
    "&lt;script&gt;",
    "\x00<svg/onload=alert(1)>",
    "http://[bad",
    "vbscript:x",
    "' style='position:fixed",
]


class Seen(HTMLParser):
    """Every tag, attribute and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def check_harmless(html: str | None) -> Seen:
    assert html is not None
    seen = Seen(html)
    for tag, attributes in seen.tags:
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES
        target = attributes.get("href") or "#"
        assert target.startswith(("#", "http://", "https://"))
        assert "position" not in (attributes.get("style") or "")
    return seen


def answer_of(text: str, url: str, metadata: dict[str, Json] | None = None) -> Answer:
    citation = Citation("[1]", text, text, text, url, text, 0, 1, 0.5, page=3, section_path=(text,))
    return Answer(text, f"{text} [1] [2] {text}", (citation,), "high", 0.9, metadata=metadata or {})


def result_of(text: str, url: str) -> SearchResult:
    passage = Passage(text, text, "", 0, text, 0, 1, "", 1, text, url, text, section_path=(text,))
    return SearchResult(text, (SearchHit(1, passage, 0.5),), {})


def check_all(text: str) -> None:
    table: dict[str, Json] = {"plan": {"text": text}, "columns": [text], "rows": [[text], [None]], "row_count": 9}
    graph: dict[str, Json] = {
        "paths": [
            {
                "nodes": [{"id": text, "title": text, "type": text}],
                "edges": [{"source": text, "target": text, "type": text}],
            }
        ]
    }
    for url in (text, f"https://kedge.test/{text}"):
        for metadata in ({}, table, graph):
            seen = check_harmless(answer_of(text, url, metadata)._repr_html_())
            assert "high" in seen.text
        check_harmless(result_of(text, url)._repr_html_())


@pytest.mark.parametrize("loaded", ["from kedge import Kedge", CLIENT])
def test_who_loads_a_surface_sees_more_than_the_plain_value(loaded: str) -> None:
    shown = "print(SearchResult('x', (), {})._repr_html_())"
    code = f"from kedge.core.values import SearchResult\n{shown}\n{loaded}\n{shown}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("None\n<div")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_text(text: str) -> None:
    check_all(text)


@given(st.text(max_size=60))
def test_any_text_is_shown_as_text(text: str) -> None:
    check_all(text)


@given(
    st.dictionaries(
        st.sampled_from(["plan", "columns", "rows", "row_count", "paths"]),
        st.recursive(
            st.none() | st.integers() | st.text(max_size=8),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
            max_leaves=8,
        ),
    )
)
def test_metadata_of_any_shape_is_shown_or_left_out(metadata: dict[str, Json]) -> None:
    check_harmless(answer_of("x", "x", metadata)._repr_html_())


def test_what_a_notebook_shows(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("name,price\n" + "".join(f"anchor {n},{n}\n" for n in range(50)), "utf-8")
    with Kedge(tmp_path / "home", embedder=EMBEDDER) as kedge:
        kedge.ingest(write_corpus(tmp_path / "sea"))
        kedge.ingest(tmp_path / "prices.csv", collection="prices", kind="table")
        kedge.create_node(Node("ada", "Person", "Ada"), collection="crew")
        kedge.create_node(Node("hms", "Ship", "Surprise"), collection="crew")
        kedge.create_edge(Edge("", "ada", "hms", "serves_on"), collection="crew")

        answer = kedge.ask(QUESTION)
        seen = check_harmless(answer._repr_html_())
        assert answer.citations[0].snippet in seen.text
        assert answer.confidence in seen.text
        links = [attributes["href"] for tag, attributes in seen.tags if tag == "a"]
        ids = {f"#{attributes['id']}" for _, attributes in seen.tags if "id" in attributes}
        assert links
        assert set(links) <= ids
        assert len(answer._repr_html_() or "") < 10_000

        found = check_harmless(kedge.search("anchor")._repr_html_())
        assert "Anchor bend" in found.text
        table = check_harmless(kedge.ask("What is the price of each name?", collection="prices")._repr_html_())
        assert "Plan:" in table.text
        assert sum(tag == "tr" for tag, _ in table.tags) <= 21
        graph = check_harmless(kedge.ask("Which ship does Ada serve on?", collection="crew")._repr_html_())
        assert "Ada —serves_on→ Surprise" in graph.text
