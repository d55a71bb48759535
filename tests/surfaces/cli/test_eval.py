"""`kedge eval` prints the figures of a labelled set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.surfaces.cli.conftest import Kedge

KEYS = {
    "ndcg@10",
    "recall@5",
    "recall@10",
    "recall@100",
    "all_gold@8",
    "all_gold@10",
    "mrr@10",
    "query_ms_p50",
    "query_ms_p95",
    "ingest_seconds",
    "passages_per_second",
    "disk_bytes",
    "llm_calls",
}
ANSWER_KEYS = {
    "answered_share",
    "accuracy_answered",
    "false_answer_rate",
    "auroc",
    "aurc",
    "ece",
    "cited_spans_exist",
    "right_answers_cited",
}


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """A set of three documents and two questions."""
    folder = tmp_path / "set"
    folder.mkdir()
    rows = [
        {"_id": "d1", "title": "Kedge", "text": "A kedge is a light anchor carried in a dinghy."},
        {"_id": "d2", "title": "Bowline", "text": "The bowline makes a fixed loop at the end of a rope."},
        {"_id": "d3", "title": "Neap", "text": "At neap tides the range is small."},
    ]
    queries = [
        {"_id": "q1", "text": "What is a light anchor carried in a dinghy?", "answers": ["kedge"]},
        {"_id": "q2", "text": "Who painted the ceiling of the chapel?", "unanswerable": True},
    ]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), "utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", "utf-8")
    return folder


def test_eval_json_has_the_keys_of_the_contract(kedge: Kedge, labelled: Path) -> None:
    ran = kedge("eval", str(labelled), "--json")
    assert ran.code == 0
    assert set(ran.json()) >= KEYS
    assert not ANSWER_KEYS & set(ran.json())
    assert ran.json()["recall@5"] == 1.0
    assert ran.json()["llm_calls"] == 0


def test_eval_answers_adds_its_keys(kedge: Kedge, labelled: Path) -> None:
    measures = kedge("eval", str(labelled), "--answers", "--no-graph", "--fusion", "rrf", "--json").json()
    assert set(measures) >= KEYS | ANSWER_KEYS


def test_eval_prints_a_table(kedge: Kedge, labelled: Path) -> None:
    assert "ndcg@10" in kedge("eval", str(labelled)).out


def test_eval_of_no_set_fails(kedge: Kedge, tmp_path: Path) -> None:
    ran = kedge("eval", str(tmp_path / "nowhere"), "--json")
    assert ran.code == 2
    assert "nowhere" in ran.json()["error"]["message"]
