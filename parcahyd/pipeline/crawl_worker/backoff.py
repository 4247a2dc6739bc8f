"""Backoff: decides when a site or an address is left alone, for how long, and why.

`SiteBackoff` belongs to one visit and decides about its site. `AddressBackoff` belongs to the worker. Many hosts share an
address, and one of them may be hostile: it must not keep the worker away from the others for long. So the pause that one host
asks for holds its address for a minute at most. A longer pause needs three different registrable domains that ask for it.
"""

from __future__ import annotations

from heapq import nlargest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import SiteLease
from parcahyd.core.states import Reason
from parcahyd.refresh.schedule import Schedule
from parcahyd.rules.politeness.backoff import grown, retry_after, spread
from parcahyd.rules.urls.scope import registrable_domain

__all__ = ["AddressBackoff", "SiteBackoff"]

_FAILURES_IN_A_ROW = 5
"""After so many requests without an answer the site is left alone for a while."""
_BUSY = frozenset((429, 503))
"""Statuses of servers that may ask for a pause."""

_ONE_DOMAIN = 60.0
"""Seconds for which one domain alone can hold its address."""
_DOMAINS = 3
_SITES = 3
_SILENT_REQUESTS = 10
"""After so many requests in a row without an answer, to so many sites, an address counts as silent."""
_REMEMBERED = 10_000


class SiteBackoff:
    """Decides by the answers of one visit whether its site is left alone. Where a method returns True, the visit has to end."""

    __slots__ = ("_failures_in_a_row", "_longest", "_schedule", "_site", "asked_until", "failures", "reason", "until")

    def __init__(self, lease: SiteLease, work: WorkConf) -> None:
        self.failures = lease.failures
        """Visits in a row that ended because the site was unreachable, or because its server asked for a pause."""
        self.until = 0.0
        self.reason: Reason | None = None
        self.asked_until = 0.0
        """Until when the server asked for a pause of its host; the worker sets it back to 0 when it has obeyed."""
        self._site = lease.site
        self._longest = work.MaxRetryAfter
        self._schedule = Schedule(work)
        self._failures_in_a_row = 0

    @property
    def word(self) -> str:
        return self.reason.word if self.reason is not None else ""

    def answered(self, with_page: bool) -> None:
        """The server answered a request."""
        self._failures_in_a_row = 0
        if with_page:
            self.failures = 0

    def request_failed(self, now: float) -> bool:
        """A request got no answer that can be used."""
        self._failures_in_a_row += 1
        if self._failures_in_a_row < _FAILURES_IN_A_ROW:
            return False
        self.back_off(Reason.UNREACHABLE_SITE, now)
        return True

    def obey(self, result: DownloadResult, now: float) -> bool:
        """Whether the server asks for a pause.

        Its host is left alone for the time of Retry-After. After a 429 without one, the site is left alone, longer every time.
        """
        if result.status not in _BUSY:
            return False
        seconds = retry_after(result.header("retry-after"), now)
        if seconds is None:
            if result.status != 429:
                return False  # A 503 without Retry-After is an error like others.
            failures = self.failures + (self.reason is None)
            self._pause(Reason.ASKED_TO_WAIT, self._schedule.spare_site(now, failures, self._site))
            return True
        until = now + min(seconds, self._longest)
        self.asked_until = max(self.asked_until, until)
        self._pause(Reason.ASKED_TO_WAIT, until)
        return True

    def back_off(self, reason: Reason, now: float, cause: Reason | None = None) -> None:
        """Leave the site alone for a time that grows with every such visit in a row."""
        self._pause(reason, self._schedule.spare_site(now, self.failures + 1, self._site, cause))

    def extend(self, until: float) -> None:
        """The site's host or address is left alone until then; that does not count as a failure of the site."""
        self.until = max(self.until, until)

    def _pause(self, reason: Reason, until: float) -> None:
        if self.reason is None:
            self.failures += 1
        if self.reason is None or reason is Reason.ASKED_TO_WAIT:
            self.reason = reason
        self.extend(until)


class AddressBackoff:
    """Decides until when an address is left alone. Times are of the wall clock; memory is bounded."""

    __slots__ = ("_failures", "_pauses", "_retry_delay", "_silent")

    def __init__(self, retry_delay: float) -> None:
        self._retry_delay = retry_delay
        self._pauses: dict[str, dict[str, float]] = {}
        """By address and domain: until when a host of the domain asked for a pause."""
        self._silent: dict[str, list[int]] = {}
        """By address: the sites of its last requests in a row that got no answer."""
        self._failures: dict[str, int] = {}

    @property
    def has_failures(self) -> bool:
        """Whether some address gave no answer before, so that `answered` has to be called."""
        return bool(self._silent or self._failures)

    def failures(self, address: str) -> int:
        """How often in a row the address was left alone because it was silent."""
        return self._failures.get(address, 0)

    def opened(self, address: str, failures: int) -> None:
        """A visit to the address begins; `failures` is the number that the database has."""
        if failures > self._failures.get(address, 0):
            _bound(self._failures)
            self._failures[address] = failures

    def asked_to_wait(self, address: str, host: str, until: float, now: float) -> float:
        """A host asked for a pause until then; returns until when its address is left alone."""
        _bound(self._pauses)
        pauses = {domain: time for domain, time in self._pauses.get(address, {}).items() if time > now}
        domain = registrable_domain(host)
        pauses[domain] = max(until, pauses.get(domain, 0.0))
        # Only the longest pauses decide; the others are not kept.
        self._pauses[address] = dict(nlargest(_DOMAINS, pauses.items(), key=lambda pause: pause[1]))
        together = min(self._pauses[address].values()) if len(pauses) >= _DOMAINS else 0.0
        return max(min(until, now + _ONE_DOMAIN), together)

    def answered(self, address: str) -> None:
        """A server at the address answered."""
        if address in self._silent:
            del self._silent[address]
        if address in self._failures:
            del self._failures[address]

    def silent(self, address: str, site: int, now: float) -> float | None:
        """A request to the address got no answer; returns until when the address is left alone, or None while it is not."""
        _bound(self._silent)
        sites = self._silent.setdefault(address, [])
        sites.append(site)
        if len(sites) < _SILENT_REQUESTS or len(set(sites)) < _SITES:
            del sites[:-_SILENT_REQUESTS]
            return None
        del self._silent[address]
        failures = self._failures.get(address, 0) + 1
        _bound(self._failures)
        self._failures[address] = failures
        return now + spread(grown(failures, self._retry_delay), site, failures)


def _bound(table: dict[str, list[int]] | dict[str, dict[str, float]] | dict[str, int]) -> None:
    if len(table) >= _REMEMBERED:
        table.clear()
