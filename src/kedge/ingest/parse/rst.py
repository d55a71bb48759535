"""reStructuredText to clean text and blocks by docutils: Sphinx roles and directives too, nothing included or fetched.

The tree of docutils is written as markdown; no transform of docutils runs, so that a document of a thousand lines takes
some hundredths of a second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from docutils import nodes

from kedge.core.errors import EmptySourceError
from kedge.core.values import Json, ParsedDocument
from kedge.ingest.parse.rst_tree import read_tree, shown_label
from kedge.ingest.parse.spans import SpannedCell, laid_out
from kedge.ingest.parse.writer import TextWriter, one_line
from kedge.text.statements.markup import plain

_ADMONITIONS = {
    "attention": "Attention", "caution": "Caution", "danger": "Danger", "error": "Error", "hint": "Hint",
    "important": "Important", "note": "Note", "tip": "Tip", "warning": "Warning",
}  # fmt: skip
_UNSEEN = (
    nodes.comment, nodes.substitution_definition, nodes.target, nodes.pending, nodes.raw, nodes.image, nodes.meta,
    nodes.footnote_reference, nodes.decoration, nodes.generated,
)  # fmt: skip
_DOCUMENT_FIELDS = frozenset(
    "orphan tocdepth nocomments nosearch hidden github_url html_theme html_meta sd_hide_title no-search".split()
)
_COLUMNS = re.compile(r"\s{2,}|(?<=``)(?=:)")
_ERROR = 3
_SHORT_OBJECT = 1
"""Blocks of the description of a function, a setting or an option up to which it is written as one item."""


def parse_rst(text: str) -> ParsedDocument:
    """Text, blocks and links. Raises EmptySourceError when nothing is left to read."""
    tree = read_tree(text)
    writer = _RstWriter(tree)
    writer.blocks(tree.children)
    document = writer.out.document(author=writer.author, metadata=writer.metadata)
    if not document.blocks:
        raise EmptySourceError(
            "Nothing is left of it without its directives.", hint="What is included from other files is taken in there."
        )
    return document


class _RstWriter:
    """Walks the tree; a method for each kind of block."""

    def __init__(self, tree: nodes.document) -> None:
        self.out = TextWriter()
        self.author: str | None = None
        self.metadata: dict[str, Json] = {}
        self._inline = _Inline(tree, self.out)
        self._depth = 0
        self._by_type: dict[str, Callable[[Any], None]] = {
            "section": self._section,
            "title": lambda node: self.out.heading(self.out.level + 1, self._text(node)),
            "rubric": self._rubric,
            "paragraph": lambda node: self.out.paragraph(self._text(node)),
            "literal_block": lambda node: self.out.code(node.astext(), str(node.get("language", ""))),
            "doctest_block": lambda node: self.out.code(node.astext(), "python"),
            "math_block": lambda node: self.out.formula(node.astext()),
            "bullet_list": lambda node: self._items(node, lambda _number: "-"),
            "enumerated_list": self._numbered,
            "definition_list": self._definitions,
            "field_list": self._fields,
            "option_list": self._options,
            "block_quote": lambda node: self.blocks(node.children),
            "attribution": lambda node: self.out.paragraph(f"— {self._text(node)}"),
            "line_block": lambda node: self.out.paragraph(self._lines(node)),
            "table": self._table,
            "admonition": self._admonition,
            "topic": self._titled,
            "sidebar": self._titled,
            "figure": lambda node: self.blocks(node.children),
            "caption": lambda node: self.out.paragraph(self._text(node)),
            "footnote": self._footnote,
            "citation": self._footnote,
            "container": self._container,
            "system_message": self._fault,
        }
        for name, label in _ADMONITIONS.items():
            self._by_type[name] = partial(self._noted, label)

    def blocks(self, found: Sequence[nodes.Node]) -> None:
        """All blocks in order; what has no rule of its own is written by its children, inline text as a paragraph."""
        seen = [node for node in found if not isinstance(node, _UNSEEN)]
        for at, node in enumerate(seen):
            if _names_next(seen[at - 1] if at else None) and isinstance(node, nodes.paragraph):
                continue  # it was written with its name
            if _names_next(node):
                following = seen[at + 1] if at + 1 < len(seen) else None
                if isinstance(following, nodes.paragraph):
                    self._defined(_signatures(node), [following])
                    self.out.end_list()
                continue
            write = self._by_type.get(type(node).__name__)
            if write is not None:
                write(node)
            elif isinstance(node, (nodes.Text, nodes.Inline)):
                self.out.paragraph(self._text_of([node]))
            else:
                self.blocks(node.children)

    def _section(self, node: nodes.section) -> None:
        self._depth += 1
        title = next((child for child in node.children if isinstance(child, nodes.title)), None)
        self.out.heading(self._depth, self._text(title) if title is not None else "")
        self.blocks([child for child in node.children if child is not title])
        self._depth -= 1

    def _rubric(self, node: nodes.Node) -> None:
        title = self._text(node)
        if title.lower() != "footnotes":
            self.out.heading(self._depth + 1, title)

    def _items(self, node: nodes.Element, mark: Callable[[int], str]) -> None:
        for number, item in enumerate(node.children):
            if isinstance(item, nodes.list_item):
                with self.out.item(mark(number)):
                    self.blocks(item.children)
            else:
                self.blocks([item])
        self.out.end_list()

    def _numbered(self, node: nodes.enumerated_list) -> None:
        start, kind = int(node.get("start", 1)), str(node.get("enumtype", ""))
        first = {"upperalpha": "A", "loweralpha": "a"}.get(kind)
        self._items(node, lambda at: f"{chr(ord(first) + start - 1 + at) if first else start + at}.")

    def _definitions(self, node: nodes.definition_list) -> None:
        for entry in node.children:
            terms = [self._text(child) for child in entry.children if isinstance(child, nodes.term)]
            kinds = [self._text(child) for child in entry.children if isinstance(child, nodes.classifier)]
            body = [part for child in entry.children if isinstance(child, nodes.definition) for part in child.children]
            self._defined(" ".join([", ".join(terms), *(f"({kind})" for kind in kinds)]), body)
        self.out.end_list()

    def _defined(self, term: str, body: Sequence[nodes.Node]) -> None:
        """A term and what it means, as one item; a first paragraph stands on the line of the term."""
        body = [part for part in body if not isinstance(part, _UNSEEN)]
        with self.out.item("-"):
            if body and isinstance(body[0], nodes.paragraph):
                self.out.paragraph(f"{term}: {self._text(body[0])}" if term else self._text(body[0]))
                body = body[1:]
            else:
                self.out.paragraph(f"{term}:" if body else term)
            self.blocks(body)

    def _fields(self, node: nodes.field_list) -> None:
        if self.out.blank and self._depth == 0:
            self._about(node)
            return
        for field in node.children:
            name, body = (
                (field.children[0].astext(), field.children[1].children) if len(field.children) > 1 else ("", [])
            )
            self._defined(_field_name(name), body)
        self.out.end_list()

    def _about(self, node: nodes.field_list) -> None:
        """Fields above all text say something about the document."""
        for field in node.children:
            name, value = one_line(field.children[0].astext()).lower(), one_line(field.children[-1].rawsource)
            if name in ("author", "authors"):
                self.author = value or None
            elif name not in _DOCUMENT_FIELDS and value and re.fullmatch(r"[a-z][\w -]{0,40}", name):
                self.metadata[name.replace(" ", "_").replace("-", "_")] = value[:300]

    def _options(self, node: nodes.option_list) -> None:
        for item in node.children:
            names = ", ".join(f"`{option.astext()}`" for option in item.findall(nodes.option))
            self._defined(names, [part for child in item.findall(nodes.description) for part in child.children])
        self.out.end_list()

    def _lines(self, node: nodes.line_block) -> str:
        found = [
            self._lines(line) if isinstance(line, nodes.line_block) else self._text(line) for line in node.children
        ]
        return "\n".join(line for line in found if line)

    def _table(self, node: nodes.Element) -> None:
        caption = next((self._text(child) for child in node.children if isinstance(child, nodes.title)), "")
        heads = sum(len(head.children) for head in node.findall(nodes.thead))
        rows = [[_spanned(self._cell(entry), entry) for entry in row.children] for row in node.findall(nodes.row)]
        self.out.table(laid_out(rows), heads, caption)

    def _cell(self, entry: nodes.Element) -> str:
        """A cell as one line: its paragraphs and items one after the other."""
        said = [self._line(block) for block in entry.children if not isinstance(block, _UNSEEN)]
        return " ".join(part for part in said if part)

    def _line(self, node: nodes.Node) -> str:
        if isinstance(node, (nodes.literal_block, nodes.doctest_block)):
            return f"`{one_line(node.astext())}`"
        if isinstance(node, nodes.system_message):
            return ""
        if isinstance(node, (nodes.bullet_list, nodes.enumerated_list, nodes.definition_list, nodes.field_list)):
            return "; ".join(filter(None, (self._line(item) for item in node.children)))
        if isinstance(node, nodes.TextElement):
            return self._text(node)
        return " ".join(filter(None, (self._line(child) for child in node.children)))

    def _admonition(self, node: nodes.Element) -> None:
        title = next((child for child in node.children if isinstance(child, nodes.title)), None)
        rest = [child for child in node.children if child is not title]
        self._labelled(self._text(title) if title is not None else "", rest)

    def _noted(self, label: str, node: nodes.Element) -> None:
        self._labelled(label, node.children)

    def _titled(self, node: nodes.Element) -> None:
        if "contents" not in node.get("classes", ()):
            self._admonition(node)

    def _labelled(self, label: str, body: Sequence[nodes.Node]) -> None:
        """A note or a warning: what it is stands before its first sentence."""
        body = [part for part in body if not isinstance(part, _UNSEEN)]
        if label and body and isinstance(body[0], nodes.paragraph):
            self.out.paragraph(f"{label}: {self._text(body[0])}")
            body = body[1:]
        elif label and body:
            self.out.paragraph(f"{label}:")
        self.blocks(body)

    def _footnote(self, node: nodes.Element) -> None:
        label = next((child.astext() for child in node.children if isinstance(child, nodes.label)), "")
        rest = [child for child in node.children if not isinstance(child, nodes.label)]
        self._labelled(f"[{label}]" if isinstance(node, nodes.citation) and label else "", rest)

    def _container(self, node: nodes.container) -> None:
        """What the directives of `rst_tree` made."""
        role = node.get("kedge", "")
        if role == "object":
            self._object(node)
        elif role == "labelled":
            label = self._text_of(node.children[0].children) if node.get("inline") else str(node.get("label", ""))
            self._labelled(label, node.children[1:] if node.get("inline") else node.children)
        elif role == "table":
            rows = [[_spanned(self._cell(cell), cell) for cell in row.children] for row in node.children]
            self.out.table(laid_out(rows), int(node.get("heads", 0)), str(node.get("caption", "")))
        else:
            self.blocks(node.children)

    def _object(self, node: nodes.container) -> None:
        """A function, a setting, an option: an item where little is said about it, else a section of its own."""
        name = _signatures(node)
        body = [child for child in node.children if not isinstance(child, _UNSEEN)]
        if len(body) <= _SHORT_OBJECT and all(isinstance(child, nodes.paragraph) for child in body):
            if body:
                self._defined(name, body)
                self.out.end_list()
            return
        self._depth += 1
        self.out.heading(self._depth, ", ".join(node["signatures"]))
        self.blocks(body)
        self.out.leave(self._depth)
        self._depth -= 1

    def _fault(self, node: nodes.system_message) -> None:
        """What docutils could not read stays as it was written; what it says about it is not the author's."""
        if int(node.get("level", 0)) >= _ERROR:
            for block in node.children:
                if isinstance(block, nodes.literal_block):
                    self._broken(block.astext())

    def _broken(self, source: str) -> None:
        """Markup that could not be read: as a table where it was meant as one, else its words line by line."""
        lines = [_bare(line) for line in source.split("\n")]
        rows = [[plain(cell) for cell in _COLUMNS.split(line.strip())] for line in lines if line.strip()]
        if len(lines) > len(rows) and sum(len(row) > 1 for row in rows) > 0.8 * len(rows) > 1:
            self.out.table(rows)
        else:
            self.out.paragraph("\n".join(plain(line) for line in lines))

    def _text(self, node: nodes.Node) -> str:
        return self._text_of(node.children) if node.children else one_line(node.astext())

    def _text_of(self, found: Sequence[nodes.Node]) -> str:
        """In one line: where an author broke a line means nothing."""
        return one_line(self._inline.text(found))


