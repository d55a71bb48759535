"""Where a run keeps its data: settings for every process, straight and through proxies."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kedge.core.settings import Settings, load_settings
from tests.campaigns.chaos.proxy import Proxy
from tests.campaigns.places import CATALOG, VECTORS, own_places, parts_of

CHUNK_TOKENS = 100


@dataclass(frozen=True)
class Places:
    """The stores of one run."""

    name: str
    root: Path
    direct: Mapping[str, str]
    """Settings that name servers, straight."""
    broken: Mapping[str, str]
    """The same through the proxies."""
    proxies: list[Proxy] = field(default_factory=list)

    def settings(self, home: str, *, through: bool = False) -> Settings:
        """For a process with this home. Embedded stores live in the home `main`."""
        values = self.broken if through else self.direct
        return load_settings(
            environ={}, home=self.root / home, embedder="hash", chunk_tokens=CHUNK_TOKENS, threshold=0.0, **values
        )

    @property
    def shared(self) -> bool:
        """Whether a second process may read beside the first."""
        return bool(self.direct.get(CATALOG) and self.direct.get(VECTORS))


@asynccontextmanager
async def opened(name: str, root: Path, run: str) -> AsyncIterator[Places]:
    """Places by name: `embedded`, or servers joined by `+`. Removed at the end. NotRunning."""
    async with AsyncExitStack() as stack:
        direct = stack.enter_context(own_places(parts_of(name), run))
        broken, proxies = {}, []
        for setting, url in direct.items():
            proxy = await stack.enter_async_context(Proxy(url))
            proxies.append(proxy)
            broken[setting] = proxy.through(url)
        try:
            yield Places(name, root, direct, broken, proxies)
        finally:
            shutil.rmtree(root, ignore_errors=True)
