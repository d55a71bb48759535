"""The names that stay: those of the package, and the former names of modules that have moved."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import kedge
from kedge.engine.blocking import Kedge
from kedge.surfaces.client import AsyncKedgeClient, KedgeClient

FORKS = """
import os, sys
import asyncio, dataclasses, httpx, json, typing, uuid  # what takes long, and is not Kedge's
for code in sys.argv[1:]:
    if os.fork() == 0:
        exec(code, {})
        sys.stdout.flush()
        os._exit(0)
    assert os.wait()[1] == 0
"""


def printed(*codes: str) -> list[str]:
    """What interpreters print that have loaded nothing of Kedge before, by line: one for each code."""
    done = subprocess.run([sys.executable, "-c", FORKS, *codes], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_public_names() -> None:
    assert (kedge.Kedge, kedge.KedgeClient, kedge.AsyncKedgeClient) == (Kedge, KedgeClient, AsyncKedgeClient)
    assert set(kedge.__all__) <= set(dir(kedge))


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="'kedge' has no attribute 'Cage'"):
        kedge.Cage  # type: ignore[attr-defined]  # noqa: B018


def test_everything_can_be_imported_at_once() -> None:
    assert printed("from kedge import *; print(Kedge.__name__, KedgeClient.__name__, AsyncKedgeClient.__name__)") == [
        "Kedge KedgeClient AsyncKedgeClient"
    ]


MOVED = {
    "kedge.client": "kedge.surfaces.client",
    "kedge.client.wire": "kedge.surfaces.client.wire",
    "kedge.integrations": "kedge.surfaces.integrations",
    "kedge.integrations.searching": "kedge.surfaces.integrations.searching",
}


@pytest.mark.parametrize("order", ["former first", "now first"])
def test_a_module_under_its_former_name_is_the_same(order: str) -> None:
    codes = []
    for former, now in MOVED.items():
        first, second = (former, now) if order == "former first" else (now, former)
        codes.append(f"""
import sys, {first}, {second}
one, other = sys.modules[{former!r}], sys.modules[{now!r}]
print(one is other, {former} is {now}, one.__name__, one.__spec__.name)
""")
    assert printed(*codes) == [f"True True {now} {now}" for now in MOVED.values()]


def test_classes_and_pickles_are_the_same_under_both_names() -> None:
    code = """
import pickle
from kedge.client import Accepted
from kedge.surfaces.client import Accepted as Now
sent = pickle.dumps(Accepted("1", "queued"))
print(Accepted is Now, b"kedge.core.values" in sent, isinstance(pickle.loads(sent), Now))
"""
    assert printed(code) == ["True True True"]
    named = pickle.dumps(KedgeClient, protocol=0).replace(b"kedge.surfaces.client.clients", b"kedge.client.clients")
    assert pickle.loads(named) is KedgeClient


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'kedge\.surfaces\.client\.nothing'"):
        __import__("kedge.client.nothing")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'kedge\.nothing'"):
        __import__("kedge.nothing")
