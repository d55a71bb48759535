"""A course in memory that is edited at random, written to a folder, and compared with what Kedge shows of it."""

from __future__ import annotations

import hashlib
import random
import shutil
import uuid
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from kedge.core.moving import MOVING
from kedge.core.values import Job, Passage, Scope
from kedge.core.values.filters import And, Eq, In, Range, evaluate
from kedge.engine.engine import Engine
from kedge.kinds.courses.values import Lesson, WholeLesson

WORDS = "anchor ballast capstan davit estuary fairlead galley halyard inlet jetty keel lagoon mast narrows".split()
LEVELS = ("A1", "A2", "B1", "B2", "C1", "C2")
MODULES = ("1", "2", "ros2")


@dataclass(frozen=True)
class LessonModel:
    """One lesson file."""

    file: str
    module: str
    chapter: int
    lesson: int
    title: str
    sections: tuple[str, ...]
    tier: int | None = None
    level: str | None = None
    layer: str | None = None
    needs: tuple[str, ...] | None = None

    @property
    def place(self) -> tuple[str, int, int]:
        return self.module, self.chapter, self.lesson

    def text(self) -> str:
        """The file."""
        head = [f"module: {self.module}", f"chapter: {self.chapter}", f"lesson: {self.lesson}", f"title: {self.title}"]
        optional = {"hardware_tier": self.tier, "proficiency_level": self.level, "layer": self.layer}
        head += [f"{name}: {value}" for name, value in optional.items() if value is not None]
        head += [f"prerequisites: [{', '.join(self.needs)}]"] if self.needs is not None else []
        body = "\n\n".join(f"## Part {name}" for name in self.sections)
        return "---\n" + "\n".join(head) + f"\n---\n\n# {self.title}\n\n{body}\n"


@dataclass
class CourseModel:
    """All files of a course, and how they are edited."""

    rng: random.Random
    files: dict[str, LessonModel] = field(default_factory=dict)
    made: int = 0

    def start(self) -> None:
        for _ in range(self.rng.randint(2, 5)):
            self._insert()

    def edit(self) -> str:
        """One random change; returns its name."""
        kinds = [self._insert, self._delete, self._rename, self._edit, self._reorder, self._swap, self._fields]
        kinds += [self._needs, self._repeat, self._nothing]
        change = self.rng.choice(kinds)
        change()
        return change.__name__.lstrip("_")

    def write(self, folder: Path) -> None:
        """Make the folder hold exactly these files."""
        shutil.rmtree(folder, ignore_errors=True)
        for lesson in self.files.values():
            path = folder / lesson.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(lesson.text(), "utf-8")
        folder.mkdir(exist_ok=True)

    # ------------------------------------------------------------ changes

    def _insert(self) -> None:
        taken = {lesson.place for lesson in self.files.values()}
        place = next(p for _ in range(1000) if (p := self._place()) not in taken)
        self.made += 1
        name = f"module-{place[0]}/{self.rng.choice(WORDS)}-{self.made}.md"
        sections = tuple(self._section() for _ in range(self.rng.randint(1, 4)))
        title = f"{self.rng.choice(WORDS).title()} {self.made}"
        self.files[name] = self._described(LessonModel(name, *place, title, sections))

    def _delete(self) -> None:
        if len(self.files) > 1:
            del self.files[self._one()]

    def _rename(self) -> None:
        old = self._one()
        self.made += 1
        new = f"moved/{self.rng.choice(WORDS)}-{self.made}.md"
        self.files[new] = replace(self.files.pop(old), file=new)

    def _edit(self) -> None:
        name = self._one()
        sections = list(self.files[name].sections)
        at = self.rng.randrange(len(sections))
        what = self.rng.random()
        if what < 0.4:
            sections[at] = self._section()
        elif what < 0.7 or len(sections) == 1:
            sections.insert(at, self._section())
        else:
            sections.pop(at)
        self.files[name] = replace(self.files[name], sections=tuple(sections))

    def _reorder(self) -> None:
        name = self._one()
        sections = list(self.files[name].sections)
        self.rng.shuffle(sections)
        self.files[name] = replace(self.files[name], sections=tuple(sections))

    def _repeat(self) -> None:
        """The same section twice in a lesson."""
        name = self._one()
        sections = self.files[name].sections
        again = self.rng.choice(sections)
        self.files[name] = replace(self.files[name], sections=(*sections, again))

    def _swap(self) -> None:
        """Two lessons exchange their numbers."""
        first, second = self._one(), self._one()
        one, other = self.files[first], self.files[second]
        self.files[first] = replace(one, module=other.module, chapter=other.chapter, lesson=other.lesson)
        self.files[second] = replace(other, module=one.module, chapter=one.chapter, lesson=one.lesson)

    def _fields(self) -> None:
        name = self._one()
        self.files[name] = self._described(self.files[name])

    def _needs(self) -> None:
        name = self._one()
        here = self.files[name]
        others = [one for one in self.files.values() if one.module == here.module and one is not here]
        chosen = self.rng.sample(others, min(len(others), self.rng.randint(0, 2)))
        needs = tuple(f"{one.chapter}.{one.lesson}" for one in chosen)
        self.files[name] = replace(here, needs=self.rng.choice([needs, needs, None]))

    def _nothing(self) -> None:
        """No change at all."""

    # ------------------------------------------------------------ parts

    def _one(self) -> str:
        return self.rng.choice(sorted(self.files))

    def _place(self) -> tuple[str, int, int]:
        return self.rng.choice(MODULES), self.rng.randint(0, 3), self.rng.randint(0, 12)

    def _described(self, lesson: LessonModel) -> LessonModel:
        return replace(
            lesson,
            tier=self.rng.choice([None, 1, 2, 3, 4]),
            level=self.rng.choice([None, *LEVELS]),
            layer=self.rng.choice([None, "L1", "L2", "L3", "L4"]),
        )

    def _section(self) -> str:
        said = " ".join(self.rng.choice(WORDS) for _ in range(self.rng.choice([4, 12, 60])))
        return f"{self.rng.choice(WORDS)}\n\n{said.capitalize()}."


