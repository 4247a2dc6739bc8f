from __future__ import annotations

import asyncio
import os
import select
import socket
from collections.abc import Callable, Iterator

import pycurl
import pytest

from parcahyd.net.curl_sockets import EpollSockets, LoopSockets, Ready, Sockets, watch_sockets

KINDS: dict[str, Callable[[asyncio.AbstractEventLoop, Ready], Sockets]] = {"loop": LoopSockets}
if hasattr(select, "epoll"):
    KINDS["epoll"] = EpollSockets


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    """Twice: a descriptor that became ready is seen in the first, and its callback has run after the second."""
    for _ in range(2):
        loop.call_soon(loop.stop)
        loop.run_forever()


def _closed_after_a_transfer(sockets: Sockets) -> int:
    """The number of a socket that libcurl waited for, and closed later without a word."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        number = ours.fileno()
        sockets.watch(pycurl.POLL_IN, number)
        sockets.watch(pycurl.POLL_REMOVE, number)
    return number


def _watch_another_of(number: int, sockets: Sockets, wanted: int) -> None:
    """Have a socket watched that has this number, and something to read."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.send(b"x")
        if ours.fileno() != number:
            os.dup2(ours.fileno(), number)
        else:
            ours.detach()
    sockets.watch(wanted, number)


@pytest.mark.parametrize("kind", KINDS)
def test_events_follow_what_is_wanted(
    kind: str, loop: asyncio.AbstractEventLoop, pair: tuple[socket.socket, socket.socket]
) -> None:
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
@pytest.mark.parametrize("wanted", [pycurl.POLL_IN, pycurl.POLL_INOUT])
def test_a_descriptor_that_was_closed_and_given_out_again_is_watched_again(
    kind: str, wanted: int, loop: asyncio.AbstractEventLoop
) -> None:
    seen: list[tuple[int, int]] = []
    sockets = KINDS[kind](loop, seen.extend)
    number = _closed_after_a_transfer(sockets)
    _watch_another_of(number, sockets, wanted)
    _turn(loop)
    assert (number, pycurl.CSELECT_IN) in [(descriptor, bits & pycurl.CSELECT_IN) for descriptor, bits in seen]
    sockets.close()
    os.close(number)


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_between_two_transfers_wakes_libcurl_with_the_second_only(
    kind: str, loop: asyncio.AbstractEventLoop, pair: tuple[socket.socket, socket.socket]
) -> None:
    calls: list[list[tuple[int, int]]] = []
    sockets = KINDS[kind](loop, calls.append)
    ours, theirs = pair
    sockets.watch(pycurl.POLL_IN, ours.fileno())
    sockets.watch(pycurl.POLL_REMOVE, ours.fileno())
    theirs.close()
    _turn(loop)
    assert all(call == [] for call in calls)
    calls.clear()
    _turn(loop)
    assert calls == []
    sockets.watch(pycurl.POLL_IN, ours.fileno())
    _turn(loop)
    assert [(ours.fileno(), pycurl.CSELECT_IN)] in calls
    sockets.close()


@pytest.mark.skipif("epoll" not in KINDS, reason="this system has no epoll")
def test_a_closed_socket_of_which_another_process_has_a_copy_does_not_keep_the_loop_awake(
    loop: asyncio.AbstractEventLoop, pair: tuple[socket.socket, socket.socket]
) -> None:
    calls: list[list[tuple[int, int]]] = []
    sockets = EpollSockets(loop, calls.append)
    busy, other = socket.socketpair()
    sockets.watch(pycurl.POLL_IN, busy.fileno())
    ours, theirs = pair
    sockets.watch(pycurl.POLL_IN, ours.fileno())
    copy = os.dup(ours.fileno())
    sockets.watch(pycurl.POLL_REMOVE, ours.fileno())
    ours.close()
    theirs.send(b"x")
    _turn(loop)
    _turn(loop)
    calls.clear()
    _turn(loop)
    assert calls == []
    other.send(b"x")
    _turn(loop)
    assert [(busy.fileno(), pycurl.CSELECT_IN)] in calls
    sockets.close()
    busy.close()
    other.close()
    os.close(copy)


def test_the_quickest_kind_is_chosen(loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = watch_sockets(loop, lambda _ready: None)
    assert isinstance(chosen, EpollSockets if "epoll" in KINDS else LoopSockets)
    chosen.close()
    monkeypatch.setattr("parcahyd.net.curl_sockets._epoll", None)
    assert isinstance(watch_sockets(loop, lambda _ready: None), LoopSockets)
