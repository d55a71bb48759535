"""The contract of embedders, written once. A model binds it by saying how it is opened:

```python
class TestMine(EmbedderContract):
    async def open_embedder(self) -> Embedder:
        return MyEmbedder()
```
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

import numpy as np

from kedge.models.ports import Embedder, Vectors

TEXTS = (
    "A kedge is a light anchor.",
    "",
    "   \n",
    "Größe, 東京, C++, O(n) \U0001f600",
    "\x00\x01 \ufffd",
    "The stock market fell on Monday.",
)
QUESTION, NEAR, FAR = "Which anchor is light?", TEXTS[0], TEXTS[-1]


def on_embedder(test: Callable[[Any, Any], Awaitable[None]]) -> Callable[[Any], None]:
    """Turn `async def test_x(self, embedder)` into a plain test."""

    def run(self: EmbedderContract) -> None:
        async def body() -> None:
            embedder = await self.open_embedder()
            try:
                await test(self, embedder)
            finally:
                await embedder.close()

        asyncio.run(body())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


class EmbedderContract(ABC):
    """What every embedder does."""

    tolerance: ClassVar[float] = 1e-4
    """By how much a number may differ when a text is embedded again, or among others."""
    meaning: ClassVar[bool] = True
    """Whether a question is nearer to a sentence that answers it than to one about something else."""

    @abstractmethod
    async def open_embedder(self) -> Embedder:
        """The embedder under test."""

    @on_embedder
    async def test_it_says_what_it_is(self, embedder: Embedder) -> None:
        assert isinstance(embedder, Embedder)
        assert embedder.name.strip()
        assert embedder.dimension > 0
        assert embedder.window > 0

    @on_embedder
    async def test_a_row_for_every_text_each_of_norm_one(self, embedder: Embedder) -> None:
        rows = await embedder.embed(TEXTS)
        assert rows.shape == (len(TEXTS), embedder.dimension)
        assert rows.dtype == np.float32
        self._same(np.linalg.norm(rows, axis=1), np.ones(len(TEXTS), dtype=np.float32))

    @on_embedder
    async def test_no_texts_are_no_rows(self, embedder: Embedder) -> None:
        assert (await embedder.embed([])).shape == (0, embedder.dimension)

    @on_embedder
    async def test_equal_texts_get_equal_rows_in_every_company(self, embedder: Embedder) -> None:
        together = await embedder.embed(TEXTS)
        self._same(await embedder.embed(TEXTS), together)
        for number, text in enumerate(TEXTS):
            self._same((await embedder.embed([text]))[0], together[number])
        self._same(await embedder.embed(TEXTS[::-1]), together[::-1])

    @on_embedder
    async def test_a_question_is_one_vector_of_norm_one(self, embedder: Embedder) -> None:
        for text in ("", QUESTION):
            vector = await embedder.embed_query(text)
            assert vector.shape == (embedder.dimension,)
            assert vector.dtype == np.float32
            self._same(np.linalg.norm(vector), np.float32(1))
        self._same(await embedder.embed_query(QUESTION), await embedder.embed_query(QUESTION))

    @on_embedder
    async def test_what_is_beyond_the_window_is_ignored(self, embedder: Embedder) -> None:
        sentence = f"{NEAR} "
        count = 2 * embedder.window // max(1, embedder.count_tokens([sentence])[0]) + 2
        row = (await embedder.embed([sentence * count]))[0]
        self._same(np.linalg.norm(row), np.float32(1))

    @on_embedder
    async def test_tokens_are_counted_to_the_end(self, embedder: Embedder) -> None:
        assert embedder.count_tokens([]) == []
        empty, one, many = embedder.count_tokens(["", "anchor", "anchor " * 3 * embedder.window])
        assert (empty, one) == (0, max(1, one))
        assert many > embedder.window

    @on_embedder
    async def test_calls_at_once_do_not_mix(self, embedder: Embedder) -> None:
        alone = [await embedder.embed([text]) for text in TEXTS]
        at_once = await asyncio.gather(*(embedder.embed([text]) for text in TEXTS))
        for one, other in zip(alone, at_once, strict=True):
            self._same(one, other)

    @on_embedder
    async def test_a_question_is_nearest_to_what_answers_it(self, embedder: Embedder) -> None:
        if self.meaning:
            near, far = await embedder.embed([NEAR, FAR]) @ await embedder.embed_query(QUESTION)
            assert near > far

    @on_embedder
    async def test_close_twice(self, embedder: Embedder) -> None:
        await embedder.close()
        await embedder.close()

    def _same(self, one: Vectors | np.float32, other: Vectors | np.float32) -> None:
        np.testing.assert_allclose(one, other, rtol=0, atol=self.tolerance)
