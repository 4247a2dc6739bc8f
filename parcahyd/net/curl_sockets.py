"""Who wakes libcurl: its sockets in one epoll set of their own, or each on the event loop where there is no epoll.

libcurl wants a socket watched and unwatched around every transfer. With a set of its own, the event loop has a single file to
watch, whatever the number of connections.

A connection that is kept alive stays in the set between its transfers, so that most of them need no system call. That is right
as long as its number stands for the same socket. libcurl does not tell when it closes one that nobody waits for; so all such
numbers are forgotten before a new socket can be given one of them.
"""

from __future__ import annotations

import contextlib
import select
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import pycurl

if TYPE_CHECKING:
    from parcahyd.core.event_loop import EventLoop

__all__ = ["EpollSockets", "LoopSockets", "Ready", "Sockets", "watch_sockets"]

Ready = Callable[[list[tuple[int, int]]], None]
"""Takes (socket, libcurl's event bits) for every socket that is ready."""

_epoll: Any = getattr(select, "epoll", None)

# Linux gives the events of poll and epoll the same numbers, and these names exist on every platform.
_MASKS = {
    pycurl.POLL_NONE: 0,
    pycurl.POLL_IN: select.POLLIN,
    pycurl.POLL_OUT: select.POLLOUT,
    pycurl.POLL_INOUT: select.POLLIN | select.POLLOUT,
}


def _curl_events(mask: int) -> int:
    events = 0
    if mask & (select.POLLIN | select.POLLPRI | select.POLLHUP):
        events |= pycurl.CSELECT_IN
    if mask & select.POLLOUT:
        events |= pycurl.CSELECT_OUT
    if mask & select.POLLERR:
        events |= pycurl.CSELECT_ERR
    return events


_REMOVE: int = pycurl.POLL_REMOVE

# IN, PRI, OUT, ERR and HUP are the low five bits; a table is quicker than four tests for each event.
_EVENTS = [_curl_events(mask) for mask in range(32)]


class Sockets(Protocol):
    """The sockets that libcurl waits for."""

    def watch(self, wanted: int, descriptor: int, multi: object = None, data: object = None, /) -> None:
        """Follow libcurl's wish, one of its POLL_ values. The arguments are those of its socket callback."""

    def opening(self) -> None:
        """Called before every new socket of libcurl's."""

    def expect_strangers(self) -> None:
        """From now on libcurl may open sockets of which `opening` is not told."""

    def close(self) -> None: ...


def watch_sockets(loop: EventLoop, ready: Ready) -> Sockets:
    """The quickest way this platform has."""
    return LoopSockets(loop, ready) if _epoll is None else EpollSockets(loop, ready)


class EpollSockets:
    """One epoll set, whose own descriptor is all that the event loop sees."""

    def __init__(self, loop: EventLoop, ready: Ready) -> None:
        self._loop = loop
        self._ready = ready
        # Both are in the set, with what libcurl wanted last; it waits for the first only.
        self._watched: dict[int, int] = {}
        self._idle: dict[int, int] = {}
        self._keeps_idle = True
        self._epoll = _epoll()
        loop.add_reader(self._epoll.fileno(), self._poll)

    def watch(self, wanted: int, descriptor: int, _multi: object = None, _data: object = None, /) -> None:
        if wanted == _REMOVE:
            before = self._watched.pop(descriptor, None)
            if before is not None:
                self._idle[descriptor] = before
                if not self._keeps_idle:
                    self.opening()
            return
        before = self._idle.pop(descriptor, None)
        if before is None:
            before = self._watched.get(descriptor)
        if before is None:
            self._epoll.register(descriptor, _MASKS[wanted])
        elif before != wanted:
            self._epoll.modify(descriptor, _MASKS[wanted])
        self._watched[descriptor] = wanted

    def opening(self) -> None:
        for descriptor in self._idle:
            self._unregister(descriptor)
        self._idle.clear()

    def expect_strangers(self) -> None:
        self._keeps_idle = False
        self.opening()

    def close(self) -> None:
        if not self._epoll.closed:
            self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()

    def _unregister(self, descriptor: int) -> None:
        # A closed descriptor has left the set by itself.
        with contextlib.suppress(OSError):
            self._epoll.unregister(descriptor)

    def _poll(self) -> None:
        watched = self._watched
        events = self._epoll.poll(0)
        ready = [(descriptor, _EVENTS[mask & 31]) for descriptor, mask in events if descriptor in watched]
        if len(ready) < len(events):
            self._leave_out([descriptor for descriptor, _ in events if descriptor not in watched])
        self._ready(ready)

    def _leave_out(self, descriptors: list[int]) -> None:
        """Have no more events of these: servers close connections that were kept alive, which libcurl sees by itself."""
        idle = [descriptor for descriptor in descriptors if self._idle.pop(descriptor, None) is not None]
        for descriptor in idle:
            self._unregister(descriptor)
        if len(idle) < len(descriptors):
            self._renew()

    def _renew(self) -> None:
        """Begin a new set. A socket that another process has as well, because a plugin has forked, stays in the old one when
        libcurl closes it; nothing can take it out then, and its events would never end."""
        self.opening()
        self.close()
        self._epoll = _epoll()
        for descriptor, wanted in self._watched.items():
            self._epoll.register(descriptor, _MASKS[wanted])
        self._loop.add_reader(self._epoll.fileno(), self._poll)


class LoopSockets:
    """Every socket by itself on the event loop: for platforms without epoll."""

    def __init__(self, loop: EventLoop, ready: Ready) -> None:
        self._loop = loop
        self._ready = ready
        self._watched: set[int] = set()

    def watch(self, wanted: int, descriptor: int, _multi: object = None, _data: object = None, /) -> None:
        self._unwatch(descriptor)
        if wanted in (pycurl.POLL_IN, pycurl.POLL_INOUT):
            self._loop.add_reader(descriptor, self._ready, [(descriptor, pycurl.CSELECT_IN)])
            self._watched.add(descriptor)
        if wanted in (pycurl.POLL_OUT, pycurl.POLL_INOUT):
            self._loop.add_writer(descriptor, self._ready, [(descriptor, pycurl.CSELECT_OUT)])
            self._watched.add(descriptor)

    def opening(self) -> None:
        """Nothing is kept that could be mistaken for it."""

    def expect_strangers(self) -> None:
        """Nothing is kept that could be mistaken for them."""

    def close(self) -> None:
        for descriptor in list(self._watched):
            self._unwatch(descriptor)

    def _unwatch(self, descriptor: int) -> None:
        if descriptor in self._watched:
            self._watched.remove(descriptor)
            self._loop.remove_reader(descriptor)
            self._loop.remove_writer(descriptor)
