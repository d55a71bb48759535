"""What a document says of itself at its head: who it is from, what kind of document it is, what time it is about.

Read are the lines of its cover (those before its first paragraph of prose), its title, the properties of its file, its
file name and its address. A field that none of them states stays empty: nothing is guessed from the text behind them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import PurePosixPath

from kedge.core.values import BlockKind, Json, Metadata, ParsedDocument
from kedge.core.values.identity import DATED, MAX_PART, ORGANISATION, PERIOD, said_in, tells_nothing
from kedge.text.periods import Period, periods

MAX_COVER = 80
"""Lines of a cover that are read."""
_PROSE = 240
"""Characters of a paragraph whose lines are long: what follows is no cover any more."""
_GIVEN = {
    ORGANISATION: ("organization", "company", "issuer", "publisher"),
    PERIOD: ("reporting_period", "fiscal_period"),
    DATED: ("updated", "last_updated", "effective", "date", "published", "publication_date", "released"),
}
"""Other names under which front matter gives the same."""

_MARKS_BEFORE, _MARKS_AFTER = "#>*_☐☑☒✓✔•|- \t", "#*_| \t"
_CODE = r"(?P<code>(?:\d{2,4}|[A-Z]{1,3}-\d{1,3}|\d{1,3}-[A-Z]{1,3}|[A-Z]{1,2}\d{1,3})(?:/A)?)"
_FORM = re.compile(rf"(?:form|formular|schedule)\s{{1,3}}{_CODE}\b(?!-)", re.IGNORECASE)
_REPORT = (
    "annual quarterly interim half-year half-yearly monthly weekly sustainability accident incident investigation "
    "inspection audit technical progress status final financial management trip impact"
)
_TYPES = re.compile(
    r"\b(?:(?P<minutes>minutes(?:\sof\b|$)|meeting\sminutes)|(?P<agenda>^agenda\b|meeting\sagenda)"
    r"|(?P<release_notes>release\snotes)|(?P<changelog>change\s?log)"
    r"|(?P<press_release>(?:press|media|news)\srelease)|(?P<earnings_release>earnings\srelease)"
    r"|(?P<financial_statements>financial\sstatements)|(?P<prospectus>prospectus$)"
    rf"|(?P<report>(?:{'|'.join(_REPORT.split())})\sreport))\b",
    re.IGNORECASE,
)
_ABOUT_IT = re.compile(r"(?:how|what|why|when|where|writing|guide|about|templates?|example)\b", re.IGNORECASE)
_CAPTION = re.compile(
    r"\(?(?:(?:exact|full|legal)\s){0,2}name\sof\s(?:the\s)?"
    r"(?:registrant|issuer|company|corporation|organi[sz]ation|entity|filer)\b",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"(?:organi[sz]ation|company|issuer|registrant|publisher|published\sby|issued\sby)\s?:\s?(?P<name>\S.{1,80})",
    re.IGNORECASE,
)
_LEGAL = re.compile(
    r"(?:\A|[\s,])(?:Inc|Incorporated|INC|Corp|Corporation|CORPORATION|CORP|Ltd|LTD|Limited|LIMITED|LLC|LLP|plc|PLC|AG|GmbH|SE|"
    r"S\.A|N\.V|B\.V|KGaA|ASA|Oyj|S\.p\.A|Company|COMPANY|e\.V)\.?\Z"
)
_BODY_WORDS = (
    "board council commission agency authority association foundation society institute university committee trust "
    "bank department ministry bureau administration"
)
_BODY = re.compile(rf"(?:the\s)?(?:.{{2,80}}\s)?(?:{'|'.join(_BODY_WORDS.split())})(?:\s(?:of|for)\s.{{2,60}})?", re.I)
_SMALL = frozenset("of the and for & de la des der die und von y et a an on in".split())
_DATE_LABEL = re.compile(
    r"(?:published(?:\son)?|publication\sdate|date(?:\sof\s(?:issue|publication|meeting|release))?|dated|released(?:\son)?"
    r"|release\sdate|issued(?:\son)?|meeting\sdate|held\son|approved(?:\son)?|adopted(?:\son)?|filed(?:\son)?"
    r"|(?:last\s)?(?:updated?|modified|revised)(?:\son)?)\b\s?:?\s?(?=\S)",
    re.IGNORECASE,
)
_FILED = re.compile(r"\b(?:filed|published|released|issued)\son\s(?=\d)", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"/((?:19|20)\d\d)/(\d\d)/(?:(\d\d)/)?")
_SHORT_DATE = re.compile(r"[\s,]{1,3}[\d/.-]{4,10}\Z")


@dataclass(frozen=True, slots=True)
class DocumentIdentity:
    """What a document calls itself beside its title; empty: it does not say."""

    organisation: str = ""
    """Who it is about or from."""
    document_type: str = ""
    """What kind of document it is."""
    period: str = ""
    """The time it reports on, in words."""
    period_end: str = ""
    """The day that this time ends on, as ISO date."""
    dated: str = ""
    """When it was written, published or held, as ISO date or month."""
    file_name: str = ""
    """The name of its file; of a plain note, which has nothing but its title, it stays empty."""

    @property
    def metadata(self) -> dict[str, Json]:
        """What was found, under the names of the fields."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name))}


