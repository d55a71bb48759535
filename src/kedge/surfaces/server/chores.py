"""Chores that chat clients give to the model behind a conversation: a title, tags, what to ask next, what to look for.

Such a prompt asks nothing of the knowledge. It has a heading `### Task` and the conversation in a block (Open WebUI),
or is one short order. Each is answered from the words of the conversation, in the form it asks for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import islice

from kedge.text.analyze import terms
from kedge.text.generic import generic_terms

LONGEST_ORDER = 400
"""Characters of a short order; a longer message is somebody's question."""
TITLE_WORDS = 6
_OPENS, _CLOSES = (re.compile(re.escape(mark), re.IGNORECASE) for mark in ("<chat_history>", "</chat_history>"))
_TURN = re.compile(r"^[^\S\n]*+(?:user|human)[^\S\n]*+:[^\S\n]*+(?P<said>.+)$", re.IGNORECASE | re.MULTILINE)
_TASK = re.compile(r"^\s*#{1,4}\s*task\b", re.IGNORECASE)
_ORDER = re.compile(
    r"^\s*(?:please\s+)?(?:generate|create|write|give|provide|summari[sz]e)\b.{0,80}\b(?P<chore>title|tags?)\b"
    r".{0,80}\b(?:conversation|chat|dialogue)\b",
    re.IGNORECASE | re.DOTALL,
)
_WORD = re.compile(r"\w[\w'’.-]*\w|\w")
_WANTS_JSON = re.compile(r"\bjson\b", re.IGNORECASE)


def done_chore(prompt: str, earlier: list[str]) -> str | None:
    """What to answer to a chore; None for a question. `earlier` are the user's messages before it, oldest first."""
    opens = _OPENS.search(prompt) if _TASK.match(prompt) else None
    closes = _CLOSES.search(prompt, opens.end()) if opens else None
    if opens and closes:
        said = prompt[opens.end() : closes.start()]
        asked = [one["said"].strip() for one in _TURN.finditer(said)] or [said.strip()]
        order = prompt[: opens.start()] + prompt[closes.end() :]
        chore = next((name for name, pattern in _CHORES if pattern.search(order)), "")
        return _MADE[chore](asked) if chore else json.dumps({})
    order_match = _ORDER.match(prompt) if len(prompt) <= LONGEST_ORDER else None
    if order_match is None or not earlier:
        return None
    made = _MADE["tags" if order_match["chore"].lower().startswith("tag") else "title"](earlier)
    return made if _WANTS_JSON.search(prompt) else ", ".join(_plain(made))


def _title(asked: list[str]) -> str:
    kept = list(islice(_telling(asked[0]), TITLE_WORDS))
    title = " ".join(kept) or asked[0][:40].strip() or "Conversation"
    return json.dumps({"title": title[:1].upper() + title[1:]}, ensure_ascii=False)


def _tags(asked: list[str]) -> str:
    found = dict.fromkeys(word.lower() for text in asked for word in _telling(text) if len(word) > 3)
    return json.dumps({"tags": list(found)[:3] or ["general"]}, ensure_ascii=False)


def _queries(asked: list[str]) -> str:
    return json.dumps({"queries": asked[-1:]}, ensure_ascii=False)


def _follow_ups(_asked: list[str]) -> str:
    return json.dumps({"follow_ups": []})


def _telling(text: str) -> list[str]:
    """Its words that say what it is about, in their order; all of them where none does."""
    found = _WORD.findall(text)
    generic = generic_terms()
    return [word for word in found if set(terms(word)) - generic] or found


def _plain(made: str) -> list[str]:
    value = next(iter(json.loads(made).values()))
    return value if isinstance(value, list) else [value]


_CHORES = (
    ("follow_ups", re.compile(r"follow[- _]?ups?\b", re.IGNORECASE)),
    ("queries", re.compile(r"\bquer(?:y|ies)\b", re.IGNORECASE)),
    ("tags", re.compile(r"\btags?\b", re.IGNORECASE)),
    ("title", re.compile(r"\btitle\b", re.IGNORECASE)),
)
"""Looked for in this order: a prompt for queries may speak of titles, and none the other way round."""
_MADE: dict[str, Callable[[list[str]], str]] = {
    "title": _title,
    "tags": _tags,
    "queries": _queries,
    "follow_ups": _follow_ups,
}
