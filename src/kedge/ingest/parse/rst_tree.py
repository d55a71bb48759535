"""A docutils tree of reStructuredText in which every directive and role has become something that can be written.

docutils alone knows its own directives; those of Sphinx and its extensions are made here, by what they do to a page:
admonitions, code, tables, descriptions of functions and settings, containers such as tabs, and what shows nothing.
"""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

import docutils.parsers.rst.directives as registry
from docutils import frontend, nodes, utils
from docutils.parsers import rst
from docutils.parsers.rst import Directive, states
from docutils.statemachine import StringList

MAX_LINE = 20_000
"""Characters of a line; docutils refuses a text with a longer one, so it is cut."""
_LOCK = threading.Lock()
"""Directives are looked up in one place for the whole process."""
_CODE = frozenset(
    "code code-block sourcecode code-cell doctest testcode testoutput ipython prompt console terminal parsed-literal "
    "productionlist jupyter-execute runblock execute_code".split()
)
_UNSEEN = frozenset(
    "toctree index image raw include literalinclude highlight currentmodule default-role role sectionauthor codeauthor "
    "moduleauthor contents sectnum section-numbering meta title header footer target-notes graphviz digraph graph plot "
    "mermaid uml inheritance-diagram autosummary automodule bibliography todo todolist testsetup testcleanup "
    "tabularcolumns program highlightlang ditaa aafig video youtube vimeo audio click typer argparse autoprogram "
    "program-output command-output minigallery nbgallery bokeh-plot altair-plot image-sg tags".split()
)
_ADMONITIONS = {
    name: name.capitalize() for name in "attention caution danger error hint important note tip warning".split()
} | {"seealso": "See also", "info": "Note", "alert": "Warning"}
_VERSIONS = {
    "versionadded": "Added in version", "version-added": "Added in version", "added": "Added in version",
    "versionchanged": "Changed in version", "version-changed": "Changed in version",
    "deprecated": "Deprecated since version", "version-deprecated": "Deprecated since version",
    "versionremoved": "Removed in version", "version-removed": "Removed in version",
}  # fmt: skip
_TITLED = frozenset(
    "admonition topic sidebar dropdown tab tab-item group-tab card grid-item-card details collapse collapsible "
    "md-tab-item panel accordion".split()
)
_PLAIN = frozenset(
    "compound tabs tab-set grid-item hlist centered epigraph highlights pull-quote acks card-carousel toggle".split()
)
_OWN = frozenset("figure replace unicode date table math".split())
"""Directives that docutils reads well itself."""
_CODE_ROLES = frozenset(
    "class meth func attr data mod exc obj const module setting envvar option file program command samp kbd keyword "
    "py:class py:meth py:func py:attr py:data py:mod py:exc py:obj py:const c:func c:type c:macro c:member c:data "
    "c:struct c:enum c:expr cpp:func cpp:class code literal django-admin djadmin ttag tfilter lookup macro token "
    "makevar mailheader mimetype newsgroup regexp confval attribute function method type option envvar py:property "
    "property dtag conf cfg std:option std:envvar cfgval py:attribute py:function py:method".split()
)
_LABEL_ROLES = frozenset("ref numref std:ref doc std:doc download any".split())
_NUMBERED = {"pep": "PEP ", "rfc": "RFC ", "ticket": "#", "issue": "#", "pr": "#", "pull": "#", "gh": "#", "bug": "#",
             "cve": "CVE-", "gh-issue": "#", "bpo": "bpo-", "user": "@"}  # fmt: skip
_TITLE_AND_TARGET = re.compile(r"(?s)(.*?\S)\s*<[^<>]*>\Z")
_CALL = re.compile(r"[\w.\]]\(|\.|[A-Z]")


def read_tree(text: str) -> nodes.document:
    """The tree of a text, however broken its markup is. Nothing is read but the text, nothing is printed."""
    settings = frontend.get_default_settings(rst.Parser)
    for name, value in _SETTINGS.items():
        setattr(settings, name, value)
    tree = utils.new_document("text", settings)
    inliner = states.Inliner()  # not derived from: it looks its patterns up in its own class
    inliner.interpreted = _shown
    parser = rst.Parser(inliner=inliner)
    with _LOCK, _own_directives():
        parser.parse("\n".join(line[:MAX_LINE] for line in text.splitlines()), tree)
    return tree


def shown_label(label: str) -> str:
    """Words for a label or a path that leads to another page: `/howto/custom-lookups` → `custom lookups`."""
    path = re.sub(r"\.(?:rst|txt|md|html)\Z", "", label.strip()).removesuffix("/index").rstrip("/")
    last = path.rpartition("/")[2] or label
    return re.sub(r"[-_\s]+", " ", last.rpartition(":")[2]).strip() or label


