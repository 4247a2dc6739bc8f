"""Compressed streams are unpacked within a budget. Members of archives: test_archives.py."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable

import pytest

from parcahyd.core.documents import Skipped
from parcahyd.formats.unpacking import Budget, source_of


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_stream_is_read_to_its_end(compress: Callable[[bytes], bytes]) -> None:
    body = compress(b"one") + compress(b"two")
    source, is_compressed = source_of(body, Budget(len(body), 1000))
    assert is_compressed
    assert (source.peek(2), source.read(4), source.read(100), source.skip_reason) == (b"on", b"onet", b"wo", "")


def test_a_cut_stream_says_so() -> None:
    body = gzip.compress(bytes(range(256)) * 20)[:-12]
    source, _ = source_of(body, Budget(len(body), 10_000))
    source.skip(10_000)
    assert source.skip_reason == Skipped.DAMAGED


def test_reading_ends_when_the_budget_is_spent() -> None:
    body = gzip.compress(b"x" * 1000)
    source, _ = source_of(body, Budget(len(body), 100))
    assert (source.read(100), source.skip_reason) == (b"x" * 100, "")
    assert (source.read(1), source.skip_reason) == (b"", Skipped.BYTES)


def test_the_budget_is_the_bound_or_the_ratio() -> None:
    assert (Budget(10, 1000).left, Budget(10, 1000).reason) == (1000, Skipped.BYTES)
    assert (Budget(10, 10**9).left, Budget(10, 10**9).reason) == (4 * 1024 * 1024, Skipped.RATIO)
