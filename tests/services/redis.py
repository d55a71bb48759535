"""Redis: Debian's `redis-server`, or another one on the PATH. Keeps nothing on disk; every start is empty."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from tests.services import APT_INSTALL, Unavailable

PROGRAM = "redis-server"
START_SECONDS = 30
STOP_SECONDS = 10


def install() -> None:
    """Nothing to do where the program is there; root gets it from Debian."""
    if shutil.which(PROGRAM):
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise Unavailable(f"needs {PROGRAM} on the PATH")
    command = [*APT_INSTALL, PROGRAM]
    got = subprocess.run(command, capture_output=True, text=True, check=False)
    if got.returncode or shutil.which(PROGRAM) is None:
        raise Unavailable(f"apt-get install {PROGRAM} failed: {got.stderr.strip().rpartition(chr(10))[2]}")


def start(folder: Path) -> str:
    """Start the server on loopback, on the same port as before if there was one; it may run already."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    if _pid(folder) is None:
        port = _port(folder)
        options = {"port": port, "bind": "127.0.0.1", "dir": folder / "data", "save": "", "appendonly": "no"}
        command = [PROGRAM, *(str(word) for name, value in options.items() for word in (f"--{name}", value))]
        with (folder / "server.log").open("w") as log:
            server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        (folder / "pid").write_text(str(server.pid), encoding="utf-8")
        (folder / "port").write_text(str(port), encoding="utf-8")
        _ready(server, port)
    return f"redis://127.0.0.1:{(folder / 'port').read_text('utf-8')}"


def stop(folder: Path) -> None:
    """End the server at once: there is nothing to save. Returns when it is gone."""
    pid = _pid(folder)
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):  # it is a child only of the process that started it
            os.waitpid(pid, 0)
        deadline = time.monotonic() + STOP_SECONDS
        while _pid(folder) is not None and time.monotonic() < deadline:
            time.sleep(0.02)
    (folder / "pid").unlink(missing_ok=True)


def _ready(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise Unavailable(f"{PROGRAM} ended with status {server.returncode}; see server.log")
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as line:
            line.sendall(b"PING\r\n")
            if line.recv(16).startswith(b"+PONG"):
                return
        time.sleep(0.02)
    raise Unavailable(f"{PROGRAM} did not answer within {START_SECONDS} s; see server.log")


def _pid(folder: Path) -> int | None:
    """The server's process, if it lives: another process may have its number by now, so its command is looked at."""
    with suppress(OSError, ValueError):
        pid = int((folder / "pid").read_text("utf-8"))
        shown = ["ps", "-o", "stat=,args=", "-p", str(pid)]
        state = subprocess.run(shown, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
        return pid if PROGRAM in state and not state.startswith("Z") else None
    return None


def _port(folder: Path) -> int:
    """The port of last time if nobody took it since, else a free one."""
    before = folder / "port"
    for wanted in ([int(before.read_text("utf-8"))] if before.exists() else []) + [0]:
        with suppress(OSError), socket.create_server(("127.0.0.1", wanted)) as door:
            return int(door.getsockname()[1])
    raise Unavailable("there is no free port on loopback")
