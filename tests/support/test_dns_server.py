"""The test name server itself, asked by dnspython over both transports."""

from __future__ import annotations

import dns.rcode
import dns.resolver
import pytest

from tests.support.dns_server import DnsName, DnsServer
from tests.support.processes import TEST_TIMEOUT


def _resolver(server: DnsServer, lifetime: float = TEST_TIMEOUT) -> dns.resolver.Resolver:
    resolver = dns.resolver.Resolver(configure=False)
    resolver.nameservers = [server.address]
    resolver.port = server.port
    resolver.timeout = resolver.lifetime = lifetime
    return resolver


def test_answers_aliases_and_failures() -> None:
    names = {
        "a.test": DnsName(("127.0.0.2", "127.0.0.3", "::1"), ttl=77),
        "alias.test": DnsName(alias="a.test"),
        "broken.test": DnsName(rcode=dns.rcode.SERVFAIL),
        "empty.test": DnsName(),
        "long.test": DnsName(("127.0.0.4",), truncated=True),
        "silent.test": DnsName(silent=True),
    }
    with DnsServer(names) as server:
        resolver = _resolver(server)
        answer = resolver.resolve("A.test", "A")
        assert {record.to_text() for record in answer} == {"127.0.0.2", "127.0.0.3"}
        assert answer.rrset is not None
        assert answer.rrset.ttl == 77
        assert [record.to_text() for record in resolver.resolve("alias.test", "AAAA")] == ["::1"]
        assert [record.to_text() for record in resolver.resolve("long.test", "A")] == ["127.0.0.4"]
        with pytest.raises(dns.resolver.NXDOMAIN):
            resolver.resolve("unknown.test", "A")
        with pytest.raises(dns.resolver.NoAnswer):
            resolver.resolve("empty.test", "A")
        with pytest.raises(dns.resolver.NoNameservers):
            resolver.resolve("broken.test", "A")
        with pytest.raises(dns.resolver.LifetimeTimeout):
            _resolver(server, lifetime=0.5).resolve("silent.test", "A")
        assert [question.transport for question in server.questions("long.test")] == ["udp", "tcp"]
