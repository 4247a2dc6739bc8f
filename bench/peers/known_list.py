"""Fetches every URL of a list over 64 connections and drops the bodies: `python known_list.py FILE`."""

from __future__ import annotations

import select
import sys
from pathlib import Path

import pycurl

_CONNECTIONS = 64
_EVENTS = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}


class Fetch:
    """A multi handle on an epoll, and easy handles that take one URL after the other."""

    def __init__(self, urls: list[str]) -> None:
        self.failures: list[str] = []
        self._urls = urls
        self._under_way = 0
        self._epoll = select.epoll()
        self._watched: set[int] = set()
        self._timeout = -1
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)

    def run(self) -> None:
        for _ in range(min(_CONNECTIONS, len(self._urls))):
            self._start(_handle())
        while self._under_way:
            events = self._epoll.poll(self._timeout / 1000 if self._timeout >= 0 else 1)
            for descriptor, event in events:
                self._multi.socket_action(descriptor, _mask(event))
            if not events or self._timeout == 0:
                self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
            self._collect()

    def _start(self, handle: pycurl.Curl) -> None:
        handle.setopt(pycurl.URL, self._urls.pop())
        self._multi.add_handle(handle)
        self._under_way += 1

    def _collect(self) -> None:
        more = 1
        while more:
            more, good, bad = self._multi.info_read()
            self.failures += [f"{message} ({number})" for _, number, message in bad]
            for handle in (*good, *(handle for handle, *_ in bad)):
                self._multi.remove_handle(handle)
                self._under_way -= 1
                if self._urls:
                    self._start(handle)

    def _on_socket(self, event: int, descriptor: int, *_rest: object) -> None:
        if event == pycurl.POLL_REMOVE:
            if descriptor in self._watched:
                self._watched.remove(descriptor)
                self._epoll.unregister(descriptor)
        elif descriptor in self._watched:
            self._epoll.modify(descriptor, _EVENTS[event])
        else:
            self._watched.add(descriptor)
            self._epoll.register(descriptor, _EVENTS[event])

    def _on_timer(self, milliseconds: int) -> None:
        self._timeout = milliseconds


def _handle() -> pycurl.Curl:
    handle = pycurl.Curl()
    handle.setopt(pycurl.NOSIGNAL, 1)
    # libcurl takes the number of bytes that were read as the answer; `len` gives it without keeping any.
    handle.setopt(pycurl.WRITEFUNCTION, len)
    handle.setopt(pycurl.FAILONERROR, 1)
    return handle


def _mask(event: int) -> int:
    mask = 0
    if event & (select.EPOLLIN | select.EPOLLHUP):
        mask |= pycurl.CSELECT_IN
    if event & select.EPOLLOUT:
        mask |= pycurl.CSELECT_OUT
    if event & select.EPOLLERR:
        mask |= pycurl.CSELECT_ERR
    return mask


def main() -> None:
    fetch = Fetch(Path(sys.argv[1]).read_text(encoding="utf-8").split())
    fetch.run()
    if fetch.failures:
        sys.exit(f"{len(fetch.failures)} failed, such as: {fetch.failures[0]}")


if __name__ == "__main__":
    main()
