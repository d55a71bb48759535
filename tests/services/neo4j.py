"""Neo4j Community 5.26 LTS from Maven Central, started by a small Java program (`neo4j_server/`) with Bolt on loopback.

It is GPLv3: a server beside the tests, never a dependency. Needs JDK 17 or newer. Every start is an empty database with
a password of its own. `jars.lock` names every jar with its digest, so they come in seconds: Maven would ask for each
one's parents first, which takes minutes. After a change of `pom.xml`: `python -m tests.services.neo4j` (needs Maven).
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import neo4j
from neo4j.exceptions import DriverError, Neo4jError

from tests.services import ROOT, Unavailable

SOURCES = Path(__file__).with_name("neo4j_server")
LOCK = SOURCES / "jars.lock"
CENTRAL = "https://repo.maven.apache.org/maven2/"
FETCHERS = 8
BUILT = ROOT / "neo4j"
START_SECONDS = 240
STOP_SECONDS = 60


def install() -> None:
    """Fetch the jars and compile the program; done once for each version of the sources."""
    program = SOURCES / "src" / "Server.java"
    wanted = LOCK.read_text("utf-8") + program.read_text("utf-8")
    stamp = BUILT / "built-from"
    if stamp.exists() and stamp.read_text("utf-8") == wanted:
        return
    compiler = shutil.which("javac")
    if compiler is None or shutil.which("java") is None:
        raise Unavailable("needs a JDK (17 or newer)")
    shutil.rmtree(BUILT / "jars", ignore_errors=True)
    shutil.rmtree(BUILT / "classes", ignore_errors=True)
    (BUILT / "classes").mkdir(parents=True)
    (BUILT / "jars").mkdir()
    _fetch(BUILT / "jars")
    _run("javac", compiler, "-cp", f"{BUILT / 'jars'}/*", "-d", str(BUILT / "classes"), str(program))
    stamp.write_text(wanted, encoding="utf-8")


def _fetch(folder: Path) -> None:
    """Every jar of the lock file, checked against its digest."""
    rows = [line.split() for line in LOCK.read_text("utf-8").splitlines()]
    with httpx.Client(base_url=CENTRAL, timeout=60, follow_redirects=True) as client:

        def fetch(row: list[str]) -> None:
            digest, path = row
            content = client.get(path).raise_for_status().content
            if hashlib.sha256(content).hexdigest() != digest:
                raise Unavailable(f"{path} is not the file that jars.lock names")
            (folder / Path(path).name).write_bytes(content)

        try:
            with ThreadPoolExecutor(FETCHERS) as pool:
                list(pool.map(fetch, rows))
        except httpx.HTTPError as error:
            if shutil.which("mvn") is None:
                raise Unavailable(f"a jar cannot be had from {CENTRAL}: {error!r}") from error
            _by_maven(folder)  # which may know a mirror


def lock() -> None:
    """Write the lock file anew: Maven finds what `pom.xml` leads to, in a repository of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        found, kept = Path(scratch) / "repository", Path(scratch) / "jars"
        _by_maven(kept, f"-Dmaven.repo.local={found}")
        names = {jar.name for jar in kept.glob("*.jar")}
        jars = sorted(jar for jar in found.rglob("*.jar") if jar.name in names)
        lines = [f"{hashlib.sha256(jar.read_bytes()).hexdigest()}  {jar.relative_to(found).as_posix()}" for jar in jars]
    LOCK.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _by_maven(folder: Path, *options: str) -> None:
    fetch = ("dependency:copy-dependencies", f"-DoutputDirectory={folder}", "-DincludeScope=runtime")
    _run("Maven", "mvn", "-q", "-B", "-f", str(SOURCES / "pom.xml"), *options, *fetch)


def _run(what: str, *command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        raise Unavailable(f"{what} failed: {lines[0] if lines else done.returncode}")


def start(folder: Path) -> str:
    """Start the server, or find it running; returns when a query is answered."""
    running = folder / "url"
    if _pid(folder) is not None and running.exists():
        return running.read_text("utf-8")
    stop(folder)
    shutil.rmtree(folder / "data", ignore_errors=True)
    port, password = _free_port(), secrets.token_hex(8)
    # The second compiler never pays off in the few minutes that the tests take: without it they cost half the time.
    command = ["java", "-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command += ["-cp", f"{BUILT / 'classes'}:{BUILT / 'jars'}/*", "Server", str(folder / "data"), str(port)]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "KEDGE_NEO4J_PASSWORD": password},
            start_new_session=True,
        )
    (folder / "pid").write_text(str(process.pid), encoding="utf-8")
    try:
        asyncio.run(_ready(process, f"bolt://127.0.0.1:{port}", password))
    except Unavailable:
        stop(folder)
        raise
    return f"neo4j://neo4j:{password}@127.0.0.1:{port}/neo4j"


async def _ready(process: subprocess.Popen[bytes], uri: str, password: str) -> None:
    """Wait until the password works and a query runs."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise Unavailable(f"the server ended with status {process.returncode}; see server.log")
        try:
            async with neo4j.AsyncGraphDatabase.driver(
                uri, auth=("neo4j", password), max_transaction_retry_time=0
            ) as driver:
                await driver.execute_query("RETURN 1", database_="neo4j")
                return
        except (DriverError, Neo4jError):
            await asyncio.sleep(0.5)
    raise Unavailable(f"the server did not answer within {START_SECONDS} s; see server.log")


def stop(folder: Path) -> None:
    """Shut the server down and wait until its process is gone."""
    pid = _pid(folder)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        while _pid(folder) is not None and time.monotonic() < deadline:
            time.sleep(0.1)
        if _pid(folder) is not None:
            os.kill(pid, signal.SIGKILL)
    (folder / "pid").unlink(missing_ok=True)


def _pid(folder: Path) -> int | None:
    """The server's process, if it lives: another process may have its number by now, so its command is looked at."""
    path = folder / "pid"
    if not path.exists():
        return None
    pid = int(path.read_text("utf-8"))
    seen = subprocess.run(["ps", "-o", "stat=,args=", "-p", str(pid)], stdout=subprocess.PIPE, text=True, check=False)
    state = seen.stdout.strip()
    return pid if str(folder / "data") in state and not state.startswith("Z") else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    lock()
