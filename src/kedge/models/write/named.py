"""A served model's name: `SCHEME:MODEL?url=…&window=…&tokenizer=…`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from kedge.core.errors import ConfigError
from kedge.core.settings import Settings
from kedge.models import tokens
from kedge.models.http import base_url, number, options
from kedge.models.write.faults import Upstream, needed

OPTIONS = ("url", "window", "tokenizer")
CONNECT_SECONDS = 10.0
SLACK_SECONDS = 5.0
"""What a connection waits longer than the limits around it, which give the better message."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model on a server, and what was said about it."""

    name: str
    """As in the settings."""
    model: str
    """What the server calls it."""
    base: str
    key: SecretStr | None
    window: int
    count: tokens.CountTokens
    temperature: float | None
    read_timeout: float
    """Seconds for the connection itself, a little more than the limits around it."""

    @property
    def upstream(self) -> Upstream:
        return Upstream(self.base, self.model, self.key)

    @property
    def secret(self) -> str:
        """The key as the vendors' clients want it: never empty, else they look for one of their own."""
        return self.key.get_secret_value() if self.key else "none"


class ModelByName:
    """What every model on a server says of itself: what its name said."""

    def __init__(self, named: ServedModel) -> None:
        self._named = named

    @property
    def name(self) -> str:
        return self._named.name

    @property
    def window(self) -> int:
        return self._named.window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._named.count(texts)


def read_name(name: str, settings: Settings, *, vendor: str, home: str, windows: tuple[int, int]) -> ServedModel:
    """Take the name apart. `home` is the vendor's own server, `windows` are for a model there and for one elsewhere."""
    scheme, _, rest = name.partition(":")
    model, _, query = rest.partition("?")
    what = f"{scheme}:{model}"
    if not model:
        raise ConfigError(f"{scheme}: needs the name of a model.", hint=f"Like {scheme}:NAME.")
    given = options(query, OPTIONS, what)
    base = base_url(given.get("url") or settings.llm_url or home, what)
    own = base == home
    return ServedModel(
        name=what,
        model=model,
        base=base,
        key=needed(settings.llm_key, vendor) if own and vendor else settings.llm_key,
        window=number(given, "window", windows[0] if own else windows[1], 100_000_000),
        count=tokens.from_file(given["tokenizer"]) if "tokenizer" in given else tokens.estimate,
        temperature=settings.llm_temperature,
        read_timeout=max(settings.llm_timeout, settings.llm_stall_timeout) + SLACK_SECONDS,
    )
