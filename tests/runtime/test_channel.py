"""Channels between real sockets: frames of every size arrive whole and in order, sockets travel, an end is noticed."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable

import msgspec
import pytest

from parcahyd.core.event_loop import EventLoop
from parcahyd.runtime.channel import Channel, socket_pair
from parcahyd.runtime.lean_loop import LeanLoop

MakeLoop = Callable[[], EventLoop]
LOOPS: list[MakeLoop] = [LeanLoop, asyncio.new_event_loop]


def spin(loop: EventLoop, is_over: Callable[[], bool]) -> None:
    """Run until it is over, or for twenty seconds."""
    end = loop.time() + 20

    def look() -> None:
        if is_over() or loop.time() > end:
            loop.stop()
        else:
            loop.call_later(0.001, look)

    loop.call_soon(look)
    loop.run_forever()
    assert is_over()


@pytest.fixture(params=LOOPS)
def ends(request: pytest.FixtureRequest) -> Ends:
    return Ends(request.param)


class Ends:
    """Two channels on one loop."""

    def __init__(self, make_loop: MakeLoop) -> None:
        self.loop = make_loop()
        self.received: list[object] = []
        self.sizes: list[int] = []
        self.closed = 0
        here, there = socket_pair()
        decoder: msgspec.msgpack.Decoder[object] = msgspec.msgpack.Decoder()
        self.near: Channel[object] = Channel(here, self.loop, decoder, self._ignore, lambda: None)
        self.far: Channel[object] = Channel(there, self.loop, decoder, self._take, self._close)

    def _ignore(self, message: object, _size: int) -> None:
        raise AssertionError(f"nothing was sent this way: {message!r}")

    def _take(self, message: object, size: int) -> None:
        self.received.append(message)
        self.sizes.append(size)

    def _close(self) -> None:
        self.closed += 1

    def run_until(self, count: int) -> None:
        spin(self.loop, lambda: len(self.received) >= count or self.closed > 0)

    def end(self) -> None:
        self.near.close()
        self.far.close()
        self.loop.close()


def test_frames_arrive_whole_and_in_order_whatever_their_size(ends: Ends) -> None:
    messages = [os.urandom(size) for size in (0, 1, 5, 4096, 300_000, 3_000_000, 7, 65_536)] * 3
    sizes = [ends.near.send(message) for message in messages]
    ends.run_until(len(messages))
    assert ends.received == messages
    assert ends.sizes == sizes
    assert ends.near.is_flushed
    ends.end()


def test_a_socket_travels_with_its_message_among_others(ends: Ends) -> None:
    kept, given = socket.socketpair()
    ends.near.send(b"x" * 2_000_000)  # More than the socket takes at once: the next frames wait their turn.
    ends.near.send_socket("with a socket", given)
    ends.near.send("after")
    ends.run_until(3)
    assert ends.received[1:] == ["with a socket", "after"]
    arrived = ends.far.take_socket()
    arrived.sendall(b"hello")
    assert kept.recv(5) == b"hello"
    arrived.close()
    kept.close()
    ends.end()


def test_an_open_file_travels_and_stays_open_where_nobody_takes_it(ends: Ends) -> None:
    read, write = os.pipe()
    ends.near.send_descriptor("first", write)
    ends.near.send("second")
    ends.run_until(2)
    os.set_blocking(read, False)
    with pytest.raises(BlockingIOError):  # Somebody could still write.
        os.read(read, 1)
    os.close(ends.far.take_descriptor())
    assert os.read(read, 1) == b""
    os.close(read)
    ends.end()


def test_an_open_file_that_cannot_be_sent_any_more_is_closed(ends: Ends) -> None:
    read, write = os.pipe()
    ends.near.send(b"x" * 4_000_000)
    ends.near.send_descriptor("never", write)
    ends.near.close()
    assert os.read(read, 1) == b""
    os.close(read)
    ends.end()


def test_the_other_end_closing_is_told_once_after_everything_was_handed_over(ends: Ends) -> None:
    ends.near.send("last words")
    ends.near.close()
    ends.run_until(2)
    assert ends.received == ["last words"]
    assert ends.closed == 1
    assert not ends.far.is_open
    ends.far.send("to nobody")
    ends.end()


def test_nothing_of_a_dead_process_is_lost_when_somebody_writes_to_it_before_all_is_read(ends: Ends) -> None:
    """A worker that was killed may have told of its last pages, and be granted credit before they are read."""
    messages = [os.urandom(50_000) for _ in range(8)]
    for message in messages:
        ends.near.send(message)
    ends.near.flush()
    assert ends.near.is_flushed
    ends.near.close()
    ends.far.send("is anybody there?")
    ends.far.flush()
    ends.far.send("hello?")
    reading, writing = os.pipe()
    ends.far.send_descriptor("take this", writing)
    spin(ends.loop, lambda: ends.closed > 0)
    assert ends.received == messages
    assert ends.closed == 1
    assert os.read(reading, 1) == b"", "the file that nobody got is closed"
    os.close(reading)
    ends.end()


@pytest.mark.parametrize("make_loop", LOOPS)
def test_a_channel_that_moves_to_another_loop_loses_nothing(make_loop: MakeLoop) -> None:
    ends = Ends(LeanLoop)
    before, after = ends.loop, make_loop()
    ends.near.send("before")
    ends.near.move_to(after)
    ends.far.move_to(after)
    ends.near.send("after")
    ends.loop = after
    ends.run_until(2)
    assert ends.received == ["before", "after"]
    ends.end()
    before.close()


def test_a_channel_that_is_writing_goes_on_writing_on_another_loop() -> None:
    ends = Ends(LeanLoop)
    before, after = ends.loop, LeanLoop()
    ends.near.send(b"x" * 4_000_000)
    assert not ends.near.is_flushed
    ends.near.move_to(after)
    ends.far.move_to(after)
    ends.loop = after
    ends.run_until(1)
    assert ends.near.is_flushed
    ends.end()
    before.close()
