"""Dovecot, Debian's IMAP server: every user has an own empty mailbox and the password `PASSWORD`. Mail goes with it."""

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

PROGRAM = "dovecot"
PACKAGE = "dovecot-imapd"
PASSWORD = "moored"
START_SECONDS = 30
STOP_SECONDS = 10
SETTINGS = """
base_dir = {run}
state_dir = {run}
log_path = {folder}/server.log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
default_internal_user = nobody
default_login_user = nobody
default_internal_group = nogroup
first_valid_uid = 1
mail_location = maildir:{mail}/%u
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid=65534 gid=65534 home={mail}/%u
}}
"""


def install() -> None:
    """Nothing to do where the program is there; it has to be started by root, who gets it from Debian."""
    if os.geteuid() != 0:
        raise Unavailable("is started by root alone: it works for users that it becomes")
    if shutil.which(PROGRAM):
        return
    if shutil.which("apt-get") is None:
        raise Unavailable(f"needs {PROGRAM} on the PATH")
    got = subprocess.run([*APT_INSTALL, PACKAGE], capture_output=True, text=True, check=False)
    if got.returncode or shutil.which(PROGRAM) is None:
        raise Unavailable(f"apt-get install {PACKAGE} failed: {got.stderr.strip().rpartition(chr(10))[2]}")


def start(folder: Path) -> str:
    """Start the server on loopback; it may run already. It works in `/tmp`, which every user can enter."""
    if _pid(folder) is None:
        with socket.create_server(("127.0.0.1", 0)) as door:
            port = int(door.getsockname()[1])
        work = Path("/tmp") / f"kedge-dovecot-{port}"
        (work / "run").mkdir(parents=True)
        (work / "mail").mkdir()
        shutil.chown(work / "mail", 65534, 65534)
        told = SETTINGS.format(folder=work, run=work / "run", mail=work / "mail", port=port, password=PASSWORD)
        (work / "dovecot.conf").write_text(told, "utf-8")
        server = subprocess.Popen(
            [PROGRAM, "-F", "-c", str(work / "dovecot.conf")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        (folder / "pid").write_text(str(server.pid), encoding="utf-8")
        (folder / "port").write_text(str(port), encoding="utf-8")
        _ready(server, port)
    return f"imap://127.0.0.1:{(folder / 'port').read_text('utf-8')}"


def stop(folder: Path) -> None:
    """End the server and forget the mail. Returns when it is gone."""
    pid = _pid(folder)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
        deadline = time.monotonic() + STOP_SECONDS
        while _pid(folder) is not None and time.monotonic() < deadline:
            time.sleep(0.02)
    (folder / "pid").unlink(missing_ok=True)
    if (folder / "port").exists():
        shutil.rmtree(Path("/tmp") / f"kedge-dovecot-{(folder / 'port').read_text('utf-8')}", ignore_errors=True)


def _ready(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise Unavailable(f"{PROGRAM} ended with status {server.returncode}")
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as line:
            if line.recv(16).startswith(b"* OK"):
                return
        time.sleep(0.05)
    raise Unavailable(f"{PROGRAM} did not answer within {START_SECONDS} s")


def _pid(folder: Path) -> int | None:
    """The server's process, if it lives: another process may have its number by now, so its command is looked at."""
    with suppress(OSError, ValueError):
        pid = int((folder / "pid").read_text("utf-8"))
        shown = ["ps", "-o", "stat=,args=", "-p", str(pid)]
        state = subprocess.run(shown, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
        return pid if PROGRAM in state and not state.startswith("Z") else None
    return None
