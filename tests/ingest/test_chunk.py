"""Passages: exact slices, in order, covering everything, of the right size, with nothing cut that belongs together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.core.values import Block, BlockKind, Chunk, ParsedDocument
from kedge.ingest.chunk.passages import ChunkLimits, chunk, token_budget
from kedge.ingest.parse.markdown import MarkdownParser
from kedge.ingest.parse.text import TextParser
from kedge.text.statements.rows import TableLine, rows
from tests.ingest.conftest import count_tokens

SMALL = ChunkLimits(target=60, maximum=160, minimum=20)


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def prose(sentences: int, length: int = 11) -> str:
    return " ".join(f"Sentence {number} {words(length - 3)}." for number in range(sentences))


def check(document: ParsedDocument, chunks: Sequence[Chunk], limits: ChunkLimits) -> None:
    """What holds for every document."""
    at = 0
    for number, piece in enumerate(chunks):
        assert piece.index == number
        assert piece.text == document.text[piece.start : piece.end]
        assert at <= piece.start < piece.end
        assert piece.token_count == count_tokens([piece.text])[0]
        at = piece.end
    covered = bytearray(len(document.text))
    for piece in chunks:
        covered[piece.start : piece.end] = b"\x01" * (piece.end - piece.start)
    for block in document.blocks:
        for offset in range(block.start, block.end):
            assert covered[offset] or document.text[offset].isspace()
        if block.kind in (BlockKind.CODE, BlockKind.TABLE, BlockKind.FORMULA):
            check_whole(document, block, chunks, limits)


def check_whole(document: ParsedDocument, block: Block, chunks: Sequence[Chunk], limits: ChunkLimits) -> None:
    size = count_tokens([document.text[block.start : block.end]])[0]
    holders = [piece for piece in chunks if piece.start < block.end and block.start < piece.end]
    assert len(holders) == 1 or size > limits.maximum


@pytest.mark.req("D-03")
def test_a_short_document_is_one_passage() -> None:
    document = MarkdownParser().parse("# Title\n\nOne sentence.\n\n## Part\n\nAnother.\n")
    (only,) = chunk(document, count_tokens)
    assert only.text == "# Title\n\nOne sentence.\n\n## Part\n\nAnother."
    assert only.section_path == ("Title",)


@pytest.mark.req("D-03")
def test_a_document_without_blocks_has_no_passages() -> None:
    assert chunk(MarkdownParser().parse("<!-- nothing -->"), count_tokens) == []


@pytest.mark.req("D-03")
def test_sections_are_not_mixed_and_headings_stay_with_their_text() -> None:
    parts = [f"## Part {number}\n\n{prose(4)}" for number in range(4)]
    document = MarkdownParser().parse("# Title\n\n" + "\n\n".join(parts))
    chunks = chunk(document, count_tokens, SMALL)
    check(document, chunks, SMALL)
    assert [piece.section_path for piece in chunks] == [("Title", f"Part {number}") for number in range(4)]
    assert chunks[1].text == parts[1]


@pytest.mark.req("D-03")
def test_small_blocks_are_merged_up_to_the_target() -> None:
    document = TextParser().parse("\n\n".join(prose(1) for _ in range(40)))
    chunks = chunk(document, count_tokens, SMALL)
    check(document, chunks, SMALL)
    assert all(40 <= piece.token_count <= 60 for piece in chunks)


@pytest.mark.req("D-03")
def test_long_paragraphs_are_cut_between_sentences() -> None:
    document = TextParser().parse(prose(50))
    chunks = chunk(document, count_tokens, SMALL)
    check(document, chunks, SMALL)
    assert all(piece.text.startswith("Sentence") and piece.text.endswith(".") for piece in chunks)
    assert all(20 <= piece.token_count <= 60 for piece in chunks)


@pytest.mark.req("D-03")
@pytest.mark.parametrize("text", [words(500), "x" * 400 + " " + words(400), "字" * 900])
def test_one_endless_sentence_is_cut_between_words(text: str) -> None:
    document = TextParser().parse(text)

    def count(texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + sum(character > "\u3000" for character in text) for text in texts]

    chunks = chunk(document, count, SMALL)
    assert "".join("".join(piece.text.split()) for piece in chunks) == "".join(text.split())
    assert all(SMALL.minimum <= piece.token_count <= SMALL.maximum for piece in chunks)


@pytest.mark.req("D-03")
def test_a_small_tail_joins_its_neighbour() -> None:
    document = TextParser().parse(prose(5) + "\n\n" + prose(1, 8))
    chunks = chunk(document, count_tokens, SMALL)
    check(document, chunks, SMALL)
    assert all(piece.token_count >= SMALL.minimum for piece in chunks)


@pytest.mark.req("D-03")
def test_code_is_whole_up_to_the_maximum_and_cut_between_lines_beyond() -> None:
    inside = "\n".join(f"call({number});" for number in range(25))
    beyond = "\n".join(f"other({number});" for number in range(80))
    document = MarkdownParser().parse(
        f"# T\n\n{prose(3)}\n\n```c\n{inside}\n```\n\n{prose(3)}\n\n```c\n{beyond}\n```\n"
    )
    notes: list[str] = []
    chunks = chunk(document, count_tokens, SMALL, warn=notes.append)
    check(document, chunks, SMALL)
    assert any(inside in piece.text for piece in chunks)
    assert len(notes) == 1
    assert all(piece.token_count <= SMALL.maximum for piece in chunks)
    pieces = [line for piece in chunks for line in piece.text.split("\n") if line.startswith("other")]
    assert pieces == beyond.split("\n")


@pytest.mark.req("D-02")
@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("Plain `inline` text for $5 and $10.", (False, False, False)),
        ("Takes $O(n \\log n)$ time.", (False, True, False)),
        ("$$x$$", (False, True, False)),
        ("```sh\necho $HOME $PATH$\n```", (True, False, False)),
        ("| a | b |\n|---|---|\n| 1 | 2 |", (False, False, True)),
        ("With \\(x\\) inline.", (False, True, False)),
    ],
)
def test_flags(text: str, flags: tuple[bool, bool, bool]) -> None:
    (piece,) = chunk(MarkdownParser().parse(text), count_tokens)
    assert (piece.has_code, piece.has_formula, piece.has_table) == flags


@pytest.mark.req("D-02")
def test_page_and_absolute_offsets() -> None:
    text = prose(3)
    document = ParsedDocument(text, (Block(BlockKind.PARAGRAPH, 0, len(text), ("Part",), page=7),))
    (piece,) = chunk(document, count_tokens, base=1000, first_index=5)
    assert (piece.page, piece.start, piece.end, piece.index) == (7, 1000, 1000 + len(text), 5)
    assert piece.text == text


def test_a_passage_of_several_sections_says_where_each_begins() -> None:
    text = "# Sheets\n\n## First\n\nOne is red.\n\n## Second\n\nTwo is blue.\n"
    (piece,) = chunk(MarkdownParser().parse(text), count_tokens)
    assert piece.section_path == ("Sheets", "First")
    ((at, path),) = piece.section_breaks
    assert path == ("Sheets", "Second")
    assert piece.text[at:].startswith(("## Second", "Second"))


@pytest.mark.req("D-03")
def test_the_window_counts_title_section_and_special_tokens() -> None:
    assert token_budget(256, 14) == 240
    limits = ChunkLimits.for_window(256)
    document = MarkdownParser().parse(f"# {words(20, 'title')}\n\n{prose(200)}")
    chunks = chunk(document, count_tokens, limits)
    check(document, chunks, limits)
    assert all(100 <= piece.token_count <= 256 - 2 - 20 for piece in chunks)
    wide = chunk(document, count_tokens, ChunkLimits.for_window(8192))
    assert all(512 <= piece.token_count <= 1024 for piece in wide)
    wish = chunk(document, count_tokens, ChunkLimits.for_window(8192, chunk_tokens=300))
    assert all(100 <= piece.token_count <= 300 for piece in wish)


PARTS = st.one_of(
    st.integers(1, 3).map(lambda level: f"{'#' * level} Heading of level {level}"),
    st.integers(1, 12).map(prose),
    st.integers(1, 60).map(lambda count: "```\n" + "\n\n".join(f"f({n})" for n in range(count)) + "\n```"),
    st.integers(1, 12).map(lambda count: "\n".join(f"- item {n} with words" for n in range(count))),
    st.integers(1, 8).map(lambda count: "- item\n\n  ~~~\n" + "\n".join(f"  g({n})" for n in range(count)) + "\n  ~~~"),
    st.integers(1, 20).map(lambda n: "$$\n" + " + ".join(f"x_{i}" for i in range(n)) + "\n$$"),
    st.integers(1, 10).map(lambda n: "| a | b |\n|---|---|" + "\n| 1 | 2 |" * n),
    st.text(alphabet="ab .\n$`#-|字\r", max_size=80),
    st.just("<!-- " + "comment " * 30 + "-->"),
)


@pytest.mark.req("D-03")
@given(st.lists(PARTS, max_size=12))
def test_any_markdown_is_covered_exactly_once(parts: list[str]) -> None:
    document = MarkdownParser().parse("\n\n".join(parts))
    check(document, chunk(document, count_tokens, SMALL), SMALL)


@pytest.mark.req("D-03")
@given(st.text(max_size=400))
def test_any_text_is_covered_exactly_once(text: str) -> None:
    document = TextParser().parse(text)
    check(document, chunk(document, count_tokens, SMALL), SMALL)


@pytest.mark.req("D-03")
@given(st.lists(st.integers(1, 30), min_size=3, max_size=25), st.sampled_from(["\n\n", " ", "\n\n## Next\n\n"]))
def test_prose_stays_in_the_valid_range(lengths: list[int], between: str) -> None:
    document = MarkdownParser().parse(between.join(prose(1, length + 3) for length in lengths))
    chunks = chunk(document, count_tokens, SMALL)
    check(document, chunks, SMALL)
    if len(chunks) > 1:
        assert all(SMALL.minimum <= piece.token_count <= SMALL.maximum for piece in chunks)


@pytest.mark.req("D-03")
def test_the_rest_of_a_table_that_was_cut_knows_its_head() -> None:
    head = "Table 3: Sales.\n| | 2023 | 2022 |\n"
    table = head + "\n".join(f"Product {number} | {number},100 | {number},200" for number in range(60))
    document = ParsedDocument(text=table, blocks=(Block(BlockKind.TABLE, 0, len(table)),))
    first, *others = chunk(document, count_tokens, SMALL)
    assert first.table_head == ""
    assert others
    assert {piece.table_head for piece in others} == {head.strip()}
    read = statements_of(others[-1])
    assert read[-1] == "Table 3: Sales. Product 59 — 2023: 59,100; 2022: 59,200"


def statements_of(piece: Chunk) -> list[str]:
    lines = [TableLine(0, line) for line in piece.text.split("\n")]
    return [one.read for one in rows(lines, "", "", piece.table_head)]
