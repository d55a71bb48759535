"""What can go wrong with a language model, told once and in the same words for every provider."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from kedge.core.errors import ConfigError, ModelError
from kedge.models.http import EXCERPT, RETRIED

KEY = "KEDGE_LLM_KEY"


class Passing(Exception):
    """Between a provider and its limits: an error that may pass, and how long the server says to wait."""

    def __init__(self, error: ModelError, wait: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Upstream:
    """The server of a model, as messages name it. The key appears in none of them."""

    base: str
    model: str
    key: SecretStr | None = None

    def failed(self, status: int, said: str, headers: Mapping[str, str] | None = None) -> ModelError | Passing:
        """The server answered with an error: as HTTP status, or in the middle of a stream."""
        if status in (401, 403):
            return ModelError(
                f"{self.base} refused the key ({status}).",
                hint=f"Set {KEY} to a valid key.",
                details={"status": status},
            )
        message = f"{self.base} answered {status}: {self._clean(said)}".rstrip(": ")
        error = ModelError(message, hint=self._hint(status), details={"status": status})
        return Passing(error, retry_after(headers or {})) if status in RETRIED else error

    def unreachable(self, what: str) -> Passing:
        """No connection, or none that lasted until an answer."""
        hint = "Check that the server runs and that llm_url is right."
        return Passing(ModelError(f"{self.base} cannot be reached ({what}).", hint=hint))

    def cut(self, what: str = "the connection ended in the middle") -> Passing:
        """The answer broke off."""
        return Passing(ModelError(f"{self.base} broke off its answer: {what}.", hint="See the server's log."))

    def garbled(self, what: str) -> ModelError:
        """The answer is not what the protocol says."""
        hint = "Is this the address of such a server? For anything OpenAI-compatible it usually ends in /v1."
        return ModelError(f"{self.base} answered with something that cannot be read: {self._clean(what)}", hint=hint)

    def _hint(self, status: int) -> str:
        if status == 404:
            return f"Check llm_url and the model's name, {self.model!r}."
        if status == 429:
            return "The server limits the rate, or the account has no quota left: wait, or set llm_per_minute."
        if status in (400, 413, 422):
            return "The server does not take this request; if the prompt is too long for it, set window= in the name."
        if status in (503, 529):
            return "The server is overloaded. Try again later."
        return "See the server's log."

    def _clean(self, said: str) -> str:
        text = " ".join(said.split())
        secret = self.key.get_secret_value() if self.key else ""
        return (text.replace(secret, "***") if secret else text)[:EXCERPT]


def needed(key: SecretStr | None, vendor: str) -> SecretStr:
    """The key, which the vendor's own server cannot do without."""
    if key is None or not key.get_secret_value().strip():
        raise ConfigError(
            f"{vendor} needs a key, and none is set.",
            hint=f"Set {KEY} in the environment (or llm_key in the config file), or llm_url to a server without keys.",
        )
    return key


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: a number or a date (RFC 9110)."""
    value = (headers.get("retry-after") or "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
