"""Bytes to text, and clear errors for bytes that are none."""

from __future__ import annotations

import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.core.errors import BinarySourceError, EmptySourceError, EncodingError
from kedge.ingest.parse.decode import decode

FRENCH = "Le café était fermé à midi ; où êtes-vous allés déjeuner ?"
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. Это простой русский текст для проверки."


@pytest.mark.req("D-01")
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (FRENCH.encode(), FRENCH),
        (codecs.BOM_UTF8 + FRENCH.encode(), FRENCH),
        (FRENCH.encode("utf-16"), FRENCH),
        (codecs.BOM_UTF16_BE + FRENCH.encode("utf-16-be"), FRENCH),
        (FRENCH.encode("utf-16-le"), FRENCH),
        (FRENCH.encode("utf-32"), FRENCH),
        (FRENCH.encode("cp1252"), FRENCH),
        (RUSSIAN.encode("cp1251"), RUSSIAN),
        (b"one\r\ntwo\rthree\n", "one\r\ntwo\rthree\n"),
    ],
)
def test_text_is_decoded_and_otherwise_untouched(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.req("D-01")
@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(str.strip))
def test_every_utf8_text_comes_back(text: str) -> None:
    assert decode(codecs.BOM_UTF8 + text.encode()) == text


@pytest.mark.req("D-01")
@pytest.mark.parametrize("data", [b"", b" \n\t\r\n ", codecs.BOM_UTF8, codecs.BOM_UTF8 + b" \n"])
def test_no_text_is_an_error(data: bytes) -> None:
    with pytest.raises(EmptySourceError) as caught:
        decode(data, name="notes.md")
    assert "notes.md" in str(caught.value)


@pytest.mark.req("D-01")
@pytest.mark.parametrize("data", [b"text\x00with nul", b"\x89PNG\r\n\x1a\n\x00\x00", bytes(range(256)) * 20])
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(BinarySourceError):
        decode(data)


@pytest.mark.req("D-01")
def test_random_bytes_are_refused() -> None:
    noise = random.Random(7)
    for _ in range(20):
        with pytest.raises((BinarySourceError, EncodingError)):
            decode(noise.randbytes(2000))


@pytest.mark.req("D-01")
def test_nul_far_behind_the_start_is_found() -> None:
    with pytest.raises(BinarySourceError):
        decode(b"fine text\n" * 100_000 + b"\x00")


@pytest.mark.req("D-01")
def test_a_wrong_declared_encoding_is_an_error() -> None:
    with pytest.raises(EncodingError, match="not valid utf-8"):
        decode(FRENCH.encode("cp1252"), "utf-8")
    with pytest.raises(EncodingError, match="no encoding named"):
        decode(b"text", "no-such-codec")
    assert decode(FRENCH.encode("cp1252"), "cp1252") == FRENCH


@pytest.mark.req("D-01")
def test_a_legacy_letter_late_in_a_long_file_still_decodes() -> None:
    data = b"plain words here.\n" * 50_000 + FRENCH.encode("cp1252")
    assert decode(data).endswith(FRENCH)
