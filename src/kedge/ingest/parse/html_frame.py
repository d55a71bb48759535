"""What stands around the content of a page and is none of it: menus, banners about cookies, what else to read.

A part goes by its name where it is small beside the page, and a list goes where it is links and little else: menus have
many short ones. A page that would lose most of its text, such as an index, is left as it is.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode as Node

_NAMED = re.compile(
    r"(?:^|[-_ ])(?:nav|navbar|navigation|menu|menubar|breadcrumbs?|sidebar|sphinxsidebar|footer|site-?header|masthead|"
    r"cookies?|consent|gdpr|share|sharing|social|newsletter|subscribe|advert|ads?|promo|related|skip-?link|pagination|"
    r"toolbar|tooltip|popup|modal|comments?)(?:[-_ ]|$)",
    re.IGNORECASE,
)
_PARTS = "div, section, header, ul, ol, p, span, table"
_LISTS = "ul, ol, table, div, p"
_LARGEST_NAMED = 0.25
"""Share of a page's text that a part may have to be dropped for its name."""
_LEAST_LEFT = 0.5
_LINKED, _LINKS, _SHORT = 0.85, 4, 28
"""Share of a list's text that is links, how many there are at least, and how long they are at most in the middle."""


def drop_frame(root: Node) -> None:
    """Take out of the tree below a node what only frames its content."""
    whole = len(root.text(strip=True))
    if not whole:
        return
    doomed = [node for node in root.css(_PARTS) if _is_named(node) and _length(node) < _LARGEST_NAMED * whole]
    doomed += [node for node in root.css(_LISTS) if _is_menu(node)]
    outer = _outermost(doomed)
    if sum(map(_length, outer)) <= (1 - _LEAST_LEFT) * whole:
        for node in outer:
            node.decompose()


def _is_named(node: Node) -> bool:
    named = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
    return bool(named.strip()) and len(named) < 400 and _NAMED.search(named) is not None


def _is_menu(node: Node) -> bool:
    links = node.css("a[href]")
    if len(links) < _LINKS or node.css_first("h1, h2, pre") is not None:
        return False
    texts = [len(link.text(strip=True)) for link in links]
    return sum(texts) >= _LINKED * _length(node) and sorted(texts)[len(texts) // 2] <= _SHORT


def _length(node: Node) -> int:
    return len(node.text(strip=True))


def _outermost(nodes: list[Node]) -> list[Node]:
    """Those that lie in no other of them, each once."""
    known = {node.mem_id for node in nodes}
    kept: dict[int, Node] = {}
    for node in nodes:
        above = node.parent
        while above is not None and above.mem_id not in known:
            above = above.parent
        if above is None:
            kept[node.mem_id] = node
    return list(kept.values())
