"""Python may come with a newer SQLite than the one here: homes are sound there as well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

pytest.importorskip("pysqlite3", reason="pysqlite3-binary has no build for this system")

INSTEAD = """
import sys
import pysqlite3, pysqlite3.dbapi2
sys.modules["sqlite3"], sys.modules["sqlite3.dbapi2"] = pysqlite3, pysqlite3.dbapi2
"""
ASKED = """
import asyncio, sqlite3, sys
from pathlib import Path

from kedge.core.settings import load_settings
from kedge.core.values import IngestRequest, Query, Scope
from kedge.engine.engine import Engine


async def main(folder: Path) -> None:
    scope, files = Scope("default", "sea"), folder / "files"
    files.mkdir()
    async with Engine.open(load_settings(environ={}, home=str(folder / "home"), embedder="hash:256")) as engine:
        for number in range(3):
            text = f"# Kedge\\n\\nA kedge is a light anchor. The Kedge Anchor has {number} flukes.\\n"
            (files / "a.md").write_text(text, "utf-8")
            await engine.ingest(IngestRequest(scope, (str(files),)))
            found = await engine.search(Query("What is a kedge anchor?", scope))
            report = await engine.check()
            print(sqlite3.sqlite_version_info >= (3, 44), len(found.hits), [one.detail for one in report.problems])


asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.req("G-09")
def test_a_home_that_is_written_read_and_looked_through_is_sound(tmp_path: Path) -> None:
    # SQLite looks through full-text indexes from 3.44 on, and took what another connection wrote for damage
    (tmp_path / "sitecustomize.py").write_text(INSTEAD, "utf-8")
    places = [tmp_path, ROOT / "src", *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    done = subprocess.run(
        [sys.executable, "-c", ASKED, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["True 1 []"] * 3, done.stderr[-3000:]
