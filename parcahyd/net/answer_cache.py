"""The cache of a resolver: answers and failures with their time to live, and the questions that are under way.

URL Mapper threads fill it and read it. One thread asks for a host; the others that need it wait for that answer.
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

# A crawl resolves millions of hosts, each needed for one visit; the database keeps addresses between visits.
_CAPACITY = 50_000

# An outage is short. This is just long enough that a burst of questions does not become a burst of time-outs.
_OUTAGE_SECONDS = 5.0
_OUTAGES = frozenset({Reason.DNS_TIMEOUT, Reason.DNS_FAILURE})


class _NoAnswer(msgspec.Struct, frozen=True):
    reason: Reason
    detail: str


class _Question:
    """A question that is under way; its answer will be in `outcome`."""

    __slots__ = ("answered", "outcome")

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.outcome: Resolution | _NoAnswer = _NoAnswer(Reason.DNS_FAILURE, "the question was given up")


class AnswerCache:
    """Keeps what `ask` returns for a host: an answer for its TTL, a failure for `negative_ttl`, an outage for a few seconds.

    The least recently used host is dropped when there are more than `capacity`. `resolve` may be called by any thread; the
    TTL of its result is the time that is left.
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
        self._known: OrderedDict[str, tuple[float, Resolution | _NoAnswer]] = OrderedDict()
        self._asking: dict[str, _Question] = {}

    def resolve(self, host: str) -> Resolution:
        """The answer that is known, or that of `ask`; raises what `ask` raised."""
        with self._lock:
            known = self._lookup(host)
            if known is not None:
                return _returned(known)
            under_way = self._asking.get(host)
            question = under_way or self._asking.setdefault(host, _Question())
        if under_way is None:
            self._ask_once(host, question)
        else:
            question.answered.wait()
        return _returned(question.outcome)

    def clear(self) -> None:
        """Forgets every answer."""
        with self._lock:
            self._known.clear()

    def __len__(self) -> int:
        return len(self._known)

    def _lookup(self, host: str) -> Resolution | _NoAnswer | None:
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

    def _ask_once(self, host: str, question: _Question) -> None:
        try:
            question.outcome = self._ask(host)
        except ResolutionFailure as failure:
            question.outcome = _NoAnswer(failure.reason, failure.detail)
        finally:
            with self._lock:
                self._remember(host, question.outcome)
                del self._asking[host]
            question.answered.set()

    def _remember(self, host: str, outcome: Resolution | _NoAnswer) -> None:
        if isinstance(outcome, Resolution):
            seconds = outcome.ttl
        elif outcome.reason in _OUTAGES:
            seconds = min(self._negative_ttl, _OUTAGE_SECONDS)
        else:
            seconds = self._negative_ttl
        self._known[host] = (self._monotonic() + seconds, outcome)
        if len(self._known) > self._capacity:
            self._known.popitem(last=False)


def _returned(outcome: Resolution | _NoAnswer) -> Resolution:
    if isinstance(outcome, Resolution):
        return outcome
    # A new exception for each caller: one object raised in several threads would collect all their tracebacks.
    raise ResolutionFailure(outcome.reason, outcome.detail)
