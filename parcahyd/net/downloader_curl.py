"""The default downloader: libcurl's multi interface, with the worker's event loop as its reactor.

`start` prepares a pooled handle and adds it to the multi. libcurl then says which sockets to watch and when to call it again.
The loop calls it, finished transfers are taken out, and their `done` is called. There is no coroutine and no future
between a ready socket and `done`.

ftp: a file that was transferred has status 200 and no headers; a folder has the status 200 and the media type of listings
(`rules.listings`), its body being the server's listing; what the server does not have is a 404.
gopher: an item has status 200 and the media type that its type stands for; an item that says that there is none is a 404.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable

import pycurl

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.core.ports import GENERAL, DownloadFailure, DownloadRequest, DownloadResult, RequestOptions
from parcahyd.net.certificate_authorities import authorities_file
from parcahyd.net.cookie_jar import CookieJar
from parcahyd.net.curl_options import OptionedTransfer
from parcahyd.net.curl_sockets import Ready, Sockets, watch_sockets
from parcahyd.net.curl_transfer import Done, StallTimeout, Transfer
from parcahyd.net.giving_way import GivingWay, Tempo
from parcahyd.net.wire_budget import WireBudget

__all__ = ["CurlDownloader"]

# From here on MAXFILESIZE stops bodies of unknown length and an answer's headers are limited by libcurl itself.
_OLDEST_LIBCURL = (8, 4, 0)

_CONNECTIONS_KEPT = 4

_NEVER = float("inf")
_LOOK_AFTER_PAUSED = 1.0


class CurlDownloader:
    """Fetches with libcurl; see `parcahyd.core.ports.Downloader` for the contract. Time limits of 0 mean no limit."""

    schemes = frozenset({"http", "https", "ftp", "gopher"})
    options = frozenset(RequestOptions.__struct_fields__)
    tells_when_sent = True

    def __init__(
        self,
        conf: WorkConf,
        loop: asyncio.AbstractEventLoop,
        sockets: Callable[[asyncio.AbstractEventLoop, Ready], Sockets] = watch_sockets,
    ) -> None:
        _require_recent_libcurl()
        self._conf = conf
        self._loop = loop
        self._authorities = authorities_file(conf.CaFile)
        self._has_delays = conf.HostDelay > 0 or conf.address_delay > 0
        self._active: dict[pycurl.Curl, Transfer] = {}
        self._idle: list[Transfer] = []
        # Handles with options of their own are kept apart, so that a password or a proxy never serves another host.
        # There are as many kinds as the user's rules make.
        self._idle_with: dict[RequestOptions, list[Transfer]] = {}
        self._jar = CookieJar()
        self._sent_now: list[Callable[[], None]] = []
        self._stall_timeout = StallTimeout(conf.TimeoutFirstByte, conf.TimeoutIdle, conf.MinRate)
        self._slowest = GivingWay(conf.MinRate, conf.Connections)
        # The Crawl Worker says how many bytes may be held; whoever else uses a downloader has MaxBytes as the only bound.
        self._budget = WireBudget(1 << 62)
        self._will_resume = False
        self._giving_way: asyncio.TimerHandle | None = None
        self._closed = False
        self._wake_soon = False
        self._wake_at = _NEVER
        self._alarm: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None
        self._sockets = sockets(loop, self._sockets_ready)
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._sockets.watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_alarm)
        self._multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_MULTIPLEX)
        self._multi.setopt(pycurl.M_MAXCONNECTS, _connections_kept(conf.Connections))

    def start(self, request: DownloadRequest, done: Done) -> None:
        if self._closed:
            self._loop.call_soon(self._call, done, DownloadResult(failure=DownloadFailure.CANCELLED, detail="closed"))
            return
        idle = self._idle if request.options is GENERAL else self._idle_of(request.options)
        transfer = idle.pop() if idle else self._make(request.options, idle)
        try:
            transfer.begin(request, done)
            self._multi.add_handle(transfer.curl)
        except (pycurl.error, ValueError, TypeError, OSError) as error:
            transfer.close()
            self._loop.call_soon(self._call, done, DownloadResult(failure=DownloadFailure.PROTOCOL, detail=str(error)))
            return
        self._active[transfer.curl] = transfer
        transfer.started_at = self._loop.time()
        if self._has_delays:
            # The next request waits until this one has left, so this one must not wait for the loop.
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
            self._tell_sent()
        if self._stall_timer is None and self._stall_timeout.interval:
            self._stall_timer = self._loop.call_later(self._stall_timeout.interval, self._check_stalls)

    def allow_bytes(self, size: int) -> None:
        """From now on at most so many bytes of unfinished bodies are held, beside one body that may always go on."""
        self._budget.limit = size
        self._look_after_paused()

    def make_room(self, wanted: int) -> None:
        """All connections are in use and so many requests wait: end as many transfers that are too slow."""
        for transfer, rate in self._slowest.choose(self._active.values(), wanted, self._loop.time()):
            self._give_up(transfer, DownloadFailure.GAVE_WAY, f"gave way to others: {rate:.0f} bytes a second")

    def cancel_all(self) -> None:
        for transfer in list(self._active.values()):
            self._give_up(transfer, DownloadFailure.CANCELLED, "cancelled")

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if not self._loop.is_closed():
            self.cancel_all()
        for timer in (self._alarm, self._stall_timer, self._giving_way):
            if timer is not None:
                timer.cancel()
        for curl in self._active:
            self._multi.remove_handle(curl)
        for transfer in (*self._active.values(), *self._idle, *(one for idle in self._idle_with.values() for one in idle)):
            transfer.close()
        self._active.clear()
        self._idle.clear()
        self._idle_with.clear()
        self._multi.close()
        self._sockets.close()

    def _idle_of(self, options: RequestOptions) -> list[Transfer]:
        return self._idle if options == GENERAL else self._idle_with.setdefault(options, [])

    def _make(self, options: RequestOptions, pool: list[Transfer]) -> Transfer:
        if pool is self._idle:
            transfer = Transfer(self._conf, self._authorities, self._budget)
        else:
            transfer = OptionedTransfer(self._conf, self._authorities, self._budget, options, self._jar)
        transfer.pool = pool
        transfer.sent_now = self._sent_now
        return transfer

    def _set_alarm(self, milliseconds: int) -> None:
        """Call libcurl when it asks for that.

        It moves the time with every transfer, mostly to a later one. So a timer that is too early is kept: when it is due, it
        compares the clock and is set again.
        """
        if milliseconds < 0 or self._closed:
            self._wake_at = _NEVER
        elif milliseconds == 0:
            self._wake_at = _NEVER
            if not self._wake_soon:
                self._wake_soon = True
                self._loop.call_soon(self._wake)
        else:
            self._wake_at = self._loop.time() + milliseconds * 0.001
            if self._alarm is None:
                self._alarm = self._loop.call_at(self._wake_at, self._alarm_due)
            elif self._wake_at < self._alarm.when():
                self._alarm.cancel()
                self._alarm = self._loop.call_at(self._wake_at, self._alarm_due)

    def _alarm_due(self) -> None:
        self._alarm = None
        if self._wake_at == _NEVER:
            return
        if self._loop.time() < self._wake_at:
            self._alarm = self._loop.call_at(self._wake_at, self._alarm_due)
            return
        self._wake()

    def _wake(self) -> None:
        self._wake_soon = False
        self._sockets_ready([(pycurl.SOCKET_TIMEOUT, 0)])

    def _sockets_ready(self, ready: list[tuple[int, int]]) -> None:
        if self._closed:
            return
        running = len(self._active)
        act = self._multi.socket_action
        for descriptor, events in ready:
            _, running = act(descriptor, events)
        self._tell_sent()
        if running < len(self._active):
            self._collect()
        if self._budget.has_paused:
            self._look_after_paused()

    def _tell_sent(self) -> None:
        """Call `sent` of the requests that libcurl has written since it was called last."""
        while self._sent_now:
            self._sent_now.pop()()

    def _collect(self) -> None:
        """Take out every finished transfer before any `done` is called, because `done` may start others on the same handles."""
        outcomes: list[tuple[Done, DownloadResult]] = []
        waiting = 1
        while waiting:
            waiting, succeeded, failed = self._multi.info_read()
            outcomes += [self._retire(curl, 0, "") for curl in succeeded]
            outcomes += [self._retire(*failure) for failure in failed]
        for done, result in outcomes:
            self._call(done, result)

    def _retire(self, curl: pycurl.Curl, number: int, text: str) -> tuple[Done, DownloadResult]:
        transfer = self._active.pop(curl)
        self._multi.remove_handle(curl)
        done = transfer.done
        result = transfer.finish(number, text)
        transfer.pool.append(transfer)
        return done, result

    def _give_up(self, transfer: Transfer, failure: DownloadFailure, detail: str) -> None:
        del self._active[transfer.curl]
        self._multi.remove_handle(transfer.curl)
        done = transfer.done
        self._loop.call_soon(self._call, done, transfer.give_up(failure, detail))
        transfer.pool.append(transfer)

    # --- transfers that wait for memory ----------------------------------------------------------------------------------

    def _look_after_paused(self) -> None:
        """Let transfers that wait for memory try again, and have a look at those that keep it."""
        budget = self._budget
        if not budget.has_paused or self._closed:
            return
        if budget.limit and not self._will_resume:
            # Not from here: libcurl may be calling.
            self._will_resume = True
            self._loop.call_soon(self._resume)
        if self._giving_way is None:
            self._giving_way = self._loop.call_later(_LOOK_AFTER_PAUSED, self._give_way)

    def _resume(self) -> None:
        self._will_resume = False
        budget, now = self._budget, self._loop.time()
        paused = [transfer for transfer in self._active.values() if transfer.is_paused]
        budget.has_paused = bool(paused)
        for transfer in paused:
            if budget.may_go_on(transfer):
                transfer.is_paused = False
                transfer.pace = None
                transfer.tempo = Tempo(now, now, transfer.received())
                transfer.curl.pause(pycurl.PAUSE_CONT)

    def _give_way(self) -> None:
        self._giving_way = None
        for transfer in self._budget.to_give_way(self._active.values(), self._loop.time()):
            detail = f"{transfer.held} bytes were held for too long while other answers waited for memory"
            self._give_up(transfer, DownloadFailure.GAVE_WAY, detail)
        self._look_after_paused()

    def _check_stalls(self) -> None:
        self._stall_timer = None
        now = self._loop.time()
        for transfer in list(self._active.values()):
            if transfer.is_paused:
                continue
            transfer.pace, stalled = self._stall_timeout.check(transfer.pace, transfer.received(), now)
            if stalled:
                self._give_up(transfer, DownloadFailure.TIMEOUT, stalled)
        if self._active:
            self._stall_timer = self._loop.call_later(self._stall_timeout.interval, self._check_stalls)

    def _call(self, done: Done, result: DownloadResult) -> None:
        try:
            done(result)
        except Exception as error:
            self._loop.call_exception_handler({"message": "a downloader's callback raised", "exception": error})


def _connections_kept(connections: int) -> int:
    """How many connections stay open for reuse: a few for each request under way, within half of the open files allowed."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _CONNECTIONS_KEPT * connections
    return most if files == resource.RLIM_INFINITY else max(1, min(most, files // 2))


def _require_recent_libcurl() -> None:
    number: int = pycurl.version_info()[2]
    found = (number >> 16, number >> 8 & 255, number & 255)
    if found < _OLDEST_LIBCURL:
        raise UserError(
            f"libcurl {'.'.join(map(str, found))} is too old for the curl downloader",
            'install pycurl as a wheel (pip install --only-binary :all: pycurl), or use DownloaderClass = "requests"',
        )
