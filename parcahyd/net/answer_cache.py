"""What a resolver remembers: answers and refusals for a while, and who is already asking.

URL Mapper threads fill it and read it. A host is asked for by one thread; the others that want it wait for that answer.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

import msgspec

from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.ports import Resolution
from parcahyd.core.states import Reason

__all__ = ["AnswerCache"]

# A crawl sees millions of hosts, each for the length of a visit; the database remembers addresses between visits.
_CAPACITY = 50_000

# An outage passes. This is only long enough for one burst of questions not to become a burst of time-outs.
_OUTAGE_SECONDS = 5.0
_OUTAGES = frozenset({Reason.DNS_TIMEOUT, Reason.DNS_FAILURE})


class _Refusal(msgspec.Struct, frozen=True):
    reason: Reason
    detail: str


class _Asking:
    """A question that is on its way, and where its answer will be."""

    __slots__ = ("answered", "outcome")

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.outcome: Resolution | _Refusal = _Refusal(Reason.DNS_FAILURE, "the question was given up")


class AnswerCache:
    """Keeps what `ask` says about a host: an answer for its own TTL, a refusal for `negative_ttl`, an outage for seconds.

    The least recently used host is forgotten when there are more than `capacity`. `resolve` may be called by any thread; the
    TTL it gives is what is left of it.
    """

    def __init__(
        self,
        ask: Callable[[str], Resolution],
        negative_ttl: float,
        capacity: int = _CAPACITY,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._negative_ttl = negative_ttl
        self._capacity = capacity
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[float, Resolution | _Refusal]] = OrderedDict()
        self._asking: dict[str, _Asking] = {}

    def resolve(self, host: str) -> Resolution:
        with self._lock:
            known = self._lookup(host)
            if known is not None:
                return _given(known)
            waited_for = self._asking.get(host)
            asking = waited_for or self._asking.setdefault(host, _Asking())
        if waited_for is None:
            self._find_out(host, asking)
        else:
            asking.answered.wait()
        return _given(asking.outcome)

    def clear(self) -> None:
        with self._lock:
            self._known.clear()

    def __len__(self) -> int:
        return len(self._known)

    def _lookup(self, host: str) -> Resolution | _Refusal | None:
        entry = self._known.get(host)
        if entry is None:
            return None
        expires, outcome = entry
        left = expires - self._monotonic()
        if left <= 0:
            del self._known[host]
            return None
        self._known.move_to_end(host)
        return Resolution(outcome.addresses, left) if isinstance(outcome, Resolution) else outcome

    def _find_out(self, host: str, asking: _Asking) -> None:
        try:
            asking.outcome = self._ask(host)
        except ResolutionFailure as failure:
            asking.outcome = _Refusal(failure.reason, failure.detail)
        finally:
            with self._lock:
                self._remember(host, asking.outcome)
                del self._asking[host]
            asking.answered.set()

    def _remember(self, host: str, outcome: Resolution | _Refusal) -> None:
        if isinstance(outcome, Resolution):
            seconds = outcome.ttl
        elif outcome.reason in _OUTAGES:
            seconds = min(self._negative_ttl, _OUTAGE_SECONDS)
        else:
            seconds = self._negative_ttl
        self._known[host] = (self._monotonic() + seconds, outcome)
        if len(self._known) > self._capacity:
            self._known.popitem(last=False)


def _given(outcome: Resolution | _Refusal) -> Resolution:
    if isinstance(outcome, Resolution):
        return outcome
    # A new exception for each caller: one object raised in several threads would collect all their tracebacks.
    raise ResolutionFailure(outcome.reason, outcome.detail)
