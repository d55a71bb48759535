"""The contract of catalogs, written once. A backend binds it by saying how it is opened:

```python
class TestMine(CatalogContract):
    async def open_store(self, folder: Path) -> Catalog:
        return MyCatalog(folder)
```

`kedge.testing.catalog.congruence` adds random sequences against the memory catalog, which is the oracle.
"""

from __future__ import annotations

from kedge.testing.catalog.documents import DocumentsContract
from kedge.testing.catalog.indexes import IndexesContract
from kedge.testing.catalog.passages import PassagesContract
from kedge.testing.catalog.records import RecordsContract


class CatalogContract(DocumentsContract, PassagesContract, IndexesContract, RecordsContract):
    """What every catalog keeps."""