_SETTINGS = {
    "file_insertion_enabled": False, "raw_enabled": False, "report_level": 5, "halt_level": 5, "warning_stream": False,
    "line_length_limit": MAX_LINE + 1, "syntax_highlight": "none", "smart_quotes": False, "pep_references": False,
    "rfc_references": False, "tab_width": 8,
}  # fmt: skip


def _shown(rawsource: str, text: str, role: str, _line: int) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """A role of any extension, as what a page shows for it."""
    said = utils.unescape(text)
    name = role.lower()
    titled = _TITLE_AND_TARGET.fullmatch(said)
    node: nodes.Node
    if not name or name in ("title-reference", "title", "t"):
        node = nodes.title_reference(rawsource, titled[1].lstrip("!~") if titled else said)
    elif name == "math":
        node = nodes.math(rawsource, said)
    elif titled and name not in ("kbd", "samp", "file", "literal", "code"):
        node = nodes.inline(rawsource, titled[1].lstrip("!~"))
    elif name in _LABEL_ROLES or name.endswith((":ref", ":doc")):
        node = nodes.inline(rawsource, said, kedge_label=said.lstrip("!~"))
    elif name in _NUMBERED:
        node = nodes.inline(rawsource, _NUMBERED[name] + said)
    elif name in _CODE_ROLES:
        shown = said[1:].rpartition(".")[2] if said.startswith("~") else said.lstrip("!.")
        node = nodes.literal(rawsource, re.sub(r"[{}]", "", shown) if name in ("samp", "file") else shown)
    else:
        node = nodes.inline(rawsource, said.lstrip("!~"))
    return [node], []


def _as_it_is(value: str | None) -> str:
    return value or ""


class _AnyOption(dict[str, Callable[[str], str]]):
    """Options of any name, their values as they are."""

    def __missing__(self, _name: str) -> Callable[[str], str]:
        return _as_it_is


class _Base(Directive):  # type: ignore[misc] # docutils has no types
    has_content = True
    option_spec: ClassVar[dict[str, Callable[[str], str]]] = _AnyOption(name=_as_it_is)

    def inside(self, node: nodes.Element, content: StringList | None = None) -> nodes.Element:
        """The content read into the node."""
        lines = self.content if content is None else content
        if lines:
            self.state.nested_parse(lines, self.content_offset, node, match_titles=self.name in ("only", "ifconfig"))
        return node

    def inline(self, text: str) -> nodes.paragraph:
        """A paragraph of a text in one line."""
        found, _messages = self.state.inline_text(text, self.lineno)
        return nodes.paragraph(text, "", *found)

    @property
    def said(self) -> str:
        """What stands behind the name of the directive."""
        return " ".join(" ".join(self.arguments).split())


class _Unseen(_Base):
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        return []


class _Code(_Base):
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        language = self.said if re.fullmatch(r"[\w+#.-]{1,20}", self.said) else ""
        if not text.strip():
            text, language = ("\n".join(self.arguments), "") if not language else ("", "")
        return [nodes.literal_block(text, text, language=language)] if text.strip() else []


class _Note(_Base):
    def run(self) -> list[nodes.Node]:
        return [self.inside(nodes.container(kedge="labelled", label=_ADMONITIONS[self.name.lower()]))]


class _Version(_Base):
    optional_arguments = 2
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        version = self.arguments[0] if self.arguments else ""
        label = f"{_VERSIONS[self.name.lower()]} {version}".strip()
        node = nodes.container(kedge="labelled", label=label)
        if len(self.arguments) > 1:
            node += self.inline(" ".join(self.arguments[1].split()))
        self.inside(node)
        if not node.children:
            return [nodes.paragraph("", f"{label}.")]
        return [node]


class _Titled(_Base):
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        node = nodes.container(kedge="labelled", inline=True)
        node += self.inline(self.said.rstrip(":"))
        self.inside(node)
        return [node]


class _Kept(_Base):
    """A container: what it holds stands where it stands."""

    def run(self) -> list[nodes.Node]:
        return [self.inside(nodes.container())]


class _Only(_Kept):
    """Its argument is a condition."""

    optional_arguments = 1
    final_argument_whitespace = True


class _Rubric(_Base):
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        found, _messages = self.state.inline_text(self.said, self.lineno)
        return [nodes.rubric(self.said, "", *found), *self.inside(nodes.container()).children]


