"""The package that docs/how-to/extend.md builds: written from the page, installed with pip, tested and used."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kedge.testing
from tests.support.forked import ran
from tests.support.installing import pip_install
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "how-to" / "extend.md").read_text("utf-8")
FILES = dict(re.findall(r"^`([\w./-]+)`:\n\n```(?:python|toml)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
ADA, GRACE = "ada@example.org", "grace@example.org"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("harbour")
    for name, text in FILES.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text, "utf-8")
    return made


@pytest.fixture(scope="module", autouse=True)
def _installed(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        path = pip_install(project, tmp_path_factory.mktemp("installed"))
        patch.setenv("PYTHONPATH", os.pathsep.join(one for one in path.split(os.pathsep) if Path(one) != ROOT))
        yield


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=240)


def test_every_block_of_code_is_a_file_of_the_package() -> None:
    blocks = re.findall(r"^```(?:python|toml)$", PAGE, re.MULTILINE)
    assert len(blocks) == len(FILES) == 9


@pytest.mark.slow
def test_its_parts_keep_the_contracts_away_from_kedges_own_tests(project: Path) -> None:
    """With the warnings and the strictness of a careful project; `tests` of Kedge cannot be imported there."""
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", "-W", "error", "tests", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 50


def test_the_suites_need_nothing_but_the_extra(tmp_path: Path) -> None:
    names = kedge.testing.__all__
    script = f"import sys, kedge.testing as t; [getattr(t, name) for name in {names!r}]; print('tests' in sys.modules)"
    done = run("-c", script, cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "False"), done.stderr
    without = f"import sys; sys.modules['hypothesis'] = None; import kedge.testing; kedge.testing.{names[0]}"
    assert "pip install 'kedge[testing]'" in run("-c", without, cwd=tmp_path).stderr


def test_the_page_lists_every_suite() -> None:
    assert set(re.findall(r"`(\w+(?:Contract|Congruence))`", PAGE)) == set(kedge.testing.__all__)
    assert set(re.findall(r"`(\w+(?:Contract|Congruence))`", kedge.testing.__doc__ or "")) == set(kedge.testing.__all__)


def test_all_five_work_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    letters = tmp_path / "letters"
    letters.mkdir()
    for name, sender, text in (
        ("one.letter", ADA, "The kedge lies in the locker under the thwart."),
        ("two.letter", GRACE, "The ferry leaves at noon from the northern pier."),
    ):
        (letters / name).write_text(f"From: Somebody <{sender}>\nSubject: About {name}\n\n{text}\n")
    vectors = tmp_path / "vectors" / "all.json"
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KEDGE_VECTOR_URL", f"jsonfile://{vectors}")
    monkeypatch.setenv("KEDGE_EMBEDDER", "ngrams:512")

    def told(*arguments: str) -> Any:
        done = ran(["--json", *arguments])
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    job = told("ingest", str(letters), "--kind", "letters", "--collection", "post")
    assert (job["files_processed"], job["errors"]) == (2, [])
    assert len(json.loads(vectors.read_text())) == 1
    answer = told("ask", "Where does the kedge lie?", "--collection", "post", "--filter", f"sender={ADA}")
    assert "locker under the thwart" in answer["answer"]
    found = told("search", "ferry at noon", "--collection", "post", "--filter", f"sender={GRACE}")["results"]
    assert [one["title"] for one in found] == ["About two.letter"]
    assert told("letters", "senders", "--collection", "post") == {"senders": [ADA, GRACE]}
    log = tmp_path / "ship.log"
    log.write_text("2026-05-01: Calm, and the kedge was carried out at dawn.\n\n2026-05-02: A gale from the north.")
    source = told("source", "add", f"logbook://{log}", "--collection", "log", "--option", "ship=Kestrel")
    log.write_text(log.read_text().replace("A gale", "A storm"))
    assert told("source", "sync", source["name"])["last_run"]["new"] == 2
    assert "A storm" in told("ask", "What came from the north?", "--collection", "log")["answer"]
    assert told("check")["problems"] == []
    report = told("doctor")
    lines = [f"{one['status']:8}{one['name']}: {one['found']}" for one in report["checks"] if "plug-in" in one["name"]]
    shown = re.findall(r"^ok .*plug-in.*$", PAGE, re.MULTILINE)
    assert lines == shown
