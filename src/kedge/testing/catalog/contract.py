"""The contract of catalogs, written once. A backend binds it by saying how it is opened:

```python
class TestMine(CatalogContract):
    async def open_store(self, folder: Path) -> Catalog:
        return MyCatalog(folder)
```

`kedge.testing.catalog.congruence` adds random sequences against the memory catalog, which is the oracle.
"""

from __future__ import annotations

from kedge.testing.catalog.conversations import ConversationsContract
from kedge.testing.catalog.documents import DocumentsContract
from kedge.testing.catalog.indexes import IndexesContract
from kedge.testing.catalog.passages import PassagesContract
from kedge.testing.catalog.past import PastContract
from kedge.testing.catalog.records import RecordsContract
from kedge.testing.catalog.rights import RightsContract
from kedge.testing.catalog.sources import SourcesContract


class CatalogContract(
    DocumentsContract,
    PassagesContract,
    PastContract,
    IndexesContract,
    RecordsContract,
    ConversationsContract,
    RightsContract,
    SourcesContract,
):
    """What every catalog keeps."""
