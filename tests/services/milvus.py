"""Milvus: the standalone server out of the PyPI wheel `milvus` 2.3.5 (Linux, x86-64 and arm64).

The server listens on every interface and cannot be told otherwise, so it runs in a network namespace of its own, where
there is nothing but loopback. A relay in front of it owns one socket that was opened outside: `127.0.0.1:<free port>`.
"""

from __future__ import annotations

import asyncio
import fcntl
import lzma
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pymilvus import MilvusClient, MilvusException

from kedge.stores.vectors.milvus.address import read_address
from tests.services import ROOT, Unavailable

VERSION = "2.3.5"
_WHEEL = ROOT / f"milvus-{VERSION}"
_INSIDE = 19530
_SECONDS = 120
_FASTER = {
    "level: info": "level: error",
    "timeTickInterval: 200": "timeTickInterval: 10",
    "  checkInterval: 1000": "  checkInterval: 100\n  checkSegmentInterval: 100\n  checkChannelInterval: 100",
    "    ttl: 30 ": "    ttl: 10 ",
    "distPullInterval: 500": "distPullInterval: 100",
    "checkHandoffInterval: 5000": "checkHandoffInterval: 500",
}
"""The server's clocks: with its own, creating an index takes 3 s and each read that sees all writes 0.2 s."""


def install() -> None:
    """Get the wheel and unpack the server's files beside it."""
    done = _WHEEL / "installed"
    if done.exists():
        return
    if shutil.which("unshare") is None:
        raise Unavailable("`unshare` (util-linux) is not installed")
    shutil.rmtree(_WHEEL, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(_WHEEL)]
    got = subprocess.run([*command, f"milvus=={VERSION}"], capture_output=True, text=True, check=False)
    if got.returncode:
        raise Unavailable(f"pip install milvus=={VERSION} failed: {got.stderr.strip().splitlines()[-1:]}")
    (_WHEEL / "bin").mkdir(exist_ok=True)
    for packed in (_WHEEL / "milvus" / "data" / "bin").glob("*.lzma"):
        file = _WHEEL / "bin" / packed.stem
        file.write_bytes(lzma.decompress(packed.read_bytes()))
        file.chmod(0o755)
    done.touch()


def start(folder: Path) -> str:
    """Start the server on the data in `folder`; an earlier one there is stopped first."""
    stop(folder)
    _configure(folder)
    (folder / "logs").mkdir(exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as door, (folder / "logs" / "relay.txt").open("w") as log:
        door.set_inheritable(True)
        role = [sys.executable, "-m", "tests.services.milvus", str(folder), str(door.fileno())]
        process = subprocess.Popen(
            ["unshare", "--user", "--map-root-user", "--net", "--", *role],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[door.fileno()],
            start_new_session=True,
        )
        port = door.getsockname()[1]
    (folder / "pid").write_text(str(process.pid), encoding="utf-8")
    _await_ready(folder, process, f"http://127.0.0.1:{port}")
    return f"milvus://127.0.0.1:{port}"


def stop(folder: Path) -> None:
    """End the relay and the server with it, and wait until they are gone."""
    _signal(folder, signal.SIGTERM)


def kill(folder: Path) -> None:
    """The same without giving the server a moment to write anything."""
    _signal(folder, signal.SIGKILL)


def _signal(folder: Path, first: signal.Signals) -> None:
    file = folder / "pid"
    if not file.exists():
        return
    group = int(file.read_text("utf-8"))
    deadline = time.monotonic() + 10
    sent = first
    while _running(group, folder):
        with suppress(ProcessLookupError):
            os.killpg(group, sent)
        if time.monotonic() > deadline:
            sent = signal.SIGKILL
        with suppress(ChildProcessError):
            os.waitpid(group, os.WNOHANG)
        time.sleep(0.1)
    file.unlink()


def _running(group: int, folder: Path) -> bool:
    """Whether a process of this group is left that belongs to `folder` (ids are used again)."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text("utf-8").rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] != "Z":
                words = (stat.parent / "cmdline").read_bytes()
                return str(folder).encode() in words or str(_WHEEL).encode() in words
    return False


def _configure(folder: Path) -> None:
    """Fill the wheel's template in: data below `folder`, quiet logs; ports as they are, in a namespace of its own."""
    template = (_WHEEL / "milvus" / "data" / "config.yaml.template").read_text("utf-8")
    values = {
        "etcd_log_path": folder / "logs" / "etcd.txt",
        "etcd_data_dir": folder / "data" / "etcd",
        "local_storage_dir": folder / "data",
        "rocksmq_data_dir": folder / "data" / "rocksmq",
        "system_log_path": folder / "logs",
        "etcd_log_level": "error",
    }
    slot = re.compile(r"\{\{\s*(\w+)(?:\(\w+\))?\s*(?::\s*(.*?))?\s*\}\}")
    filled = slot.sub(lambda found: str(values.get(found[1], found[2])), template)
    for old, new in _FASTER.items():
        filled = filled.replace(old, new)
    (folder / "configs").mkdir(exist_ok=True)
    (folder / "configs" / "milvus.yaml").write_text(filled, encoding="utf-8")
    shutil.copy(_WHEEL / "milvus" / "data" / "glog.conf", folder / "configs")


def _await_ready(folder: Path, process: subprocess.Popen[bytes], address: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(MilvusException):
            client = MilvusClient(address, timeout=2)
            client.list_collections(timeout=2)
            client.close()
            return
    stop(folder)
    raise Unavailable(f"the server did not answer; see {folder.name}/logs")


# ---------------------------------------------------------------- for the tests


@contextmanager
def own_database(url: str, name: str) -> Iterator[str]:
    """URL of a database of the tests' own, empty at first and gone after."""
    admin = client_of(url)
    if name in admin.list_databases():
        empty(f"{url}/{name}")
    else:
        admin.create_database(name)
    yield f"{url}/{name}"
    empty(f"{url}/{name}")
    admin.drop_database(name)
    admin.close()


def empty(url: str, keep: str = " ") -> None:
    """Drop all collections of the URL's database but those whose name begins with `keep`."""
    client = client_of(url)
    for name in client.list_collections():
        if not name.startswith(keep):
            client.drop_collection(name)
    client.close()


def client_of(url: str) -> MilvusClient:
    """A plain client, to look at things from outside."""
    address = read_address(url)
    return MilvusClient(address.uri, user=address.user, password=address.password, db_name=address.database)


# ---------------------------------------------------------------- inside the namespace


def _serve(folder: Path, door: int) -> None:
    _raise_loopback()
    environment = os.environ | {
        "DEPLOY_MODE": "STANDALONE",
        "MILVUS_RUN_DIR": str(folder / "run"),
        "LD_LIBRARY_PATH": str(_WHEEL / "bin"),
    }
    with (folder / "logs" / "server.txt").open("w") as log:
        server = subprocess.Popen(
            [str(_WHEEL / "bin" / "milvus"), "run", "standalone"], cwd=folder, env=environment, stdout=log, stderr=log
        )
    asyncio.run(_relay(socket.socket(fileno=door), server))


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name, up = b"lo", 0x1
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", name, up))  # SIOCSIFFLAGS


async def _relay(door: socket.socket, server: subprocess.Popen[bytes]) -> None:
    async with await asyncio.start_server(_pass_on, sock=door):
        await asyncio.to_thread(server.wait)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", _INSIDE)
    except OSError:
        writer.close()
        return
    await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while block := await source.read(1 << 16):
            target.write(block)
            await target.drain()
    target.close()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), int(sys.argv[2]))
