"""`kedge access`, `--as`, `--readers` and keys that act for users, as they are typed."""

from __future__ import annotations

from pathlib import Path

from tests.surfaces.cli.conftest import Kedge


def taken_in(kedge: Kedge, tmp_path: Path) -> None:
    for name, words in (("pay", "The captain gets 9000 crowns."), ("tide", "The tide turns at noon.")):
        (tmp_path / f"{name}.md").write_text(f"# {name.title()}\n\n{words}\n")
    assert kedge("ingest", str(tmp_path / "tide.md")).code == 0
    assert kedge("ingest", str(tmp_path / "pay.md"), "--readers", "group:board, user:ann").code == 0


def titles(kedge: Kedge, *more: str) -> list[str]:
    return [one["title"] for one in kedge("document", "list", "--json", *more).json()]


def test_the_owner_sees_all_unless_they_ask_as_somebody(kedge: Kedge, tmp_path: Path) -> None:
    taken_in(kedge, tmp_path)
    assert titles(kedge) == ["Pay", "Tide"]
    assert titles(kedge, "--as", "user:bob") == ["Tide"]
    assert titles(kedge, "--as", "user:bob,group:board") == ["Pay", "Tide"]
    hits = kedge("--as", "user:bob", "search", "captain crowns tide", "--json").json()["results"]
    assert [one["title"] for one in hits] == ["Tide"]
    assert kedge("document", "show", "pay.md", "--as", "user:bob").code == 1
    assert kedge("collection", "list", "--json", "--as", "user:bob").json()[0]["documents"] == 1
    wrong = kedge("document", "list", "--as", "bob")
    assert wrong.code == 2
    assert "user:NAME" in wrong.err


def test_check_says_why_and_set_changes_it(kedge: Kedge, tmp_path: Path) -> None:
    taken_in(kedge, tmp_path)
    assert kedge("access", "check", "ann", "pay.md").out == "Yes: as user:ann.\n"
    assert kedge("access", "check", "bob", "pay.md").out == "No: it is for group:board, user:ann alone.\n"
    assert kedge("key", "create", "laptop", "--user", "bob", "--group", "board").code == 0
    checked = kedge("access", "check", "user:bob", "pay.md", "--json").json()
    assert (checked["allowed"], checked["principals"]) == (True, ["group:board", "public", "user:bob"])
    assert kedge("access", "set", "pay.md", "--readers", "public").out.startswith("Pay")
    assert titles(kedge, "--as", "user:zoe") == ["Pay", "Tide"]
    assert kedge("access", "collection", "default", "--readers", "group:board").out == "default: group:board\n"
    assert kedge("access", "check", "zoe", "pay.md").out.startswith("No: the collection")
    assert kedge("document", "list", "--as", "user:zoe").code == 1
    assert kedge("access", "collection", "default").out == "default: everybody\n"
    assert kedge("access", "check", "ann", "nothing.md").code == 1
    assert kedge("access", "set", "pay.md", "--readers", "board").code == 2
    assert kedge("check").code == 0


def test_a_hold_is_told_kept_and_released(kedge: Kedge, tmp_path: Path) -> None:
    taken_in(kedge, tmp_path)
    assert kedge("access", "hold", "pay.md", "--reason", "case 7").code == 0
    refused = kedge("document", "delete", "pay.md", "--yes")
    assert refused.code == 1
    assert "legal hold: case 7" in refused.err
    assert "kedge access release" in refused.err
    assert [one["reason"] for one in kedge("access", "report", "--json").json()["holds"]] == ["case 7"]
    assert kedge("access", "release", "pay.md").code == 0
    assert kedge("document", "delete", "pay.md", "--yes").code == 0


def test_the_log_and_the_report_tell_of_use_and_erase_forgets_it(kedge: Kedge, tmp_path: Path) -> None:
    taken_in(kedge, tmp_path)
    kedge("search", "captain", "--as", "user:ann")
    (entry,) = kedge("access", "log", "--json").json()
    assert (entry["who"], entry["action"], entry["words"]) == ("user:ann", "search", None)
    assert "user:ann" in kedge("access", "log", "--document", "pay.md").out
    report = kedge("access", "report", "--document", "pay.md", "--json").json()
    assert (report["restricted_documents"], report["document"]["audit_entries"]) == (1, 1)
    assert kedge("access", "erase", "pay.md", "--yes", "--json").json()["erased"]
    assert kedge("access", "log", "--document", "pay.md", "--json").json() == []


def test_keys_show_for_whom_they_act(kedge: Kedge) -> None:
    made = kedge("key", "create", "laptop", "--user", "ann", "--group", "staff", "--group", "board", "--json").json()
    assert (made["user"], made["groups"]) == ("ann", ["board", "staff"])
    assert "ann" in kedge("key", "list").out
    assert kedge("key", "create", "odd", "--user", "a,b").code == 2
