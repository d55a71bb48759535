"""Nodes as documents of one passage each, or of several where the text is longer than the model's window: so vectors,
keywords, visibility, sweep and check are those of all.

The document's id and version follow from the node's content: indexing the same node twice changes nothing, and a run
that was broken off finds its own traces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from kedge.core.ids import document_id, passage_id, sha256, stable_json, version_id
from kedge.core.values import Document, DocumentStatus, Json, Passage, Scope
from kedge.ingest.batch import Target, as_points
from kedge.ingest.write.remove import delete_documents, sweep
from kedge.kinds.graphs.naming import readable
from kedge.kinds.graphs.pieces import pieces
from kedge.models.ports import Embedder
from kedge.stores.bundle import Stores
from kedge.stores.graph.nodes import Node
from kedge.text.iso639 import language_of

FORMAT = "node"
MAX_TEXT_CHARS = 8000
"""Of a node's title and text together that are embedded and found (G-02, G-23)."""
TEXTS = 1
"""Raised when the text of a node is made otherwise, so that reconciling indexes all of them again."""
_SCHEME = "node:"


class Indexed(NamedTuple):
    """What an indexing did."""

    written: int
    unchanged: int


def node_url(node: str) -> str:
    """A node as the catalog's documents know it."""
    return _SCHEME + node


def node_of(url: str) -> str:
    """The node behind a document's url."""
    return url.removeprefix(_SCHEME)


def node_text(node: Node) -> str:
    """Description and properties; the name where there is nothing else. The title stands before it when embedded.

    >>> node_text(Node("p1", "Product", "Chai", "A tea.", properties={"unitPrice": 18}))
    'A tea.\\nunitPrice: 18'
    """
    lines = [node.description.strip(), *_lines(node.properties)]
    text = "\n".join(line for line in lines if line) or readable(node.title or node.id)
    return text[: max(0, MAX_TEXT_CHARS - len(node.title or node.id) - 1)]


def property_line(name: str, value: Json) -> str:
    """One property as it stands in a node's text."""
    shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{name}: {' '.join(shown.split())}"


def _lines(properties: Mapping[str, Json]) -> Iterable[str]:
    for name, value in properties.items():
        if value is not None and value != "" and not isinstance(value, dict):
            yield property_line(name, value)


def fingerprint(node: Node, embedder: Embedder) -> str:
    """Hash of all that decides a node's passage; another one means that the index is stale."""
    content: dict[str, Json] = {
        "title": node.title,
        "type": node.type,
        "text": node_text(node),
        "metadata": _told(node),
        "window": embedder.window,
        "texts": TEXTS,
    }
    spans = _spans(node, embedder)
    if len(spans) > 1:
        content["pieces"] = len(spans)
    return sha256(stable_json(content))


def _payload(node: Node) -> dict[str, Json]:
    """What filters see: what the node tells of itself, and when it was made and changed, as seconds since 1970."""
    times = {"created_at": node.created_at, "updated_at": node.updated_at}
    return {**_told(node), **{name: None if at is None else at.timestamp() for name, at in times.items()}}


def _told(node: Node) -> dict[str, Json]:
    """The properties that are plain values, and node_id and node_type (G-03)."""
    plain: dict[str, Json] = {
        name: value for name, value in node.properties.items() if isinstance(value, str | int | float | bool)
    }
    return {**plain, "node_id": node.id, "node_type": node.type}


async def index(target: Target, nodes: Sequence[Node], *, force: bool = False) -> Indexed:
    """Make these nodes findable; those whose index is current are passed over, unless forced."""
    stores, scope, embedder = target.stores, target.collection.scope, target.embedder
    known = await stores.catalog.documents.find(scope, [node_url(node.id) for node in nodes])
    hashes = {node.id: fingerprint(node, embedder) for node in nodes}
    changed = [node for node in nodes if force or not _current(known.get(node_url(node.id)), hashes[node.id])]
    if not changed:
        return Indexed(0, len(nodes))
    now = datetime.now(UTC)
    rules = await stores.catalog.rights.rules(scope)
    made = [_document(scope, node, hashes[node.id], now) for node in changed]
    documents = [replace(one, readers=rules.get(node.type)) for one, node in zip(made, changed, strict=True)]
    salt = f":{now.isoformat()}" if force else ""
    versions = [version_id(document.id, f"{document.file_hash}{salt}") for document in documents]
    await stores.catalog.documents.begin(list(zip(documents, versions, strict=True)))
    target.on_step("begun")
    passages = _passages(documents, versions, changed, embedder)
    missing = set(await stores.catalog.passages.stage(passages, target.collection.index_name))
    target.on_step("staged")
    pending = [passage for passage in passages if force or passage.id in missing]
    await _embed(target, pending, versions)
    await stores.catalog.documents.switch(versions)
    target.on_step("switched")
    if known:  # former versions of these
        await sweep(stores, target.on_step, scope)
    return Indexed(len(changed), len(nodes) - len(changed))


