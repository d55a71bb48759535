"""From bytes to text: byte order marks, UTF-8 first, UTF-16, then a guess that has to be a good one."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from typing import BinaryIO

from charset_normalizer import from_bytes

from kedge.core.errors import BinarySourceError, EmptySourceError, EncodingError

SAMPLE = 1 << 16
"""Bytes that are looked at for a guess."""
_PIECE = 1 << 18
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - {7, 8, 9, 10, 11, 12, 13, 27} | {127})
_ODD_CHARACTERS = re.compile("[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufffd\ufffe\uffff]")
_MAX_CONTROL_SHARE = 0.01
_MAX_CHAOS = 0.2
_OF_NAMES = ("idna", "punycode")
"""Encodings of host names: no file is written in them."""
_WESTERN = "cp1252"
_WESTERN_SIGNS = "‘’“”–—…«»°£€©¿¡\xa0"


def decode(data: bytes, encoding: str | None = None, name: str = "The source") -> str:
    """The whole of `data` as text without its byte order mark.

    Raises EmptySourceError, BinarySourceError, or EncodingError (also when the named `encoding` is not the right one).
    """
    return "".join(decode_stream(io.BytesIO(data), encoding, name))


def decode_stream(stream: BinaryIO, encoding: str | None = None, name: str = "The source") -> Iterator[str]:
    """Pieces of text of a seekable stream, in bounded memory; errors as `decode`, raised before the first piece."""
    encoding = find_encoding(stream, encoding, name)
    stream.seek(0)
    stream.seek(_bom_length(stream.read(4), encoding))
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    blank = True
    try:
        while data := stream.read(_PIECE):
            piece = decoder.decode(data)
            blank = blank and not piece.strip()
            yield piece
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise wrong_encoding(name, encoding) from error
    if blank:
        raise EmptySourceError(f"{name} holds no text.", hint="Remove it, or fill it and ingest again.")


def find_encoding(stream: BinaryIO, declared: str | None = None, name: str = "The source") -> str:
    """The name of the codec that reads the whole stream: the declared one, by mark, UTF-8, UTF-16, or guessed."""
    stream.seek(0)
    head = stream.read(SAMPLE)
    if not head.strip(b" \t\r\n\v\f"):
        _refuse_empty(stream, name)
    if declared:
        return _declared(stream, head, declared, name)
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return _checked(stream, encoding, name)
    wide = _wide_encoding(head)
    if wide:
        return _checked(stream, wide, name)
    _refuse_binary(head, name)
    fault = _first_fault(stream, "utf-8", name)
    if fault is None:
        return "utf-8"
    return _guess(stream, fault, name)


def looks_like_text(head: bytes) -> bool:
    """Whether the first bytes of something could be text."""
    try:
        find_encoding(io.BytesIO(head[: SAMPLE - 4]), None)
    except EmptySourceError:
        return True
    except (BinarySourceError, EncodingError):
        return False
    return True


def _refuse_empty(stream: BinaryIO, name: str) -> None:
    while piece := stream.read(_PIECE):
        if piece.strip(b" \t\r\n\v\f"):
            return
    raise EmptySourceError(f"{name} holds no text.", hint="Remove it, or fill it and ingest again.")


def _refuse_binary(data: bytes, name: str) -> None:
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if b"\x00" in data or controls > len(data) * _MAX_CONTROL_SHARE:
        raise BinarySourceError(
            f"{name} is not text: it holds bytes that no text has.",
            hint="Give the file its right suffix, or leave it out.",
        )


def _declared(stream: BinaryIO, head: bytes, declared: str, name: str) -> str:
    try:
        encoding = codecs.lookup(declared).name
        "".encode(encoding)
        if encoding in _OF_NAMES:
            raise LookupError(encoding)
    except (LookupError, ValueError) as error:
        raise EncodingError(f"There is no encoding named {declared!r}.", hint="Try utf-8, utf-16 or cp1252.") from error
    if encoding == "utf-16":
        encoding = "utf-16-be" if head.startswith(codecs.BOM_UTF16_BE) else "utf-16-le"
    if encoding == "utf-8-sig":
        encoding = "utf-8"
    if not encoding.startswith(("utf-16", "utf-32")):
        _refuse_binary(head, name)
    return _checked(stream, encoding, name)


def _checked(stream: BinaryIO, encoding: str, name: str) -> str:
    if _first_fault(stream, encoding, name) is not None:
        raise wrong_encoding(name, encoding)
    return encoding


def wrong_encoding(name: str, encoding: str) -> EncodingError:
    """What is said of bytes that are no text in the encoding they should have."""
    return EncodingError(
        f"{name} is not valid {encoding}.",
        hint="Name its right encoding, or save it as UTF-8.",
        details={"encoding": encoding},
    )


def _first_fault(stream: BinaryIO, encoding: str, name: str) -> int | None:
    """Offset of the piece that cannot be decoded, None when all can. Refuses binary data on the way."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    wide = encoding.startswith(("utf-16", "utf-32"))
    stream.seek(0)
    offset = 0
    try:
        while data := stream.read(_PIECE):
            text = decoder.decode(data)
            if wide:
                _refuse_odd_text(text, name)
            else:
                _refuse_binary(data, name)
            offset += len(data)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return offset
    return None