def identity_of(document: ParsedDocument, name: str, url: str = "", given: Metadata | None = None) -> DocumentIdentity:
    """What the document says of itself, with what was `given` with it in place of what was found."""
    title = " ".join((document.title or "").split())
    said = {**document.metadata, **(given or {})}
    cover = _cover(document)
    about = [text for key in ("subject", "keywords") if (text := said_in(said, key))]
    file = name if PurePosixPath(name).suffix else ""
    stem = PurePosixPath(name).stem.replace("_", " ") if file else ""
    type = said_in(said, "document_type") or _type_in([title, *cover], about, stem)
    paper = any(line.casefold().startswith("abstract") for line in cover)
    organisation = _given(said, ORGANISATION) or ("" if paper else _organisation_in(title, cover, reports=bool(type)))
    time = _time_in(title, cover, about, stem, reports=bool(type))
    words = _given(said, PERIOD)
    if words:
        time = next(iter(periods(words)), None)
    elif time is not None:
        words = str(time)
    ended = time.end_date if time is not None and time.months else None
    day = _given_date(said) or _date_in(title, cover, about, stem, url, reports=bool(type))
    found = DocumentIdentity(
        organisation=organisation[:MAX_PART],
        document_type=type,
        period=words,
        period_end=said_in(said, "period_end") or (ended.isoformat() if ended else ""),
        dated=day,
        file_name="",
    )
    paged = any(block.page is not None for block in document.blocks[:1])
    if found.metadata or paged or (file and tells_nothing(title) and title):
        return DocumentIdentity(**{**found.metadata, "file_name": said_in(said, "file_name") or file})  # type: ignore[arg-type]
    return found


def _cover(document: ParsedDocument) -> list[str]:
    """The lines before the first prose, without their markup."""
    lines: list[str] = []
    for block in document.blocks[:MAX_COVER]:
        if block.kind is BlockKind.CODE or (block.page or 1) > 2 or len(lines) >= MAX_COVER:
            break
        if block.kind is BlockKind.TABLE:
            continue
        text = document.text[block.start : block.end]
        rows = [row for row in text[:4000].splitlines() if row.strip()]
        if len(text) > _PROSE and rows and len(text) / len(rows) > 60:
            break
        lines.extend(plain for row in rows if (plain := _plain(row)))
    return lines[:MAX_COVER]


def _plain(row: str) -> str:
    return " ".join(row.lstrip(_MARKS_BEFORE).rstrip(_MARKS_AFTER).split())


# ---------------------------------------------------------------------------------------------------- type


def _type_in(lines: Sequence[str], about: Sequence[str], stem: str) -> str:
    for text in (*lines, *about):
        form = _FORM.match(text) if text in lines else _FORM.search(text)
        if form and (len(text.split()) <= 8 or text in about):
            code = form["code"].upper()
            return f"Form {code}" if code.isdigit() else code
    for line in (*lines, stem):
        found = _TYPES.search(line)
        if found and len(line.split()) <= 15 and not _ABOUT_IT.match(line) and _stands_out(found, line):
            kind = str(found.lastgroup)
            return " ".join(found.group().lower().split()) if kind == "report" else kind.replace("_", " ")
    return ""


def _stands_out(found: re.Match[str], line: str) -> bool:
    """Whether the words begin the line or end it but for a time: elsewhere they are only spoken of."""
    if line.endswith(".") or ". " in line:
        return False  # a sentence
    rest = line[found.end() :].strip(" :,–—-|")
    return found.start() == 0 or not rest or any(one.start <= 8 for one in periods(rest))


