"""`.kedge-access.yaml`: who may read the files of a folder, said beside them.

```yaml
"*.md": [group:staff]
"salaries/**": [group:hr, user:ann]
"*": public
```

A pattern without a slash is held against the file's name, one with a slash against its path below the folder (`**`: any
number of folders). The first pattern that fits says it. The nearest folder upwards whose file has a pattern that fits
wins. A file that cannot be read says nothing good: what it is about is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path, PurePosixPath

import yaml

from kedge.core.errors import UnreadableError, UsageError
from kedge.core.values import PUBLIC, Readers, checked_readers

NAME = ".kedge-access.yaml"
MAX_BYTES = 1 << 20
MAX_ALIASES = 20
_TOO_LONG = f"it is longer than {MAX_BYTES:,} bytes"
_OPENED = 512
"""Folders whose file is remembered while a run goes on; told apart by time and size."""


def readers_beside(path: Path) -> Readers | None:
    """Who may read the file, by the files of its folder and of those above; None: none of them says it.

    UnreadableError for one that cannot be read.
    """
    for folder in path.parents:
        said = folder / NAME
        try:
            if not said.is_file():
                continue
            stat = said.stat()
        except OSError as error:
            raise _unreadable(said, "it cannot be looked at") from error
        for pattern, readers in _rules(said, stat.st_mtime_ns, stat.st_size).items():
            if _fits(pattern, path.relative_to(folder).as_posix()):
                return readers
    return None


def refuse_readers_beside(path: Path, said: Readers | None) -> None:
    """For kinds whose collections have readers as a whole: UnreadableError where a folder names readers of the file
    and the request (`said`) names none. It would be for everybody."""
    if said is None and PUBLIC not in (readers_beside(path) or (PUBLIC,)):
        raise UnreadableError(
            f"{path.name} is not for everybody, says a {NAME}, and what is made of it has readers as a whole.",
            hint="Say who may read the collection: --readers group:NAME.",
        )


def read_readers(said: object) -> Readers:
    """Readers as YAML, front matter and rows of corpora say them: a list, or one text with commas. UsageError."""
    listed = said.split(",") if isinstance(said, str) else said
    if not isinstance(listed, list | tuple) or not listed or not all(isinstance(one, str) for one in listed):
        raise UsageError(f"{str(said)[:100]!r} names no readers.", hint="Write for instance: [user:ann, group:board].")
    return checked_readers([one for one in listed if one.strip()])


class FolderRules:
    """What the files of a tree say that is no folder of this machine: learned folder by folder, then asked by path."""

    def __init__(self) -> None:
        self._of: dict[PurePosixPath, Mapping[str, Readers]] = {}

    def learn(self, folder: str, said: bytes, called: str) -> None:
        """What the file of a folder says; `called` is its address in messages. UnreadableError."""
        self._of[PurePosixPath(folder)] = rules_in(said, called)

    def readers(self, path: str) -> Readers | None:
        """Who may read what is there: by the nearest folder upwards that has a pattern for it; None: none has one."""
        file = PurePosixPath(path)
        for folder in file.parents:
            for pattern, readers in self._of.get(folder, {}).items():
                if _fits(pattern, file.relative_to(folder).as_posix()):
                    return readers
        return None


@lru_cache(maxsize=_OPENED)
def _rules(said: Path, _changed: int, size: int) -> Mapping[str, Readers]:
    if size > MAX_BYTES:
        raise _unreadable(said, _TOO_LONG)
    try:
        return rules_in(said.read_bytes(), said.as_posix())
    except OSError as error:
        raise _unreadable(said, "it cannot be read") from error


def rules_in(written: bytes, said: str) -> Mapping[str, Readers]:
    """The patterns of a file with their readers; `said` is what messages call it. UnreadableError."""
    if len(written) > MAX_BYTES:
        raise _unreadable(said, _TOO_LONG)
    try:
        text = written.decode("utf-8")
        if len(re.findall(r"(?:^|[\s,:\[{])\*\w", text)) > MAX_ALIASES:
            raise _unreadable(said, "it has too many YAML aliases")
        found = yaml.safe_load(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise _unreadable(said, "it is no YAML in UTF-8") from error
    if not isinstance(found, dict):
        raise _unreadable(said, "it is no list of patterns with their readers")
    try:
        return {str(pattern): read_readers(readers) for pattern, readers in found.items()}
    except UsageError as error:
        raise _unreadable(said, error.message) from error


def _fits(pattern: str, path: str) -> bool:
    """Folder by folder, so that no pattern can take long."""
    parts = path.split("/")
    if "/" not in pattern:
        return fnmatchcase(parts[-1], pattern)
    reached = {0}
    for piece in pattern.strip("/").split("/"):
        if piece == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], piece)}
    return len(parts) in reached


def _unreadable(said: Path | str, why: str) -> UnreadableError:
    return UnreadableError(
        f"{said} says who may read the files beside it, and cannot be read: {why}.",
        hint="Mend it, or remove it: until then nothing of the folder is taken in.",
    )
