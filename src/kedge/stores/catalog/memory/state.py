"""What the parts of the memory catalog share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from kedge.core.values import Collection, Document, Job, Passage, Scope
from kedge.stores.catalog.ports import QueryRecord, SpareIndex


@dataclass(slots=True)
class Version:
    """One version of a document."""

    id: str
    document: Document
    """The document as it will be after the switch."""
    state: str = "building"
    died: int = 0
    passages: dict[int, Passage] = field(default_factory=dict)


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
    ratings: list[tuple[str, int, str]] = field(default_factory=list)

    def kill(self, versions: Iterable[Version]) -> None:
        """These versions are dead, and their passages are in no index any more unless others hold them too."""
        last = max((version.died for version in self.versions.values()), default=0)
        for version in versions:
            if version.state != "dead":
                version.state, version.died = "dead", last + 1
        held = self.held()
        self.indexed = {mark: at for mark, at in self.indexed.items() if mark[0] in held}

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

    def visible(self, document: Document) -> list[Passage]:
        """What readers see of a document."""
        if document.live_version is None:
            return []
        return [passage for _, passage in sorted(self.versions[document.live_version].passages.items())]