class _Glossary(_Base):
    """A list of definitions in which several terms may stand above one text."""

    def run(self) -> list[nodes.Node]:
        node = nodes.definition_list()
        terms: list[str] = []
        at = 0
        lines = list(self.content)
        while at < len(lines):
            line = lines[at]
            if line.strip() and not line[:1].isspace():
                if not line.startswith(".. "):
                    terms.append(line.partition(" : ")[0].strip())
                at += 1
                continue
            first = at
            while at < len(lines) and (not lines[at].strip() or lines[at][:1].isspace()):
                at += 1
            body = self.content[first:at]
            if terms and any(text.strip() for text in body):
                node += self._entry(terms, body)
                terms = []
        return [node] if node.children else []

    def _entry(self, terms: Sequence[str], body: StringList) -> nodes.definition_list_item:
        lines = [line for line in body if line.strip()]
        body.trim_left(min(len(line) - len(line.lstrip()) for line in lines))
        entry = nodes.definition_list_item()
        entry += [nodes.term(term, "", *self.inline(term).children) for term in terms]
        entry += self.inside(nodes.definition(), body)
        return entry


class _ListTable(_Base):
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        held = self.inside(nodes.Element())
        outer = next((child for child in held.children if isinstance(child, nodes.bullet_list)), None)
        rows = [list(item.findall(nodes.bullet_list))[:1] for item in outer.children] if outer is not None else []
        if not rows or not all(rows):
            return list(held.children)
        table = nodes.container(kedge="table", heads=_number(self.options.get("header-rows")), caption=self.said)
        for row in rows:
            table += nodes.container("", *row[0].children)
        return [table]


class _CsvTable(_Base):
    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        delimiter = {"tab": "\t", "space": " "}.get(self.options.get("delim", ","), self.options.get("delim", ",")[:1])
        quote = (self.options.get("quote") or '"')[:1]
        header = self.options.get("header") or ""
        heads = _number(self.options.get("header-rows")) + bool(header.strip())
        lines = [*header.splitlines(), *self.content]
        table = nodes.container(kedge="table", heads=heads, caption=self.said)
        for row in csv.reader(lines, delimiter=delimiter or ",", quotechar=quote, skipinitialspace=True):
            table += nodes.container("", *(nodes.container("", self.inline(" ".join(cell.split()))) for cell in row))
        return [table] if table.children else []


class _Object(_Base):
    """A function, a class, a setting, an option; and every directive that is not known otherwise."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        held = self.inside(nodes.container(kedge="object", signatures=self._signatures()))
        if self.name == "class" and not _CALL.search(self.said):
            return list(held.children)
        if not held.children:
            held["names_next"] = "option" in self.name and bool(self.said)
            return [held] if held["names_next"] else []
        return [held] if self.said else list(held.children)

    def _signatures(self) -> list[str]:
        lines = "\n".join(self.arguments).replace("\\\n", " ").split("\n")
        found = [" ".join(line.split()).replace("\\", "").rstrip(":") for line in lines]
        return [line.replace("`", "") for line in found if line]


_BY_NAME: dict[str, type[Directive]] = {
    **dict.fromkeys(_CODE, _Code),
    **dict.fromkeys(_UNSEEN, _Unseen),
    **dict.fromkeys(_ADMONITIONS, _Note),
    **dict.fromkeys(_VERSIONS, _Version),
    **dict.fromkeys(_TITLED, _Titled),
    **dict.fromkeys(_PLAIN, _Kept),
    **dict.fromkeys(("only", "ifconfig", "container", "rst-class", "cssclass", "grid"), _Only),
    "rubric": _Rubric, "glossary": _Glossary, "list-table": _ListTable, "flat-table": _ListTable,
    "csv-table": _CsvTable,
}  # fmt: skip


@contextmanager
def _own_directives() -> Iterator[None]:
    """Have docutils find every directive here while a text is read; it has one function for the whole process."""
    theirs = registry.directive

    def find(name: str, language: object, document: nodes.document) -> tuple[type[Directive] | None, list[nodes.Node]]:
        wanted = name.lower()
        if wanted in _OWN:
            found, messages = theirs(wanted, language, document)
            return found, messages
        if wanted.startswith("auto") and wanted not in _BY_NAME:
            return _Object, []
        return _BY_NAME.get(wanted, _BY_NAME.get(wanted.rpartition(":")[2], _Object)), []

    registry.directive = find
    try:
        yield
    finally:
        registry.directive = theirs


def _number(text: str | None) -> int:
    return int(text) if text and text.strip().isdigit() else 0
