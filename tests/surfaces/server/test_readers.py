"""Over HTTP: what a credential's user may not read is not there, for every surface that acts for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from kedge.core.settings import Settings, load_settings
from kedge.core.values import Right
from kedge.surfaces.client.clients import KedgeClient
from tests.engine.access.issuer import LocalIssuer
from tests.engine.access.test_tokens import settings_for
from tests.support.serving import put_key, served
from tests.support.surfaces import EMBEDDER, follow, http_client

PAY = b"# Pay\n\nThe captain of the harbour gets 9000 crowns a month.\n"
TIDE = b"# Tide\n\nThe tide in the harbour turns at noon.\n"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return load_settings(
        environ={}, home=tmp_path_factory.mktemp("readers") / "home", embedder=EMBEDDER, keep_questions=True
    )


@pytest.fixture(scope="module")
def tokens(settings: Settings) -> dict[str, str]:
    return {
        "admin": put_key(settings, "default", Right.ADMIN, user="root", groups=("board",)),
        "ann": put_key(settings, "default", Right.WRITE, user="ann", groups=("board",)),
        "bob": put_key(settings, "default", Right.WRITE, user="bob"),
        "plain": put_key(settings, "default", Right.ADMIN),
    }


@pytest.fixture(scope="module")
def address(settings: Settings, tokens: dict[str, str]) -> Iterator[str]:
    with served(settings) as url:
        with client(url, tokens["ann"]) as ann:
            for name, data, readers in (("pay.md", PAY, "group:board"), ("tide.md", TIDE, "public")):
                sent = ann.post("/api/ingest", files={"file": (name, data)}, data={"readers": readers})
                assert follow(ann, sent.raise_for_status().json()["job_id"])["status"] == "complete"
        yield url


def client(address: str, token: str | None) -> httpx.Client:
    return http_client(address, headers={"authorization": f"Bearer {token}"} if token else {})


def titles(client: httpx.Client) -> list[str]:
    return [one["title"] for one in client.get("/api/documents").raise_for_status().json()["documents"]]


def document(client: httpx.Client, title: str) -> str:
    return next(one["document_id"] for one in client.get("/api/documents").json()["documents"] if one["title"] == title)


def test_each_key_sees_what_its_user_may(address: str, tokens: dict[str, str]) -> None:
    with client(address, tokens["ann"]) as ann, client(address, tokens["bob"]) as bob:
        assert (titles(ann), titles(bob)) == (["Pay", "Tide"], ["Tide"])
        pay = document(ann, "Pay")
        assert ann.get(f"/api/documents/{pay}").json()["readers"] == ["group:board"]
        for path in (f"/api/documents/{pay}", f"/api/documents/{pay}/original", f"/api/documents/{pay}/pages/1"):
            refused, unknown = bob.get(path), bob.get(path.replace(pay, pay[::-1]))
            assert refused.status_code == unknown.status_code == 404
            assert refused.json()["error"]["message"] == unknown.json()["error"]["message"].replace(pay[::-1], pay)
        assert bob.get("/api/collections").json()["collections"][0]["documents"] == 1
        asked = {"query": "What does the captain of the harbour get?"}
        assert "9000" in ann.post("/api/query", json=asked).text
        assert "9000" not in bob.post("/api/query", json=asked).text
        chat = {"model": "kedge/default", "messages": [{"role": "user", "content": asked["query"]}]}
        assert "9000" in ann.post("/v1/chat/completions", json=chat).text
        assert "9000" not in bob.post("/v1/chat/completions", json=chat).text
    with client(address, tokens["plain"]) as plain:
        assert titles(plain) == ["Tide"]  # an administrator who is nobody in particular
        assert plain.post("/api/backup").status_code == 403


def test_figures_do_not_tell_what_others_asked_of_hidden_documents(address: str, tokens: dict[str, str]) -> None:
    with client(address, tokens["ann"]) as ann, client(address, tokens["bob"]) as bob:
        ann.post("/api/query", json={"query": "Why 9000 crowns for the captain?"}).raise_for_status()
        for who in (ann, bob):
            often = who.get("/api/analytics").raise_for_status().json()["top_queries"]
            assert often
            assert {one["words"] for one in often} == {None}


def test_headers_do_not_make_anybody_somebody(address: str, tokens: dict[str, str]) -> None:
    with client(address, tokens["bob"]) as bob:
        for header in ("x-kedge-as", "x-remote-user", "x-forwarded-user"):
            assert len(bob.get("/api/documents", headers={header: "user:ann,group:board"}).json()["documents"]) == 1


def test_a_change_holds_from_the_next_request_on(address: str, tokens: dict[str, str]) -> None:
    with client(address, tokens["ann"]) as ann, client(address, tokens["bob"]) as bob:
        pay = document(ann, "Pay")
        assert ann.get("/api/access/check", params={"user": "bob", "document_id": pay}).json()["allowed"] is False
        assert ann.put(f"/api/documents/{pay}/readers", json={"readers": ["public"]}).status_code == 200
        assert titles(bob) == ["Pay", "Tide"]
        hits = bob.post("/api/search", json={"query": "captain crowns"}).json()["results"]
        assert hits[0]["title"] == "Pay"
        assert ann.put(f"/api/documents/{pay}/readers", json={"readers": ["group:board"]}).status_code == 200
        assert titles(bob) == ["Tide"]
        assert bob.put(f"/api/documents/{pay}/readers", json={"readers": ["public"]}).status_code == 404
        assert ann.put(f"/api/documents/{pay}/readers", json={"readers": ["board"]}).status_code == 400


def test_holds_and_reports_are_for_administrators(address: str, tokens: dict[str, str]) -> None:
    with client(address, tokens["ann"]) as ann, KedgeClient(address, key=tokens["admin"]) as admin:
        pay = document(ann, "Pay")
        assert ann.put(f"/api/documents/{pay}/hold", json={"reason": "no"}).status_code == 403
        assert admin.hold_document(pay, "case 7").reason == "case 7"
        held = ann.delete(f"/api/documents/{pay}")
        assert (held.status_code, held.json()["error"]["code"]) == (409, "held")
        report = admin.access_report(pay)
        assert [hold.document_id for hold in report.holds] == [pay]
        admin.release_document(pay)
        assert any(entry.who == "user:ann" for entry in admin.access_log(document_id=pay))
        assert admin.erase_traces(pay).erased
        assert admin.access_log(document_id=pay) == []
        assert admin.collection_readers("default").readers is None
        assert ann.get("/api/access/log").status_code == 403
    with KedgeClient(address, key=tokens["plain"]) as plain:
        assert plain.access_report().holds == ()


def test_groups_come_from_the_claim_of_a_token(tmp_path: Path) -> None:
    with LocalIssuer() as issuer:
        settings = settings_for(issuer, home=tmp_path / "home", embedder=EMBEDDER, oidc_groups_claim="roles.kedge")
        with served(settings) as url:
            token = issuer.token("ES256", scope="kedge:write", sub="ann", roles={"kedge": ["board", 7]})
            with client(url, token) as ann:
                sent = ann.post("/api/ingest", files={"file": ("pay.md", PAY)}, data={"readers": "group:board"})
                assert follow(ann, sent.json()["job_id"])["status"] == "complete"
                assert titles(ann) == ["Pay"]
            with client(url, issuer.token("ES256", sub="bob", roles={"kedge": "staff"})) as bob:
                assert bob.get("/api/documents").status_code == 404  # a collection that shows nothing is not there
                assert bob.get("/api/collections").json()["collections"] == []
            many = issuer.token("ES256", sub="bob", roles={"kedge": [f"g{number}" for number in range(600)]})
            with client(url, many) as flooding:
                assert flooding.get("/api/documents").status_code == 401
