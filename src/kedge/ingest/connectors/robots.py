"""What a site asks of visitors in its `robots.txt` (RFC 9309): which paths, how often, and where its sitemaps are."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

MOST_BYTES = 512_000
MOST_DELAY = 10.0
"""Seconds between two pages that a site may ask for."""
EVERYBODY = "*"


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules for one visitor."""

    rules: tuple[tuple[str, bool], ...] = ()
    """Pattern of a path, and whether it may be fetched."""
    delay: float = 0.0
    sitemaps: tuple[str, ...] = ()

    def allows(self, path: str) -> bool:
        """Whether a path, with its query, may be fetched: the longest pattern that fits decides, and Allow of two that
        are as long."""
        fitting = [(len(pattern), allowed) for pattern, allowed in self.rules if fits(pattern, unquote(path))]
        return max(fitting)[1] if fitting else True


def read_robots(text: str, agent: str) -> Robots:
    """The rules for the agent, else those for everybody. What cannot be read is left out."""
    groups: dict[str, tuple[list[tuple[str, bool]], list[float]]] = {}
    sitemaps: list[str] = []
    agents: list[str] = []
    in_rules = False
    for line in text[:MOST_BYTES].splitlines():
        name, found, value = line.partition("#")[0].partition(":")
        name, value = name.strip().lower(), value.strip()
        if not found:
            continue
        if name == "sitemap":
            sitemaps.append(value)
        elif name == "user-agent":
            agents = [value.lower()] if in_rules else [*agents, value.lower()]
            in_rules = False
        elif name in ("allow", "disallow", "crawl-delay"):
            in_rules = True
            for one in agents:
                _add(groups.setdefault(one, ([], [])), name, value)
    named = [one for one in groups if one != EVERYBODY and one in agent.lower()]
    rules, delays = groups.get(max(named, key=len) if named else EVERYBODY, ([], []))
    return Robots(tuple(rules), min(max(delays, default=0.0), MOST_DELAY), tuple(sitemaps))


def _add(group: tuple[list[tuple[str, bool]], list[float]], name: str, value: str) -> None:
    rules, delays = group
    if name == "crawl-delay":
        try:
            delays.append(max(0.0, float(value)))
        except ValueError:
            return
    elif value:  # an empty one forbids nothing
        rules.append((unquote(value), name == "allow"))


def fits(pattern: str, path: str) -> bool:
    """Whether a path begins as the pattern says: `*` stands for anything, `$` at the end for the end. In linear time.

    >>> fits("/*.pdf$", "/a/b.pdf"), fits("/private/", "/private/x"), fits("/*.pdf$", "/a.pdf?x=1")
    (True, True, False)
    """
    whole = pattern.endswith("$")
    first, *others = (pattern[:-1] if whole else pattern).split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    for number, part in enumerate(others):
        if whole and number == len(others) - 1:
            return path.endswith(part) and len(path) - len(part) >= at
        at = path.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return not whole or at == len(path)
