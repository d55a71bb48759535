"""Compound files (OLE) made by hand: streams and storages with 512-byte sectors, small streams in the mini stream."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_SECTOR, _CUTOFF = 512, 4096


@dataclass
class _Entry:
    name: str
    kind: int
    data: bytes = b""
    children: list[int] = field(default_factory=list)
    start: int = _END


def message(
    subject: str, body: str, *, sender: str = "", to: str = "", attached: Mapping[str, bytes] | None = None
) -> bytes:
    """A message as Outlook saves one."""
    name, _, address = sender.partition(" <")
    streams = {"__properties_version1.0": bytes(32)}
    for tag, value in (("0037", subject), ("1000", body), ("0C1A", name), ("5D01", address.rstrip(">")), ("0E04", to)):
        streams[f"__substg1.0_{tag}001F"] = value.encode("utf-16-le")
    for number, (file, data) in enumerate((attached or {}).items()):
        folder = f"__attach_version1.0_#{number:08X}"
        streams[f"{folder}/__properties_version1.0"] = bytes(8)
        streams[f"{folder}/__substg1.0_3707001F"] = file.encode("utf-16-le")
        streams[f"{folder}/__substg1.0_37010102"] = data
    return compound_file(streams)


def compound_file(streams: Mapping[str, bytes]) -> bytes:
    """A compound file with these streams; a `/` in a name is a storage."""
    entries = [_Entry("Root Entry", 5)]
    places: dict[str, int] = {"": 0}
    for path, data in streams.items():
        folder, _, name = path.rpartition("/")
        if folder not in places:
            places[folder] = len(entries)
            entries[0].children.append(len(entries))
            entries.append(_Entry(folder, 1))
        entries[places[folder]].children.append(len(entries))
        entries.append(_Entry(name, 2, data))
    mini, mini_chain = _mini_stream(entries)
    entries[0].data = mini
    sectors: list[bytes] = []
    chain: list[int] = []

    def stored(data: bytes) -> int:
        start, count = len(sectors), -(-len(data) // _SECTOR)
        padded = data.ljust(count * _SECTOR, b"\x00")
        sectors.extend(padded[at * _SECTOR : (at + 1) * _SECTOR] for at in range(count))
        chain.extend([*range(start + 1, start + count), _END])
        return start

    for entry in entries:
        if entry.data and (entry.kind == 5 or len(entry.data) >= _CUTOFF):
            entry.start = stored(entry.data)
    mini_fat = stored(struct.pack(f"<{len(mini_chain)}I", *mini_chain).ljust(_SECTOR, b"\xff")) if mini else _END
    directory = b"".join(_directory(entries)).ljust(-(-len(entries) // 4) * _SECTOR, b"\x00")
    first = stored(directory)
    fats = 1
    while len(chain) + fats > fats * 128:
        fats += 1
    fat_at = [len(sectors) + number for number in range(fats)]
    chain += [_FAT] * fats
    table = struct.pack(f"<{fats * 128}I", *chain, *[_FREE] * (fats * 128 - len(chain)))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, fats, first, 0, _CUTOFF, mini_fat, int(bool(mini)), _END, 0)
    header += struct.pack("<109I", *fat_at, *[_FREE] * (109 - fats))
    return header + b"".join(sectors) + table


def _mini_stream(entries: list[_Entry]) -> tuple[bytes, list[int]]:
    """The small streams one after the other in pieces of 64 bytes, and which piece follows which (at most 128)."""
    mini, chain = b"", list[int]()
    for entry in entries:
        if entry.kind == 2 and 0 < len(entry.data) < _CUTOFF:
            count = -(-len(entry.data) // 64)
            entry.start = len(chain)
            chain += [*range(entry.start + 1, entry.start + count), _END]
            mini += entry.data.ljust(64 * count, b"\x00")
    return mini, chain


def _directory(entries: list[_Entry]) -> list[bytes]:
    right = {}
    for entry in entries:
        for one, following in zip(entry.children, [*entry.children[1:], _FREE], strict=False):
            right[one] = following
    made = []
    for number, entry in enumerate(entries):
        name = entry.name.encode("utf-16-le") + b"\x00\x00"
        child = entry.children[0] if entry.children else _FREE
        made.append(
            name.ljust(64, b"\x00")
            + struct.pack("<HBBIII", len(name), entry.kind, 1, _FREE, right.get(number, _FREE), child)
            + bytes(36)
            + struct.pack("<IQ", entry.start, len(entry.data))
        )
    return made
