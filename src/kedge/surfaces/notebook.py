"""Answers and search results as notebooks show them: small HTML without scripts, everything escaped.

Loading this module is enough: values ask it then. Texts come from documents, so nothing of them is trusted: only `http`
and `https` addresses become links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlsplit

from kedge.core.html import draws
from kedge.core.values import Answer, Citation, SearchHit, SearchResult
from kedge.core.values.identity import heading

MOST_ROWS, MOST_COLUMNS, MOST_PATHS = 20, 12, 5
EXCERPT = 300
_BOX = "max-width:52em;line-height:1.45"
_QUIET = "opacity:.75;font-size:.9em"
_QUOTE = "margin:.2em 0 .6em;padding-left:.7em;border-left:3px solid;opacity:.85;white-space:pre-wrap"


def answer_html(answer: Answer) -> str:
    """The answer with its marks linked to the sources below it, and how sure it is."""
    name = re.sub(r"[^A-Za-z0-9-]", "", answer.query_id)[:40]
    said = f'<p style="white-space:pre-wrap">{_marked(answer, name)}</p>'
    sure = f"confidence: <b>{_(answer.confidence)}</b>, evidence probability {answer.evidence_probability:.2f}"
    sources = "".join(_source(citation, name) for citation in answer.citations)
    listed = f'<ol style="list-style:none;padding-left:0">{sources}</ol>' if sources else ""
    body = said + "".join(_extra(answer.metadata)) + f'<p style="{_QUIET}">{sure}</p>' + listed
    return f'<div class="kedge-answer" style="{_BOX}">{body}</div>'


def result_html(result: SearchResult) -> str:
    """The passages, best first."""
    head = f'<p style="{_QUIET}">{len(result.hits)} passages for “{_(result.query)}”</p>'
    hits = "".join(_hit(hit) for hit in result.hits)
    return f'<div class="kedge-search" style="{_BOX}">{head}<ol>{hits}</ol></div>'


def _marked(answer: Answer, name: str) -> str:
    """The text with `[1]` and `[Node 1]` as links, where such a source is listed."""
    known = {citation.id for citation in answer.citations}
    parts = re.split(r"(\[[^\[\]]{1,20}\])", answer.answer)
    return "".join(f'<a href="#{_anchor(part, name)}">{_(part)}</a>' if part in known else _(part) for part in parts)


def _source(citation: Citation, name: str) -> str:
    place = heading(citation.identity, citation.title, citation.section_path)
    page = f", p. {citation.page}" if citation.page is not None else ""
    return (
        f'<li id="{_anchor(citation.id, name)}">{_(citation.id)} {_link(citation.url, place + page)}'
        f'<blockquote style="{_QUOTE}">{_(citation.snippet)}</blockquote></li>'
    )


def _hit(hit: SearchHit) -> str:
    passage = hit.passage
    place = heading(passage.identity, passage.title, passage.section_path)
    page = f", p. {passage.page}" if passage.page is not None else ""
    text = passage.text if len(passage.text) <= EXCERPT else passage.text[:EXCERPT].rsplit(" ", 1)[0] + " …"
    return (
        f'<li>{_link(passage.url, place + page)} <span style="{_QUIET}">{hit.score:.2f}</span>'
        f'<blockquote style="{_QUOTE}">{_(text)}</blockquote></li>'
    )


# ------------------------------------------------------------ tables and graphs


def _extra(metadata: Mapping[str, Any]) -> Iterator[str]:
    plan = metadata.get("plan")
    if isinstance(plan, Mapping) and isinstance(plan.get("text"), str):
        yield f'<p style="{_QUIET}">Plan: {_(plan["text"])}</p>'
    columns, rows = metadata.get("columns"), metadata.get("rows")
    if isinstance(columns, Sequence) and isinstance(rows, Sequence) and rows and not isinstance(columns, str):
        yield _table(columns, rows, metadata.get("row_count"))
    paths = metadata.get("paths")
    if isinstance(paths, Sequence) and not isinstance(paths, str):
        yield from (_path(path) for path in paths[:MOST_PATHS] if isinstance(path, Mapping))


def _table(columns: Sequence[Any], rows: Sequence[Any], count: object) -> str:
    shown = [row for row in rows[:MOST_ROWS] if isinstance(row, Sequence) and not isinstance(row, str)]
    head = "".join(f"<th>{_(name)}</th>" for name in columns[:MOST_COLUMNS])
    body = "".join("<tr>" + "".join(f"<td>{_(cell)}</td>" for cell in row[:MOST_COLUMNS]) + "</tr>" for row in shown)
    total = count if isinstance(count, int) else len(rows)
    more = f'<p style="{_QUIET}">{len(shown)} of {total} rows</p>' if total > len(shown) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _path(path: Mapping[str, Any]) -> str:
    """`Ada —serves_on→ Surprise`, each edge in its own direction."""
    titles = {node.get("id"): node.get("title") or node.get("id") for node in _objects(path.get("nodes"))}
    steps = [
        f"{_(titles.get(edge.get('source'), edge.get('source')))} —{_(edge.get('type'))}→ "
        f"{_(titles.get(edge.get('target'), edge.get('target')))}"
        for edge in _objects(path.get("edges"))
    ]
    return f'<p style="{_QUIET}">{"; ".join(steps)}</p>' if steps else ""


def _objects(found: object) -> list[Mapping[str, Any]]:
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list | tuple) else []


# ------------------------------------------------------------ safety


def _link(url: str, text: str) -> str:
    if not _public(url):
        return f'<b>{_(text)}</b> <span style="{_QUIET}">{_(url)}</span>'
    return f'<a href="{_(url)}" rel="noopener noreferrer nofollow" target="_blank"><b>{_(text)}</b></a>'


def _public(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _anchor(mark: str, name: str) -> str:
    return f"kedge-{name}-{re.sub(r'[^A-Za-z0-9]', '', mark)}"


def _(value: object) -> str:
    return escape("" if value is None else str(value), quote=True)


draws(Answer, answer_html)
draws(SearchResult, result_html)
