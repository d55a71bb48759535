"""The contract of file formats, written once. A format binds it with an instance and a few files:

```python
class TestMine(FileFormatContract):
    format = MyFormat()

    def files(self):
        return {"letter.mine": b"..."}
```

It has to be installed: the suite finds it by its entry point, as Kedge does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kedge.core.errors import SourceFault
from kedge.core.plugins import FORMATS, named
from kedge.core.values import ParsedDocument
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.apart.pool import document_apart
from kedge.ingest.chunk.passages import chunk
from kedge.ingest.parse.formats import detect_format, format_named
from kedge.ingest.parse.ports import HEAD, FileFormat, Segment
from kedge.ingest.parse.reading import open_document
from kedge.ingest.sources.discovery import SourceOptions, uploaded
from kedge.ingest.sources.source import Source, with_format

LIMITS = ParseLimits(seconds=30, memory=1 << 30, output=64 << 20)


class FileFormatContract(ABC):
    """What every file format does."""

    format: ClassVar[FileFormat]
    """The one under test, as its entry point names it."""
    examples: ClassVar[int] = 25
    """Damaged files that are tried."""

    @abstractmethod
    def files(self) -> Mapping[str, bytes]:
        """A few files that can be read, by name: one at least, each with text in it."""

    def test_it_is_installed_under_its_name(self) -> None:
        assert named(FORMATS, self.format.name) is not None
        assert format_named(self.format.name) is self.format

    def test_its_files_are_known_by_their_name(self) -> None:
        for name, data in self.files().items():
            found = detect_format(name, data[:HEAD])
            assert found is self.format, name

    def test_its_files_are_known_by_the_type_that_servers_declare(self) -> None:
        for media_type in self.format.media_types:
            for data in self.files().values():
                assert detect_format("download", data[:HEAD], f"{media_type}; charset=utf-8") is self.format

    def test_segments_follow_each_other_and_blocks_lie_in_their_text(self) -> None:
        for name, data in self.files().items():
            segments = self._read(self._source(name, data))
            assert segments, f"{name} has no text"
            assert segments[0].base == 0
            for before, after in pairwise(segments):
                assert before.base + len(before.document.text) <= after.base
            for segment in segments:
                _check(segment.document)

    def test_reading_again_gives_the_same(self) -> None:
        for name, data in self.files().items():
            source = self._source(name, data)
            assert self._read(source) == self._read(source)

    def test_another_process_reads_the_same(self) -> None:
        for name, data in self.files().items():
            source = self._source(name, data)
            there = [Segment(base, document) for base, document in document_apart(source, LIMITS)]
            assert there == self._read(source)

    def test_passages_are_exact_slices(self) -> None:
        for name, data in self.files().items():
            for segment in self._read(self._source(name, data)):
                pieces = chunk(segment.document, lambda texts: [len(text.split()) for text in texts])
                assert pieces, f"nothing of {name} becomes a passage"
                for piece in pieces:
                    assert piece.text == segment.document.text[piece.start : piece.end]

    def test_damaged_files_are_read_or_refused(self) -> None:
        """Cut off anywhere, or with a few bytes changed: a document or a SourceFault, within the caps."""
        (data, *_) = self.files().values()

        @settings(max_examples=self.examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(
            end=st.integers(0, len(data)),
            at=st.integers(0, len(data)),
            new=st.binary(max_size=8),
        )
        def check(end: int, at: int, new: bytes) -> None:
            damaged = (data[:at] + new + data[at + len(new) :])[:end]
            source = uploaded("damaged", damaged, options=SourceOptions(format=self.format.name))
            try:
                for segment in open_document(source, LIMITS).segments:
                    _check(segment.document)
            except SourceFault:
                return

        check()

    def _source(self, name: str, data: bytes) -> Source:
        return with_format(uploaded(name, data))

    def _read(self, source: Source) -> list[Segment]:
        return list(self.format.segments(source))


def _check(document: ParsedDocument) -> None:
    assert document.blocks, "a segment without blocks is left out"
    document.text.encode()  # half characters are no text
    end = 0
    for block in document.blocks:
        assert end <= block.start <= block.end <= len(document.text), "blocks are in order, and do not overlap"
        end = block.end
    for link in document.links:
        assert 0 <= link.start <= len(document.text)
