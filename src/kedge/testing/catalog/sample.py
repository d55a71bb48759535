"""Made-up catalog contents, what can be observed of a catalog, and one life of documents step by step."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from kedge.core.ids import document_id, passage_id, sha256, version_id
from kedge.core.values import DEFAULT_TENANT, Collection, Document, DocumentStatus, Passage, Scope
from kedge.stores.catalog.ports import Catalog

THEN = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
HERE = Scope(DEFAULT_TENANT, "notes")
THERE = Scope("acme", "notes")
INDEX = "notes-1"


def collection(scope: Scope = HERE, **changes: Any) -> Collection:
    """A collection without documents."""
    made = Collection(scope, "documents", "minilm", 384, 1, INDEX, THEN, topics=("a", "b"))
    return replace(made, **changes)


def document(name: str, scope: Scope = HERE, **changes: Any) -> Document:
    """A document as an ingest registers it."""
    url = f"/data/{name}.md"
    made = Document(
        id=document_id(scope, url),
        scope=scope,
        url=url,
        external_id=url,
        title=name.title(),
        format="markdown",
        status=DocumentStatus.PENDING,
        file_hash=sha256(name),
        metadata={"year": 2026, "tags": ["x", "ü"]},
        created_at=THEN,
    )
    return replace(made, **changes)


def version(of: Document, content: str) -> str:
    """Id of the version with this content."""
    return version_id(of.id, sha256(content))


def passages(of: Document, content: str, texts: Sequence[str], first: int = 0) -> list[Passage]:
    """Passages of a version, from position `first` on; equal text at the same position is the same passage."""
    return [
        Passage(
            id=passage_id(of.id, sha256(f"{text}@{position}"), 0),
            document_id=of.id,
            version_id=version(of, content),
            index=position,
            text=text,
            start=position * 100,
            end=position * 100 + len(text),
            content_hash=sha256(text),
            token_count=len(text.split()),
            title=of.title,
            url=of.url,
            external_id=of.external_id,
            section_path=("Part", text),
            metadata=of.metadata,
        )
        for position, text in enumerate(texts, first)
    ]


async def publish(catalog: Catalog, of: Document, content: str, texts: Sequence[str]) -> list[Passage]:
    """Take a version in, from begin to switch."""
    made = passages(of, content, texts)
    await catalog.documents.begin([(of, version(of, content))])
    missing = await catalog.passages.stage(made, INDEX)
    await catalog.passages.mark_indexed(missing, INDEX)
    await catalog.documents.switch([version(of, content)])
    return made


async def observe(catalog: Catalog) -> dict[str, object]:
    """All that the port tells of every scope, less the times that the catalog itself takes."""
    seen: dict[str, object] = {"collections": await catalog.collections.everywhere()}
    for scope in (HERE, THERE):
        listed = await catalog.documents.page(scope)
        archived = await catalog.documents.page(scope, status=DocumentStatus.ARCHIVED)
        timeless = [replace(document, created_at=None, ingested_at=None) for document in listed + archived]
        seen[f"documents of {scope}"] = timeless
        seen[f"retired in {scope}"] = await catalog.documents.retired(scope)
        seen[f"building in {scope}"] = await catalog.jobs.building(scope)
        seen[f"staged in {scope}"] = await catalog.passages.staged(scope)
        seen[f"visible in {scope}"] = [p async for batch in catalog.passages.scan(scope, 2) for p in batch]
    seen["dead"] = await catalog.passages.dead(100)
    seen["unfinished"] = await catalog.jobs.unfinished()
    return seen


Step = Callable[[Catalog], Awaitable[object]]


def life() -> list[Step]:
    """Transactions in which documents are taken in, replaced, fail, are deleted, swept and taken in again.

    After each the catalog is in another state, so that what a kill leaves behind shows how many of them happened.
    """
    one, two = document("one"), document("two")
    renamed = replace(one, title="One, again", file_hash=sha256("new"))
    first, second, other = version(one, "1"), version(one, "2"), version(two, "1")
    old, new = passages(one, "1", ["a", "b", "c"]), passages(renamed, "2", ["a", "B"])
    return [
        lambda c: c.collections.put(collection()),
        lambda c: c.documents.begin([(one, first)]),
        lambda c: c.passages.stage(old, INDEX),
        lambda c: c.documents.set_status([first], DocumentStatus.EMBEDDING),
        lambda c: c.documents.begin([(two, other)]),
        lambda c: c.passages.stage(passages(two, "1", ["x"]), INDEX),
        lambda c: c.documents.switch([first, other]),
        lambda c: c.documents.begin([(renamed, second)]),
        lambda c: c.passages.stage(new, INDEX),
        lambda c: c.documents.switch([second]),
        lambda c: c.passages.forget([first]),
        lambda c: c.documents.retire(HERE, [two.id]),
        lambda c: c.documents.archive(HERE, [two.id]),
        lambda c: c.documents.begin([(two, other)]),
        lambda c: c.documents.fail(other, "The disk was on fire."),
        lambda c: c.documents.begin([(two, other)]),
        lambda c: c.documents.switch([other]),
        lambda c: c.collections.delete(HERE),
    ]
