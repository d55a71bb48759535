"""Operations that are killed in the middle, each in a process of its own. Started by test_kill.py."""

from __future__ import annotations

from pathlib import Path

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Scope
from kedge.engine.engine import Engine
from tests.support.forked import OnStep

SCOPE = Scope(DEFAULT_TENANT, "default")


async def main(on_step: OnStep, operation: str, home: Path, folder: Path) -> None:
    """Take the folder in, or delete a document of it."""
    settings = load_settings(environ={}, home=home, embedder="hash")
    async with Engine.open(settings, on_step=on_step) as engine:
        if operation == "ingest":
            await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        else:
            document = next(item for item in await engine.documents(SCOPE) if item.url.endswith("tides.md"))
            await engine.delete_document(DEFAULT_TENANT, document.id)