def _refuse_odd_text(text: str, name: str) -> None:
    if "\x00" in text or len(_ODD_CHARACTERS.findall(text)) > len(text) * _MAX_CONTROL_SHARE:
        raise BinarySourceError(
            f"{name} is not text: it holds characters that no text has.",
            hint="Give the file its right suffix, or leave it out.",
        )


def _wide_encoding(head: bytes) -> str:
    """UTF-16 without a mark: nearly every second byte of Western text is zero."""
    pairs = len(head) // 2
    if pairs < 4 or b"\x00" not in head:
        return ""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > pairs * 0.6 and even < pairs * 0.05:
        return "utf-16-le"
    if even > pairs * 0.6 and odd < pairs * 0.05:
        return "utf-16-be"
    return ""


def _guess(stream: BinaryIO, fault: int, name: str) -> str:
    """A legacy encoding, by a sample that starts where UTF-8 failed; raises when no guess is good enough."""
    stream.seek(fault)
    piece = stream.read(_PIECE)
    broken = _fault_in(piece)
    sample = piece[max(0, broken - SAMPLE // 4) : broken + SAMPLE]
    _refuse_binary(sample, name)
    fitting = [match for match in from_bytes(sample) if match.chaos <= _MAX_CHAOS]
    names = [match.encoding for match in sorted(fitting, key=lambda match: match.chaos - match.coherence)]
    if _WESTERN in names or _is_western(sample):
        names.insert(0, _WESTERN)
    for encoding in dict.fromkeys(names):
        if _reads(stream, encoding, name):
            return encoding
    raise EncodingError(
        f"The encoding of {name} cannot be told: it is not UTF-8, and no other fits well.",
        hint="Name its encoding, or save it as UTF-8.",
    )


def _fault_in(piece: bytes) -> int:
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _is_western(sample: bytes) -> bool:
    """Mostly ASCII letters, the rest letters and punctuation of Western Europe."""
    try:
        text = sample.decode(_WESTERN)
    except UnicodeDecodeError:
        return False
    foreign = [character for character in text if character > "\x7f"]
    fine = sum(character.isalpha() or character in _WESTERN_SIGNS for character in foreign)
    return len(foreign) < len(text) * 0.2 and fine > len(foreign) * 0.9


def _reads(stream: BinaryIO, encoding: str, name: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)
    except LookupError:
        return False
    return _first_fault(stream, encoding, name) is None


def _bom_length(head: bytes, encoding: str) -> int:
    return next((len(mark) for mark, name in _BOMS if name == encoding and head.startswith(mark)), 0)
