"""Thousands of bad requests against a real `kedge serve`: no 5xx, no hang, no answer that breaks the API's own schema.

    python -m benchmarks.fuzz_http [--requests 10000] [--seed N] [--timeout 30]

Two thirds are made by schemathesis from the OpenAPI document (fitting and not fitting it), one third by hand
(`fuzz_cases`): hostile strings in every field, broken and deep JSON, forms, types, ids that exist. Every response must
be one the document names, in its type and shape. The server keeps an own home and a key that may write, so that no
request can name files of the machine. Exit 1 when anything was found. Control: `/health` must answer after the last.
Runs from a plain checkout: a home of its own with embedded stores, no network, none of the servers of the tests.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks

from tests.campaigns.hostile.requests import Sent, hostile
from tests.support.surfaces import http_client

CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
BY_SCHEMA = 2 / 3
ROUND = 12
"""Requests of one operation and mode in a row."""
UNLIMITED = {"rate_reads": 0, "rate_writes": 0}
"""Settings of a server that is fuzzed: the limits on one caller would answer for the routes behind them."""
DOCUMENT = "# Kedge anchor\n\nThe warp is tied to the ring of the kedge anchor with an anchor bend.\n"
TABLE = "city,price\nHamburg,3\nBremen,5\n"


@dataclass
class Report:
    """What came back."""

    statuses: Counter[int] = field(default_factory=Counter)
    findings: dict[str, str] = field(default_factory=dict)
    """One example of each kind of finding."""
    slowest: float = 0.0

    @property
    def requests(self) -> int:
        return self.statuses.total()

    def found(self, kind: str, example: str) -> None:
        self.findings.setdefault(kind, example)


class Enough(Exception):
    """The wanted number of requests was sent."""


class Fuzzer:
    """Sends requests to one server."""

    def __init__(self, url: str, key: str, *, timeout: float = 30.0, first: int = 0) -> None:
        self.report = Report()
        self._url = url
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._timeout = timeout
        self._seed = first
        self._session = requests.Session()
        self._document: dict[str, Any] = httpx.get(f"{url}/openapi.json", timeout=timeout).raise_for_status().json()

    def run(self, wanted: int) -> Report:
        """Send that many requests: first by the schema, then by hand."""
        self._by_schema(int(wanted * BY_SCHEMA))
        self._by_hand(wanted - self.report.requests)
        try:
            httpx.get(f"{self._url}/health", timeout=self._timeout).raise_for_status()
        except httpx.HTTPError as error:
            self.report.found("the server does not answer any more", repr(error))
        return self.report

    def _by_schema(self, wanted: int) -> None:
        schema = schemathesis.openapi.from_dict(self._document)
        operations = [found.ok() for found in schema.get_all_operations()]
        random.Random(self._seed).shuffle(operations)  # so that a short run does not always meet the same few
        number = self._seed
        while self.report.requests < wanted:
            before = self.report.requests
            for operation in operations:
                for mode in GenerationMode:
                    number += 1
                    try:
                        self._some(operation, mode, number, wanted)
                    except Enough:
                        return
                    except Unsatisfiable:  # nothing of this operation can be wrong
                        continue
            if self.report.requests == before:
                return

    def _some(self, operation: Any, mode: GenerationMode, number: int, wanted: int) -> None:
        @seed(number)
        @settings(
            max_examples=ROUND,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def send(case: schemathesis.Case) -> None:
            if self.report.requests >= wanted:
                raise Enough
            started = time.perf_counter()
            label = f"{case.method} {case.path}"
            try:
                response = case.call(
                    base_url=self._url, session=self._session, headers=self._headers, timeout=self._timeout
                )
            except requests.Timeout:
                self.report.found(f"{label}: no answer in {self._timeout:g} s", case.as_curl_command())
                self.report.statuses[0] += 1
                return
            except (requests.exceptions.InvalidHeader, requests.exceptions.InvalidURL, UnicodeError):
                return  # the client itself refuses to send it
            except requests.ConnectionError as error:
                self.report.found(f"{label}: connection broken", f"{error} {case.as_curl_command()}")
                self.report.statuses[0] += 1
                return
            self._count(response.status_code, started)
            events = response.headers.get("content-type", [""])[0].startswith("text/event-stream")
            if events and (wrong := wrong_events(response.text)):
                self.report.found(f"{label}: events", f"{wrong} {case.as_curl_command()[:600]}")
            try:
                # The document says, as OpenAPI 3.1 has it, that the whole stream is a string; the check reads events.
                case.validate_response(response, checks=CHECKS[:-1] if events else CHECKS)
            except FailureGroup as group:
                for failure in group.exceptions:
                    self.report.found(f"{label}: {response.status_code} {failure.title}", _told(failure, case))

        send()

    def _by_hand(self, wanted: int) -> None:
        known = seeded(self._url, self._headers)
        with http_client(self._url, headers=self._headers, timeout=self._timeout) as client:
            for place, sent in enumerate(islice(hostile(self._document, known, self._seed), wanted)):
                if place % 500 == 499:
                    known.update(seeded(self._url, self._headers, f"sea{place}"))  # "sea" may be closed to us by now
                self._one(client, sent)

    def _one(self, client: httpx.Client, sent: Sent) -> None:
        started = time.perf_counter()
        label = f"{sent.method} {sent.url.split('?')[0][:60]}"
        example = f"{sent.method} {sent.url[:300]} {sent.headers} {sent.content[:500]!r}"
        try:
            response = client.request(sent.method, sent.url, content=sent.content, headers=sent.headers)
        except httpx.TimeoutException:
            self.report.found(f"{label}: no answer in {self._timeout:g} s", example)
            self.report.statuses[0] += 1
            return
        except httpx.InvalidURL:
            return
        except httpx.HTTPError as error:
            self.report.found(f"{label}: {type(error).__name__}", f"{error} {example}")
            self.report.statuses[0] += 1
            return
        self._count(response.status_code, started)
        if response.status_code >= 500:
            self.report.found(f"{label}: {response.status_code}", f"{response.text[:300]} {example}")
        elif response.status_code >= 400:
            self._check_error(response, label, example)

    def _check_error(self, response: httpx.Response, label: str, example: str) -> None:
        shape = {"$ref": "#/components/schemas/ErrorBody", "components": self._document["components"]}
        try:
            jsonschema.validate(response.json(), shape)
        except (ValueError, jsonschema.ValidationError) as error:
            self.report.found(f"{label}: {response.status_code} is no error of ours", f"{error} {example}")

    def _count(self, status: int, started: float) -> None:
        self.report.statuses[status] += 1
        self.report.slowest = max(self.report.slowest, time.perf_counter() - started)


def wrong_events(text: str) -> str:
    """What is wrong with a stream of events: empty when nothing is."""
    for block in filter(None, text.split("\n\n")):
        if block in ("data: [DONE]",) or block.startswith(":"):
            continue
        name, _, data = block.rpartition("\n")
        try:
            said = json.loads(data.removeprefix("data: "))
        except ValueError:
            return f"no JSON in {block[:200]!r}"
        if name and name != f"event: {said.get('type')}":
            return f"type and name differ in {block[:200]!r}"
    return ""


def _told(failure: Any, case: schemathesis.Case) -> str:
    return f"{failure.message[:600]} {case.as_curl_command()[:600]}"


def seeded(url: str, headers: dict[str, str], name: str = "sea") -> dict[str, str]:
    """Something of each kind, and the path parameters that lead to it."""
    with http_client(url, headers=headers) as client:
        known = {"collection": name, "name": name, "session_id": "prices", "book_id": name, "node_id": "n1"}
        taken = client.post("/api/ingest", files={"file": ("kedge.md", DOCUMENT)}, data={"collection": name})
        assert taken.status_code == 202, f"an honest upload was answered {taken.status_code}: {taken.text[:500]}"
        known["job_id"] = str(taken.json()["job_id"])
        client.post("/api/sessions", json={"session_id": "prices"})
        client.post("/api/sessions/prices/feed-data", files={"file": ("prices.csv", TABLE)})
        for node in ("n1", "n2"):
            client.post("/api/graph/nodes", params={"collection": "graph"}, json={"id": node, "title": node})
        edge = {"id": "e1", "source": "n1", "target": "n2", "type": "knows"}
        client.post("/api/graph/edges", params={"collection": "graph"}, json=edge)
        documents = client.get("/api/documents", params={"collection": name}).json().get("documents", [])
        if documents:
            known["document_id"] = str(documents[0].get("document_id", documents[0].get("id")))
        return known | {"edge_id": "e1"}


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, str]]:
    """A server of its own in that folder: its address, and a key that may write."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KEDGE_")}
    clean |= {"KEDGE_EMBEDDER": "hash:256", "KEDGE_HOME": str(folder / "home"), "KEDGE_URL_TIMEOUT": "2"}
    clean |= {f"KEDGE_{name.upper()}": str(value) for name, value in UNLIMITED.items()}
    kedge = [sys.executable, "-m", "kedge.surfaces.cli.main", "--json"]
    made = subprocess.run(
        [*kedge, "key", "create", "fuzz", "--right", "write"],
        check=True, env=clean, cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(
            [*kedge, "serve", "--port", "0"], env=clean, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            assert process.stdout
            said = ""
            while not said.rstrip().endswith("}"):
                said += process.stdout.readline()
            url = json.loads(said)["url"]
            yield url, json.loads(made.stdout)["key"]
        finally:
            process.terminate()
            process.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=30.0)
    wanted = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="kedge-fuzz-") as folder:
        with served(Path(folder)) as (url, key):
            report = Fuzzer(url, key, timeout=wanted.timeout, first=wanted.seed).run(wanted.requests)
        log = (Path(folder) / "log.txt").read_text("utf-8", "replace")
    for kind, example in sorted(report.findings.items()):
        print(f"FOUND {kind}\n      {example}")
    tracebacks = log.count("Traceback (most recent call last)")
    if tracebacks:
        print(f"tracebacks in the server's log: {tracebacks}\n{log[-6000:]}")
    print("| status | responses |\n|---|---|")
    for status, count in sorted(report.statuses.items()):
        print(f"| {status or 'none'} | {count} |")
    took = time.perf_counter() - started
    print(f"{report.requests} requests in {took:.0f} s, slowest {report.slowest:.1f} s")
    print(f"{len(report.findings)} findings, {tracebacks} tracebacks in the server's log")
    sys.exit(1 if report.findings or tracebacks else 0)
