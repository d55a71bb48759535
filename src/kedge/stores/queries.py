"""Named statements: SQL and Cypher of fixed text stand in `.sql` and `.cypher` files beside the modules that run them.

```
-- name: find_chunks
-- Ids of passages whose preview shares a term, best first.
SELECT …
WHERE …
```

A statement begins below its name and ends at the next one. Lines that begin with the comment sign (`--`, in Cypher
`//`) are for readers; the others are joined by one space, so that a log shows a statement in one line. Values are bound
by the driver, never written into a statement; `{table}` stands where a name that Kedge made goes (`filled`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_SIGNS = {".sql": "--", ".cypher": "//"}
"""What a comment begins with."""


@dataclass(frozen=True, slots=True)
class Queries:
    """The statements of one file: `queries["find_chunks"]`; KeyError for a name that is not in it."""

    file: str
    statements: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        if name not in self.statements:
            raise KeyError(f"{self.file} has no statement named {name!r}")
        return self.statements[name]


@cache
def load_queries(package: str, file: str) -> Queries:
    """The statements of a file of the package, read once. ValueError for a file that cannot be read as such."""
    sign = _SIGNS["." + file.rpartition(".")[2]]
    return Queries(file, parse(files(package).joinpath(file).read_text("utf-8"), sign))


def filled(statement: str, **names: str) -> str:
    """The statement with names of Kedge's own (a table, an edge's type) where they stand in braces.

    Other braces, such as those of Cypher's maps, stay. KeyError for a name that is not in the statement.

    >>> filled("MATCH (n:{label} {id: $id})", label="Chunk")
    'MATCH (n:Chunk {id: $id})'
    """
    for name, text in names.items():
        if f"{{{name}}}" not in statement:
            raise KeyError(f"there is no {{{name}}} in {statement!r}")
        statement = statement.replace(f"{{{name}}}", text)
    return statement


def parse(text: str, sign: str) -> dict[str, str]:
    """Name → statement, in the order of the file.

    ValueError for text above the first name, a name that stands twice or has no statement, a comment behind a line.

    >>> parse("-- All.\\n-- name: every\\n-- In no order.\\nSELECT *\\n  FROM t\\n", "--")
    {'every': 'SELECT * FROM t'}
    """
    found: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in map(str.strip, text.splitlines()):
        if line.startswith(f"{sign} name:"):
            name = line.partition(":")[2].strip()
            if name in found:
                raise ValueError(f"the statement {name!r} stands twice")
            lines = found[name] = []
        elif line and not line.startswith(sign):
            if lines is None or f" {sign} " in line:
                raise ValueError(f"{line!r} has no name above it, or a comment behind it")
            lines.append(line)
    if empty := [name for name, lines in found.items() if not lines]:
        raise ValueError(f"nothing stands below {', '.join(empty)}")
    return {name: " ".join(lines) for name, lines in found.items()}
