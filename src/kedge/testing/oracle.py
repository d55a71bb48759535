"""What the suites of random sequences share: a store under test beside the oracle that it must agree with."""

from __future__ import annotations

import asyncio
import tempfile
from abc import abstractmethod
from collections.abc import Awaitable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from hypothesis.stateful import RuleBasedStateMachine, rule


class Closes(Protocol):
    """A store that can be closed."""

    async def close(self) -> None:
        """Release files and connections."""


S = TypeVar("S", bound=Closes)
T = TypeVar("T")


class BesideOracle(RuleBasedStateMachine, Generic[S]):
    """Opens the store in a folder of its own before each sequence, and again within it."""

    @abstractmethod
    async def open_store(self, folder: Path) -> S:
        """The store in the folder, with what an earlier one left there."""

    @abstractmethod
    def open_oracle(self) -> S:
        """An empty memory store: what it answers is right."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._loop = asyncio.new_event_loop()
        self._store = self._run(self.open_store(Path(self._folder.name)))
        self._oracle = self.open_oracle()

    def teardown(self) -> None:
        self._run(self._store.close())
        self._loop.close()
        self._folder.cleanup()

    def _run(self, work: Awaitable[T]) -> T:
        return self._loop.run_until_complete(work)

    @rule()
    def reopen(self) -> None:
        self._run(self._store.close())
        self._store = self._run(self.open_store(Path(self._folder.name)))
