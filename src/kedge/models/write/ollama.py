"""Models of a local Ollama by its own API: `ollama:MODEL`, `ollama:qwen3:8b?window=16384` (T-09)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx

from kedge.core.settings import Settings
from kedge.core.stages import carried
from kedge.core.tls import trusted
from kedge.models.ports import Finish, LanguageModel, Prompt, Usage, WrittenPiece
from kedge.models.write.limits import LimitedModel, ModelLimits
from kedge.models.write.named import CONNECT_SECONDS, ModelByName, ServedModel, read_name

OLLAMA = "http://127.0.0.1:11434"
WINDOW = 8192
_FINISHED: dict[str, Finish] = {"length": "length"}


def open_language_model(name: str, settings: Settings) -> LanguageModel:
    """The model behind `POST {base}/api/chat`; it needs no key, and sends one that is set."""
    named = read_name(name, settings, vendor="", home=OLLAMA, windows=(WINDOW, WINDOW))
    return LimitedModel(OllamaModel(named), ModelLimits.of(settings))


class OllamaModel(ModelByName):
    """Streams chats, one JSON object a line. Makes one attempt; retries are the limits' work.

    The window is sent with every call: Ollama's own default is small, and it cuts what is longer without a word.
    """

    def __init__(self, named: ServedModel) -> None:
        super().__init__(named)
        headers = {"Authorization": f"Bearer {named.secret}"} if named.key else {}
        timeout = httpx.Timeout(named.read_timeout, connect=CONNECT_SECONDS)
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout, verify=trusted())

    async def stream(self, prompt: Prompt) -> AsyncGenerator[WrittenPiece, None]:
        upstream = self._named.upstream
        try:
            body, headers = self._body(prompt), carried()
            async with self._client.stream("POST", f"{upstream.base}/api/chat", json=body, headers=headers) as reply:
                if reply.status_code >= 300:
                    await reply.aread()
                    raise upstream.failed(reply.status_code, _said(reply.text), reply.headers)
                async for line in reply.aiter_lines():
                    if not line.strip():
                        continue
                    piece = self._piece(line)
                    yield piece
                    if piece.finish is not None:
                        return
        except httpx.ConnectError as error:
            raise upstream.unreachable(type(error).__name__) from error
        except httpx.ConnectTimeout as error:
            raise upstream.unreachable(type(error).__name__) from error
        except httpx.HTTPError as error:
            raise upstream.cut(type(error).__name__) from error
        raise upstream.cut()

    async def close(self) -> None:
        await self._client.aclose()

    def _body(self, prompt: Prompt) -> dict[str, object]:
        heat = 0.0 if self._named.temperature is None else self._named.temperature
        return {
            "model": self._named.model,
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            "stream": True,
            "options": {"num_ctx": self._named.window, "num_predict": prompt.max_tokens, "temperature": heat},
        }

    def _piece(self, line: str) -> WrittenPiece:
        upstream = self._named.upstream
        try:
            said: Any = json.loads(line)
        except ValueError as error:
            raise upstream.garbled(line) from error
        if not isinstance(said, dict):
            raise upstream.garbled(line)
        if "error" in said:
            raise upstream.failed(500, str(said["error"]))
        message = said.get("message")
        text = message.get("content") if isinstance(message, dict) else None
        if not isinstance(text, str) and not said.get("done"):
            raise upstream.garbled(line)
        if not said.get("done"):
            return WrittenPiece(text or "")
        read, wrote = said.get("prompt_eval_count"), said.get("eval_count")
        usage = Usage(int(read or 0), int(wrote)) if isinstance(wrote, int) else None
        return WrittenPiece(text or "", usage, _FINISHED.get(str(said.get("done_reason")), "end"))


def _said(body: str) -> str:
    try:
        return str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        return body
