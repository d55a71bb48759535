"""Plain text, HTML, and telling formats apart."""

from __future__ import annotations

import pytest

from kedge.core.errors import EmptySourceError
from kedge.core.values import ParsedDocument
from kedge.ingest.parse.formats import detect_format, readable_name
from kedge.ingest.parse.html import parse_html
from kedge.ingest.parse.reading import open_document
from kedge.ingest.parse.text import TextParser
from kedge.ingest.sources.discovery import uploaded
from kedge.text.iso639 import language_of

PAGE = """<!doctype html><html lang=en><head><title>Page &amp; title</title><meta name=author content="Jo"></head>
<body><nav>menu</nav><main><h1>Big &lt;One&gt;</h1><!-- c --><p>Hello <b>bold</b> and <a href="x.html">link
text</a>.<br>next line</p>loose text<script>alert(1)</script><ul><li>a <a href=q>q</a></li><li>b<ul><li>c</li></ul></li>
</ul><h2>Code<a href="#c">¶</a></h2><pre><code>int x;
  y &lt; 3;
</code></pre><table><tr><th>A<th>B</tr><tr><td>1<td>2</tr></table><ol><li>one<pre>code</pre></li></ol>
<blockquote><p>quote</p></blockquote><style>p{}</style></main><footer>imprint</footer></body></html>"""


def shown(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind.value, document.text[block.start : block.end]) for block in document.blocks]


@pytest.mark.req("D-01", "D-02")
def test_html_main_content_in_blocks() -> None:
    document = parse_html(PAGE)
    assert shown(document) == [
        ("heading", "Big <One>"),
        ("paragraph", "Hello bold and link text.\nnext line"),
        ("paragraph", "loose text"),
        ("list", "- a q\n- b\n  - c"),
        ("heading", "Code"),
        ("code", "```\nint x;\n  y < 3;\n```"),
        ("table", "A | B\n1 | 2"),
        ("list", "one"),
        ("code", "code"),
        ("quote", "quote"),
    ]
    assert (document.title, document.author) == ("Page & title", "Jo")
    assert document.blocks[-1].section == ("Big <One>", "Code")
    assert [(link.text, link.target) for link in document.links] == [("link text", "x.html"), ("q", "q")]
    assert document.text[document.links[0].start :].startswith("link text")


@pytest.mark.req("D-01")
def test_html_without_text_is_an_error() -> None:
    with pytest.raises(EmptySourceError):
        parse_html("<html><script>draw()</script></html>")


@pytest.mark.req("D-01")
def test_html_declares_its_encoding() -> None:
    page = '<html><meta charset="iso-8859-2"><p>Příliš žluťoučký kůň úpěl ďábelské ódy</p></html>'
    (segment,) = open_document(uploaded("page.html", page.encode("iso-8859-2"))).segments
    assert "žluťoučký" in segment.document.text


@pytest.mark.req("D-01")
def test_deep_nesting_is_survived() -> None:
    assert "deep" in parse_html("<div>" * 5000 + "deep" + "</div>" * 5000).text


@pytest.mark.req("D-01", "D-02")
def test_plain_text_paragraphs_lists_and_underlined_headings() -> None:
    text = (
        "The Title\n=========\n\nFirst line\nsecond line.\n\nPart\n----\n- one\n- two\n\n"
        "Like so::\n\n    code here\n\nEnd.\n"
    )
    document = TextParser().parse(text)
    assert document.text == text
    assert document.title == "The Title"
    assert shown(document) == [
        ("heading", "The Title\n========="),
        ("paragraph", "First line\nsecond line."),
        ("heading", "Part\n----"),
        ("list", "- one\n- two"),
        ("paragraph", "Like so::"),
        ("code", "    code here"),
        ("paragraph", "End."),
    ]
    assert document.blocks[-1].section == ("The Title", "Part")


@pytest.mark.req("D-01")
@pytest.mark.parametrize(
    ("text", "title"),
    [("A short line\n\nThen text.", "A short line"), ("A sentence.\n\nThen text.", None), ("One\ntwo\n", None)],
)
def test_plain_text_title(text: str, title: str | None) -> None:
    assert TextParser().parse(text).title == title


@pytest.mark.req("D-01")
@pytest.mark.parametrize(
    ("name", "head", "content_type", "expected"),
    [
        ("a.md", b"# x", None, "markdown"),
        ("a.MARKDOWN", b"# x", None, "markdown"),
        ("a.rst", b"x", None, "rst"),
        ("a.htm", b"x", None, "html"),
        ("a.bin", b"%PDF-1.7", None, "pdf"),
        ("page", b"# x", "text/html; charset=utf-8", "html"),
        ("readme.md", b"<!doctype html>", "text/html", "html"),
        ("readme.md", b"# x", "text/plain", "markdown"),
        ("page", b"<!DOCTYPE html><p>", None, "html"),
        ("LICENSE", b"words", None, "text"),
        ("image.gif", b"\x89PNG\x00\x00", None, None),
    ],
)
def test_detect_format(name: str, head: bytes, content_type: str | None, expected: str | None) -> None:
    found = detect_format(name, head, content_type)
    assert (found and found.name) == expected


@pytest.mark.req("D-01")
def test_a_title_of_last_resort() -> None:
    assert readable_name("suffix-tree_ukkonen.md") == "Suffix tree ukkonen"
    assert readable_name("v1.2 notes") == "V1.2 notes"


@pytest.mark.req("D-02")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The suffix tree of a string is built in linear time.", "en"),
        ("El árbol de sufijos se construye en tiempo lineal para la cadena.", "es"),
        ("Der Suffixbaum ist in linearer Zeit für eine Zeichenkette gebaut und nicht groß.", "de"),
        ("Это простой русский текст, и в нём нет ничего особенного, что на самом деле так.", "ru"),
        ("北京大学是中国的一所大学。", "zh"),
        ("これはテストのための文章です。", "ja"),
        ("int x = 1; y += 2;", "und"),
        ("1234 5678", "und"),
    ],
)
def test_language(text: str, code: str) -> None:
    assert language_of(text) == code
