from __future__ import annotations

import os
from pathlib import Path

import pytest

from parcahyd.config.schema import MapConf
from parcahyd.core.errors import ConfigurationError, ResolutionFailure
from parcahyd.core.ports import Resolution
from parcahyd.core.states import Reason
from parcahyd.net.resolver_hosts_file import HostsFileResolver, parse_hosts
from parcahyd.testing import check_resolver


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    path = tmp_path / "hosts"
    path.write_text("192.0.2.1 one.test\n2001:db8::2 two.test\n192.0.2.2 two.test\n")
    return path


def _resolver(hosts: Path) -> HostsFileResolver:
    return HostsFileResolver(MapConf(HostsFile=str(hosts), MinTtl=30.0))


def test_conformance(hosts: Path) -> None:
    check_resolver(_resolver(hosts), {"one.test": ["192.0.2.1"], "two.test": ["192.0.2.2", "2001:db8::2"]}, "three.test")


def test_answers_hold_for_the_least_time(hosts: Path) -> None:
    assert _resolver(hosts).resolve("two.test") == Resolution(("192.0.2.2", "2001:db8::2"), 30.0)


def test_a_changed_file_is_read_again(hosts: Path) -> None:
    resolver = _resolver(hosts)
    assert resolver.resolve("one.test").addresses == ("192.0.2.1",)
    hosts.write_text("192.0.2.9 one.test\n")
    os.utime(hosts, ns=(0, 123_456_789))
    assert resolver.resolve("one.test").addresses == ("192.0.2.9",)


def test_a_file_that_vanished_is_a_failure_that_passes(hosts: Path) -> None:
    resolver = _resolver(hosts)
    text = hosts.read_text()
    hosts.unlink()
    with pytest.raises(ResolutionFailure, match="cannot be read") as failure:
        resolver.resolve("one.test")
    assert failure.value.reason is Reason.DNS_FAILURE
    hosts.write_text(text)
    assert resolver.resolve("one.test").addresses == ("192.0.2.1",)


def test_a_missing_file_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r'HostsFile ".*none" cannot be read'):
        _resolver(tmp_path / "none")


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


def test_the_file_is_read_as_hosts_5_describes_it() -> None:
    assert parse_hosts(_TEXT) == {
        "localhost": ("127.0.0.1", "::1"),
        "loopback.test": ("127.0.0.1",),
        "upper.test": ("192.0.2.1",),
        "absolute.test": ("192.0.2.1",),
    }


def test_an_empty_file_knows_no_host() -> None:
    assert parse_hosts("") == {}
