from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import Callable, Iterator

import pycurl
import pytest

from parcahyd.core.event_loop import EventLoop
from parcahyd.net.curl_sockets import EpollSockets, LoopSockets, Ready, Sockets, watch_sockets
from parcahyd.runtime.lean_loop import LeanLoop

KINDS: dict[str, Callable[[EventLoop, Ready], Sockets]] = {"loop": LoopSockets}
if hasattr(select, "epoll"):
    KINDS["epoll"] = EpollSockets


@pytest.fixture(params=[LeanLoop, asyncio.new_event_loop])
def loop(request: pytest.FixtureRequest) -> Iterator[EventLoop]:
    made: EventLoop = request.param()
    yield made
    made.close()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs


def _turn(loop: EventLoop) -> None:
    """Twice: a descriptor that became ready is seen in the first, and its callback has run after the second."""
    for _ in range(2):
        loop.call_soon(loop.stop)
        loop.run_forever()


@pytest.mark.parametrize("kind", KINDS)
def test_events_follow_what_is_wanted(kind: str, loop: EventLoop, pair: tuple[socket.socket, socket.socket]) -> None:
    seen: list[tuple[int, int]] = []
    sockets = KINDS[kind](loop, seen.extend)
    ours, theirs = pair
    number = ours.fileno()

    sockets.watch(pycurl.POLL_OUT, number)
    _turn(loop)
    assert set(seen) == {(number, pycurl.CSELECT_OUT)}

    seen.clear()
    sockets.watch(pycurl.POLL_IN, number)
    _turn(loop)
    assert seen == []
    theirs.send(b"x")
    _turn(loop)
    assert set(seen) == {(number, pycurl.CSELECT_IN)}

    seen.clear()
    sockets.watch(pycurl.POLL_INOUT, number)
    _turn(loop)
    events = 0
    for _, bits in seen:
        events |= bits
    assert events == pycurl.CSELECT_IN | pycurl.CSELECT_OUT

    seen.clear()
    sockets.watch(pycurl.POLL_REMOVE, number)
    sockets.watch(pycurl.POLL_REMOVE, number)
    _turn(loop)
    assert seen == []
    sockets.close()
    sockets.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_descriptor_that_was_closed_and_given_out_again_is_watched_again(kind: str, loop: EventLoop) -> None:
    seen: list[tuple[int, int]] = []
    sockets = KINDS[kind](loop, seen.extend)
    ours, theirs = socket.socketpair()
    number = ours.fileno()
    sockets.watch(pycurl.POLL_IN, number)
    ours.close()
    sockets.watch(pycurl.POLL_REMOVE, number)
    with theirs, socket.socket() as again:
        assert again.fileno() == number
        sockets.watch(pycurl.POLL_OUT, number)
        sockets.watch(pycurl.POLL_REMOVE, number)
    sockets.close()


def test_the_quickest_kind_is_chosen(loop: EventLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = watch_sockets(loop, lambda _ready: None)
    assert isinstance(chosen, EpollSockets if "epoll" in KINDS else LoopSockets)
    chosen.close()
    monkeypatch.setattr("parcahyd.net.curl_sockets._epoll", None)
    assert isinstance(watch_sockets(loop, lambda _ready: None), LoopSockets)
