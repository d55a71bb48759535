"""What every call to a language model goes through: a bound on calls at a time and per minute, a limit on waiting,
retries as long as nothing was said, and one count of what it cost.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from kedge.core.errors import ModelError
from kedge.core.settings import Settings
from kedge.core.stages import apart
from kedge.models.http import Backoff
from kedge.models.ports import LanguageModel, Prompt, Usage, WrittenPiece
from kedge.models.write.faults import Passing

MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call to a language model that has ended, well or not."""

    model: str
    result: Literal["done", "failed", "left"]
    """`left`: whoever asked went away before the end."""
    usage: Usage
    seconds: float
    attempts: int


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """How much a model may be asked, and how long to wait for it."""

    first: float = 60.0
    """Seconds until the first piece of text."""
    stall: float = 30.0
    """Seconds between two pieces."""
    at_once: int = 4
    per_minute: int = 0
    backoff: Backoff = field(default_factory=Backoff)
    clock: Callable[[], float] = time.monotonic

    @classmethod
    def of(cls, settings: Settings) -> ModelLimits:
        """What the settings say."""
        return cls(
            first=settings.llm_timeout,
            stall=settings.llm_stall_timeout,
            at_once=settings.llm_concurrent,
            per_minute=settings.llm_per_minute,
            backoff=Backoff(attempts=settings.llm_attempts),
        )


@dataclass(slots=True)
class _Tried:
    """What is known of the call so far."""

    begun: float = field(default_factory=time.monotonic)
    attempts: int = 0
    said: list[str] = field(default_factory=list)
    usage: Usage | None = None


class LimitedModel:
    """Any language model, within limits. Belongs to one event loop at a time."""

    def __init__(self, inner: LanguageModel, limits: ModelLimits) -> None:
        self._inner = inner
        self._limits = limits
        self._slots: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._begun: deque[float] = deque()
        self.on_call: Callable[[ModelCall], None] = lambda _call: None
        """Told of every call when it has ended."""

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def window(self) -> int:
        return self._inner.window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[WrittenPiece, None]:
        async with self._slot():
            tried = _Tried()
            result: Literal["done", "failed", "left"] = "left"
            try:
                with apart("llm", model=self.name):
                    async with aclosing(self._retried(prompt, tried)) as pieces:
                        async for piece in pieces:
                            yield piece
                result = "done"
            except ModelError:
                result = "failed"
                raise
            finally:
                self._tell(prompt, tried, result)

    async def close(self) -> None:
        await self._inner.close()

    async def _retried(self, prompt: Prompt, tried: _Tried) -> AsyncGenerator[WrittenPiece, None]:
        """Try again only as long as nobody has seen a word."""
        backoff = self._limits.backoff
        while True:
            tried.attempts += 1
            await self._turn()
            try:
                async with aclosing(self._timed(prompt)) as pieces:
                    async for piece in pieces:
                        tried.said.append(piece.text)
                        tried.usage = piece.usage or tried.usage
                        yield piece
                return
            except Passing as error:
                if any(tried.said) or tried.attempts >= backoff.attempts:
                    raise error.error from error
                await backoff.sleep(backoff.delay(tried.attempts - 1, error.wait))

    async def _timed(self, prompt: Prompt) -> AsyncGenerator[WrittenPiece, None]:
        """The model's pieces. One that says nothing in time is let go, and its connection closed."""
        begun = False
        deadline = time.monotonic() + self._limits.first
        async with aclosing(self._inner.stream(prompt)) as pieces:
            while True:
                try:
                    async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                        piece = await anext(pieces, None)
                except TimeoutError as error:
                    raise self._late(begun) from error
                if piece is None:
                    return
                if piece.text or begun:
                    begun = True
                    deadline = time.monotonic() + self._limits.stall
                yield piece

    def _late(self, begun: bool) -> ModelError:
        if begun:
            text = f"{self.name} said nothing for {self._limits.stall:g} s in the middle of its answer."
            return ModelError(text, hint="Raise llm_stall_timeout, or see the server's log.")
        text = f"{self.name} did not begin to answer within {self._limits.first:g} s."
        return ModelError(text, hint="Check that the server runs, raise llm_timeout, or send less: context_tokens.")

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        if self._slots is None or self._loop is not loop:
            self._slots, self._loop = asyncio.Semaphore(self._limits.at_once), loop
        async with self._slots:
            yield

    async def _turn(self) -> None:
        """Wait until a call more fits into the last minute."""
        if not self._limits.per_minute:
            return
        while True:
            now = self._limits.clock()
            while self._begun and now - self._begun[0] >= MINUTE:
                self._begun.popleft()
            if len(self._begun) < self._limits.per_minute:
                self._begun.append(now)
                return
            await self._limits.backoff.sleep(MINUTE - (now - self._begun[0]))

    def _tell(self, prompt: Prompt, tried: _Tried, result: Literal["done", "failed", "left"]) -> None:
        usage = tried.usage
        if usage is None and result == "failed" and not any(tried.said):
            usage = Usage(0, 0, reported=False)
        if usage is None:
            said = "".join(tried.said)
            read, wrote = self._inner.count_tokens([f"{prompt.system}\n{prompt.user}", said])
            usage = Usage(read, wrote, reported=False)
        self.on_call(ModelCall(self.name, result, usage, time.monotonic() - tried.begun, tried.attempts))
