"""In a terminal an answer appears as it comes; a pipe gets it whole."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from kedge.surfaces.cli.wrapped import Flow
from tests.models.llm_server import LLMServer, Turn, serving
from tests.support.forked import Command, command
from tests.support.surfaces import FOREIGN, QUESTION
from tests.surfaces.cli.conftest import Kedge

FACT = "The warp is tied to the ring of the kedge anchor with an anchor bend."
LATER = "The anchor bend is also called the fisherman's bend."
WAIT = 60.0
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """A command that believes it writes to a terminal."""

    def __init__(self, process: Command, master: int) -> None:
        self.process = process
        self.master = master
        self.shown = ""

    def read_until(self, wanted: str) -> str:
        """What is shown once `wanted` is; fails when nothing comes any more."""
        while wanted not in self.words():
            assert select.select([self.master], [], [], WAIT)[0], self.shown
            assert self._read(), self.shown
        return self.words()

    def read_all(self) -> str:
        while self._read():
            pass
        assert self.process.wait(WAIT) == 0
        return self.words()

    def words(self) -> str:
        """In one line, without colours."""
        return " ".join(_COLOUR.sub("", self.shown).split())

    def lines(self) -> list[str]:
        return [_COLOUR.sub("", line) for line in self.shown.splitlines()]

    def _read(self) -> bytes:
        try:
            found = os.read(self.master, 4096)
        except OSError:  # Linux says so when the other side has closed
            return b""
        self.shown += found.decode("utf-8")
        return found


@contextmanager
def terminal(*arguments: str, **environ: str) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    path = Path(os.ttyname(slave))
    given = {**os.environ, "COLUMNS": "60", "TERM": "xterm", **environ}
    with command(arguments, given, path, Path(os.devnull)) as started:
        opened = Terminal(started, master)
        try:
            assert select.select([master], [], [], WAIT)[0], "it says nothing"
            os.close(slave)  # from now on the command alone holds it
            yield opened
        finally:
            started.send_signal(signal.SIGKILL)
    os.close(master)


@pytest.fixture
def model() -> Iterator[LLMServer]:
    with serving() as server:
        server.say = lambda _system, _user: f"{FACT} [1] {LATER} [1]"
        yield server


def written_by(model: LLMServer) -> dict[str, str]:
    return {"KEDGE_LLM": "openai:test", "KEDGE_LLM_URL": f"{model.url}/v1"}


@pytest.mark.req("D-14")
def test_the_first_checked_sentence_is_shown_while_the_model_still_writes(filled: Path, model: LLMServer) -> None:
    model.turns = [Turn(stop_after=20, then="hang")]  # after the first sentence and a part of the second
    with terminal("ask", QUESTION, "--home", str(filled), **written_by(model)) as shown:
        text = shown.read_until(f"{FACT} [1]")
        assert shown.process.returncode is None
        assert model.hanging.wait(WAIT)
        assert "confidence" not in text
        assert LATER[:20] not in text


@pytest.mark.req("D-14")
def test_sources_follow_the_whole_text(filled: Path, model: LLMServer) -> None:
    with terminal("ask", QUESTION, "--home", str(filled), **written_by(model)) as shown:
        text = shown.read_all()
    assert re.match(re.escape(f"{FACT} [1]"), text)
    answer, _, rest = text.partition("confidence:")
    assert LATER in answer
    assert "[1] " in rest
    assert all(len(line) <= 60 for line in shown.lines()[:4])


def test_a_refusal_in_a_terminal(filled: Path) -> None:
    with terminal("ask", FOREIGN, "--home", str(filled)) as shown:
        text = shown.read_all()
    assert "Looked for:" in text
    assert text.index("Nearest, but not an answer") < text.index("confidence: insufficient")


@pytest.mark.req("D-13")
def test_a_pipe_gets_the_same_words_whole(
    kedge: Kedge, filled: Path, model: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in written_by(model).items():
        monkeypatch.setenv(name, value)
    piped = kedge("ask", QUESTION, "--home", str(filled))
    assert "\x1b[" not in piped.out
    answer = kedge("ask", QUESTION, "--home", str(filled), "--json").json()
    assert piped.out.startswith(answer["answer"])


@pytest.mark.parametrize("cut", [1, 3, 7, 1000])
def test_words_are_broken_at_the_width_wherever_the_pieces_are_cut(cut: int) -> None:
    text = "The anchor bend holds well [1].\n\nIt is tied to the ring, as sailors do. [2]"
    out = StringIO()
    flow = Flow(Console(file=out, width=20))
    words = re.findall(r"\S+\s*", text)
    for start in range(0, len(words), cut):
        flow.write("".join(words[start : start + cut]))
    flow.end()
    assert out.getvalue().split() == text.split()
    assert max(len(line) for line in out.getvalue().splitlines()) <= 20
    assert "\n\n" in out.getvalue()


@pytest.mark.parametrize(
    "block",
    [
        "- one\n- two\n\n- three",
        "| a long head of a column | another |\n|---|---|\n| 1 | 2 |",
        "```\nmake everything --with many --options\n  indented\n```",
        "Run:\n\n    make everything --with many --options",
    ],
)
def test_lists_tables_and_code_keep_their_lines(block: str) -> None:
    out = StringIO()
    flow = Flow(Console(file=out, width=20))
    flow.write(f"{block}\n\nWords after it are broken again.")
    flow.end()
    assert out.getvalue().startswith(f"{block}\n\n")
    assert out.getvalue().endswith("Words after it are\nbroken again.\n")
