"""The files of table sessions in a home, for backups."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from kedge.core.errors import StoreError
from kedge.core.files import link
from kedge.core.values import Scope
from kedge.kinds.tables.state import FILE, FOLDER, Folders

TRIES = 20
"""For a table that is fed again and again while it is linked."""
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"


class TableFiles:
    """Each session as one published generation."""

    names = rf"tables/[0-9a-f]{{24}}/session\.json|tables/[0-9a-f]{{24}}/g[0-9]{{1,20}}/(?:{_PART}/){{0,4}}{_PART}"
    unit = "sessions"

    def copy(self, home: Path, folder: Path, scope: Scope) -> None:
        source = Folders(home).of(scope)
        target = folder / FOLDER / source.name
        for _ in range(TRIES):
            if not (source / FILE).exists() or _link_session(source, target):
                return
            shutil.rmtree(target)
        raise StoreError(f"Table {scope.collection!r} changes too fast to be backed up.", hint="Try again.")

    def held(self, home: Path, scope: Scope) -> bool:
        return Folders(home).read(scope) is not None

    def count(self, home: Path) -> int:
        return len(list((home / FOLDER).glob(f"*/{FILE}")))


def _link_session(source: Path, target: Path) -> bool:
    """False when it was fed or deleted meanwhile."""
    target.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copyfile(source / FILE, target / FILE)
    except FileNotFoundError:
        return False
    number = json.loads((target / FILE).read_text("utf-8"))["generation"]
    generation = source / f"g{number}"
    if not number:
        return True
    files = [path for path in generation.rglob("*") if path.is_file()]
    linked = [link(path, target / generation.name / path.relative_to(generation)) for path in files]
    return bool(files) and all(linked) and generation.exists()


FILES = TableFiles()
