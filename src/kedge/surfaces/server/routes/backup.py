"""A backup of everything, made by the running server (which alone can read its vectors)."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse
from starlette.types import Receive, Scope, Send

from kedge.core.errors import ConflictError, ForbiddenError, StoreError
from kedge.core.values import DEFAULT_TENANT, Right
from kedge.engine.backup.taking import take_backup
from kedge.surfaces.server.deps import CallerDep, EngineDep

router = APIRouter(prefix="/api/backup", tags=["operations"])
FOLDER = ".sent-"
ZIP: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The archive.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("", summary="Back everything up", response_class=FileResponse, responses=ZIP)
async def back_up(request: Request, engine: EngineDep, caller: CallerDep) -> FileResponse:
    """Everything of every tenant as one file. Only administrators of the tenant `default` may have it."""
    if not caller.right.allows(Right.ADMIN) or caller.tenant != DEFAULT_TENANT:
        raise ForbiddenError(
            "A backup holds the data of all tenants.",
            hint="Use an admin key of the tenant default, or the command line.",
        )
    if caller.actor is not None and await engine.stores.catalog.rights.restricted():
        raise ForbiddenError(
            "This home holds what not everybody may read, and a backup holds all of it.",
            hint="The owner of the home makes it: `kedge backup FILE`.",
        )
    state = request.app.state
    if getattr(state, "backing_up", False):
        raise ConflictError("A backup is being made already.", hint="Wait for it to end.")
    state.backing_up = True
    folder: Path | None = None

    def done() -> None:
        state.backing_up = False
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)

    try:
        folder = await asyncio.to_thread(_fresh_folder, engine.settings.home)
        stores = engine.stores
        made = await take_backup(engine.settings, folder / "backup", vectors=stores.vectors, nodes=stores.nodes)
    except OSError as error:
        done()
        raise StoreError(
            f"The backup could not be made: {error.strerror or error}.", hint="Look at the disk and the home's rights."
        ) from error
    except BaseException:
        done()
        raise
    stamp = made.created_at.replace(":", "").partition("+")[0]
    return _Sent(folder / "backup", done, media_type="application/octet-stream", filename=f"kedge-{stamp}.backup")


def _fresh_folder(home: Path) -> Path:
    """A folder for the file that is sent, in place of those of a process that was killed while it sent one."""
    for left in home.glob(f"{FOLDER}*"):
        shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=FOLDER, dir=home))


class _Sent(FileResponse):
    """A file that is done with when it was sent, or when nobody wants it any more."""

    def __init__(self, path: Path, done: Callable[[], None], *, media_type: str, filename: str) -> None:
        super().__init__(path, media_type=media_type, filename=filename)
        self._done = done

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._done()