# ---------------------------------------------------------------------------------------------------- organisation


def _organisation_in(title: str, cover: Sequence[str], *, reports: bool) -> str:
    return (
        next(_captioned(cover), "")
        or next((found["name"].strip() for line in cover if (found := _LABELLED.fullmatch(line))), "")
        or next((name for line in (title, *cover) if (name := _firm(line))), "")
        or (next((line for line in cover if _is_body(line)), "") if reports else "")
    )


def _captioned(cover: Sequence[str]) -> Iterator[str]:
    """Names with a caption under or behind them that says so: `(Exact name of registrant as specified …)`."""
    for place, line in enumerate(cover):
        caption = _CAPTION.search(line)
        if caption:
            before = line[: caption.start()].strip(" (") or (cover[place - 1] if place else "")
            if 1 <= len(before.split()) <= 12 and before[:1].isalnum():
                yield before


def _firm(line: str) -> str:
    """The name of a firm that is all there is in a line, but for a date."""
    name = _SHORT_DATE.sub("", line).strip()
    legal = _LEGAL.search(name)
    words = name.split()
    if legal is None or not 2 <= len(words) <= 8 or words[0].lower() in ("our", "this"):
        return ""
    named = all(word[:1].isupper() or word.lower().strip(",.") in _SMALL or word == "plc" for word in words)
    return name if named and name[: legal.start()].strip(" ,").lower() not in ("", "the") else ""


def _is_body(line: str) -> bool:
    words = line.split()
    named = all(word[:1].isupper() or word.lower() in _SMALL for word in words)
    return 2 <= len(words) <= 10 and named and _BODY.fullmatch(line) is not None and not _TYPES.search(line)


# ---------------------------------------------------------------------------------------------------- time


def _time_in(title: str, cover: Sequence[str], about: Sequence[str], stem: str, *, reports: bool) -> Period | None:
    """The time a report covers: as its cover words it, else as title, properties or file name do."""
    stated = [one for line in cover if len(line) <= 200 for one in periods(line) if one.months and one.year]
    ended = [one for one in stated if one.month is not None]
    if ended and (reports or len(ended) == 1):
        return ended[0]
    if not reports:
        return None
    beside = [one for text in (title, *about, stem) for one in periods(text) if one.year]
    whole = [one for one in (*beside, *stated) if one.months]
    if whole:
        return whole[0]
    return next((one for one in beside if one.month is None), None)


def _date_in(title: str, cover: Sequence[str], about: Sequence[str], stem: str, url: str, *, reports: bool) -> str:
    for line in cover:
        label = _DATE_LABEL.match(line)
        if label and len(line) <= 120 and (day := _first_date(line[label.end() :], within=3)):
            return day
    for line in cover:
        if len(line) <= 100 and (day := _first_date(line, within=2, share=0.4)):
            return day
    for text in about:
        if (filed := _FILED.search(text)) and (day := _first_date(text[filed.end() :], within=0)):
            return day
    if reports and (day := _first_date(title)):
        return day
    named = [one for one in periods(stem) if one.day is not None and one.year is not None]
    if named:
        return _iso(named[0])
    place = _IN_ADDRESS.search(url) if "://" in url else None
    return "-".join(part for part in place.groups() if part) if place else ""


def _first_date(text: str, *, within: int | None = None, share: float = 1.0) -> str:
    """The first month or day of a year, at the text's start (`within` so many characters) or as most of it."""
    for one in periods(text):
        if one.year is None or one.month is None or one.months:
            continue
        if within is None or one.start <= within or (one.end - one.start) >= share * len(text):
            return _iso(one)
    return ""


def _iso(one: Period) -> str:
    return f"{one.year:04d}-{one.month:02d}" + (f"-{one.day:02d}" if one.day is not None else "")


# ---------------------------------------------------------------------------------------------------- given


def _given(said: Metadata, key: str) -> str:
    return next((value for name in (key, *_GIVEN[key]) if (value := said_in(said, name))), "")


def _given_date(said: Metadata) -> str:
    own = said_in(said, DATED)
    if own:
        return own
    return next((day for name in _GIVEN[DATED] if (day := _first_date(said_in(said, name), within=0))), "")