# ---------------------------------------------------------------- comparing


async def check(engine: Engine, scope: Scope, model: CourseModel, job: Job) -> int:
    """Every invariant of C-05, and that all stores hold exactly what the files say. Returns the live passages."""
    assert job.errors == (), job.errors
    assert job.files_processed + job.files_skipped == job.files_discovered == len(model.files), job
    lessons = await engine.kinds.named("course").lessons(scope)
    by_place = {(one.place.module, one.place.chapter, one.place.lesson): one for one in lessons}
    assert by_place.keys() == {one.place for one in model.files.values()}
    assert len({one.parent_doc_id for one in lessons}) == len(lessons)
    live: dict[str, Passage] = {}
    for expected in model.files.values():
        lesson = by_place[expected.place]
        whole = await engine.kinds.named("course").lesson(scope, lesson.parent_doc_id)
        check_lesson(scope, whole, expected)
        assert not live.keys() & {passage.id for passage in whole.passages}
        live |= {passage.id: passage for passage in whole.passages}
        await _check_needs(engine, scope, lesson, model, by_place)
    await _check_indexes(engine, scope, model, live)
    return len(live)


def check_lesson(scope: Scope, whole: WholeLesson, expected: LessonModel) -> None:
    """Chain, parent, ids, counts and fields of one lesson."""
    passages, text = whole.passages, expected.text()
    book = f"{scope.collection}:{expected.module}:{expected.chapter}:{expected.lesson}"
    book = book if scope.tenant == "default" else f"{scope.tenant}/{book}"
    parent = str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{book}:parent"))
    assert whole.lesson.parent_doc_id == parent
    assert len({passage.id for passage in passages}) == len(passages)
    assert len({passage.version_id for passage in passages}) == 1
    assert passages[0].metadata["prev_chunk_id"] is None
    assert passages[-1].metadata["next_chunk_id"] is None
    for before, after in pairwise(passages):
        assert before.metadata["next_chunk_id"] == after.id
        assert after.metadata["prev_chunk_id"] == before.id
        assert before.end <= after.start
    seen: dict[str, int] = {}
    for index, passage in enumerate(passages):
        meta = passage.metadata
        digest = hashlib.sha256(passage.text.encode()).hexdigest()
        seen[digest] = seen.get(digest, 0) + 1
        again = f":{seen[digest]}" if seen[digest] > 1 else ""
        assert passage.id == str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{book}:{digest[:16]}{again}"))
        assert passage.text == text[passage.start : passage.end]
        assert len(passage.text.strip()) >= 10
        assert (passage.index, meta["total_chunks"], meta["parent_doc_id"]) == (index, len(passages), parent)
        assert meta["content_hash"] == passage.content_hash == digest
        assert meta["source_file_hash"] == hashlib.sha256(text.encode()).hexdigest()
        assert meta["source_file"] == expected.file
        place = meta["book_id"], meta["module"], meta["chapter"], meta["lesson"]
        assert place == (scope.collection, *expected.place)
        codes = meta["hardware_tier"], meta["proficiency_level"], meta["layer"]
        assert codes == (expected.tier or 1, expected.level or "A2", expected.layer or "L1")
        assert (meta["word_count"], meta["char_count"]) == (len(passage.text.split()), len(passage.text))
        assert isinstance(meta["version"], int)
        assert meta["version"] >= 1
    said = "".join("".join(passage.text.split()) for passage in passages)
    assert said == "".join(text.partition("\n---\n")[2].split()), "a part of the lesson is in no passage"


