"""Graphs as the actor in force may see them: the concept graph by its passages, users' graphs by the types of nodes.

The calls are wrapped on the stores themselves, as `engine.watching` does it, so that what a store can do stays the
same and nothing that is handed one can pass by. With no actor in force, or one who may read all, nothing is changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from kedge.core.acting import actor
from kedge.core.values import Concept, Passage, Role, Scope, Triple
from kedge.stores.catalog.ports import Catalog
from kedge.stores.graph.nodes import Counts, Edge, Node, NodeStore, Relation
from kedge.stores.graph.reads import CanReadTriples, CanSearchPreviews
from kedge.stores.graph.taken import id_taken, taken_ids
from kedge.stores.narrowing import ReadEdges, asked_of, narrowed_to
from kedge.stores.ports import ConceptHit, GraphEdge, GraphStore
from kedge.text.concepts import name_within

MOST = 100
"""Mentions of a concept that are looked at to count those that may be read; a concept with more keeps its count."""
DEEPER = 4
"""So many times more is asked for where some of what is found may have to be left out."""
LIKELY = 3
"""So many times more of it is looked at first."""
PAGE = 500
EVERY = 1_000_000


def narrow_graph(graph: GraphStore, catalog: Catalog) -> None:
    """From here on the store shows each actor no more than it may read."""
    seen = _SeenConcepts(graph, catalog)
    names = ["concepts_by_key", "concepts_of", "passages_of", "about", "search_concepts", "search_meant"]
    names += ["triples_of"] if isinstance(graph, CanReadTriples) else []
    names += ["search_chunks"] if isinstance(graph, CanSearchPreviews) else []
    _install(graph, seen, names)


def narrow_nodes(nodes: NodeStore, catalog: Catalog) -> None:
    """The same for the graphs of users."""
    names = ("put", "nodes", "edges", "page", "edge_page", "named", "relations", "follow", "count")
    _install(nodes, _SeenNodes(nodes, catalog), names)


def _install(store: object, seen: object, names: Sequence[str]) -> None:
    for name in names:
        setattr(store, name, getattr(seen, name))


class _SeenConcepts:
    """The reads of a concept graph."""

    def __init__(self, graph: GraphStore, catalog: Catalog) -> None:
        self._catalog = catalog
        self._by_key = graph.concepts_by_key
        self._of = graph.concepts_of
        self._passages = graph.passages_of
        self._about = graph.about
        self._search = graph.search_concepts
        self._triples = graph.triples_of if isinstance(graph, CanReadTriples) else None
        self._chunks = graph.search_chunks if isinstance(graph, CanSearchPreviews) else None

    async def concepts_by_key(self, scope: Scope, keys: Sequence[str]) -> list[ConceptHit]:
        found = await self._by_key(scope, keys)
        return await self._counted(scope, found) if found and await self._narrowed(scope) else found

    async def concepts_of(self, scope: Scope, passage_ids: Sequence[str]) -> tuple[list[ConceptHit], list[GraphEdge]]:
        if not await self._narrowed(scope):
            return await self._of(scope, passage_ids)
        seen = await self._visible(scope, passage_ids)
        concepts, edges = await self._of(scope, [one for one in passage_ids if one in seen])
        shown = await self._counted(scope, concepts)
        kept = {one.id for one in shown}
        return shown, [edge for edge in await self._seen(scope, edges) if edge.concept_id in kept]

    async def passages_of(self, scope: Scope, concept_ids: Sequence[str], limit: int) -> list[GraphEdge]:
        if not await self._narrowed(scope):
            return await self._passages(scope, concept_ids, limit)
        found = _known((await asked_of(self._catalog, scope)).mentions, concept_ids)
        if found is None:
            found = await self._seen(scope, await self._passages(scope, concept_ids, max(MOST, DEEPER * limit)))
        kept: list[GraphEdge] = []
        taken: dict[str, int] = {}
        for edge in found:
            taken[edge.concept_id] = taken.get(edge.concept_id, 0) + 1
            if taken[edge.concept_id] <= limit:
                kept.append(edge)
        return kept

    async def about(self, scope: Scope, concept_ids: Sequence[str]) -> list[GraphEdge]:
        if not await self._narrowed(scope):
            return await self._about(scope, concept_ids)
        return await self._called(scope, concept_ids)

    async def search_concepts(self, scope: Scope, text: str, limit: int) -> list[Concept]:
        if not await self._narrowed(scope):
            return await self._search(scope, text, limit)
        return await self._shown(scope, await self._search(scope, text, DEEPER * limit), limit)

    async def search_meant(
        self, scope: Scope, text: str, limit: int, meant: Callable[[Concept], bool]
    ) -> list[Concept]:
        if not await self._narrowed(scope):
            return [one for one in await self._search(scope, text, limit) if meant(one)]
        found = await self._search(scope, text, DEEPER * limit)
        if not any(map(meant, found)):
            return []
        return [one for one in await self._shown(scope, found, limit) if meant(one)]

    async def _shown(self, scope: Scope, found: Sequence[Concept], limit: int) -> list[Concept]:
        """The first of these that may be seen, with no more than may be read of them."""
        shown: list[Concept] = []
        for start in range(0, len(found), LIKELY * limit):
            some = found[start : start + LIKELY * limit]
            known = {one.key: one for one in await self.concepts_by_key(scope, [one.key for one in some])}
            said = [known[one.key].id for one in some if one.key in known and (one.aliases or one.description)]
            titled = await self._titled(scope, said)
            shown += [_said_by(titled.get(known[one.key].id, ()), one) for one in some if one.key in known]
            if len(shown) >= limit:
                break
        return shown[:limit]

    async def triples_of(self, scope: Scope, concept_ids: Sequence[str]) -> list[Triple]:
        assert self._triples is not None, "installed where the store has it"
        found = await self._triples(scope, concept_ids)
        if not await self._narrowed(scope):
            return found
        seen = await self._visible(scope, [one.passage_id for one in found])
        return [one for one in found if one.passage_id in seen]

    async def search_chunks(self, scope: Scope, text: str, limit: int) -> list[str]:
        assert self._chunks is not None, "installed where the store has it"
        if not await self._narrowed(scope):
            return await self._chunks(scope, text, limit)
        found = await self._chunks(scope, text, DEEPER * limit)
        seen = await self._visible(scope, found)
        return [one for one in found if one in seen][:limit]

    async def _narrowed(self, scope: Scope) -> bool:
        return actor() is not None and await narrowed_to(self._catalog, scope) is not None

    async def _visible(self, scope: Scope, passage_ids: Iterable[str]) -> set[str]:
        """Those that may be read. Within one search each is asked for once."""
        known = (await asked_of(self._catalog, scope)).visible
        wanted = list(dict.fromkeys(passage_ids))
        unknown = [one for one in wanted if one not in known]
        if unknown:
            seen = await self._catalog.passages.visible(scope, unknown)
            known.update((one, one in seen) for one in unknown)
        return {one for one in wanted if known[one]}

    async def _seen(self, scope: Scope, edges: Sequence[GraphEdge]) -> list[GraphEdge]:
        """Edges of passages that may be read.

        Words in small letters are a concept only because a document is called so: not where that one is hidden.
        """
        seen = await self._visible(scope, (edge.passage_id for edge in edges))
        shown = [edge for edge in edges if edge.passage_id in seen]
        owed = {edge.concept_id for edge in shown if edge.role is Role.GENERIC}
        if not owed:
            return shown
        titled = {edge.concept_id for edge in await self._called(scope, sorted(owed))}
        return [edge for edge in shown if edge.role is not Role.GENERIC or edge.concept_id in titled]

    async def _called(self, scope: Scope, concept_ids: Sequence[str]) -> list[GraphEdge]:
        """Edges to passages that may be read of documents which are called so."""
        read = (await asked_of(self._catalog, scope)).titles
        found = _known(read, concept_ids)
        if found is None:
            edges = await self._about(scope, concept_ids)
            seen = await self._visible(scope, (edge.passage_id for edge in edges))
            found = [edge for edge in edges if edge.passage_id in seen]
            read.append(ReadEdges(frozenset(concept_ids), found))
        return found

    async def _titled(self, scope: Scope, concept_ids: Sequence[str]) -> dict[str, list[Passage]]:
        """By concept: passages that may be read of documents which are called so."""
        edges = await self._called(scope, concept_ids) if concept_ids else []
        wanted = list({edge.passage_id for edge in edges})
        live = await self._catalog.passages.live(scope, wanted) if wanted else {}
        found: dict[str, list[Passage]] = {}
        for edge in edges:
            if edge.passage_id in live:
                found.setdefault(edge.concept_id, []).append(live[edge.passage_id])
        return found

    async def _counted(self, scope: Scope, concepts: Sequence[ConceptHit]) -> list[ConceptHit]:
        """Those that a passage which may be read speaks of, each with the number of such passages.

        What a concept is called may be the title of a document that is hidden, so no more is shown of it than its key,
        which the passages have in their text.
        """
        if not concepts:
            return []
        ids = [concept.id for concept in concepts if concept.degree <= MOST]
        mentions = await self._mentions(scope, ids, [concept.id for concept in concepts])
        passages: dict[str, set[str]] = {}
        for edge in mentions:
            passages.setdefault(edge.concept_id, set()).add(edge.passage_id)
        named = {edge.concept_id for edge in await self._called(scope, ids)} | passages.keys()
        shown = [one for one in concepts if one.id in named or one.degree > MOST]
        degrees = {one.id: one.degree if one.degree > MOST else len(passages.get(one.id, ())) for one in shown}
        return [replace(one, name=name_within(one.key, one.name), degree=degrees[one.id]) for one in shown]

    async def _mentions(self, scope: Scope, ids: Sequence[str], every: Sequence[str]) -> list[GraphEdge]:
        """Edges to the passages that may be read and mention these, which at most `MOST` do.

        Read with what is called like `every` concept, so that the catalog is asked once about the passages of both.
        """
        read = (await asked_of(self._catalog, scope)).mentions
        found = _known(read, ids)
        if found is None:
            edges, titles = await asyncio.gather(self._passages(scope, ids, MOST), self._about(scope, every))
            seen = await self._visible(scope, (edge.passage_id for edge in (*edges, *titles)))
            asked = await asked_of(self._catalog, scope)
            called = [edge for edge in titles if edge.passage_id in seen]
            asked.titles.append(ReadEdges(frozenset(every), called))
            found = await self._seen(scope, edges)
            read.append(ReadEdges(frozenset(ids), found))
        return found


def _known(read: Sequence[ReadEdges], concept_ids: Sequence[str]) -> list[GraphEdge] | None:
    """The edges of these concepts, where one of the reads was of all of them."""
    wanted = set(concept_ids)
    return next((one.of(wanted) for one in read if wanted <= one.concepts), None)


def _said_by(titled: Sequence[Passage], concept: Concept) -> Concept:
    """The concept with no more than its key and these passages say: its other words may be of a hidden document."""
    texts = [" ".join(one.text.split()) for one in titled]
    return replace(
        concept,
        name=name_within(concept.key, concept.name),
        aliases=tuple(alias for alias in concept.aliases if any(alias in one.title for one in titled)),
        description=concept.description if any(concept.description in text for text in texts) else "",
    )


class _SeenNodes:
    """A user's graph without the nodes of types that may not be read, and without their edges."""

    def __init__(self, store: NodeStore, catalog: Catalog) -> None:
        self._catalog = catalog
        self._put, self._nodes, self._edges = store.put, store.nodes, store.edges
        self._page, self._edge_page, self._named = store.page, store.edge_page, store.named
        self._relations, self._follow, self._count = store.relations, store.follow, store.count

    async def _hidden(self, scope: Scope) -> frozenset[str]:
        """Types of nodes that the actor in force may not read."""
        who = actor()
        if who is None:
            return frozenset()
        rules = await self._catalog.rights.rules(scope)
        return frozenset(label for label, readers in rules.items() if label and not who.may_read(readers))

    async def put(self, scope: Scope, nodes: Sequence[Node], edges: Sequence[Edge] = ()) -> None:
        """Like the store. ConflictError for a node or an edge that is there and may not be read: it would be lost."""
        read = (self._nodes, self._edges)
        taken = sorted(await taken_ids(read, scope, await self._hidden(scope), nodes, edges))
        if taken:
            raise id_taken(taken[0])
        await self._put(scope, nodes, edges)

    async def nodes(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        hidden = await self._hidden(scope)
        found = await self._nodes(scope, ids)
        return {key: node for key, node in found.items() if node.type not in hidden} if hidden else found

    async def edges(self, scope: Scope, ids: Sequence[str]) -> dict[str, Edge]:
        found = await self._edges(scope, ids)
        if not await self._hidden(scope):
            return found
        shown = await self._between_seen(scope, list(found.values()))
        return {edge.id: edge for edge in shown}

    async def page(self, scope: Scope, *, type: str | None = None, after: str = "", limit: int = 100) -> list[Node]:
        hidden = await self._hidden(scope)
        kept: list[Node] = []
        while len(kept) < limit:
            found = await self._page(scope, type=type, after=after, limit=limit)
            kept += [node for node in found if node.type not in hidden]
            if len(found) < limit:
                break
            after = found[-1].id
        return kept[:limit]

    async def edge_page(
        self, scope: Scope, *, type: str | None = None, node: str | None = None, after: str = "", limit: int = 100
    ) -> list[Edge]:
        if not await self._hidden(scope):
            return await self._edge_page(scope, type=type, node=node, after=after, limit=limit)
        kept: list[Edge] = []
        while len(kept) < limit:
            found = await self._edge_page(scope, type=type, node=node, after=after, limit=limit)
            kept += await self._between_seen(scope, found)
            if len(found) < limit:
                break
            after = found[-1].id
        return kept[:limit]

    async def named(self, scope: Scope, keys: Sequence[str], limit: int) -> dict[str, list[str]]:
        if not await self._hidden(scope):
            return await self._named(scope, keys, limit)
        found = await self._named(scope, keys, DEEPER * limit)
        seen = await self.nodes(scope, list({one for ids in found.values() for one in ids}))
        shown = {key: [one for one in ids if one in seen][:limit] for key, ids in found.items()}
        return {key: ids for key, ids in shown.items() if ids}

    async def relations(self, scope: Scope, node_ids: Sequence[str]) -> list[Relation]:
        found = await self._relations(scope, node_ids)
        if not await self._hidden(scope):
            return found
        counted: list[Relation] = []
        for one in found:
            ends = await self.follow(scope, [one.node], one.type, outgoing=one.outgoing, limit=EVERY)
            if ends:
                counted.append(one._replace(edges=len(ends)))
        return counted

    async def follow(
        self, scope: Scope, node_ids: Sequence[str], type: str, *, outgoing: bool, limit: int
    ) -> list[tuple[str, str, str]]:
        if not await self._hidden(scope):
            return await self._follow(scope, node_ids, type, outgoing=outgoing, limit=limit)
        found = await self._follow(scope, node_ids, type, outgoing=outgoing, limit=EVERY)
        seen = await self.nodes(scope, list({end for node, _, other in found for end in (node, other)}))
        return [one for one in found if one[0] in seen and one[2] in seen][:limit]

    async def count(self, scope: Scope) -> Counts:
        if not await self._hidden(scope):
            return await self._count(scope)
        nodes = edges = 0
        after = ""
        while page := await self.page(scope, after=after, limit=PAGE):
            nodes, after = nodes + len(page), page[-1].id
        after = ""
        while found := await self.edge_page(scope, after=after, limit=PAGE):
            edges, after = edges + len(found), found[-1].id
        return Counts(nodes, edges)

    async def _between_seen(self, scope: Scope, edges: Sequence[Edge]) -> list[Edge]:
        seen = await self.nodes(scope, list({end for edge in edges for end in (edge.source, edge.target)}))
        return [edge for edge in edges if edge.source in seen and edge.target in seen]
