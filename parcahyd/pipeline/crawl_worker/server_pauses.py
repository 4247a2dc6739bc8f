"""Leaves servers alone: a host or an address that asks for it, and an address that does not answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from parcahyd.core.messages import FromWorkerToUpdate
from parcahyd.core.ports import Clock, DownloadFailure, DownloadResult
from parcahyd.core.records import Pause, PauseRecord
from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.backoff import AddressBackoff
from parcahyd.pipeline.crawl_worker.request_scheduler import RequestScheduler
from parcahyd.pipeline.crawl_worker.visit import Visit

__all__ = ["LONGEST_WAIT", "ServerPauses"]

LONGEST_WAIT = 60.0
"""Seconds: a visit that would have to wait longer for its host or address ends."""
_NO_ANSWER = frozenset((DownloadFailure.CONNECT, DownloadFailure.TIMEOUT))


class ServerPauses:
    """Holds hosts and addresses at the scheduler, has that committed at once, and ends visits that would wait too long.

    `open_visits` gives the worker's visits. `end` closes one that is over.
    """

    def __init__(
        self,
        addresses: AddressBackoff,
        scheduler: RequestScheduler[Visit],
        clock: Clock,
        *,
        emit: Callable[[FromWorkerToUpdate], None],
        open_visits: Callable[[], Iterable[Visit]],
        end: Callable[[Visit], None],
    ) -> None:
        self._addresses = addresses
        self._scheduler = scheduler
        self._clock = clock
        self._emit = emit
        self._open_visits = open_visits
        self._end = end

    def answered(self, visit: Visit, result: DownloadResult, now: float) -> None:
        """Leave the host or the address alone where the answer asks for a pause, or where answers are missing."""
        if visit.backoff.asked_until:
            self._obey(visit, now)
        if result.failure is None:
            self._addresses.answered(visit.address)
        elif result.failure in _NO_ANSWER:
            self._note_silence(visit, now)

    def _obey(self, visit: Visit, now: float) -> None:
        """A server asks for a pause: leave its host alone for that time, and its address within limits."""
        until, visit.backoff.asked_until = visit.backoff.asked_until, 0.0
        address_until = self._addresses.asked_to_wait(visit.address, visit.host, until, now)
        word = Reason.ASKED_TO_WAIT.word
        host = Pause(f"host {visit.host}", until, word, visit.backoff.failures)
        self._leave_alone(visit, host, Pause(f"address {visit.address}", address_until, word), now)

    def _note_silence(self, visit: Visit, now: float) -> None:
        """A request got no answer: after several in a row, of several sites, their address is left alone."""
        until = self._addresses.silent(visit.address, visit.lease.site, now)
        if until is not None:
            failures = self._addresses.failures(visit.address)
            address = Pause(f"address {visit.address}", until, Reason.SILENT_ADDRESS.word, failures)
            self._leave_alone(visit, Pause(f"host {visit.host}", now), address, now)

    def _leave_alone(self, visit: Visit, host: Pause, address: Pause, now: float) -> None:
        shift = self._clock.monotonic() - now
        self._scheduler.hold(visit, host.not_before + shift, address.not_before + shift)
        until = max(visit.backoff.until, host.not_before)
        reason = visit.backoff.word
        self._emit(PauseRecord(visit.lease.visit, visit.lease.site, until, visit.backoff.failures, reason, (host, address)))
        for other in list(self._open_visits()):
            held = max(
                host.not_before if other.host == visit.host else 0.0,
                address.not_before if other.address == visit.address else 0.0,
            )
            if held <= now + LONGEST_WAIT:
                continue
            if other is visit:  # Its answer is still being handled; it is closed afterwards.
                visit.put_off(held)
                continue
            self._scheduler.withdraw(other)
            other.put_off(held)
            if other.is_over:
                self._end(other)
