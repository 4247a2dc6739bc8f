"""dnspython's resolver against a real name server on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dns.rcode
import dns.resolver
import pytest

from parcahyd.config.schema import MapConf
from parcahyd.core.errors import ConfigurationError, ResolutionFailure
from parcahyd.core.states import Reason
from parcahyd.net import resolver_dnspython
from parcahyd.net.resolver_dnspython import DnspythonResolver
from parcahyd.testing import FakeClock, check_resolver
from tests.net.name_server import NameServer


@pytest.fixture
def names() -> Iterator[NameServer]:
    zone = {
        ("both.test", "A"): ["192.0.2.1", "192.0.2.2"],
        ("both.test", "AAAA"): ["2001:db8::1"],
        ("four.test", "A"): ["192.0.2.4"],
        ("six.test", "AAAA"): ["2001:db8::6"],
        ("mail.test", "MX"): ["10 four.test."],
        ("alias.test", "CNAME"): ["middle.test."],
        ("middle.test", "CNAME"): ["both.test."],
        ("dangling.test", "CNAME"): ["nowhere.test."],
        ("loop.test", "CNAME"): ["pool.test."],
        ("pool.test", "CNAME"): ["loop.test."],
        ("long.test", "A"): [f"192.0.2.{number}" for number in range(1, 101)],
    }
    with NameServer(zone) as server:
        yield server


def _resolver(names: NameServer, clock: FakeClock | None = None, **settings: Any) -> DnspythonResolver:
    conf = MapConf(**{"Nameservers": (names.address,), "DnsTimeout": 60.0, **settings})
    return DnspythonResolver(conf, (clock or FakeClock()).monotonic)


def _failure(resolver: DnspythonResolver, host: str) -> ResolutionFailure:
    with pytest.raises(ResolutionFailure) as failure:
        resolver.resolve(host)
    return failure.value


def test_conformance(names: NameServer) -> None:
    known = {"both.test": ["192.0.2.1", "192.0.2.2", "2001:db8::1"], "six.test": ["2001:db8::6"]}
    check_resolver(_resolver(names), known, "missing.test")


def test_ipv4_comes_before_ipv6(names: NameServer) -> None:
    *ipv4, ipv6 = _resolver(names).resolve("both.test").addresses
    # Among themselves they keep the name server's order, which this one shuffles.
    assert (set(ipv4), ipv6) == ({"192.0.2.1", "192.0.2.2"}, "2001:db8::1")


@pytest.mark.parametrize(("ttl", "expected"), [(5, 60.0), (300, 300.0), (1_000_000, 86400.0)])
def test_the_ttl_is_held_between_its_limits(names: NameServer, ttl: int, expected: float) -> None:
    names.ttl = ttl
    assert _resolver(names).resolve("both.test").ttl == expected


@pytest.mark.parametrize("lazy", [False, True])
def test_aliases_are_followed_by_the_server_or_by_us(names: NameServer, lazy: bool) -> None:
    names.lazy = lazy
    resolver = _resolver(names)
    assert set(resolver.resolve("alias.test").addresses) == {"192.0.2.1", "192.0.2.2", "2001:db8::1"}
    assert _failure(resolver, "loop.test").reason is Reason.DNS_FAILURE
    names.lazy = True
    assert _failure(resolver, "dangling.test").reason is Reason.DNS_NO_NAME


def test_a_name_that_does_not_exist_is_asked_for_once(names: NameServer) -> None:
    resolver = _resolver(names)
    for _ in range(3):
        assert _failure(resolver, "missing.test").reason is Reason.DNS_NO_NAME
    assert names.asked == [("udp", "missing.test", "A")]


def test_a_host_without_addresses(names: NameServer) -> None:
    assert _failure(_resolver(names), "mail.test").reason is Reason.DNS_NO_ADDRESS


@pytest.mark.parametrize("code", [dns.rcode.SERVFAIL, dns.rcode.REFUSED])
def test_a_name_server_that_fails(names: NameServer, code: dns.rcode.Rcode) -> None:
    names.rcodes["four.test"] = code
    clock = FakeClock()
    resolver = _resolver(names, clock)
    assert _failure(resolver, "four.test").reason is Reason.DNS_FAILURE
    names.rcodes.clear()
    assert _failure(resolver, "four.test").reason is Reason.DNS_FAILURE
    clock.advance(10)
    assert resolver.resolve("four.test").addresses == ("192.0.2.4",)


def test_a_name_server_that_is_silent(names: NameServer) -> None:
    names.silent = {("four.test", "A"), ("four.test", "AAAA")}
    assert _failure(_resolver(names, DnsTimeout=0.2), "four.test").reason is Reason.DNS_TIMEOUT


def test_half_an_answer_is_used_and_soon_asked_for_again(names: NameServer) -> None:
    names.silent = {("both.test", "AAAA")}
    resolution = _resolver(names, DnsTimeout=3.0, MinTtl=7.0).resolve("both.test")
    assert (set(resolution.addresses), resolution.ttl) == ({"192.0.2.1", "192.0.2.2"}, 7.0)


def test_who_is_silent_is_not_waited_for_twice(names: NameServer) -> None:
    names.silent = {("six.test", "A")}
    assert _failure(_resolver(names, DnsTimeout=0.2), "six.test").reason is Reason.DNS_TIMEOUT
    assert {kind for _, _, kind in names.asked} == {"A"}


def test_a_silence_is_not_taken_for_no_address(names: NameServer) -> None:
    names.silent = {("mail.test", "AAAA")}
    assert _failure(_resolver(names, DnsTimeout=0.2), "mail.test").reason is Reason.DNS_TIMEOUT


def test_a_name_server_that_is_not_there_is_a_failure(names: NameServer) -> None:
    gone = NameServer({})
    with gone:
        pass
    resolver = DnspythonResolver(MapConf(Nameservers=(gone.address,), DnsTimeout=0.1))
    assert _failure(resolver, "four.test").reason in (Reason.DNS_TIMEOUT, Reason.DNS_FAILURE)


def test_the_second_name_server_is_asked_when_the_first_fails(names: NameServer) -> None:
    names.rcodes["four.test"] = dns.rcode.SERVFAIL
    with NameServer({("four.test", "A"): ["192.0.2.44"]}) as second:
        resolver = _resolver(names, Nameservers=(names.address, second.address))
        assert resolver.resolve("four.test").addresses == ("192.0.2.44",)


def test_a_truncated_answer_is_asked_for_again_over_tcp(names: NameServer) -> None:
    names.truncated.add("long.test")
    assert len(_resolver(names).resolve("long.test").addresses) == 100
    assert ("udp", "long.test", "A") in names.asked
    assert ("tcp", "long.test", "A") in names.asked


def test_answers_are_remembered(names: NameServer) -> None:
    clock = FakeClock()
    resolver = _resolver(names, clock)
    for _ in range(3):
        resolver.resolve("four.test")
    assert names.asked == [("udp", "four.test", "A"), ("udp", "four.test", "AAAA")]
    clock.advance(301)
    resolver.resolve("four.test")
    assert len(names.asked) == 4


def test_one_question_per_host_is_under_way(names: NameServer) -> None:
    release = threading.Event()
    names.before_answer = lambda: release.wait(120)
    resolver = _resolver(names)
    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(resolver.resolve, "four.test") for _ in range(8)]
        release.set()
        assert {answer.result(120).addresses for answer in answers} == {("192.0.2.4",)}
    assert names.asked == [("udp", "four.test", "A"), ("udp", "four.test", "AAAA")]


def test_search_domains_are_never_tried(names: NameServer, monkeypatch: pytest.MonkeyPatch) -> None:
    names.zone["intranet.corp.test", "A"] = ["192.0.2.66"]
    resolver = _resolver(names)
    stub = resolver._questions._resolver
    stub.search = [dns.name.from_text("corp.test")]
    stub.use_search_by_default = True
    assert _failure(resolver, "intranet").reason is Reason.DNS_NO_NAME
    assert names.asked == [("udp", "intranet", "A")]


def test_localhost_is_no_question(names: NameServer) -> None:
    resolver = _resolver(names)
    assert resolver.resolve("localhost").addresses == ("127.0.0.1", "::1")
    assert resolver.resolve("shop.localhost").addresses == ("127.0.0.1", "::1")
    assert names.asked == []


@pytest.mark.parametrize("host", ["a..test", "x" * 64 + ".test", ".".join(["abcdefgh"] * 40), ""])
def test_a_name_that_cannot_exist_is_no_question(names: NameServer, host: str) -> None:
    assert _failure(_resolver(names), host).reason is Reason.DNS_NO_NAME
    assert names.asked == []


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("192.0.2.1", ("192.0.2.1", "53")),
        ("192.0.2.1:5353", ("192.0.2.1", "5353")),
        ("2001:db8::1", ("2001:db8::1", "53")),
        ("[2001:db8::1]", ("2001:db8::1", "53")),
        ("[2001:db8::1]:5353", ("2001:db8::1", "5353")),
    ],
)
def test_how_name_servers_are_written(entry: str, expected: tuple[str, str]) -> None:
    assert resolver_dnspython._address_and_port(entry) == expected


@pytest.mark.parametrize("entry", ["dns.test", "", "192.0.2.1:dns", "192.0.2", "[::1", "192.0.2.1:"])
def test_a_name_server_that_is_no_address_is_the_users_mistake(entry: str) -> None:
    with pytest.raises(ConfigurationError, match="is no address") as mistake:
        DnspythonResolver(MapConf(Nameservers=(entry,)))
    assert "5353" in mistake.value.remedy


@pytest.mark.parametrize("content", [None, "", "search corp.test\n"])
def test_a_machine_without_name_servers_is_told_what_to_do(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "resolv.conf"
    if content is not None:
        file.write_text(content)
    monkeypatch.setattr("parcahyd.net.resolver_dnspython._SYSTEM_FILE", file)
    with pytest.raises(ConfigurationError, match="names no name servers") as mistake:
        DnspythonResolver(MapConf())
    assert "Nameservers" in mistake.value.remedy
