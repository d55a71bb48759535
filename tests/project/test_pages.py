"""What the pages tell a reader to type can be typed: the tutorial is followed word for word, every command is read."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from kedge.core.settings import load_settings
from kedge.surfaces.cli.main import command_line, run
from tests.support.forked import piped, said_first
from tests.support.pages import Typed, typed
from tests.support.paths import ROOT
from tests.support.serving import served
from tests.support.surfaces import EMBEDDER, http_client, write_corpus

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TUTORIAL = ROOT / "docs" / "tutorial" / "first-steps.md"
ADDRESS = "http://127.0.0.1:8000"
HOW_TOS = ("access.md", "backup.md", "chat-clients.md", "observe.md", "sources.md")
"""Pages whose commands need nothing but this machine, as far as they name no other."""
ELSEWHERE = re.compile(r"\.example\b|example\.com|postgresql://|\bpip install|KEDGE_OTLP_URL")
MARK = "-- next --"
PLUGGED = {"letters"}
"""Commands that a plug-in of an example brings."""


def lines_of(one: Typed) -> list[str]:
    joined = one.text.replace("\\\n", " ")
    return [joined] if not one.script else re.sub(r"<<'END'\n.*?^END$", "", joined, flags=re.M | re.S).splitlines()


def commands() -> list[tuple[str, str]]:
    """Every call of `kedge` on every page, with the page's name."""
    found = []
    for page in PAGES:
        for one in typed(page):
            for line in lines_of(one):
                call = re.match(r"(?:[A-Z_]+=\S+ )*kedge\b(.*)", line.strip())
                if call is not None:
                    found.append((str(page.relative_to(ROOT)), call[1].strip()))
    return found


@pytest.mark.parametrize(("page", "line"), commands())
def test_every_command_on_a_page_can_be_read(
    page: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my-set").mkdir()  # what an example names and has to be there
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line, comments=True)
    if words and words[0] in PLUGGED:
        return
    group = command_line()
    _read(group, words, page)


def _read(group: object, words: list[str], page: str) -> None:
    """Have the command line read the words, without doing anything."""
    parent: typer.Context | None = None
    command = group
    while True:
        try:
            context = command.make_context("kedge", list(words), parent=parent)  # type: ignore[attr-defined]
        except typer.Exit:
            return  # --version, --help
        rest = [*context._protected_args, *context.args]
        if not hasattr(command, "resolve_command"):
            assert not rest, page
            return
        assert rest, f"{page}: kedge {' '.join(words)} names no command"
        _, command, words = command.resolve_command(context, rest)
        parent = context


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_have_one_form(page: Path) -> None:
    assert ".venv/bin/kedge" not in page.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", HOW_TOS)
def test_a_how_to_holds_when_it_is_followed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one shell, in a folder whose home holds a small corpus, beside a server where the page speaks of one."""
    monkeypatch.chdir(tmp_path)
    for setting in [setting for setting in os.environ if setting.startswith("KEDGE_")]:
        monkeypatch.delenv(setting)  # what the caller works with is not the reader's
    program = tmp_path / "bin" / "kedge"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kedge.surfaces.cli.main "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("KEDGE_EMBEDDER", EMBEDDER)
    assert run(["ingest", str(write_corpus(tmp_path / "docs"))]) == 0
    page = ROOT / "docs" / "how-to" / name
    steps = [one for one in typed(page) if not ELSEWHERE.search(one.text)]
    assert steps
    if not any(ADDRESS in one.text for one in steps):
        check_all(steps, in_shell(steps))
        return
    with piped(["serve", "--port", "0"], dict(os.environ)) as server:
        url = said_first(server).split(" at ")[1].split()[0]
        check_all(steps, in_shell([Typed(one.text.replace(ADDRESS, url)) for one in steps]))


def in_shell(steps: list[Typed]) -> list[str]:
    """What each step says, all of them typed into one shell."""
    script = "".join(f"echo '{MARK}'\n{one.text}\n" for one in steps)
    done = subprocess.run(["bash", "-e"], input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.split(f"{MARK}\n")[1:]


def check_all(steps: list[Typed], said: list[str]) -> None:
    for step, words in zip(steps, said, strict=True):
        check(step, words)


@pytest.mark.slow
def test_the_first_answer_of_the_readme_is_what_the_demo_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    first, *shown = [one for one in typed(ROOT / "README.md") if not one.text.startswith(("pipx", "make"))][:3]
    assert first.text == "kedge demo"
    said = followed(first, capfd)
    for step in (first, *shown):
        check(step, said if step is first else said.partition(step.text)[2])


@pytest.mark.slow
def test_the_tutorial_holds_when_it_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name in [name for name in os.environ if name.startswith("KEDGE_")]:
        monkeypatch.delenv(name)
    steps = [one for one in typed(TUTORIAL) if "install" not in one.text.split("\n")[0]]
    served = next(number for number, one in enumerate(steps) if one.text == "kedge serve")
    for step in steps[:served]:
        check(step, followed(step, capfd))
    with piped(["serve", "--port", "0"], dict(os.environ)) as server:
        said = said_first(server)
        url = said.split(" at ")[1].split()[0]
        check(steps[served], said.replace(url, ADDRESS))
        for step in steps[served + 1 :]:
            check(step, followed(Typed(step.text.replace(ADDRESS, url)), capfd))


def followed(step: Typed, capfd: pytest.CaptureFixture[str]) -> str:
    if step.script or not step.text.startswith("kedge "):
        done = subprocess.run(["bash", "-e", "-c", step.text], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout
    capfd.readouterr()
    code = run(shlex.split(step.text)[1:])
    out, err = capfd.readouterr()
    assert code == 0, err
    return out


def check(step: Typed, said: str) -> None:
    assert step.missing(said) == [], f"$ {step.text}\n{said}"


def test_the_key_for_metrics_may_read_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "how-to" / "observe.md").read_text("utf-8")
    (command,) = re.findall(r"`(kedge key create [^`]+)`", page)
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path / "home"))
    said = followed(Typed(f"{command} --json"), capfd)
    with (
        served(load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER)) as url,
        http_client(url) as client,
    ):
        assert client.get("/metrics").status_code == 401
        key = json.loads(said)["key"]
        assert client.get("/metrics", headers={"authorization": f"Bearer {key}"}).status_code == 200
