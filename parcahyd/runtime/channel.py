"""A channel: one end of a socket pair that carries records as frames, on an event loop.

A frame is four bytes of length, big-endian, and a msgpack message. Reading never stops, so no cycle of full sockets can
block; what bounds memory is credit, which the boxes keep. A socket or another open file can travel with a frame.
"""

from __future__ import annotations

import array
import os
import socket
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    from parcahyd.core.event_loop import EventLoop

__all__ = ["Channel", "socket_pair"]

_FIRST_INBOX = 1 << 14
_READ_SIZE = 1 << 20
_SOCKET_BUFFER = 1 << 20
_MOST_FRAMES_AT_ONCE = 64
_ENOUGH_TO_WRITE = 1 << 17
"""Bytes that are written without waiting for more: the other side can begin with them."""
_ANCILLARY_SPACE = socket.CMSG_SPACE(8 * array.array("i").itemsize)

Incoming = TypeVar("Incoming")


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected stream sockets with generous buffers."""
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    for end in pair:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BUFFER)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SOCKET_BUFFER)
    return pair


class Channel(Generic[Incoming]):
    """Sends messages and hands over those that arrive, with their size.

    `received` is called with each message and the size of its frame, `rested` after the messages that came together, `closed`
    once, when the other end is gone and everything that it had sent was handed over.
    """

    def __init__(
        self,
        end: socket.socket,
        loop: EventLoop,
        decoder: msgspec.msgpack.Decoder[Incoming],
        received: Callable[[Incoming, int], None],
        closed: Callable[[], None],
        rested: Callable[[], None] | None = None,
    ) -> None:
        end.setblocking(False)
        self._end = end
        self._loop = loop
        self._decode = decoder.decode
        self._received = received
        self._closed = closed
        self._rested = rested
        self._encoder = msgspec.msgpack.Encoder()
        # One piece of memory for everything that arrives. It grows while readings fill it, and for a frame that is larger.
        self._inbox = bytearray(_FIRST_INBOX)
        self._filled = 0
        self._outbox: deque[bytes | memoryview] = deque()
        self._descriptors_out: deque[tuple[int, int]] = deque()
        self._descriptors_in: deque[int] = deque()
        self._is_open = True
        self._is_heard = True
        self._is_writing = False
        self._is_gathering = False
        self._unwritten = 0
        loop.add_reader(end.fileno(), self._readable)

    @property
    def is_open(self) -> bool:
        return self._is_open

    @property
    def is_flushed(self) -> bool:
        return not self._outbox

    def send(self, message: Any) -> int:
        """Send a message with those that follow it at once, as soon as the socket takes it; returns the size of its frame."""
        payload = self._encoder.encode(message)
        size = len(payload)
        if self._is_heard:
            self._outbox.append(size.to_bytes(4, "big"))
            self._outbox.append(payload)
            self._unwritten += size
            if not self._is_writing:
                if self._unwritten > _ENOUGH_TO_WRITE:
                    self._write()
                elif not self._is_gathering:
                    self._is_gathering = True
                    self._loop.call_soon(self._gathered)
        return size

    def send_socket(self, message: Any, travelling: socket.socket) -> None:
        """Send a message with a socket; this process's copy is closed once it is on its way."""
        self.send_descriptor(message, travelling.detach())

    def send_descriptor(self, message: Any, travelling: int) -> None:
        """The same for any open file."""
        if not self._is_heard:
            os.close(travelling)
            return
        self._descriptors_out.append((len(self._outbox), travelling))
        self._is_writing, was_writing = True, self._is_writing
        self.send(message)
        self._is_writing = was_writing
        if not was_writing:
            self._write()

    def take_socket(self) -> socket.socket:
        """The socket that travelled with the message that was just received."""
        return socket.socket(fileno=self.take_descriptor())

    def take_descriptor(self) -> int:
        """The open file that travelled with the message that was just received. One that nobody takes stays open."""
        return self._descriptors_in.popleft()

    def move_to(self, loop: EventLoop) -> None:
        """From now on, be woken by another loop; the old one may never run again."""
        self.flush()
        self._is_gathering = False
        if self._is_open:
            descriptor = self._end.fileno()
            self._loop.remove_reader(descriptor)
            loop.add_reader(descriptor, self._readable)
            if self._is_writing:
                self._loop.remove_writer(descriptor)
                loop.add_writer(descriptor, self._write)
        self._loop = loop

    def close(self) -> None:
        """Close this end; what the socket does not take at once is dropped."""
        self.flush()
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._end.fileno())
            self._fall_silent()
            self._end.close()

    def flush(self) -> None:
        """Write what was gathered; what the socket does not take follows later."""
        if self._is_open and not self._is_writing:
            self._write()

    # --- out -----------------------------------------------------------------------------------------------------------

    def _gathered(self) -> None:
        self._is_gathering = False
        self.flush()

    def _write(self) -> None:
        self._unwritten = 0
        try:
            while self._outbox:
                self._write_some()
        except (BlockingIOError, InterruptedError):
            if not self._is_writing:
                self._is_writing = True
                self._loop.add_writer(self._end.fileno(), self._write)
            return
        except OSError:
            self._fall_silent()  # Nobody listens any more, but what they said before may still be to read.
            return
        if self._is_writing:
            self._is_writing = False
            self._loop.remove_writer(self._end.fileno())

    def _fall_silent(self) -> None:
        """Nothing is written from now on."""
        self._is_heard = False
        self._outbox.clear()
        if self._is_writing:
            self._is_writing = False
            self._loop.remove_writer(self._end.fileno())
        while self._descriptors_out:
            os.close(self._descriptors_out.popleft()[1])

    def _write_some(self) -> None:
        outbox = self._outbox
        if self._descriptors_out and self._descriptors_out[0][0] == 0:
            travelling = self._descriptors_out[0][1]
            sent = socket.send_fds(self._end, [outbox[0]], [travelling])
            self._descriptors_out.popleft()
            os.close(travelling)
        else:
            most = min(len(outbox), _MOST_FRAMES_AT_ONCE)
            if self._descriptors_out:
                most = min(most, self._descriptors_out[0][0])
            sent = self._end.sendmsg([outbox[at] for at in range(most)])
        self._drop(sent)

    def _drop(self, sent: int) -> None:
        dropped = 0
        outbox = self._outbox
        while sent:
            head = outbox[0]
            if sent < len(head):
                outbox[0] = memoryview(head)[sent:]
                break
            sent -= len(head)
            outbox.popleft()
            dropped += 1
        if self._descriptors_out and dropped:
            self._descriptors_out = deque((at - dropped, travelling) for at, travelling in self._descriptors_out)

    # --- in ------------------------------------------------------------------------------------------------------------

    def _readable(self) -> None:
        inbox, before = self._inbox, self._filled
        with memoryview(inbox) as view, view[before:] as room:
            try:
                size, ancillary, _, _ = self._end.recvmsg_into([room], _ANCILLARY_SPACE)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                size, ancillary = 0, []
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                self._take_descriptors(data)
        if not size:
            self._lost()
            return
        self._filled += size
        was_full = self._filled == len(inbox)
        self._hand_over()
        if was_full and (self._filled == len(inbox) or len(inbox) < _READ_SIZE):
            inbox += bytes(len(inbox))

    def _take_descriptors(self, data: bytes) -> None:
        descriptors = array.array("i")
        descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
        self._descriptors_in.extend(descriptors)

    def _hand_over(self) -> None:
        inbox = self._inbox
        at, end = 0, self._filled
        with memoryview(inbox) as view:
            while end - at >= 4 and self._is_open:
                size = int.from_bytes(view[at : at + 4], "big")
                if end - at - 4 < size:
                    break
                message = self._decode(view[at + 4 : at + 4 + size])
                at += 4 + size
                self._received(message, size)
            if at:
                view[: end - at] = view[at:end]
        self._filled = end - at
        if at and self._rested is not None:
            self._rested()

    def _lost(self) -> None:
        if self._is_open:
            self._fall_silent()
            self.close()
            self._closed()