class _Inline:
    """Inline nodes as text: literals between back ticks, nothing else of the markup."""

    def __init__(self, tree: nodes.document, out: TextWriter) -> None:
        self._titles = _titles(tree)
        self._replaced = {
            name: definition for definition in tree.findall(nodes.substitution_definition)
            for name in definition.get("names", ())
        }  # fmt: skip
        self._out = out
        self._inside: set[str] = set()

    def text(self, found: Sequence[nodes.Node]) -> str:
        return "".join(map(self._one, found))

    def _one(self, node: nodes.Node) -> str:  # noqa: PLR0911 (a line for each kind)
        if isinstance(node, nodes.Text):
            return str(node.astext())
        if isinstance(node, (nodes.literal, nodes.title_reference)):
            return _ticked(node.astext())
        if isinstance(node, nodes.math):
            return f"${node.astext()}$"
        if isinstance(node, nodes.substitution_reference):
            return self._substituted(node)
        if isinstance(node, nodes.reference):
            said = self.text(node.children)
            self._out.link(said, str(node.get("refuri", "")))
            return said
        if isinstance(node, nodes.citation_reference):
            return f"[{node.astext()}]"
        if isinstance(node, nodes.inline) and "kedge_label" in node:
            label = str(node["kedge_label"])
            return self._titles.get(label.lower(), shown_label(label))
        if isinstance(node, nodes.image):
            return str(node.get("alt", "")) if isinstance(node.parent, nodes.substitution_definition) else ""
        if isinstance(node, (*_UNSEEN, nodes.system_message)):
            return ""
        return self.text(node.children)

    def _substituted(self, node: nodes.substitution_reference) -> str:
        name = str(node.get("refname", node.astext()))
        definition = self._replaced.get(name) or self._replaced.get(name.lower())
        if definition is None or name in self._inside:
            return str(node.astext())
        self._inside.add(name)
        said = self.text(definition.children)
        self._inside.discard(name)
        return said


