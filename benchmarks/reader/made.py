"""Made examples of two fields that no open set covers: statements of companies by period, and notes of a team."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from benchmarks.reader.example import Example, restyled
from kedge.text.statements.rows import TableLine, rows

MONTHS = "January February March April May June July August September October November December".split()
LENGTHS = {6: "six", 9: "nine"}
Period = tuple[str, list[str]]
"""A column's header, and ways to ask for it."""


@cache
def words() -> dict[str, Any]:
    """What the examples are made of (`made.toml`)."""
    return tomllib.loads((files("benchmarks.reader") / "made.toml").read_text("utf-8"))


# ------------------------------------------------------------ statements of companies


def companies(random: Random, count: int) -> Iterator[Example]:
    """A figure by item and period; and rows without the item, of other periods, of another company."""
    for _ in range(count):
        yield from _statement(random)


def _day(day: int, month: int, year: int, random: Random) -> str:
    name = MONTHS[month]
    return random.choice(
        (
            f"{name} {day}, {year}",
            f"{day} {name} {year}",
            f"{name[:3]} {day}, {year}",
            f"{name.lower()} {day} {year}",
            f"{name} {year}",
        )
    )


def _periods(random: Random) -> list[Period]:
    month, day, year = random.choice((2, 5, 8, 11)), random.randint(24, 30), random.randint(2003, 2025)
    way = random.random()
    columns: list[Period] = []
    if way < 0.55:
        columns = [_quarter(day, month, one, random) for one in (year, year - 1)]
        length = random.choice((6, 9, 0, 0))
        if length:
            columns += [_long(LENGTHS[length], day, month, one, random) for one in (year, year - 1)]
    elif way < 0.8:
        for one in range(year, year - random.randint(2, 4), -1):
            columns.append((f"{one}", [f"in {one}", f"for {one}", f"in fiscal {one}", f"in the year {one}"]))
    else:
        for one, at in ((year, month), (year - 1, 8 if month != 8 else 11)):
            said = [f"{word} {_day(day, at, one, random)}" for word in ("as of", "at", "on")]
            columns.append((f"{MONTHS[at]} {day}, {one}", [*said, f"at the end of {MONTHS[at]} {one}"]))
    return [*columns, ("Change", [])] if random.random() < 0.35 else columns


def _quarter(day: int, month: int, year: int, random: Random) -> Period:
    name = MONTHS[month]
    said = [
        f"{lead} {_day(day, month, year, random)}"
        for lead in (
            *("in the quarter that ended", "for the quarter ended", "in the three months to"),
            *("in the three months ended", "in the quarter to"),
        )
    ]
    header = f"Three Months Ended {name} {day}, {year}"
    return header, [*said, f"in the {name} {year} quarter", f"for the {name.lower()} {year} quarter"]


def _called(quarter: int, year: int) -> list[str]:
    """How a quarter is asked for whose number the report alone tells."""
    name = ("first", "second", "third", "fourth")[quarter - 1]
    return [
        *(f"in Q{quarter} {year}", f"in q{quarter} of fiscal {year}", f"for Q{quarter} fiscal {year}"),
        *(f"in the {name} quarter of {year}", f"for the {name} quarter of fiscal {year}", f"{name} quarter {year}"),
    ]


def _long(word: str, day: int, month: int, year: int, random: Random) -> Period:
    return f"{word.capitalize()} Months Ended {MONTHS[month]} {day}, {year}", [
        f"in the {word} months to {_day(day, month, year, random)}",
        f"over the first {word} months of {year}",
        f"in the first {word} months of fiscal {year}",
        f"for the {word} months ended {_day(day, month, year, random)}",
    ]


def _figure(random: Random) -> str:
    way = random.random()
    if way < 0.5:
        return f"{random.randint(100, 99999):,}"
    if way < 0.65:
        return f"{random.random() * 9:.2f}"
    if way < 0.75:
        return f"({random.randint(10, 9999):,})"
    return f"{random.random() * 60:.1f}%" if way < 0.85 else f"${random.randint(100, 99999):,}"


def _read(items: list[str], columns: list[Period], figures: list[list[str]], caption: str, unit: str) -> list[str]:
    lines = [" | ".join(header for header, _ in columns)]
    lines += [" | ".join((item, *values)) for item, values in zip(items, figures, strict=True)]
    placed, at = [], 0
    for line in lines:
        placed.append(TableLine(at, line))
        at += len(line) + 1
    return [one.read for one in rows(placed, caption, unit)]


