"""The URL Mapper: resolve once, vet every time, hand back what has no address."""

from __future__ import annotations

import msgspec
import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.ports import Resolution
from parcahyd.core.records import LOCAL_ADDRESS, DueUrl, ResolvedLease, RobotsRedirect, SiteLease
from parcahyd.core.states import Reason, State
from parcahyd.pipeline.url_mapper import UrlMapper, hand_back
from parcahyd.refresh.schedule import NEVER, Schedule
from parcahyd.rules.urls.address_policy import AddressPolicy


class Clock:
    def now(self) -> float:
        return 1000.0

    def monotonic(self) -> float:
        return 1000.0


class Names:
    """A resolver from a table, which counts its questions."""

    def __init__(self, table: dict[str, tuple[str, ...]]) -> None:
        self.table = table
        self.asked: list[str] = []

    def resolve(self, host: str) -> Resolution:
        self.asked.append(host)
        if host not in self.table:
            raise ResolutionFailure(Reason.DNS_NO_NAME, f"{host} is unknown")
        return Resolution(self.table[host], 60.0)

    def close(self) -> None:
        pass


def lease(host: str, addresses: tuple[str, ...] = (), expire: float = 0.0, tries: int = 0) -> SiteLease:
    urls = (DueUrl(1, "/", tries=tries), DueUrl(2, "/b", tries=tries))
    return SiteLease(7, 3, "http", host, 80, urls, addresses, expire)


def mapped(one: SiteLease, names: Names, *allowed: str) -> ResolvedLease:
    return UrlMapper(names, AddressPolicy(allowed), Clock()).map(one)


def test_a_blank_address_is_filled_in_and_holds_for_its_ttl() -> None:
    result = mapped(lease("a.example"), Names({"a.example": ("8.8.8.8", "10.0.0.1")}))
    assert (result.addresses, result.expires_at) == (("8.8.8.8",), 1060.0)


def test_addresses_that_still_hold_are_not_asked_for_again_but_vetted_again() -> None:
    names = Names({})
    assert mapped(lease("a.example", ("8.8.8.8",), 1001.0), names).addresses == ("8.8.8.8",)
    assert mapped(lease("a.example", ("127.0.0.1",), 1001.0), names).reason == Reason.ADDRESS.word
    assert names.asked == []


def test_addresses_that_expired_are_asked_for_again() -> None:
    names = Names({"a.example": ("9.9.9.9",)})
    assert mapped(lease("a.example", ("8.8.8.8",), 999.0), names).addresses == ("9.9.9.9",)


@pytest.mark.parametrize(("host", "address"), [("127.0.0.1", "127.0.0.1"), ("[::1]", "::1")])
def test_a_host_that_is_an_address_needs_no_resolver_and_gets_no_mercy(host: str, address: str) -> None:
    names = Names({})
    assert mapped(lease(host), names).reason == Reason.ADDRESS.word
    assert mapped(lease(host), names, "127.0.0.0/8", "::1/128").addresses == (address,)
    assert names.asked == []


def test_a_forbidden_address_of_a_name_is_a_failure_that_is_tried_again() -> None:
    """One wrong answer of a name server must not end a site's crawl."""
    schedule = Schedule(WorkConf(MaxTries=3, RetryDelay=10.0))
    names = Names({"a.example": ("0.0.0.0",)})
    bad, over = hand_back(mapped(lease("a.example", tries=1), names), schedule, 1000.0)
    assert [(record.state, record.reason, record.tries) for record in bad] == [(State.FAILED, Reason.ADDRESS.word, 2)] * 2
    assert [record.due_at for record in bad] == [schedule.retry(1000.0, Reason.ADDRESS, 2, key) for key in (1, 2)]
    assert all(1000.0 < record.due_at < NEVER for record in bad)
    assert "0.0.0.0" in bad[0].detail
    assert (over.failures, over.reason, over.addresses) == (1, Reason.ADDRESS.word, ())
    assert over.not_before == schedule.spare_site(1000.0, 1, 3, Reason.ADDRESS) >= 1300.0


def test_a_name_that_leads_to_a_forbidden_address_at_every_try_is_refused_and_looked_at_again_some_day() -> None:
    schedule = Schedule(WorkConf(MaxTries=3, RetryDelay=10.0))
    names = Names({"a.example": ("10.0.0.1",)})
    bad, _ = hand_back(mapped(lease("a.example", tries=2), names), schedule, 1000.0)
    assert [(record.state, record.reason) for record in bad] == [(State.REFUSED, Reason.ADDRESS.word)] * 2
    assert {record.due_at for record in bad} == {schedule.gone(1000.0)}


def test_a_forbidden_host_s_urls_are_refused_for_good() -> None:
    bad, over = hand_back(mapped(lease("127.0.0.1"), Names({})), Schedule(WorkConf()), 1000.0)
    assert [(record.state, record.reason, record.due_at) for record in bad] == [(State.REFUSED, Reason.ADDRESS.word, NEVER)] * 2
    assert "127.0.0.1" in bad[0].detail
    assert (over.visit, over.failures, over.not_before) == (7, 0, 1000.0)


def test_a_forbidden_host_that_a_robots_redirect_names_is_not_tried_again_at_once() -> None:
    resolved = mapped(
        msgspec.structs.replace(lease("127.0.0.1"), urls=(), robots_redirects=(RobotsRedirect(1, "/robots.txt", 1),)), Names({})
    )
    bad, over = hand_back(resolved, Schedule(WorkConf(RetryDelay=10.0)), 1000.0)
    assert bad == []
    assert (over.failures, over.reason) == (1, Reason.ADDRESS.word)
    assert over.not_before >= 1300.0


def test_a_host_without_a_name_is_tried_again_until_its_tries_are_used_up() -> None:
    schedule = Schedule(WorkConf(MaxTries=3, RetryDelay=10.0))
    bad, over = hand_back(mapped(lease("x.example", tries=1), Names({})), schedule, 1000.0)
    assert [(record.state, record.reason, record.tries) for record in bad] == [(State.FAILED, Reason.DNS_NO_NAME.word, 2)] * 2
    assert bad[0].due_at == schedule.retry(1000.0, Reason.DNS_NO_NAME, 2, bad[0].key) > 1020.0
    assert (over.failures, over.not_before, over.addresses) == (1, schedule.spare_site(1000.0, 1, 3, Reason.DNS_NO_NAME), ())
    assert over.not_before >= 1300.0
    bad, _ = hand_back(mapped(lease("x.example", tries=2), Names({})), schedule, 1000.0)
    assert [(record.state, record.reason) for record in bad] == [(State.GONE, Reason.OUT_OF_TRIES.word)] * 2


def test_a_site_of_this_machine_has_no_address_and_nobody_is_asked() -> None:
    names = Names({})
    mapper = UrlMapper(names, AddressPolicy(()), Clock(), {"file", "rows"})
    assert mapper.map(msgspec.structs.replace(lease("library"), scheme="rows")).addresses == (LOCAL_ADDRESS,)
    assert mapper.map(msgspec.structs.replace(lease("library"), scheme="gopher")).reason == Reason.DNS_NO_NAME.word
    assert names.asked == ["library"]
