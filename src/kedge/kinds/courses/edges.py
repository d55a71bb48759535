"""Prerequisites as edges of the graph: a lesson PREREQUISITE→ what must be known before it.

An edge is stated by a version of the lesson (`ids.statement_id`), so it counts exactly while that version is live. It
leads to a lesson, a chapter or a module by its number, or to a name, which is looked up among the lessons' titles when
the edge is read: the other lesson may come later, or be renamed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kedge.core.ids import statement_id
from kedge.core.values import Concept, Document, GraphBatch, Predicate, Triple
from kedge.kinds.courses.place import Place, module_key, module_name
from kedge.text.concepts import concept_key

MAX_RANGE = 40
_WORD = r"(?:lessons?|lektion|lec(?:ture)?s?)"
_MODULE = r"(?:module|mod|part|m)[-_ .]*(?P<module>\d{1,6})"
_DASH = r"\s*(?:-|–|—|to|through)\s*"
_ONE = re.compile(rf"(?:{_WORD}\s*)?(?P<chapter>\d+)\.(?P<lesson>\d+)", re.IGNORECASE)
_RANGE = re.compile(rf"(?:{_WORD}\s*)?(\d+)\.(\d+){_DASH}(\d+)\.(\d+)", re.IGNORECASE)
_THREE = re.compile(r"(?P<module>[\w-]+)[/:.](?P<chapter>\d+)[/.](?P<lesson>\d+)")
_IN_MODULE = re.compile(
    rf"{_MODULE}[\s,:/›>-]*(?:{_WORD}\s*)?(?P<chapter>\d{{1,6}})\.(?P<lesson>\d{{1,6}})"
    rf"|(?:{_WORD}\s*)?(?P<chapter2>\d+)\.(?P<lesson2>\d+)[\s,]*(?:of|in|\()\s*"
    rf"{_MODULE.replace('module>', 'module2>')}\)?",
    re.IGNORECASE,
)
_WHOLE_MODULE = re.compile(rf"{_MODULE}", re.IGNORECASE)
_WHOLE_CHAPTER = re.compile(r"(?:chapter|unit|week)[-_ .]*(?P<chapter>\d+)", re.IGNORECASE)
_SAME_CHAPTER = re.compile(rf"(?:{_WORD}\s*)?(?P<lesson>\d+)", re.IGNORECASE)


def chapter_key(module: str, chapter: int) -> str:
    """Of a chapter's node in the graph."""
    return f"chapter:{module}/{chapter}"


def name_key(name: str) -> str:
    """Of a node that is known by its name alone."""
    return f"name:{concept_key(name)}"


def place_of(document: Document) -> Place | None:
    """Where a document stands in its course; None for one that is no lesson."""
    module, chapter, lesson = (document.metadata.get(name) for name in ("module", "chapter", "lesson"))
    if isinstance(module, str) and isinstance(chapter, int) and isinstance(lesson, int):
        return Place(module, chapter, lesson)
    return None


def relations_of(documents: Mapping[str, Document], versions: Mapping[str, str]) -> GraphBatch:
    """What these lessons say about their place and what they need."""
    concepts: dict[str, Concept] = {}
    triples: list[Triple] = []
    for document in documents.values():
        place = place_of(document)
        if place is None:
            continue
        stated = statement_id(versions[document.id])
        needs = document.metadata.get("prerequisites")
        named = [str(item) for item in needs] if isinstance(needs, list) else []
        targets = {key: name for item in named for key, name in keys_of(item, place)}
        concepts[place.key] = Concept(place.key, f"{place.number} {document.title}", category="lesson")
        concepts[module_key(place.module)] = Concept(
            module_key(place.module), f"Module {place.module}", category="module"
        )
        for key, name in targets.items():
            concepts.setdefault(key, Concept(key, name, category=key.partition(":")[0]))
        part_of = Triple(place.key, Predicate.PART_OF, module_key(place.module), 1.0, stated)
        before = [Triple(place.key, Predicate.PREREQUISITE, key, 1.0, stated) for key in targets if key != place.key]
        triples += [part_of, *before]
    return GraphBatch(concepts=tuple(concepts.values()), triples=tuple(triples))


def keys_of(reference: str, place: Place) -> Iterator[tuple[str, str]]:
    """Nodes that a prerequisite names, with their names, as seen from the lesson at this place.

    >>> here = Place("2", 3, 1)
    >>> [key for key, _ in keys_of("2.10", here)], [key for key, _ in keys_of("Module 1", here)]
    (['lesson:2/2/10'], ['module:1'])
    >>> [key for key, _ in keys_of("1.2-1.4", here)]
    ['lesson:2/1/2', 'lesson:2/1/3', 'lesson:2/1/4']
    >>> [key for key, _ in keys_of("ros2/1/4", here)], [key for key, _ in keys_of("Linear algebra", here)]
    (['lesson:ros2/1/4'], ['name:linear algebra'])
    """
    text = reference.strip().strip("\"'[]()")
    through = _RANGE.fullmatch(text)
    if through:
        chapter, first, last_chapter, last = (int(number) for number in through.groups())
        if chapter == last_chapter and first <= last < first + MAX_RANGE:
            for lesson in range(first, last + 1):
                yield _lesson(place.module, chapter, lesson)
            return
    yield _key_of(text, place)


def _key_of(text: str, place: Place) -> tuple[str, str]:
    found = place_named(text, place)
    if found is not None:
        return _lesson(found.module, found.chapter, found.lesson)
    if module := _WHOLE_MODULE.fullmatch(text):
        name = module_name(module["module"])
        return module_key(name), f"Module {name}"
    if chapter := _WHOLE_CHAPTER.fullmatch(text):
        return chapter_key(place.module, int(chapter["chapter"])), f"Chapter {int(chapter['chapter'])}"
    return name_key(text), text


def place_named(text: str, place: Place) -> Place | None:
    """The place that a text names by numbers alone: `2.8`, `Module 1 lesson 2.8`, `ros2/2/8`, `8`."""
    if one := _ONE.fullmatch(text):
        return Place(place.module, int(one["chapter"]), int(one["lesson"]))
    if inside := _IN_MODULE.fullmatch(text):
        chapter, lesson = inside["chapter"] or inside["chapter2"], inside["lesson"] or inside["lesson2"]
        return Place(module_name(inside["module"] or inside["module2"]), int(chapter), int(lesson))
    if three := _THREE.fullmatch(text):
        return Place(module_name(three["module"]), int(three["chapter"]), int(three["lesson"]))
    if same := _SAME_CHAPTER.fullmatch(text):
        return Place(place.module, place.chapter, int(same["lesson"]))
    return None


def _lesson(module: str, chapter: int, lesson: int) -> tuple[str, str]:
    place = Place(module, chapter, lesson)
    return place.key, f"Lesson {place.number}"
