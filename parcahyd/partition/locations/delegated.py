"""The files in which the registries publish their ranges of addresses, read line by line.

Two forms are known. `delegated-REGISTRY-extended-latest`, which all five registries publish daily, has fields divided by "|": a
line with the version, a summary of each kind, and a line for each range. Of IPv4 the range is a first address and a number of
addresses, which need not be a power of two; of IPv6 it is a prefix and its length. The last field stands for the organisation
that holds the range. The other form is the lab's table of the same facts: fields divided by tabs, the first line begins with
"#".

Tested in tests/partition/locations/test_delegated.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NamedTuple

from parcahyd.core.errors import UserError

__all__ = ["MAX_LINE", "Delegation", "read_delegations"]

MAX_LINE = 1000
"""Bytes that a line has at most."""
_MAX_RANGES = 4_000_000
"""Ten times as many as all five registries had in 2025."""
_FINEST = 64
"""Bits: an IPv6 prefix longer than this is no network of its own."""
_WORD = re.compile(r"[a-z]{2,20}")
_COUNTRY = re.compile(r"[A-Z]{2}|")
_DIGITS = re.compile(r"[0-9]{1,10}")
_COLUMNS = "#start_ip\taddresses\t"


class Delegation(NamedTuple):
    """A range that a registry delegated."""

    version: int
    """4 or 6."""
    first: int
    """An address; of IPv6, its upper 64 bits."""
    last: int
    registry: str
    country: str
    """Two letters; empty: not said."""
    holder: str
    """Stands for the organisation, within the registry; empty: not said."""


class _Wrong(ValueError):
    """What is wrong with a line."""


def read_delegations(lines: Iterable[bytes], name: str) -> Iterator[Delegation]:
    """The ranges that are allocated or assigned, in the order of the lines. `name` is the file's, for errors.

    Lines of autonomous systems, and of ranges that are reserved or available, are passed over once they have been checked.
    A line that is wrong is a UserError that names it. No line may be longer than MAX_LINE.
    """
    read, ranges = _pipes, 0
    number = 0
    for number, raw in enumerate(lines, 1):
        try:
            line = _text(raw)
            if number == 1 and line.startswith(_COLUMNS):
                read = _table_row
                continue
            if not line or line.startswith("#"):
                continue
            found = read(line)
            ranges += found is not None
            if ranges > _MAX_RANGES:
                raise _Wrong(f"more than {_MAX_RANGES:,} ranges")
        except _Wrong as wrong:
            remedy = "fetch the file again from its registry; docs/registries.md says which forms are read"
            raise UserError(f"{name}: line {number}: {wrong}", remedy) from None
        if found is not None:
            yield found
    if not ranges:
        raise UserError(f"{name} has no range of addresses in {number} lines", "docs/registries.md says which files are read")


def _text(raw: bytes) -> str:
    if len(raw) > MAX_LINE:
        raise _Wrong(f"it has more than {MAX_LINE} bytes")
    try:
        return raw.decode("ascii").strip()
    except UnicodeDecodeError:
        raise _Wrong("it is no text in ASCII") from None


def _pipes(line: str) -> Delegation | None:
    fields = line.split("|")
    if fields[0][:1].isdigit():
        if fields[0].partition(".")[0] != "2":
            raise _Wrong(f"version {fields[0][:20]} of the form is not known, only 2")
        return None
    if fields[-1] == "summary" and len(fields) == 6:
        return None
    if len(fields) < 7:
        raise _Wrong(f"{len(fields)} fields, not 7 or more")
    registry, country, kind, start, value, _, status = fields[:7]
    if kind == "asn":
        return None
    holder = fields[7] if len(fields) > 7 else ""
    ranges = {"ipv4": _ipv4, "ipv6": _ipv6}.get(kind)
    if ranges is None:
        raise _Wrong(f'the kind "{kind[:20]}" is none of ipv4, ipv6 and asn')
    first, last = ranges(start, value)
    if status not in {"allocated", "assigned"}:
        return None
    return _delegation(6 if kind == "ipv6" else 4, first, last, registry, country, holder)


def _table_row(line: str) -> Delegation:
    fields = line.split("\t")
    if len(fields) != 6:
        raise _Wrong(f"{len(fields)} fields, not 6")
    start, value, registry, country, _, holder = fields
    return _delegation(4, *_ipv4(start, value), registry, country, holder)


def _delegation(version: int, first: int, last: int, registry: str, country: str, holder: str) -> Delegation:
    if not _WORD.fullmatch(registry):
        raise _Wrong(f'"{registry[:20]}" is no name of a registry')
    if not _COUNTRY.fullmatch(country):
        raise _Wrong(f'"{country[:20]}" is no country of two letters')
    return Delegation(version, first, last, registry, "" if country == "ZZ" else country, holder)


def _ipv4(start: str, value: str) -> tuple[int, int]:
    try:
        first = int(IPv4Address(start))
    except AddressValueError:
        raise _Wrong(f'"{start[:40]}" is no IPv4 address') from None
    count = _number(value)
    if not 1 <= count <= (1 << 32) - first:
        raise _Wrong(f"{count} addresses do not fit behind {start}")
    return first, first + count - 1


def _ipv6(start: str, value: str) -> tuple[int, int]:
    try:
        address = int(IPv6Address(start))
    except AddressValueError:
        raise _Wrong(f'"{start[:40]}" is no IPv6 address') from None
    length = _number(value)
    if not 1 <= length <= 128 or address & ((1 << 128 - length) - 1):
        raise _Wrong(f"{start}/{length} is no IPv6 prefix")
    first = address >> _FINEST
    return first, first | ((1 << max(0, _FINEST - length)) - 1)


def _number(value: str) -> int:
    if not _DIGITS.fullmatch(value):
        raise _Wrong(f'"{value[:20]}" is no number')
    return int(value)
