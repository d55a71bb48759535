"""`kedge search` and `kedge ask`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.surfaces import DOCUMENTS, FOREIGN, QUESTION
from tests.surfaces.cli.conftest import Kedge

SEARCH_KEYS = {
    *("vector_score", "keyword_score", "fused_score", "relevance_score", "above_threshold", "in_both"),
    "rank",
    "passage_id",
    "document_id",
    "external_id",
    "title",
    "identity",
    "text",
    "score",
    "vector_rank",
    "keyword_rank",
    "graph_rank",
    "metadata",
}
CITATION_KEYS = {
    *("id", "passage_id", "title", "url", "snippet", "start", "end", "page", "cells", "relevance_score", "identity")
}
ASK_KEYS = {
    *("query_id", "answer", "short_answer", "form", "readings", "citations"),
    *("confidence", "evidence_probability", "metadata"),
}


FILING = """# FORM 10-Q

For the quarterly period ended {end}

Tidewater Instruments, Inc.

(Exact name of registrant as specified in its charter)

Net sales of tide gauges in Europe were {sales} million dollars.
"""


@pytest.mark.req("D-13")
def test_two_filings_of_one_firm_are_told_apart_in_every_list(kedge: Kedge, tmp_path: Path) -> None:
    (tmp_path / "2023 Q2 TWI.md").write_text(FILING.format(end="April 1, 2023", sales=94))
    (tmp_path / "2023 Q3 TWI.md").write_text(FILING.format(end="July 1, 2023", sales=81))
    home = ("--home", str(tmp_path / "home"))
    kedge("ingest", str(tmp_path / "*.md"), *home)
    listed = {one["identity"] for one in kedge("document", "list", *home, "--json").json()}
    assert listed == {
        "Tidewater Instruments, Inc. · 10-Q · quarter ended April 1, 2023 · 2023 Q2 TWI.md",
        "Tidewater Instruments, Inc. · 10-Q · quarter ended July 1, 2023 · 2023 Q3 TWI.md",
    }
    found = " ".join(kedge("search", "net sales of tide gauges", *home).out.split())
    assert all(" ".join(line.split()) in found for line in listed)


@pytest.mark.req("D-11", "D-12")
def test_search_json_has_the_keys_of_the_contract(kedge: Kedge, filled: Path) -> None:
    ran = kedge("search", "anchor bend knot", "--home", str(filled), "--json")
    found = ran.json()
    assert ran.code == 0
    assert set(found) == {"query", "results", "timings_ms", "warnings"}
    assert [one["rank"] for one in found["results"]] == list(range(1, len(found["results"]) + 1))
    assert all(set(one) == SEARCH_KEYS for one in found["results"])
    assert found["results"][0]["title"] == "Anchor bend"


@pytest.mark.req("D-13")
def test_ask_json_has_the_keys_of_the_contract(kedge: Kedge, filled: Path) -> None:
    ran = kedge("ask", QUESTION, "--home", str(filled), "--json")
    answer = ran.json()
    assert ran.code == 0
    assert set(answer) == ASK_KEYS
    assert answer["confidence"] in ("high", "medium", "low", "insufficient")
    assert 0 <= answer["evidence_probability"] <= 1
    assert all(set(citation) == CITATION_KEYS for citation in answer["citations"])


@pytest.mark.req("D-13")
def test_citations_point_into_the_original(kedge: Kedge, filled: Path) -> None:
    answer = kedge("ask", QUESTION, "--home", str(filled), "--json").json()
    for citation in answer["citations"]:
        original = DOCUMENTS[Path(citation["url"]).name]
        assert original[citation["start"] : citation["end"]] == citation["snippet"]
        assert citation["id"] in answer["answer"]


def test_global_options_work_before_and_after_the_verb(kedge: Kedge, filled: Path) -> None:
    before = kedge("--home", str(filled), "--json", "search", "knot").json()
    after = kedge("search", "knot", "--home", str(filled), "--json").json()
    mixed = kedge("--json", "search", "--home", str(filled), "knot").json()
    assert before["results"] == after["results"] == mixed["results"] != []


def test_search_shows_rank_title_channels_and_words(kedge: Kedge, filled: Path) -> None:
    ran = kedge("search", "anchor bend knot", "--home", str(filled))
    assert ran.code == 0
    assert " 1. Anchor bend" in ran.out
    assert "vector#" in ran.out or "keyword#" in ran.out
    assert "fisherman's bend" in ran.out
    assert "\x1b[" not in ran.out, "no colours when stdout is no terminal"


@pytest.mark.req("D-13")
def test_refusal_is_done_and_shows_what_was_nearest(kedge: Kedge, filled: Path) -> None:
    ran = kedge("ask", FOREIGN, "--home", str(filled))
    assert ran.code == 0
    assert "insufficient" in ran.out
    assert "Looked for: " in ran.out
    assert "Nearest, but not an answer:" in ran.out
    answer = kedge("ask", FOREIGN, "--home", str(filled), "--json").json()
    assert answer["confidence"] == "insufficient"
    assert answer["citations"] == []
    assert isinstance(answer["metadata"]["nearest"], list)


def test_filters_narrow_the_results(kedge: Kedge, filled: Path) -> None:
    ran = kedge("search", "anchor", "--home", str(filled), "--json", "--filter", "has_table=true")
    assert {one["title"] for one in ran.json()["results"]} == {"Anchor bend"}


def test_topic_narrows_the_results(kedge: Kedge, corpus: Path) -> None:
    kedge("ingest", str(corpus / "kedge.md"), "--topic", "anchors")
    kedge("ingest", str(corpus / "tides.md"), "--topic", "tides")
    found = kedge("search", "anchor tides", "--topic", "tides", "--json").json()["results"]
    assert {one["title"] for one in found} == {"Spring tides"}


def test_no_graph_leaves_the_graph_out(kedge: Kedge, filled: Path) -> None:
    found = kedge("search", QUESTION, "--home", str(filled), "--no-graph", "--json").json()["results"]
    assert found
    assert all(one["graph_rank"] is None for one in found)


@pytest.mark.req("D-15")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ask", ""], "Query cannot be empty"),
        (["ask", "   "], "Query cannot be empty"),
        (["ask", "x" * 2001], "Query exceeds maximum length"),
        (["search", "x" * 2001], "Query exceeds maximum length"),
        (["ask", "why", "--top-k", "0"], "top_k must be positive integer, got 0"),
        (["search", "why", "--top-k", "21"], "top_k must be between 1 and 20"),
    ],
)
def test_bad_queries_are_wrong_usage(kedge: Kedge, filled: Path, arguments: list[str], message: str) -> None:
    plain = kedge(*arguments, "--home", str(filled))
    assert plain.code == 2
    assert plain.out == ""
    assert message in plain.err
    structured = kedge(*arguments, "--home", str(filled), "--json")
    assert structured.code == 2
    error = structured.json()["error"]
    assert error["code"] == "invalid_query"
    assert error["message"].rstrip(".") == message
    assert set(error) == {"code", "message", "hint", "details"}


def test_a_query_of_2000_characters_is_fine(kedge: Kedge, filled: Path) -> None:
    assert kedge("search", "kedge " * 333 + "ab", "--home", str(filled), "--json").code == 0


def test_bad_filter_says_how_to_write_it(kedge: Kedge, filled: Path) -> None:
    ran = kedge("search", "knot", "--filter", "nonsense", "--home", str(filled))
    assert ran.code == 2
    assert "key=value" in ran.err


def test_a_field_that_no_passage_has_is_an_error_that_lists_the_fields(kedge: Kedge, filled: Path) -> None:
    for verb in ("search", "ask"):
        ran = kedge(verb, "knot", "--filter", "langage=en", "--home", str(filled))
        assert ran.code == 2
        assert "Did you mean 'language'?" in ran.err
        assert "has_table, ingested_at, language, page" in ran.err
    assert kedge("search", "knot", "--filter", "language=fr", "--home", str(filled)).code == 0


def test_unknown_collection_fails_and_says_so(kedge: Kedge, filled: Path) -> None:
    ran = kedge("ask", QUESTION, "--collection", "nowhere", "--home", str(filled), "--json")
    assert ran.code == 1
    assert ran.json()["error"]["code"] == "not_found"


@pytest.mark.req("Q-05")
@pytest.mark.parametrize("json", [(), ("--json",)])
def test_nothing_found_is_explained_on_stderr(kedge: Kedge, filled: Path, json: tuple[str, ...]) -> None:
    ran = kedge("search", "anchor", "--topic", "none such", "--top-k", "3", "--home", str(filled), *json)
    assert ran.code == 0
    assert "note: Nothing was found for 'anchor' (top_k 3)" in ran.err


@pytest.mark.req("Q-03")
@pytest.mark.parametrize("top_k", ["0", "-2", "21", "many", "1.5"])
def test_top_k_is_a_positive_whole_number_or_a_clear_error(kedge: Kedge, filled: Path, top_k: str) -> None:
    ran = kedge("search", "anchor", "--top-k", top_k, "--home", str(filled))
    assert ran.code == 2
    assert "top" in ran.err


def test_as_of_a_date_what_was_live_then_is_found(kedge: Kedge, tmp_path: Path) -> None:
    folder = tmp_path / "watch"
    folder.mkdir()
    (folder / "watch.txt").write_text("Ada is on watch tonight.")
    kedge("ingest", str(folder), "-c", "watch")
    before = datetime.now(UTC).isoformat()
    (folder / "watch.txt").write_text("Grace is on watch tonight.")
    kedge("ingest", str(folder), "-c", "watch")
    asked = ("search", "Who is on watch?", "-c", "watch", "--json")
    assert [hit["text"] for hit in kedge(*asked).json()["results"]] == ["Grace is on watch tonight."]
    then = kedge(*asked, "--as-of", before)
    assert [hit["text"] for hit in then.json()["results"]] == ["Ada is on watch tonight."]
    refused = kedge("ask", "Who is on watch?", "-c", "watch", "--as-of", "yesterday")
    assert refused.code != 0
    assert "2026-03-01" in refused.err
