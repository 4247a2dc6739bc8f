from __future__ import annotations

import socket
from pathlib import Path

import pytest

from parcahyd.config.schema import MapConf
from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.states import Reason
from parcahyd.net.resolver_system import AddressInfo, SystemResolver
from parcahyd.testing import FakeClock, check_resolver


def _asks(answers: dict[str, list[str] | Exception], asked: list[str] | None = None) -> AddressInfo:
    def address_info(host: str) -> list[str]:
        if asked is not None:
            asked.append(host)
        answer = answers.get(host, socket.gaierror(socket.EAI_NONAME, "Name or service not known"))
        if isinstance(answer, Exception):
            raise answer
        return answer

    return address_info


def _resolver(address_info: AddressInfo, clock: FakeClock | None = None) -> SystemResolver:
    return SystemResolver(MapConf(MinTtl=60.0), (clock or FakeClock()).monotonic, address_info, hosts_file="/nonexistent/hosts")


def test_conformance() -> None:
    resolver = _resolver(_asks({"a.test.": ["2001:db8::1", "192.0.2.1", "192.0.2.1"]}))
    check_resolver(resolver, {"a.test": ["192.0.2.1", "2001:db8::1"]}, "missing.test")


def test_names_are_made_absolute_and_answers_kept_for_the_least_ttl() -> None:
    asked: list[str] = []
    clock = FakeClock()
    resolver = _resolver(_asks({"a.test.": ["192.0.2.1"]}, asked), clock)
    assert resolver.resolve("a.test").ttl == 60.0
    clock.advance(59)
    resolver.resolve("a.test")
    assert asked == ["a.test."]
    clock.advance(1)
    resolver.resolve("a.test")
    assert asked == ["a.test.", "a.test."]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (socket.gaierror(socket.EAI_NONAME, "none"), Reason.DNS_NO_NAME),
        (socket.gaierror(socket.EAI_AGAIN, "later"), Reason.DNS_FAILURE),
        (socket.gaierror(socket.EAI_FAIL, "broken"), Reason.DNS_FAILURE),
        (UnicodeError("label too long"), Reason.DNS_NO_NAME),
        (ValueError("embedded null character"), Reason.DNS_NO_NAME),
    ],
)
def test_failures_have_their_reason(error: Exception, reason: Reason) -> None:
    with pytest.raises(ResolutionFailure) as failure:
        _resolver(_asks({"a.test.": error})).resolve("a.test")
    assert failure.value.reason is reason


def test_no_address_at_all() -> None:
    with pytest.raises(ResolutionFailure) as failure:
        _resolver(_asks({"a.test.": []})).resolve("a.test")
    assert failure.value.reason is Reason.DNS_NO_ADDRESS


def test_the_systems_hosts_file_counts(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("192.0.2.5 five.test\n")
    resolver = SystemResolver(MapConf(), address_info=_asks({}), hosts_file=str(hosts))
    assert resolver.resolve("five.test").addresses == ("192.0.2.5",)


def test_the_real_thing_knows_this_machine() -> None:
    assert "127.0.0.1" in SystemResolver(MapConf()).resolve("localhost").addresses
