"""Channels between real sockets: frames of every size arrive whole and in order, an end is noticed, listeners are private."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from parcahyd.runtime.channel import Channel, Listener, connect, first_message, send_message, socket_pair


class Blob(msgspec.Struct, tag=True):
    content: bytes


class Word(msgspec.Struct, tag=True):
    text: str


def spin(loop: asyncio.AbstractEventLoop, is_over: Callable[[], bool]) -> None:
    """Run the loop until it is over; two minutes mean that it never will be."""
    end = loop.time() + 120

    def look() -> None:
        if is_over() or loop.time() > end:
            loop.stop()
        else:
            loop.call_later(0.001, look)

    loop.call_soon(look)
    loop.run_forever()
    assert is_over()


class Ends:
    """Two channels on one loop."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.received: list[object] = []
        self.sizes: list[int] = []
        self.rests = 0
        self.closed = 0
        here, there = socket_pair()
        self.near = Channel(here, self.loop, Blob | Word, lambda: None)
        self.far = Channel(there, self.loop, Blob | Word, self._close, self._rest)
        self.far.on(Blob, self._take)
        self.far.on(Word, self._take)

    def _take(self, message: Blob | Word) -> None:
        self.received.append(message)
        self.sizes.append(self.far.frame_size)

    def _rest(self) -> None:
        self.rests += 1

    def _close(self) -> None:
        self.closed += 1

    def run_until(self, count: int) -> None:
        spin(self.loop, lambda: len(self.received) >= count or self.closed > 0)


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    yield made
    made.near.close()
    made.far.close()
    made.loop.close()


def test_frames_arrive_whole_and_in_order_whatever_their_size(ends: Ends) -> None:
    messages = [Blob(os.urandom(size)) for size in (0, 1, 5, 4096, 300_000, 3_000_000, 7, 65_536)] * 3
    sizes = [ends.near.send_counted(message) for message in messages]
    ends.run_until(len(messages))
    assert ends.received == messages
    assert ends.sizes == sizes
    assert 0 < ends.rests <= len(messages)


def test_every_handler_of_a_kind_gets_its_messages_in_the_order_of_the_handlers(ends: Ends) -> None:
    taken: list[str] = []
    ends.far.on(Word, lambda word: taken.append(f"second {word.text}"))
    ends.near.send(Blob(b"x"))
    ends.near.send(Word("a"))
    ends.run_until(2)
    assert ends.received == [Blob(b"x"), Word("a")]
    assert taken == ["second a"]


def test_the_other_end_closing_is_told_once_after_everything_was_handed_over(ends: Ends) -> None:
    ends.near.send(Word("last words"))
    ends.near.close()
    spin(ends.loop, lambda: ends.closed > 0)
    assert ends.received == [Word("last words")]
    ends.far.send(Word("to a closed end"))
    ends.far.flush()
    assert ends.closed == 1


def test_nothing_of_a_dead_process_is_lost_when_it_is_written_to_before_all_is_read(ends: Ends) -> None:
    """A worker that was killed may have sent its last pages, and be granted credit before they are read."""
    messages = [Blob(os.urandom(50_000)) for _ in range(8)]
    for message in messages:
        ends.near.send(message)
    ends.near.close()
    ends.far.send(Word("is anybody there?"))
    ends.far.flush()
    ends.far.send(Word("hello?"))
    spin(ends.loop, lambda: ends.closed > 0)
    assert ends.received == messages
    assert ends.closed == 1


def test_a_listener_accepts_in_a_folder_of_its_own_and_leaves_nothing() -> None:
    loop = asyncio.new_event_loop()
    accepted: list[socket.socket] = []
    listener = Listener(loop, accepted.append)
    folder = Path(listener.address).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with connect(listener.address) as first, connect(listener.address) as second:
        spin(loop, lambda: len(accepted) == 2)
        for there, here in zip((first, second), accepted, strict=True):
            there.sendall(b"hello")
            assert here.recv(5) == b"hello"
            here.close()
    listener.close()
    assert not folder.exists()
    loop.close()


def test_a_message_is_read_before_there_is_a_loop_and_sent_after_it() -> None:
    here, there = socket_pair()
    with here, there:
        send_message(here, Word("first"))
        send_message(here, Word("second"))
        assert first_message(there, Word) == Word("first")
        assert first_message(there, Word) == Word("second")
        there.close()
        with pytest.raises(ConnectionError):
            first_message(here, Word)
