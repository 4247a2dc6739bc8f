"""What a worker knows of the addresses it asks: who there wants to be left alone, and where nobody answers.

Many hosts share an address, and one of them may be hostile: it must not silence the others for long. So one host's wish binds
its address for a minute at most; longer only as far as three different registrable domains there wish it.
"""

from __future__ import annotations

from heapq import nlargest

from parcahyd.rules.backoff import grown, spread
from parcahyd.rules.registrable_domain import registrable_domain

__all__ = ["AddressCare"]

_ALONE = 60.0
"""Seconds for which one domain alone can bind its address."""
_DOMAINS = 3
_SITES = 3
_FAULTS = 10
"""So many requests in a row without an answer, to so many sites, and an address counts as silent."""
_REMEMBERED = 10_000


class AddressCare:
    """Says until when an address is to be left alone. Times are of the wall clock, handed in; memory is bounded."""

    __slots__ = ("_failures", "_faults", "_retry_delay", "_wishes")

    def __init__(self, retry_delay: float) -> None:
        self._retry_delay = retry_delay
        self._wishes: dict[str, dict[str, float]] = {}
        self._faults: dict[str, list[int]] = {}
        self._failures: dict[str, int] = {}

    @property
    def is_concerned(self) -> bool:
        """Whether an answer is news: somewhere, requests got none before."""
        return bool(self._faults or self._failures)

    def failures(self, address: str) -> int:
        """How often in a row the address was left alone for its silence."""
        return self._failures.get(address, 0)

    def opened(self, address: str, failures: int) -> None:
        """A visit to the address begins; `failures` is what the database remembers."""
        if failures > self._failures.get(address, 0):
            _bound(self._failures)
            self._failures[address] = failures

    def wished(self, address: str, host: str, until: float, now: float) -> float:
        """A host wants to be left alone until then; returns until when its address is."""
        _bound(self._wishes)
        wishes = {domain: time for domain, time in self._wishes.get(address, {}).items() if time > now}
        domain = registrable_domain(host)
        wishes[domain] = max(until, wishes.get(domain, 0.0))
        # Of more domains than decide, those that wish the longest are enough.
        self._wishes[address] = dict(nlargest(_DOMAINS, wishes.items(), key=lambda wish: wish[1]))
        together = min(self._wishes[address].values()) if len(wishes) >= _DOMAINS else 0.0
        return max(min(until, now + _ALONE), together)

    def answered(self, address: str) -> None:
        """Somebody at the address answered."""
        if address in self._faults:
            del self._faults[address]
        if address in self._failures:
            del self._failures[address]

    def silent(self, address: str, site: int, now: float) -> float | None:
        """A request to the address got no answer; returns until when the address is left alone, if this was one too many."""
        _bound(self._faults)
        faults = self._faults.setdefault(address, [])
        faults.append(site)
        if len(faults) < _FAULTS or len(set(faults)) < _SITES:
            del faults[:-_FAULTS]
            return None
        del self._faults[address]
        failures = self._failures.get(address, 0) + 1
        _bound(self._failures)
        self._failures[address] = failures
        return now + spread(grown(failures, self._retry_delay), site, failures)


def _bound(table: dict[str, list[int]] | dict[str, dict[str, float]] | dict[str, int]) -> None:
    if len(table) >= _REMEMBERED:
        table.clear()
