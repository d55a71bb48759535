"""What the parts of the memory catalog share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kedge.core.acting import actor
from kedge.core.values import Collection, Document, Hold, Job, Passage, Readers, Scope
from kedge.stores.catalog.ports import QueryRecord, SpareIndex


@dataclass(slots=True)
class Version:
    """One version of a document."""

    id: str
    document: Document
    """The document as it will be after the switch."""
    state: str = "building"
    died: int = 0
    live_from: datetime | None = None
    live_until: datetime | None = None
    kept: bool = False
    passages: dict[int, Passage] = field(default_factory=dict)

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """Since when and until when readers saw it, of a dead one that they did see."""
        if self.state != "dead" or self.live_from is None or self.live_until is None:
            return None
        return self.live_from, self.live_until

    def seen_at(self, at: datetime) -> bool:
        """Whether readers saw it at that instant."""
        return self.live_from is not None and self.live_from <= at and (self.live_until is None or self.live_until > at)


@dataclass(slots=True)
class State:
    """All that the parts share."""

    collections: dict[Scope, Collection] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)
    versions: dict[str, Version] = field(default_factory=dict)
    retired: set[str] = field(default_factory=set)
    indexed: dict[tuple[str, str], datetime] = field(default_factory=dict)
    """(Passage, index) → when its vector was made."""
    spare: dict[tuple[Scope, str], SpareIndex] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    queries: dict[str, QueryRecord] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    """Documents whose readers were given by hand."""
    unsettled: set[str] = field(default_factory=set)
    rules: dict[tuple[Scope, str], Readers] = field(default_factory=dict)
    """(Scope, label) → readers."""
    holds: dict[str, Hold] = field(default_factory=dict)
    ratings: list[tuple[str, int, str]] = field(default_factory=list)

    def kill(self, versions: Iterable[Version], at: datetime | None = None) -> None:
        """These versions are dead, and their passages are in no index any more unless others hold them too."""
        last = max((version.died for version in self.versions.values()), default=0)
        for version in versions:
            if version.state == "live":
                version.live_until = at or datetime.now(UTC)
            if version.state != "dead":
                version.state, version.died = "dead", last + 1
        held = self.held()
        self.indexed = {mark: at for mark, at in self.indexed.items() if mark[0] in held}

    def forget_past(self, document_ids: Iterable[str]) -> None:
        """Nothing of these is seen as of any time any more."""
        gone = set(document_ids)
        for version in self.versions.values():
            if version.state == "dead" and version.document.id in gone:
                version.kept, version.live_from, version.live_until = False, None, None

    def held(self) -> set[str]:
        """Ids of passages of live and staged versions."""
        alive = (version for version in self.versions.values() if version.state != "dead")
        return {passage.id for version in alive for passage in version.passages.values()}

    def of(self, document_id: str) -> list[Version]:
        """All versions of a document."""
        return [version for version in self.versions.values() if version.document.id == document_id]

    def within(self, scope: Scope) -> list[Document]:
        """All documents of a scope, by url."""
        return sorted((d for d in self.documents.values() if d.scope == scope), key=lambda d: d.url)

    def said(self, version: Version) -> Readers | None:
        """Who will have been named of its document once the version is live."""
        document, said = self.documents[version.document.id], version.document.readers
        return document.readers if said is None or document.id in self.given else said

    def seen(self, scope: Scope) -> list[Document]:
        """Those of them that the actor in force may read, by url."""
        who = actor()
        if who is None:
            return self.within(scope)
        if not who.may_read(self.rules.get((scope, ""))):
            return []
        return [document for document in self.within(scope) if who.may_read(document.readers)]

    def open_then(self, version: Version) -> bool:
        """Whether the actor in force may read what a version that readers saw says: a superseded one stays with the
        readers that it named, unless others were given by hand."""
        who = actor()
        free = version.state == "live" or version.document.id in self.given
        return who is None or free or who.may_read(version.document.readers)

    def visible(self, document: Document) -> list[Passage]:
        """What readers see of a document."""
        if document.live_version is None:
            return []
        return [passage for _, passage in sorted(self.versions[document.live_version].passages.items())]
