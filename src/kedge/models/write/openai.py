"""OpenAI's models and everything OpenAI-compatible (vLLM, llama.cpp, TGI, LM Studio, …) by the official SDK.

`openai:MODEL`, with options as in a URL: `openai:Qwen/Qwen3-8B?url=http://host:8000/v1&window=32768`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletionChunk

from kedge.core.settings import Settings
from kedge.core.stages import carried
from kedge.models.ports import Finish, LanguageModel, Prompt, Usage, WrittenPiece
from kedge.models.write.limits import LimitedModel, ModelLimits
from kedge.models.write.named import CONNECT_SECONDS, ModelByName, ServedModel, read_name

OPENAI = "https://api.openai.com/v1"
WINDOW, ELSEWHERE = 128_000, 8192
_FINISHED: dict[str, Finish] = {"length": "length", "content_filter": "refused"}


def open_language_model(name: str, settings: Settings) -> LanguageModel:
    """The model behind `POST {base}/chat/completions`. ConfigError without a key for OpenAI's own server."""
    named = read_name(name, settings, vendor="OpenAI", home=OPENAI, windows=(WINDOW, ELSEWHERE))
    return LimitedModel(ChatModel(named), ModelLimits.of(settings))


class ChatModel(ModelByName):
    """Streams chat completions. Makes one attempt; retries are the limits' work."""

    def __init__(self, named: ServedModel) -> None:
        super().__init__(named)
        self._tells_usage = True
        self._client = openai.AsyncOpenAI(
            api_key=named.secret,
            base_url=named.base,
            max_retries=0,
            timeout=httpx2.Timeout(named.read_timeout, connect=CONNECT_SECONDS),
        )

    async def stream(self, prompt: Prompt) -> AsyncGenerator[WrittenPiece, None]:
        async with self._translated():
            chunks = await self._begin(prompt)
            async with chunks:
                finish: Finish | None = None
                usage: Usage | None = None
                async for chunk in chunks:
                    usage = _usage(chunk) or usage
                    for choice in chunk.choices or ():
                        if choice.delta.content:
                            yield WrittenPiece(choice.delta.content)
                        if choice.finish_reason:
                            finish = _FINISHED.get(choice.finish_reason, "end")
            if finish is None:
                raise self._named.upstream.cut()
            yield WrittenPiece("", usage, finish)

    async def close(self) -> None:
        await self._client.close()

    async def _begin(self, prompt: Prompt) -> openai.AsyncStream[ChatCompletionChunk]:
        try:
            return await self._create(prompt)
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            if not self._tells_usage or "stream_options" not in str(error):
                raise
            self._tells_usage = False  # an older server: tokens are counted here from now on
            return await self._create(prompt)

    async def _create(self, prompt: Prompt) -> openai.AsyncStream[ChatCompletionChunk]:
        named = self._named
        # OpenAI's newer models refuse `max_tokens`, and other servers may not know its successor.
        limit = "max_completion_tokens" if named.base == OPENAI else "max_tokens"
        options: dict[str, Any] = {limit: prompt.max_tokens}
        if named.temperature is not None:
            options["temperature"] = named.temperature
        if self._tells_usage:
            options["stream_options"] = {"include_usage": True}
        stream: openai.AsyncStream[ChatCompletionChunk] = await self._client.chat.completions.create(
            model=named.model,
            messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            stream=True,
            extra_headers=carried(),
            **options,
        )
        return stream

    @asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        upstream = self._named.upstream
        try:
            yield
        except openai.APIStatusError as error:
            raise upstream.failed(error.status_code, _said(error), error.response.headers) from error
        except openai.APIConnectionError as error:
            raise upstream.unreachable(type(error.__cause__ or error).__name__) from error
        except openai.APIError as error:  # told in the middle of a stream, where there is no status
            code = str(error.code)
            status = int(code) if code.isdigit() else 500
            raise upstream.failed(status, _said(error)) from error
        except httpx2.HTTPError as error:
            raise upstream.cut(type(error).__name__) from error
        except (ValueError, AttributeError, TypeError) as error:
            raise upstream.garbled(str(error)) from error


def _usage(chunk: ChatCompletionChunk) -> Usage | None:
    return Usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens) if chunk.usage else None


def _said(error: openai.APIError) -> str:
    body = error.body
    said = body.get("message") if isinstance(body, dict) else None
    return said if isinstance(said, str) else error.message
