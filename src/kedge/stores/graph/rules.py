"""What every store of nodes refuses, and how names become keys."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from kedge.core.errors import NotFoundError, UsageError
from kedge.core.untrusted import check_json
from kedge.core.values import Json
from kedge.stores.graph.nodes import MAX_ID_CHARS, Edge, Node

_NOT_WORD = re.compile(r"[^\w]+|_+")


@lru_cache(maxsize=65536)
def name_key(name: str) -> str:
    """What names are looked up by: letters and digits in lower case, without accents, one space between words.

    >>> name_key("Ernest_Augustus I. of  Hánover")
    'ernest augustus i of hanover'
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return " ".join(_NOT_WORD.sub(" ", plain.casefold()).split())


def name_keys(node: Node) -> list[str]:
    """The keys a node is found by: title, aliases, id."""
    keys = (name_key(name)[:MAX_ID_CHARS] for name in (node.title, *node.aliases, node.id))
    return list(dict.fromkeys(key for key in keys if key))


def check(nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
    """UsageError for what cannot be kept."""
    for node in nodes:
        _check_id("node", node.id)
        _check_text(f"The node {node.id!r}", node.type, node.title, node.description, *node.aliases)
        if len(node.type) > MAX_ID_CHARS:
            raise UsageError(
                f"The type of node {node.id!r} is longer than {MAX_ID_CHARS} characters.",
                hint="Name its kind in a word, and put the rest into its description.",
            )
        _check_properties(f"The node {node.id!r}", node.properties)
    for edge in edges:
        _check_id("edge", edge.id)
        _check_id("edge's type", edge.type)
        _check_text(f"The edge {edge.id!r}", edge.source, edge.target)
        _check_properties(f"The edge {edge.id!r}", edge.properties)


def _check_id(what: str, text: str) -> None:
    if not text.strip():
        if "type" in what:
            raise UsageError("An edge needs a type.", hint="Name the relation, as in married_to.")
        raise UsageError(f"The id of a {what} is empty.", hint="Give it at least one letter.")
    if len(text) > MAX_ID_CHARS:
        raise UsageError(
            f"The id of a {what} has {len(text)} characters.", hint=f"At most {MAX_ID_CHARS} are possible."
        )
    _check_text(f"The id of a {what}", text)


def _check_text(what: str, *texts: str) -> None:
    for text in texts:
        if "\0" in text or not _encodable(text):
            raise UsageError(f"{what} holds half a character or a NUL.", hint="Write it again as valid UTF-8.")


def _check_properties(what: str, properties: Mapping[str, Json]) -> None:
    try:
        check_json(dict(properties))
    except ValueError as error:
        raise UsageError(
            f"{what} has properties that cannot be kept: one {error}.", hint="Write them as JSON has them."
        ) from error


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def missing_ends(missing: Iterable[str]) -> NotFoundError:
    """The error for edges whose ends are not there."""
    some = sorted(missing)
    shown = ", ".join(repr(one) for one in some[:5])
    return NotFoundError(f"There is no node {shown}.", hint="Create the node first.", details={"missing": [*some[:20]]})