def _spanned(text: str, node: nodes.Element) -> SpannedCell:
    return SpannedCell(text, int(node.get("morerows", 0)), int(node.get("morecols", 0)))


def _titles(tree: nodes.document) -> dict[str, str]:
    """Titles of the sections that a label stands before."""
    found: dict[str, str] = {}
    before: list[nodes.Element] = []
    """Targets with nothing but targets behind them so far."""
    for node in tree.findall(nodes.Element):
        if isinstance(node, nodes.target):
            before.append(node)
        elif before and not isinstance(node.parent, nodes.target):
            title = node.next_node(nodes.title) if isinstance(node, nodes.section) else None
            if title is not None:
                found.update((str(name), title.astext()) for one in before for name in one.get("names", ()))
            before = []
    return found


def _names_next(node: nodes.Node | None) -> bool:
    """Whether it is an option that is described by the paragraph below it."""
    return isinstance(node, nodes.container) and bool(node.get("names_next"))


def _signatures(node: nodes.Element) -> str:
    return ", ".join(f"`{signature}`" for signature in node["signatures"])


def _field_name(name: str) -> str:
    """`param int size` → `size (int)`, as documentation shows it."""
    words = name.split()
    if len(words) > 1 and words[0] in (
        "param",
        "parameter",
        "arg",
        "argument",
        "key",
        "keyword",
        "kwarg",
        "var",
        "ivar",
    ):
        typed = f" ({' '.join(words[1:-1])})" if len(words) > 2 else ""
        return f"`{words[-1]}`{typed}"
    if len(words) > 1 and words[0] in ("raises", "raise", "exception", "except"):
        return f"Raises {' '.join(words[1:])}"
    if len(words) > 1 and words[0] in ("type", "vartype"):
        return f"Type of `{words[-1]}`"
    return {"rtype": "Return type", "return": "Returns", "returns": "Returns"}.get(name, name)


def _ticked(text: str) -> str:
    text = one_line(text)
    return f"`{text}`" if text and "`" not in text else text


def _bare(line: str) -> str:
    """A line of broken markup without the marks of directives."""
    return re.sub(r"^\s*+(?:\.\. [\w:+-]+::\s?|:[\w -]{1,30}:(?=\s|$).*|[+=|\s-]{4,}$)", "", line)
