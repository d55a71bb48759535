"""The reader as the judge of what sentences state."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.core.settings import Settings
from kedge.ingest.extract.claims import AskedRelation, RelationJudge
from kedge.models.read.reader import Readable, Reader, open_reader

LEAST = -3.0
"""Log-odds of yes, as read half way up: with less, the other layers are not computed."""


def reader_judge(settings: Settings) -> RelationJudge | None:
    """The carried reader, loaded when it is first asked; none where the settings leave relations to the weights."""
    if settings.relations != "reader" or settings.reader == "none":
        return None

    def judge(asked: Sequence[AskedRelation]) -> list[float]:
        return read_relations(open_reader(settings), asked)

    return judge


def read_relations(reader: Reader, asked: Sequence[AskedRelation]) -> list[float]:
    """The log-odds that sentences say yes."""
    return [reader.read(one.question, [Readable(one.title, [one.sentence])], LEAST)[0].about for one in asked]
