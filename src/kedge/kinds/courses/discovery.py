"""The lessons behind a request: walks folders, reads each front matter and tells lessons from other files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeAlias
from urllib.parse import urlsplit

from kedge.core.errors import LessonError, SourceFault
from kedge.core.settings import Settings
from kedge.core.values import IngestRequest, Scope, SourceError
from kedge.ingest.parse.decode import decode
from kedge.ingest.parse.formats import JSONL_SUFFIX
from kedge.ingest.parse.front_matter import FrontMatter, read_front_matter
from kedge.ingest.sources.discovery import discover, uploaded
from kedge.ingest.sources.source import Source, SourceOptions, source_error, too_large
from kedge.kinds.courses.fields import LessonFields, read_fields
from kedge.kinds.courses.place import Place, book_of, parent_id, place_in_path

MAX_LESSON_BYTES = 8 << 20
SHOWN_FILES = 10
_NO_LESSONS = frozenset(("assets", "images", "image", "img", "static", "media", "figures", "_static"))
_WITH_FRONT_MATTER = ("markdown", "text", None)
_HINT = "A lesson has front matter with module, chapter and lesson, or a number in its name."


@dataclass(frozen=True, slots=True)
class LessonSource(Source):
    """The file of one lesson. Its url names the lesson, so that a renamed file stays the same document."""

    fields: LessonFields = field(default_factory=lambda: LessonFields(Place("", 0, 0)))
    origin: str = ""
    """Where it was read: absolute path, address, or upload."""
    source_file: str = ""
    """Path relative to the course's folder."""
    defaulted: dict[str, list[str]] = field(default_factory=dict, compare=False)
    """Field → files that were read although they do not give it; shared by all lessons of a discovery."""

    @property
    def label(self) -> str:
        return self.source_file


Found: TypeAlias = Source | SourceError
Looked: TypeAlias = Source | SourceError | None


def lesson_url(scope: Scope, place: Place) -> str:
    """Identity of a lesson within its tenant."""
    return f"course:{scope.collection}/{place.module}/{place.chapter}/{place.lesson}"


