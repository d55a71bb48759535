"""How soon a stream speaks over HTTP (goal: first event <= 200 ms).

    python -m benchmarks.first_event [SET] [--questions N]

From the request to its head, to its first event (a stage) and to its first word, on a real `kedge serve`; over
`/api/query/stream` and, to the first chunk, over `/v1/chat/completions`. Control: `/health` on the same connection,
taking turns: what the machine and HTTP cost without any work.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

import httpx

from benchmarks.page_first_token import questions_of, serving, source_of
from kedge.evals.metrics import percentile


def spoken(client: httpx.Client, address: str, body: dict[str, Any], *marks: str) -> list[float]:
    """Milliseconds to the head of the answer, and to the first line that begins with each mark."""
    started = time.perf_counter()
    with client.stream("POST", address, json=body) as response:
        response.raise_for_status()
        found = [time.perf_counter()]
        for line in response.iter_lines():
            if len(found) <= len(marks) and line.startswith(marks[len(found) - 1]):
                found.append(time.perf_counter())
    return [1000 * (one - started) for one in found]


def measure(url: str, questions: list[str]) -> dict[str, object]:
    rows: dict[str, list[float]] = {
        "head": [],
        "first_event": [],
        "first_word": [],
        "chat_first_chunk": [],
        "health": [],
    }
    with httpx.Client(base_url=url, timeout=60) as client:
        for question in questions:
            head, event, word = spoken(client, "/api/query/stream", {"query": question}, "event:", "event: token")
            chat = {"model": "kedge", "stream": True, "messages": [{"role": "user", "content": question}]}
            _, chunk = spoken(client, "/v1/chat/completions", chat, "data:")
            started = time.perf_counter()
            client.get("/health")
            health = 1000 * (time.perf_counter() - started)
            for name, value in zip(rows, (head, event, word, chunk, health), strict=True):
                rows[name].append(value)
    return {
        "questions": len(questions),
        "first_question_ms": {name: round(found[0], 1) for name, found in rows.items()},
        **{f"{name}_p50_ms": round(percentile(found[1:], 0.5), 1) for name, found in rows.items()},
        **{f"{name}_p95_ms": round(percentile(found[1:], 0.95), 1) for name, found in rows.items()},
        "load": [round(one, 1) for one in os.getloadavg()],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", nargs="?", help="a data set; the demo's handbook if not given")
    parser.add_argument("--questions", type=int, default=15)
    wanted = parser.parse_args()
    source, corpus = source_of(wanted.set)
    with serving(corpus) as url:
        print(json.dumps(measure(url, questions_of(source)[: wanted.questions + 1]), indent=2))


if __name__ == "__main__":
    main()
