"""The contract of vector stores, written once. A backend binds it by saying how it is opened:

```python
class TestMine(VectorStoreContract):
    async def open_store(self, folder: Path) -> VectorStore:
        return MyVectors(folder)
```

`DurableVectorStoreContract` adds what a store that outlives its process must keep. The memory store is the oracle.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kedge.core.errors import DimensionMismatchError
from kedge.core.values.filters import Range
from kedge.stores.ports import VectorStore
from kedge.testing.vectors.congruence import VectorCongruence
from kedge.testing.vectors.indexes import VectorIndexesContract
from kedge.testing.vectors.opened import INDEX, id_of, ids_of, keywords_of, point, spec, vector
from kedge.testing.vectors.points import PointsContract
from kedge.testing.vectors.search import VectorSearchContract
from kedge.testing.vectors.words import WordsContract


class VectorStoreContract(
    VectorIndexesContract,
    PointsContract,
    VectorSearchContract,
    WordsContract,
    VectorCongruence,
):
    """What every vector store keeps."""


class DurableVectorStoreContract(VectorStoreContract):
    """What a store keeps that outlives its process."""

    async def reopen(self, store: VectorStore, folder: Path) -> VectorStore:
        await store.close()
        return await self.open_store(folder)

    def test_everything_is_there_after_reopening(self, folder: Path) -> None:
        async def body() -> None:
            store = await self.open_store(folder)
            await store.create(spec())
            await store.upsert(INDEX, "a", [point(n, (n, 1, 0, 0), f"word{n} tree", page=n) for n in range(50)])
            await store.delete(INDEX, "a", [id_of(7)])
            before = await store.search(INDEX, "a", vector(1, 1, 0, 0), 50)
            store = await self.reopen(store, folder)
            try:
                assert await store.search(INDEX, "a", vector(1, 1, 0, 0), 50) == before
                assert await store.count(INDEX, "a", Range("page", lt=10)) == 9
                assert ids_of(await keywords_of(store).keyword_search(INDEX, "a", "word8", 5)) == [id_of(8)]
                with pytest.raises(DimensionMismatchError):
                    await store.create(spec(dimension=3))
            finally:
                await store.close()

        asyncio.run(body())