async def _check_needs(
    engine: Engine, scope: Scope, lesson: Lesson, model: CourseModel, known: dict[tuple[str, int, int], Lesson]
) -> None:
    expected = next(one for one in model.files.values() if one.place == (*known_place(lesson),))
    found = await engine.kinds.named("course").prerequisites(scope, lesson.parent_doc_id)
    if expected.needs is None:
        earlier = [place for place in known if place[0] == expected.module and place < expected.place]
        wanted = {known[max(earlier)].parent_doc_id} if earlier else set()
    else:
        numbers = [(expected.module, *(int(part) for part in need.split("."))) for need in expected.needs]
        wanted = {known[place].parent_doc_id for place in numbers if place in known and place != expected.place}
    assert set(found.direct) == wanted
    for need in found.needed:
        assert need.path[0].parent_doc_id == lesson.parent_doc_id
        assert need.path[-1].parent_doc_id == need.lesson.parent_doc_id


def known_place(lesson: Lesson) -> tuple[str, int, int]:
    """Of a lesson that Kedge shows, as the model writes places."""
    return lesson.place.module, lesson.place.chapter, lesson.place.lesson


async def _check_indexes(engine: Engine, scope: Scope, model: CourseModel, live: dict[str, Passage]) -> None:
    """Vectors and graph hold the live passages and nothing else, and the compiled filters see the live fields."""
    collection = await engine.collection(scope)
    index, vectors = collection.index_name, engine.stores.vectors
    held = {key async for batch in vectors.ids(index, scope.tenant) for key in batch}
    assert held == live.keys()
    assert {key async for batch in engine.stores.graph.passage_ids(scope) for key in batch} == live.keys()
    assert await vectors.count(index, scope.tenant, Eq(MOVING, True)) == 0
    tier = model.rng.randint(1, 4)
    levels = tuple(model.rng.sample(LEVELS, 2))
    chapters = sorted((model.rng.randint(0, 3), model.rng.randint(0, 3)))
    one = model.rng.choice(list(live.values()))
    for where in (
        Range("hardware_tier", lte=tier),
        And((Range("chapter", gte=chapters[0], lte=chapters[1]), In("proficiency_level", levels))),
        And(
            (
                Eq("book_id", scope.collection),
                Eq("module", str(one.metadata["module"])),
                Range("hardware_tier", lte=tier),
            )
        ),
        Eq("parent_doc_id", str(one.metadata["parent_doc_id"])),
        Eq("source_file_hash", str(one.metadata["source_file_hash"])),
        And((Eq("content_hash", one.content_hash), Range("lesson", gte=0))),
        Eq("layer", str(one.metadata["layer"])),
    ):
        expected = sum(evaluate(where, passage.payload()) for passage in live.values())
        assert await vectors.count(index, scope.tenant, where) == expected, where
