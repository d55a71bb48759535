"""What a file format is: one object that says how its files are known and how they are read.

Kedge's own are declared like those of others, under the entry point `kedge.formats` (`kedge.ingest.parse.own`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from kedge.core.values import ParsedDocument

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

HEAD = 4096
"""First bytes of a file by which it may be known."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the document: its own offsets count from `base`."""

    base: int
    document: ParsedDocument


class FileFormat(ABC):
    """A file format. Third parties derive from it, and name an instance under the entry point `kedge.formats`.

    It is light, because all formats are loaded to tell files apart: what it parses with is imported in `segments`.
    Kedge's own formats come first wherever two know the same suffix, media type or beginning.
    """

    name: ClassVar[str]
    """As in `--format`, and as documents keep it."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """Of its files, in lower case with the dot. Folders are searched for files with these."""
    shared: ClassVar[tuple[str, ...]] = ()
    """Suffixes of other formats under which its files stand as well: those it `resembles` are taken for it."""
    members: ClassVar[tuple[bytes, ...]] = ()
    """Names of which its files list one at their end, where they are ZIP archives: one whose beginning says nothing, as
    other programs packed it, is what its suffix says where the list has one."""
    media_types: ClassVar[tuple[str, ...]] = ()
    """As web servers declare them, in lower case, without parameters."""

    def claims(self, head: bytes) -> bool:  # noqa: ARG002
        """Whether a file that begins with these (at most 4,096) bytes is of this format whatever its name says.

        A format whose bytes are those of another kind of file, such as a ZIP archive, is read where it claims them.
        """
        return False

    def resembles(self, head: bytes) -> bool:  # noqa: ARG002
        """Whether a file that begins so is taken for this format when neither its type nor its suffix is known.

        Asked too for files with a suffix that it shares.
        """
        return False

    def apart(self, source: Source) -> bool:  # noqa: ARG002
        """Whether this source is read in another process, with caps on time, memory and output.

        Right for every parser that a hostile file can crash, or keep busy for minutes.
        """
        return True

    @abstractmethod
    def segments(self, source: Source) -> Iterator[Segment]:
        """The document in one segment, or in several where it is too long for memory; in order, none for no text.

        The first one has the title, the author and the metadata. Raises SourceFault for what cannot be read; whatever
        else is raised counts as a damaged file.
        """
