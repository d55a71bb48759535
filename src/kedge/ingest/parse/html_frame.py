"""What stands around the content of a page and is none of it: menus, banners about cookies, what else to read.

A part goes by its name where it is small beside the page, and a list goes where it is links and little else: menus have
many short ones. A page that would lose most of its text, such as an index, is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode as Node

_NAMED = re.compile(
    r"(?:^|[-_ ])(?:nav|navbar|navigation|menu|menubar|breadcrumbs?|sidebar|sphinxsidebar|footer|site-?header|masthead|"
    r"cookies?|consent|gdpr|share|sharing|social|newsletter|subscribe|advert|ads?|promo|related|skip-?link|pagination|"
    r"toolbar|tooltip|popup|modal|comments?)(?:[-_ ]|$)",
    re.IGNORECASE,
)
_PARTS = frozenset(("div", "section", "header", "ul", "ol", "p", "span", "table"))
_LISTS = frozenset(("ul", "ol", "table", "div", "p"))
_CONTENT = frozenset(("h1", "h2", "pre"))
"""What no menu has in it."""
_LARGEST_NAMED = 0.25
"""Share of a page's text that a part may have to be dropped for its name."""
_LEAST_LEFT = 0.5
_LINKED, _LINKS, _SHORT = 0.85, 4, 28
"""Share of a list's text that is links, how many there are at least, and how long they are at most in the middle."""


@dataclass(slots=True)
class _Counts:
    """What lies in a node, at any depth."""

    length: int = 0
    """Letters of its text."""
    links: int = 0
    linked: int = 0
    """Letters of the links' texts."""
    short: int = 0
    """Links whose text is short."""
    content: int = 0
    """Headings and code."""

    def add(self, other: _Counts) -> None:
        self.length += other.length
        self.links += other.links
        self.linked += other.linked
        self.short += other.short
        self.content += other.content


def drop_frame(root: Node) -> None:
    """Take out of the tree below a node what only frames its content."""
    nodes = list(root.traverse(include_text=True))
    counts = _counted(nodes)
    whole = counts[root.mem_id].length
    if not whole:
        return
    doomed: set[int] = set()
    for node in nodes:
        held = counts[node.mem_id]
        named = node.tag in _PARTS and held.length < _LARGEST_NAMED * whole and _is_named(node)
        if named or (node.tag in _LISTS and _is_menu(held)):
            doomed.add(node.mem_id)
    outer = _outermost(nodes, doomed)
    if sum(counts[node.mem_id].length for node in outer) <= (1 - _LEAST_LEFT) * whole:
        for node in outer:
            node.decompose()


def _counted(nodes: Sequence[Node]) -> dict[int, _Counts]:
    """What lies in each node of a tree, given in the order of the page: added up from the last one to the first."""
    counts = {node.mem_id: _Counts() for node in nodes}
    for node in reversed(nodes):
        own = counts[node.mem_id]
        if node.is_text_node:
            own.length = len(node.text(strip=True))
        parent = node.parent
        above = None if parent is None else counts.get(parent.mem_id)
        if above is None:
            continue
        above.add(own)
        if node.tag == "a" and "href" in node.attributes:
            above.add(_Counts(links=1, linked=own.length, short=own.length <= _SHORT))
        above.content += node.tag in _CONTENT
    return counts


def _is_named(node: Node) -> bool:
    named = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
    return bool(named.strip()) and len(named) < 400 and _NAMED.search(named) is not None


def _is_menu(held: _Counts) -> bool:
    if held.links < _LINKS or held.content:
        return False
    return held.linked >= _LINKED * held.length and held.short > held.links // 2


def _outermost(nodes: Sequence[Node], doomed: set[int]) -> list[Node]:
    """The doomed ones that lie in no other of them; the nodes in the order of the page."""
    kept: list[Node] = []
    inside: set[int] = set()
    for node in nodes:
        parent = node.parent
        if parent is not None and (parent.mem_id in doomed or parent.mem_id in inside):
            inside.add(node.mem_id)
        elif node.mem_id in doomed:
            kept.append(node)
    return kept
