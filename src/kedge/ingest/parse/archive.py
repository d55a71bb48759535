"""Files that are ZIP archives inside: their members, with caps on what they unpack to, and their XML."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree import ElementTree

from kedge.core.errors import EncryptedError, SourceTooLargeError, UnreadableError

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

MAX_MEMBER = 256 << 20
"""Bytes that one member may unpack to."""
_ENCRYPTED = 0x1
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ElementTree.ParseError)


class Package:
    """An open archive."""

    def __init__(self, name: str, file: zipfile.ZipFile) -> None:
        self.name = name
        self._file = file
        self._names = {info.filename: info for info in file.infolist() if not info.is_dir()}

    def __contains__(self, member: str) -> bool:
        return member in self._names

    @property
    def members(self) -> list[str]:
        """Names of all files in it, in its order."""
        return list(self._names)

    def read(self, member: str) -> bytes:
        """The bytes of a member; empty where it is not there. Raises SourceTooLargeError and EncryptedError."""
        info = self._names.get(member)
        if info is None:
            return b""
        if info.flag_bits & _ENCRYPTED:
            raise EncryptedError(f"{self.name} wants a password.", hint="Save a copy without one and ingest that.")
        if info.file_size > MAX_MEMBER:
            raise SourceTooLargeError(f"{self.name} unpacks to over {MAX_MEMBER:,} bytes.", hint="Split it.")
        with self._file.open(info) as stream:
            data = stream.read(MAX_MEMBER + 1)
        if len(data) > MAX_MEMBER:
            raise SourceTooLargeError(f"{self.name} unpacks to over {MAX_MEMBER:,} bytes.", hint="Split it.")
        return data

    def xml(self, member: str) -> ElementTree.Element | None:
        """The tree of a member; None where it is not there."""
        data = self.read(member)
        return ElementTree.fromstring(data) if data else None  # noqa: S314 (expat caps entities; own process with caps)

    def related(self, member: str) -> dict[str, tuple[str, str]]:
        """Relations of a part of an Office document: id → (last word of the type, target)."""
        folder, _, name = member.rpartition("/")
        tree = self.xml(f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels")
        found: dict[str, tuple[str, str]] = {}
        for relation in tree if tree is not None else ():
            kind, target = relation.get("Type", "").rpartition("/")[2], relation.get("Target", "")
            if relation.get("TargetMode") != "External":
                target = resolved(target, folder)
            found[relation.get("Id", "")] = (kind, target)
        return found


def resolved(target: str, folder: str) -> str:
    """A path in an archive as written in a file of that folder."""
    path = unquote(target.partition("#")[0])
    return path.lstrip("/") if path.startswith("/") else posixpath.normpath(posixpath.join(folder, path))


@contextmanager
def opened(source: Source, what: str) -> Iterator[Package]:
    """The archive of a source; `what` it should be is said when it is none or damaged (UnreadableError)."""
    try:
        with source.open() as stream, zipfile.ZipFile(stream) as file:
            yield Package(source.name, file)
    except _BROKEN as error:
        raise UnreadableError(
            f"{source.name} is damaged, or no {what} at all ({type(error).__name__}).",
            hint="Open it in the program that made it and save it again.",
        ) from error
    except RuntimeError as error:  # zipfile's word for a member that wants a password
        raise EncryptedError(
            f"{source.name} wants a password.", hint="Save a copy without one and ingest that."
        ) from error


def properties(package: Package) -> dict[str, str]:
    """Title, creator and dates from the core properties of an Office document, by their local names."""
    tree = package.xml("docProps/core.xml")
    if tree is None:
        return {}
    return {local(node): (node.text or "").strip() for node in tree if (node.text or "").strip()}


def local(node: ElementTree.Element) -> str:
    """The name of an element without its namespace."""
    return str(node.tag).rpartition("}")[2]


def attribute(node: ElementTree.Element | None, name: str) -> str:
    """An attribute by its local name; empty where it is not there."""
    if node is None:
        return ""
    return next((value for key, value in node.attrib.items() if key.rpartition("}")[2] == name), "")


def child(node: ElementTree.Element | None, *path: str) -> ElementTree.Element | None:
    """The first descendant along a path of local names."""
    for name in path:
        if node is None:
            return None
        node = next((one for one in node if local(one) == name), None)
    return node
