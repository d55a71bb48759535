"""An agent uses Kedge: the official client starts `kedge mcp` and speaks to it over stdin and stdout."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters

from kedge import Kedge

TEXT = "# Kedges\n\nA kedge is a light anchor. It is used to pull a ship off a sandbank.\n"


def with_client(home: Path, work: Callable[[Client], Awaitable[Any]]) -> Any:
    command = ["-m", "kedge.surfaces.cli.main", "--home", str(home), "mcp"]

    async def connected() -> Any:
        async with Client(StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))) as client:
            return await work(client)

    return asyncio.run(connected())


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "kedges.md").write_text(TEXT)
    return folder


def test_an_agent_takes_in_asks_and_searches(tmp_path: Path, notes: Path) -> None:
    progress: list[float] = []

    async def work(client: Client) -> None:
        async def note(done: float, _total: float | None, _message: str | None) -> None:
            progress.append(done)

        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"ask", "search", "read", "ingest", "collections", "documents"}
        assert tools["ask"].annotations is not None
        assert tools["ask"].annotations.read_only_hint
        job = (await client.call_tool("ingest", {"sources": [str(notes)]}, progress_callback=note)).structured_content
        assert (job["status"], job["files_processed"]) == ("complete", 1)
        answer = (await client.call_tool("ask", {"question": "What is a kedge?"})).structured_content
        assert "light anchor" in answer["answer"]
        assert answer["sources"][0]["title"] == "Kedges"
        place = await client.call_tool("read", {"passage_id": answer["sources"][0]["passage_id"]})
        assert "sandbank" in place.structured_content["text"]
        whole = {"question": "What is a kedge?", "evidence": True}
        told = (await client.call_tool("ask", whole)).structured_content
        (citation,) = {item["snippet"]: item for item in told["citations"]}.values()
        assert TEXT[citation["start"] : citation["end"]] == citation["snippet"]
        later = {"question": "What is it used for?", "session_id": "s"}
        await client.call_tool("ask", {"question": "What is a kedge?", "session_id": "s"})
        followed = (await client.call_tool("ask", later)).structured_content
        assert followed["resolved_question"] == "What is the kedge used for?"
        foreign = {"question": "Which admiral won the light anchor in Chicago?"}
        refused = (await client.call_tool("ask", foreign)).structured_content
        assert (refused["confidence"], refused["sources"]) == ("insufficient", [])
        assert refused["nearest"][0]["title"] == "Kedges"
        assert "Looked for:" in refused["answer"]
        found = (await client.call_tool("search", {"question": "sandbank", "top_k": 1})).structured_content
        assert found["results"][0]["title"] == "Kedges"
        listed = (await client.call_tool("collections", {})).structured_content
        assert [one["name"] for one in listed["collections"]] == ["default"]
        (document,) = (await client.call_tool("documents", {})).structured_content["documents"]
        (resource,) = (await client.list_resources()).resources
        assert resource.uri == f"kedge://documents/{document['document_id']}"
        (text,) = (await client.read_resource(resource.uri)).contents
        assert text.text == TEXT.rstrip()

    with_client(tmp_path / "home", work)
    assert progress[-1] == 100


def test_what_cannot_be_done_is_told_to_the_model(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        missing = await client.call_tool("ask", {"question": "What is a kedge?", "collection": "none"})
        assert missing.is_error
        assert "kedge ingest" in missing.content[0].text
        empty = await client.call_tool("search", {"question": "  "})
        assert empty.is_error
        assert "Query cannot be empty" in empty.content[0].text
        failed = await client.call_tool("ingest", {"sources": [str(tmp_path / "nowhere.md")]})
        assert failed.is_error
        assert "nowhere.md" in failed.content[0].text
        assert (await client.call_tool("read", {})).is_error
        with pytest.raises(MCPError, match="There is no document nobody"):
            await client.read_resource("kedge://documents/nobody")

    with_client(tmp_path / "home", work)


@pytest.mark.req("T-04")
def test_an_agent_is_told_what_was_not_understood_and_picks_a_reading(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    lines = [f"{name},{10 * number}" for number, name in enumerate(("Oslo", "Rome", "Bergen", "Turin"), 1)]
    path.write_text("\n".join(["town,amount", *lines]), "utf-8")
    home = tmp_path / "home"
    with Kedge(home) as kedge:
        kedge.ingest(path, collection="sales", kind="table")

    async def work(client: Client) -> tuple[Any, Any]:
        asked = {"question": "total amount in Atlantis", "collection": "sales", "evidence": True}
        first = await client.call_tool("ask", asked)
        picked = await client.call_tool("ask", {**asked, "question": "which town has the most amount", "reading": 1})
        return first.structured_content, picked.structured_content

    first, picked = with_client(home, work)
    assert "Not understood: " in first["answer"]
    assert "atlantis" in [word.lower() for word in first["metadata"]["not_understood"]]
    assert picked["short_answer"] == "Turin"
