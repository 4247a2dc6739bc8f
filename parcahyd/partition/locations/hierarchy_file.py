"""A hierarchy as the bytes of one file: what `parcahyd lab rir` writes and a cluster loads. docs/registries.md has the form.

Tested in tests/partition/locations/test_hierarchy_file.py.
"""

from __future__ import annotations

import sys
from array import array
from hashlib import sha256

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.partition.locations.hierarchy import NOBODY, Hierarchy, Ranges

__all__ = ["decode_hierarchy", "encode_hierarchy"]

_MARK = b"PARCAHYD registries 1\n"
"""The version is the number; a change of the form changes it."""
_MAX_HEADER = 65_536
_DIGEST = 32
_ARRAYS = {4: "IIIIHBII", 6: "QQIIHBQI"}
"""The fields of `Ranges` as type codes: I 4 bytes, Q 8, H 2, B 1."""
_PIECES = 2
"""The last fields of `Ranges` have a number for each piece, the others one for each range."""
_ANEW = "make it anew with parcahyd lab rir"


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    countries: tuple[str, ...]
    registries: tuple[str, ...]
    holders: int
    ranges: tuple[int, int]
    """Of IPv4 and of IPv6."""
    pieces: tuple[int, int]


def encode_hierarchy(hierarchy: Hierarchy) -> bytes:
    """The same hierarchy gives the same bytes everywhere."""
    families = (hierarchy.ipv4, hierarchy.ipv6)
    ranges, pieces = (tuple(len(family[field]) for family in families) for field in (0, -1))
    header = _Header(
        hierarchy.countries, hierarchy.registries, hierarchy.holders, (ranges[0], ranges[1]), (pieces[0], pieces[1])
    )
    content = b"".join(
        [_MARK, msgspec.json.encode(header), b"\n", *(_little(numbers).tobytes() for family in families for numbers in family)]
    )
    return content + sha256(content).digest()


def decode_hierarchy(content: bytes, name: str) -> Hierarchy:
    """What was encoded. `name` is the file's, for errors: UserError for a file of another kind or version, or a damaged one."""
    if not content.startswith(_MARK):
        what = "another version" if content.startswith(_MARK[:-3]) else "no file"
        raise UserError(f"{name} is {what} of the registries' ranges as this PARCAHYD reads them", _ANEW)
    if sha256(memoryview(content)[:-_DIGEST]).digest() != content[-_DIGEST:]:
        raise UserError(f"{name} is damaged: its checksum is not that of its content", f"copy it again, or {_ANEW}")
    end = content.find(b"\n", len(_MARK), len(_MARK) + _MAX_HEADER)
    try:
        header = msgspec.json.decode(content[len(_MARK) : end], type=_Header)
        return _read(header, memoryview(content)[end + 1 : -_DIGEST])
    except (msgspec.DecodeError, ValueError) as error:
        raise UserError(f"{name} cannot be read: {error}", _ANEW) from error


def _read(header: _Header, content: memoryview) -> Hierarchy:
    families = []
    for version, ranges, pieces in zip((4, 6), header.ranges, header.pieces, strict=True):
        fields: list[array[int]] = []
        for code in _ARRAYS[version]:
            numbers = array(code)
            count = pieces if len(fields) >= len(_ARRAYS[version]) - _PIECES else ranges
            if count < 0 or count * numbers.itemsize > len(content):
                raise ValueError("it is shorter than its header says")
            numbers.frombytes(content[: count * numbers.itemsize])
            content = content[count * numbers.itemsize :]
            fields.append(_little(numbers))
        families.append(Ranges(*fields))
    if len(content):
        raise ValueError("it is longer than its header says")
    found = Hierarchy(families[0], families[1], header.countries, header.registries, header.holders)
    _check(found)
    return found


def _check(found: Hierarchy) -> None:
    """A number that leads nowhere must not be met later, in the middle of a crawl."""
    for ranges in (found.ipv4, found.ipv6):
        count = len(ranges.first)
        codes = ((ranges.country, len(found.countries)), (ranges.registry, len(found.registries)))
        for numbers, bound in ((ranges.parent, count), (ranges.owners, count), (ranges.holder, found.holders), *codes):
            if max(set(numbers) - {NOBODY}, default=-1) >= bound:
                raise ValueError("a number leads to nothing")
        if any(parent != NOBODY and parent >= number for number, parent in enumerate(ranges.parent)):
            raise ValueError("a range lies within a later one")
        if ranges.edges != array(ranges.edges.typecode, sorted(set(ranges.edges))):
            raise ValueError("its pieces are not in order")


def _little(numbers: array[int]) -> array[int]:
    """The same numbers with their bytes in the file's order, or back."""
    if sys.byteorder == "little":
        return numbers
    turned = array(numbers.typecode, numbers)
    turned.byteswap()
    return turned
