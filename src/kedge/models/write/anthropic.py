"""Anthropic's models by the official SDK: `anthropic:claude-…`, with options as in a URL (`?window=200000`)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anthropic
import httpx2
from anthropic.types import RawMessageStreamEvent

from kedge.core.settings import Settings
from kedge.core.stages import carried
from kedge.models.ports import Finish, LanguageModel, Prompt, Usage, WrittenPiece
from kedge.models.write.limits import LimitedModel, ModelLimits
from kedge.models.write.named import CONNECT_SECONDS, ModelByName, ServedModel, read_name

ANTHROPIC = "https://api.anthropic.com"
WINDOW = 200_000
_FINISHED: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What an error in the middle of a stream would have been as an HTTP status."""


def open_language_model(name: str, settings: Settings) -> LanguageModel:
    """The model behind `POST /v1/messages`. ConfigError without a key, unless it is another server than Anthropic's."""
    named = read_name(name, settings, vendor="Anthropic", home=ANTHROPIC, windows=(WINDOW, WINDOW))
    return LimitedModel(ClaudeModel(named), ModelLimits.of(settings))


class ClaudeModel(ModelByName):
    """Streams messages. Makes one attempt; retries are the limits' work."""

    def __init__(self, named: ServedModel) -> None:
        super().__init__(named)
        self._client = anthropic.AsyncAnthropic(
            api_key=named.secret,
            base_url=named.base,
            max_retries=0,
            timeout=httpx2.Timeout(named.read_timeout, connect=CONNECT_SECONDS),
            open_telemetry=False,
        )

    async def stream(self, prompt: Prompt) -> AsyncGenerator[WrittenPiece, None]:
        heat = self._named.temperature
        async with self._translated():
            events = await self._client.messages.create(
                model=self._named.model,
                system=prompt.system,
                messages=[{"role": "user", "content": prompt.user}],
                max_tokens=prompt.max_tokens,
                stream=True,
                extra_headers=carried(),
                extra_body=None if heat is None else {"temperature": heat},
            )
            async with events:
                reading = _MessageReading()
                async for event in events:
                    piece = reading.piece(event)
                    if piece is not None:
                        yield piece
            if not reading.ended:
                raise self._named.upstream.cut()

    async def close(self) -> None:
        await self._client.close()

    @asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        upstream = self._named.upstream
        try:
            yield
        except anthropic.APIStatusError as error:
            status = error.status_code if error.status_code >= 300 else _STATUS.get(error.type or "", 500)
            raise upstream.failed(status, error.api_message or error.message, error.response.headers) from error
        except anthropic.APIConnectionError as error:
            raise upstream.unreachable(type(error.__cause__ or error).__name__) from error
        except anthropic.APIResponseValidationError as error:
            raise upstream.garbled(error.message) from error
        except httpx2.HTTPError as error:
            raise upstream.cut(type(error).__name__) from error
        except (ValueError, AttributeError) as error:
            raise upstream.garbled(str(error)) from error


class _MessageReading:
    """Follows one message: what it read and wrote, and how it ended."""

    def __init__(self) -> None:
        self.ended = False
        self._read = self._wrote = 0
        self._finish: Finish = "end"

    def piece(self, event: RawMessageStreamEvent) -> WrittenPiece | None:
        if event.type == "message_start":
            usage = event.message.usage
            self._read = usage.input_tokens
            self._read += (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            return WrittenPiece(event.delta.text)
        elif event.type == "message_delta":
            self._wrote = event.usage.output_tokens
            self._finish = _FINISHED.get(event.delta.stop_reason or "", "end")
        elif event.type == "message_stop":
            self.ended = True
            return WrittenPiece("", Usage(self._read, self._wrote), self._finish)
        return None
