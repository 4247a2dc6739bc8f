"""The hash of keys is that of the standard library: what a database holds was made with either."""

from __future__ import annotations

import hashlib

import pytest

from parcahyd.rules.blake2 import blake2b


@pytest.mark.parametrize("text", [b"", b"/", b"/a/b?c=d", bytes(range(256)) * 40])
@pytest.mark.parametrize("size", [2, 8, 64])
def test_the_hash_is_the_one_of_hashlib(text: bytes, size: int) -> None:
    assert blake2b(text, digest_size=size).digest() == hashlib.blake2b(text, digest_size=size).digest()
