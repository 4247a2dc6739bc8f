from __future__ import annotations

from parcahyd.net.hosts_table import parse_hosts

_TEXT = """\
# a comment
127.0.0.1   localhost  loopback.test   # another
::1         localhost
192.0.2.1\tUPPER.Test absolute.test.
fe80::1%lo0 scoped.test
not-an-address broken.test
192.0.2.1 upper.test

192.0.2.7
"""


def test_the_file_is_read_as_everyone_reads_it() -> None:
    assert parse_hosts(_TEXT) == {
        "localhost": ("127.0.0.1", "::1"),
        "loopback.test": ("127.0.0.1",),
        "upper.test": ("192.0.2.1",),
        "absolute.test": ("192.0.2.1",),
    }


def test_an_empty_file_knows_nobody() -> None:
    assert parse_hosts("") == {}