def _statement(random: Random) -> Iterator[Example]:
    data = words()["companies"]
    columns, items = _periods(random), random.sample(data["items"], random.randint(4, 10))
    caption, unit = random.choice(data["captions"]), random.choice(data["units"])
    figures = [[_figure(random) if said else f"{random.randint(-30, 40)}%" for _, said in columns] for _ in items]
    read = _read(items, columns, figures, caption, unit)
    row = random.randrange(len(items))
    column = random.choice([at for at, (_, said) in enumerate(columns) if said])
    header, value = columns[column][0], figures[row][column]
    if len(read) != len(items) or (at := read[row].find(f"{header}: {value}")) < 0:
        return
    company = random.choice(words()["names"]["companies"])
    report = f"{company} · {random.choice(data['reports'])} · {columns[0][0]}"
    identity = random.choice((report, company, ""))
    period = random.choice(columns[column][1])
    quarter = 0
    if column < 2 and columns[1][0].startswith("Three") and random.random() < 0.5:
        quarter, year = random.randint(1, 4), int(columns[column][0][-4:])
        identity = f"{report} · {year + column} Q{quarter} {company[:4].upper()}"
        period = random.choice(_called(quarter, year))
    question = _asked(items[row], company if random.random() < 0.6 else "", period, random)
    low = max(0, min(row - random.randrange(6), len(read) - 6))
    part = read[low : low + random.randint(max(1, row - low + 1), 7)]
    place, start = row - low, at + len(header) + 2
    span = (place, start, start + len(value))
    yield Example(restyled(question, random, 0.15), identity, part, 1, 0, -1, span, {place}, True, "companies")
    way = random.random()
    if quarter and way < 0.5:
        later = f"{report} · {year + column} Q{quarter % 4 + 1} {company[:4].upper()}"
        yield _no(question, later, part, "companies-quarter")
    elif way < 0.25 and len(part) > 1:
        yield _no(question, identity, part[:place] + part[place + 1 :], "companies-row")
    elif way < 0.5:
        other = _periods(random)
        years = set(re.findall(r"\d{4}", " ".join(head for head, _ in other)))
        if not years & set(re.findall(r"\d{4}", header + period)):
            kept = items[low : low + len(part)]
            changed = [[_figure(random) for _ in other] for _ in kept]
            again = _read(kept, other, changed, caption, unit)
            yield _no(question, identity.replace(columns[0][0], other[0][0]), again, "companies-period")
    elif way < 0.6 and company.split()[0] in question:
        another = random.choice([one for one in words()["names"]["companies"] if one != company])
        yield _no(question, f"{another} · 10-Q · {columns[0][0]}", part, "companies-other")


def _no(question: str, identity: str, statements: list[str], source: str) -> Example:
    return Example(question, identity, statements, 0, -1, -1, None, set(), True, source)


def _asked(item: str, company: str, period: str, random: Random) -> str:
    data = words()["companies"]
    name = random.choice([*data["short"].get(item, [item.lower(), item]), item.lower()])
    forms = data["sold" if item in data["places"] else "earned" if item in data["products"] else "asked"]
    who = company.split(maxsplit=1)[0] if company else ""
    filled: str = random.choice(forms).format(
        whose=f"{who}'s " if who else "",
        who=who or "the company",
        name=name,
        item=item,
        thing=item.lower(),
        period=period,
    )
    return filled[0].upper() + filled[1:] if random.random() < 0.8 else filled


# ------------------------------------------------------------ notes of a team


def notes(random: Random, count: int) -> Iterator[Example]:
    """Some notes, a question about one of them; and the same notes without it."""
    for _ in range(count):
        yield from _note(random)


def _values(random: Random) -> dict[str, str]:
    data = words()["notes"]
    names = words()["names"]["companies"]
    found = {key: random.choice(options) for key, options in data["fill"].items()}
    found |= {"firm": random.choice(names), "firm2": random.choice(names)}
    found |= {"n": str(random.randint(2, 90)), "h": str(random.randint(8, 17)), "v2": str(random.randint(1, 19))}
    found["v"] = f"{random.randint(1, 9)}.{random.randint(0, 20)}"
    found["date"] = f"{random.randint(1, 28)} {random.choice(MONTHS)}" + (
        f" {random.randint(2019, 2026)}" if random.random() < 0.3 else ""
    )
    found["money"] = random.choice((f"{random.randint(2, 90) * 100} euros", f"${random.randint(5, 400)},000"))
    found["phone"] = f"+{random.randint(1, 99)} {random.randint(10, 99)} {random.randint(100000, 999999)}"
    return found | {key: found[key].format(**found) for key in ("act", "cond")}


def _tidy(text: str) -> str:
    once = re.sub(r"\b(the) the\b", r"\1", text, flags=re.IGNORECASE)
    tidy = re.sub(r"\bevery the\b", "on the", once, flags=re.IGNORECASE)
    return tidy[0].upper() + tidy[1:]


def _note(random: Random) -> Iterator[Example]:
    kinds = [random.choice(words()["notes"]["kinds"]) for _ in range(random.randint(2, 7))]
    values = [_values(random) for _ in kinds]
    said = [_tidy(kind["says"].format(**value)) for kind, value in zip(kinds, values, strict=True)]
    place = random.randrange(len(kinds))
    form, answer = random.choice(kinds[place]["asked"])
    question = restyled(_tidy(form.format(**values[place])), random, 0.3)
    identity = random.choice(words()["notes"]["identities"])
    wanted = answer.format(**values[place])
    at = said[place].lower().find(wanted.lower())
    if not wanted:
        yield Example(question, identity, said, 1, 0, 0, None, {place}, True, "notes")
        return
    if at < 0:
        return
    span = (place, at, at + len(wanted))
    yield Example(question, identity, said, 1, 0, -1, span, {place}, True, "notes")
    rest = said[:place] + said[place + 1 :]
    named = [values[place][key] for key in ("topic", "firm", "tool", "todo") if values[place][key] in question]
    if rest and random.random() < 0.45 and not any(word in text for word in named for text in rest):
        yield _no(question, identity, rest, "notes-not")
