"""Reads the registries' files, packed or not, and makes the hierarchy that a cluster loads: what `parcahyd lab rir` does.

Tested in tests/cli/test_lab_rir.py.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, cast

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.partition.locations.delegated import MAX_LINE, Delegation, read_delegations
from parcahyd.partition.locations.hierarchy import Hierarchy, build_hierarchy
from parcahyd.partition.locations.hierarchy_file import encode_hierarchy

__all__ = ["Built", "build", "lookups_per_second", "open_lines"]

_DAMAGED = (lzma.LZMAError, zlib.error, EOFError, OSError)


class Built(msgspec.Struct, frozen=True):
    """A hierarchy, and what it is worth knowing about it."""

    hierarchy: Hierarchy
    content: bytes
    """Of the file."""
    deepest: int
    """How many ranges lie around one another at most."""
    in_memory: int
    """Bytes of its arrays."""


@contextmanager
def open_lines(path: Path) -> Iterator[Iterator[bytes]]:
    """The lines of a file, unpacked where its name ends in .xz, .gz or .bz2. None is longer than MAX_LINE + 1 bytes."""
    try:
        with _opened(path) as stream:
            yield iter(lambda: stream.readline(MAX_LINE + 1), b"")
    except _DAMAGED as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UserError(f"{path} cannot be read: {reason}", "name another file, or fetch it again") from error


def _opened(path: Path) -> IO[bytes]:
    match path.suffix:
        case ".xz":
            return lzma.open(path)
        case ".gz":
            return cast("IO[bytes]", gzip.open(path))
        case ".bz2":
            return bz2.open(path)
    return path.open("rb")


def build(paths: Sequence[Path]) -> Built:
    """The hierarchy of several registries' files. What is wrong with a line is a UserError that names it."""
    hierarchy = build_hierarchy(chain.from_iterable(_delegations(path) for path in paths))
    families = (hierarchy.ipv4, hierarchy.ipv6)
    deepest = max((1 + sum(1 for _ in one.above(number)) for one in families for number in range(len(one.first))), default=0)
    in_memory = sum(sys.getsizeof(numbers) for family in families for numbers in family)
    return Built(hierarchy, encode_hierarchy(hierarchy), deepest, in_memory)


def _delegations(path: Path) -> Iterator[Delegation]:
    with open_lines(path) as lines:
        yield from read_delegations(lines, str(path))


def lookups_per_second(hierarchy: Hierarchy, networks: Sequence[int]) -> float:
    """How many networks are looked up in a second, by the clock of this machine."""
    begin = time.perf_counter()
    for network in networks:
        hierarchy.place(network)
    return len(networks) / max(1e-9, time.perf_counter() - begin)