class CourseDiscovery:
    """Every lesson once, in the order of paths. Files are looked at when they are first asked for."""

    def __init__(self, request: IngestRequest, settings: Settings) -> None:
        self._request = request
        self._options = SourceOptions(format=request.format, metadata=request.metadata)
        self._files = discover(request.sources, settings, self._options)
        self._roots = _roots(request.sources)
        self._items: list[Source | SourceError] | None = None
        self._titles: list[str] = []
        self._places: dict[str, str] = {}
        """Url of each lesson → the file it is in."""
        self._present: set[str] = set()
        """Files that were there and could be read."""
        self._failed: set[str] = set()
        self._defaulted: dict[str, list[str]] = {}
        self._passed_over: list[str] = []

    def __iter__(self) -> Iterator[Source | SourceError]:
        yield from self._found()

    def volume(self) -> int:
        return sum(item.size for item in self._found() if isinstance(item, Source))

    def titles(self) -> Iterator[str]:
        self._found()
        yield from self._titles

    def gone(self, url: str) -> bool:
        return url not in self._places

    def gone_from(self, url: str, origin: str) -> bool:
        """A lesson that no file holds any more; one whose file could not be read stays as it was."""
        if url in self._places or origin in self._failed:
            return False
        return origin in self._present or self._files.gone(origin)

    def notes(self) -> list[str]:
        found = [
            f"{name} is not given and taken as {_DEFAULTS[name]} in {_listed(files)}."
            for name, files in sorted(self._defaulted.items())
        ]
        if self._passed_over:
            found.append(f"Passed over, because they are no lessons: {_listed(self._passed_over)}. {_HINT}")
        return found

    # ------------------------------------------------------------ looking at files

    def _found(self) -> list[Source | SourceError]:
        if self._items is None:
            seen = [(file, self._look(file)) for file in self._all()]
            # Files that say which lesson they are come before those that say nothing and might be an overview.
            settled = {at: self._settle(file, item) for at, (file, item) in _surest_first(seen)}
            self._items = [item for at in range(len(seen)) if (item := settled[at]) is not None]
        return self._items

    def _all(self) -> Iterator[Source | SourceError]:
        yield from self._files
        for name, path in self._request.uploads:
            yield uploaded(name, Path(path), options=self._options)

    def _look(self, file: Source | SourceError) -> Source | SourceError | None:
        """The lesson in a file, what is wrong with it, or None for a file that is no lesson."""
        if isinstance(file, SourceError):
            self._failed.add(file.url)
            return file
        try:
            return self._lesson(file)
        except SourceFault as fault:
            self._failed.add(file.url)
            return source_error(file.url, fault)

    def _settle(self, file: Source | SourceError, item: Source | SourceError | None) -> Source | SourceError | None:
        """The lesson, unless another file has its place."""
        if isinstance(item, LessonSource) and item.url in self._places:
            if "lesson" in item.fields.missing:
                self._passed_over.append(item.source_file)
                item = None
            else:
                self._failed.add(item.origin)
                return source_error(item.origin, self._taken(item))
        if isinstance(item, LessonSource):
            self._places[item.url] = item.source_file
            self._titles += [item.title] if item.title else []
        if isinstance(file, Source) and not isinstance(item, SourceError):
            self._present.add(file.url)
        return item

    def _taken(self, lesson: LessonSource) -> LessonError:
        place = lesson.fields.place
        return LessonError(
            f"{lesson.source_file} and {self._places[lesson.url]} are both lesson {place.number} of module "
            f"{place.module}.",
            hint="Give one of them another chapter or lesson in its front matter.",
            details={"file": lesson.source_file, "field": "lesson"},
        )

    def _lesson(self, file: Source) -> LessonSource | None:
        inside = self._inside(file)
        if file.name.lower().endswith(JSONL_SUFFIX) or _NO_LESSONS & {part.lower() for part in inside.parts[:-1]}:
            self._passed_over.append(str(inside))
            return None
        path, front = place_in_path(inside), _front_matter(file)
        if not (front.values or path.overview or path.lesson is not None):
            self._passed_over.append(str(inside))
            return None
        fields = read_fields(str(inside), front.values, path)
        return self._placed(file, inside, fields, front)

    def _placed(self, file: Source, inside: PurePosixPath, fields: LessonFields, front: FrontMatter) -> LessonSource:
        scope = self._request.scope
        return LessonSource(
            url=lesson_url(scope, fields.place),
            external_id=str(inside),
            name=file.name,
            content=file.content,
            size=file.size,
            updated_at=file.updated_at,
            metadata=file.metadata,
            format=file.format,
            title=front.text("title"),
            encoding=file.encoding,
            readers=file.readers,
            document_id=parent_id(book_of(scope), fields.place),
            fields=fields,
            origin=file.url,
            source_file=str(inside),
            defaulted=self._defaulted,
        )

    def _inside(self, file: Source) -> PurePosixPath:
        """The file's path as seen from the course's folder."""
        if not isinstance(file.content, Path) or file.url.startswith("upload:"):
            return PurePosixPath(urlsplit(file.url).path.lstrip("/") if "://" in file.url else file.name)
        path = PurePosixPath(file.url)
        above = [root for root in self._roots if path.is_relative_to(root)]
        deepest = max(above, key=lambda root: len(root.parts), default=None)
        return path.relative_to(deepest) if deepest else PurePosixPath(*path.parts[-3:])


_DEFAULTS = {"module": "main", "chapter": "0", "lesson": "0", "hardware_tier": "1"}


def _surest_first(seen: list[tuple[Found, Looked]]) -> list[tuple[int, tuple[Found, Looked]]]:
    """Numbered; lessons whose number was assumed come last."""
    return sorted(enumerate(seen), key=lambda one: _assumed(one[1][1]))


def _assumed(item: Looked) -> bool:
    return isinstance(item, LessonSource) and "lesson" in item.fields.missing


def _roots(sources: tuple[str, ...]) -> list[PurePosixPath]:
    """The folders that were named: paths of lessons are seen from there."""
    named = [Path(source).expanduser() for source in sources if "://" not in source]
    return [PurePosixPath(path.resolve().as_posix()) for path in named if path.is_dir()]


def _front_matter(file: Source) -> FrontMatter:
    """What the file says about itself, numbers as written. Raises LessonError where it cannot be read."""
    if file.format not in _WITH_FRONT_MATTER:
        return FrontMatter()
    if file.size > MAX_LESSON_BYTES:
        raise too_large(file.name, MAX_LESSON_BYTES)
    front = read_front_matter(decode(file.read(), file.encoding, file.name), as_written=True)
    if front.warning:
        raise LessonError(
            f"{file.name}: {front.warning}",
            hint="Correct the lines between the marks at its head; until then the lesson stays as it was.",
            details={"file": file.name, "field": "front matter"},
        )
    return front


def _listed(files: list[str]) -> str:
    """Names of a few files, and how many more there are."""
    shown = ", ".join(files[:SHOWN_FILES])
    more = len(files) - SHOWN_FILES
    return f"{shown} and {more} more files" if more > 0 else shown


def unpacked(source: Source) -> LessonSource:
    """The source as this kind's discovery made it."""
    if not isinstance(source, LessonSource):
        raise TypeError("a course is made of lessons that CourseDiscovery found")
    return source
