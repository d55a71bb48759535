"""How long a person waits for the first word on the page, without a language model (goal: <= 300 ms).

    python -m benchmarks.page_first_token [SET] [--questions N]

From the key press to the first frame that shows a word, in a real Chromium on a real `kedge serve`. Without a SET, the
handbook of `kedge demo` is asked. Control: the whole answer over plain HTTP, for the same questions, taking turns; what
the browser adds is the difference. The first question after the start is reported apart.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.data import folder
from kedge.evals.metrics import percentile

DEMO = Path(__file__).parents[1] / "src" / "kedge" / "data" / "demo"


def questions_of(source: Path) -> list[str]:
    """The set's own, or one for each document of the handbook."""
    queries = source / "queries.jsonl"
    if queries.exists():
        return [json.loads(line)["text"] for line in queries.read_text("utf-8").splitlines()]
    names = [path.stem.replace("-", " ") for path in sorted(source.glob("*.md"))]
    return [f"What is {'an' if name[0] in 'aeiou' else 'a'} {name} used for?" for name in names]


def first_word(page: Any, question: str) -> float:
    """Milliseconds from Enter to the first frame with a word."""
    page.get_by_label("Your question").fill(question)
    page.get_by_label("Your question").press("Enter")
    turn = page.locator("#turns > li").last
    turn.get_by_role("heading", name=question, exact=True).wait_for()
    turn.locator(".rate").wait_for()
    return float(turn.get_attribute("data-first")) - float(turn.get_attribute("data-asked"))


def whole(client: httpx.Client, question: str) -> float:
    started = time.perf_counter()
    client.post("/api/query", json={"query": question}).raise_for_status()
    return 1000 * (time.perf_counter() - started)


def measure(url: str, questions: list[str]) -> dict[str, object]:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright, httpx.Client(base_url=url, timeout=60) as client:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{url}/rag")
        page.locator("#collection option").first.wait_for(state="attached")
        first = first_word(page, questions[0])
        shown, control = [], []
        for question in questions[1:]:
            shown.append(first_word(page, question))
            control.append(whole(client, question))
        browser.close()
    return {
        "questions": len(shown),
        "first_question_ms": round(first, 1),
        "first_word_p50_ms": round(percentile(shown, 0.5), 1),
        "first_word_p95_ms": round(percentile(shown, 0.95), 1),
        "whole_answer_over_http_p50_ms": round(percentile(control, 0.5), 1),
        "load": [round(one, 1) for one in os.getloadavg()],
    }


def source_of(name: str | None) -> tuple[Path, Path]:
    """Where the questions of a set are, and what is taken in for them; the handbook without a name."""
    source = folder(name) if name else DEMO
    return source, source / "corpus.jsonl" if name else source


@contextmanager
def serving(corpus: Path) -> Iterator[str]:
    """The address of `kedge serve` on a home of its own that holds the corpus."""
    with tempfile.TemporaryDirectory() as home:
        kedge = [sys.executable, "-m", "kedge.surfaces.cli.main", "--home", home, "--json"]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("KEDGE_")}  # no cache answers
        subprocess.run([*kedge, "ingest", str(corpus)], check=True, stdout=subprocess.DEVNULL, env=clean)
        server = subprocess.Popen([*kedge, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True, env=clean)
        try:
            assert server.stdout is not None
            text = ""
            while not text.rstrip().endswith("}"):
                text += server.stdout.readline()
            yield json.loads(text)["url"]
        finally:
            server.terminate()
            server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", nargs="?", help="a data set; the demo's handbook if not given")
    parser.add_argument("--questions", type=int, default=50)
    wanted = parser.parse_args()
    source, corpus = source_of(wanted.set)
    with serving(corpus) as url:
        print(json.dumps(measure(url, questions_of(source)[: wanted.questions + 1]), indent=2))


if __name__ == "__main__":
    main()