async def _embed(target: Target, passages: Sequence[Passage], versions: Sequence[str]) -> None:
    if not passages:
        return
    vectors = await target.embedder.embed([passage.embed_text for passage in passages])
    target.on_step("embedded")
    name = target.collection.index_name
    readers = await target.stores.catalog.rights.expected(versions)
    await target.stores.vectors.upsert(name, target.collection.scope.tenant, as_points(passages, vectors, readers))
    target.on_step("vectors written")
    await target.stores.catalog.passages.mark_indexed([passage.id for passage in passages], name)


async def unindex(stores: Stores, scope: Scope, nodes: Sequence[str]) -> None:
    """Nothing of these nodes is found any more."""
    if nodes:
        await delete_documents(stores, scope, [document_id(scope, node_url(node)) for node in nodes])


def _current(document: Document | None, wanted: str) -> bool:
    return document is not None and document.live_version is not None and document.file_hash == wanted


def _document(scope: Scope, node: Node, file_hash: str, now: datetime) -> Document:
    url = node_url(node.id)
    return Document(
        id=document_id(scope, url),
        scope=scope,
        url=url,
        external_id=node.id,
        title=node.title or node.id,
        format=FORMAT,
        status=DocumentStatus.PENDING,
        file_hash=file_hash,
        file_size=len(node_text(node).encode()),
        metadata=_payload(node),
        updated_at=node.updated_at or now,
    )


def _passages(
    documents: Sequence[Document], versions: Sequence[str], nodes: Sequence[Node], embedder: Embedder
) -> list[Passage]:
    parts = [
        (document, version, node, place, span)
        for document, version, node in zip(documents, versions, nodes, strict=True)
        for place, span in enumerate(_spans(node, embedder))
    ]
    texts = [node_text(node)[start:end] for _, _, node, _, (start, end) in parts]
    counts = embedder.count_tokens(texts)
    now = datetime.now(UTC)
    made = []
    for (document, version, node, place, (start, end)), text, tokens in zip(parts, texts, counts, strict=True):
        content = _content(node, text, start)
        made.append(
            Passage(
                id=passage_id(document.id, content, 1),
                document_id=document.id,
                version_id=version,
                index=place,
                text=text,
                start=start,
                end=end,
                content_hash=content,
                token_count=tokens,
                title=document.title,
                url=document.url,
                external_id=document.external_id,
                language=language_of(text),
                ingested_at=now,
                document_updated_at=document.updated_at,
                metadata=document.metadata,
            )
        )
    return made


class CitedPiece(NamedTuple):
    """Where a part of a node's text is in the index, whether it is there yet or not."""

    document_id: str
    passage_id: str
    start: int
    """Of the passage, in the node's text."""


def cited_piece(scope: Scope, node: Node, embedder: Embedder, at: int = 0) -> CitedPiece:
    """The passage that holds this place of the node's text."""
    return [piece for piece in cited_pieces(scope, node, embedder) if piece.start <= at or not piece.start][-1]


def cited_pieces(scope: Scope, node: Node, embedder: Embedder) -> list[CitedPiece]:
    """All passages of the node, in order."""
    document, text = document_id(scope, node_url(node.id)), node_text(node)
    return [
        CitedPiece(document, passage_id(document, _content(node, text[start:end], start), 1), start)
        for start, end in _spans(node, embedder)
    ]


def _spans(node: Node, embedder: Embedder) -> list[tuple[int, int]]:
    return pieces(node.title or node.id, node_text(node), embedder)


def _content(node: Node, text: str, start: int) -> str:
    place = f"\x1f{start}" if start else ""
    return sha256(f"{node.title or node.id}\x1f{text}\x1f{stable_json(_told(node))}{place}")
