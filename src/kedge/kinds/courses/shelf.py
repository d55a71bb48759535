"""Reading a course: its lessons, a lesson whole and in order, and what stands around a passage (C-11)."""

from __future__ import annotations

from kedge.core.errors import NotFoundError, UsageError
from kedge.core.values import Document, Passage, Scope
from kedge.core.values.filters import Filter, evaluate
from kedge.kinds.courses.edges import place_of
from kedge.kinds.courses.values import Expansion, Lesson, WholeLesson
from kedge.stores.bundle import Stores

PAGE = 1000
DEFAULT_TOKENS = 1200
"""Budget of a context expansion."""
MAX_TOKENS = 20_000


class Shelf:
    """The courses of a set of stores. Everything it shows passes the filter that it is given."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    async def lessons(self, scope: Scope, where: Filter | None = None) -> list[Lesson]:
        """All lessons in the order in which they are taught. NotFoundError for a collection that is no course."""
        await self.require(scope)
        found: list[Lesson] = []
        offset = 0
        while page := await self._stores.catalog.documents.page(scope, limit=PAGE, offset=offset):
            offset += len(page)
            found += [lesson for document in page if (lesson := lesson_of(document)) is not None]
        shown = {lesson.parent_doc_id: lesson for lesson in found if passes(lesson, where)}
        return sorted(shown.values(), key=lambda lesson: lesson.place.order)

    async def lesson(self, scope: Scope, parent_doc_id: str, where: Filter | None = None) -> WholeLesson:
        """One lesson, whole. NotFoundError; a lesson that the filter hides is not found."""
        await self.require(scope)
        while True:
            document = await self._stores.catalog.documents.get(scope.tenant, parent_doc_id)
            lesson = lesson_of(document) if document is not None and document.scope == scope else None
            if lesson is None or not passes(lesson, where):
                raise _no_lesson(scope, parent_doc_id)
            passages = await self._stores.catalog.passages.of_document(scope.tenant, parent_doc_id)
            if {passage.version_id for passage in passages} == {lesson.version_id}:
                return WholeLesson(lesson, tuple(passages))
            # else it was replaced between the two reads

    async def expand(
        self, scope: Scope, passage_id: str, max_tokens: int = DEFAULT_TOKENS, where: Filter | None = None
    ) -> Expansion:
        """What stands around a passage in its lesson: nearest first, what follows before what precedes. NotFoundError.

        The passage itself is always there; its neighbours are taken as long as they fit into the budget.
        """
        if not 1 <= max_tokens <= MAX_TOKENS:
            raise UsageError(
                f"max_tokens must be between 1 and {MAX_TOKENS}.",
                hint=f"Leave it out for {DEFAULT_TOKENS}.",
                details={"max_tokens": max_tokens},
            )
        await self.require(scope)
        while True:
            live = await self._stores.catalog.passages.live(scope, [passage_id])
            here = live.get(passage_id)
            if here is None or (where is not None and not evaluate(where, here.payload())):
                raise NotFoundError(
                    f"There is no passage {passage_id} in {scope.collection!r}.",
                    hint="It may have been edited since: search again.",
                )
            chain = await self._stores.catalog.passages.of_document(scope.tenant, here.document_id)
            if any(one.id == passage_id and one.version_id == here.version_id for one in chain):
                shown = [one for one in chain if where is None or evaluate(where, one.payload())]
                return _around(shown, passage_id, max_tokens, whole=len(chain))
            # else its lesson was replaced between the two reads

    async def require(self, scope: Scope) -> None:
        """NotFoundError for a collection that is not there or no course."""
        collection = await self._stores.catalog.collections.get(scope)
        if collection is None or collection.kind != "course":
            what = "There is no course" if collection is None else f"Collection {scope.collection!r} is no course:"
            raise NotFoundError(
                f"{what} {scope.collection!r}." if collection is None else f"{what} it holds {collection.kind}.",
                hint=f"Make one with: kedge ingest DIR --kind course --collection {scope.collection}",
            )


def lesson_of(document: Document) -> Lesson | None:
    """The lesson that a document is; None when it is none, or nothing of it is visible."""
    place = place_of(document)
    if place is None or document.live_version is None:
        return None
    said = document.metadata
    tier, needs = said.get("hardware_tier"), said.get("prerequisites")
    return Lesson(
        parent_doc_id=document.id,
        place=place,
        title=document.title,
        source_file=str(said.get("source_file", "")),
        hardware_tier=tier if isinstance(tier, int) else 0,
        proficiency_level=str(said.get("proficiency_level", "")),
        layer=str(said.get("layer", "")),
        passages=document.chunk_count,
        version_id=document.live_version,
        needs=tuple(str(item) for item in needs) if isinstance(needs, list) else None,
        fields={**said, "title": document.title, "topic_tag": document.topic_tag, "document_id": document.id},
    )


def passes(lesson: Lesson, where: Filter | None) -> bool:
    """Whether the filter shows the lesson."""
    return where is None or evaluate(where, lesson.fields)


def _around(chain: list[Passage], passage_id: str, budget: int, whole: int) -> Expansion:
    at = next(place for place, passage in enumerate(chain) if passage.id == passage_id)
    first = last = at
    used = chain[at].token_count
    grown = True
    while grown:
        grown = False
        if last + 1 < len(chain) and used + chain[last + 1].token_count <= budget:
            last += 1
            used += chain[last].token_count
            grown = True
        if first > 0 and used + chain[first - 1].token_count <= budget:
            first -= 1
            used += chain[first].token_count
            grown = True
    taken = tuple(chain[first : last + 1])
    return Expansion(passage_id, taken, used, complete=len(taken) == whole)


def _no_lesson(scope: Scope, parent_doc_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no lesson {parent_doc_id} in {scope.collection!r}.",
        hint=f"`kedge course lessons {scope.collection}` shows all.",
    )
