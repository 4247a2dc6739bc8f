"""A channel: one end of a stream socket that carries messages as frames, on an event loop.

A frame is four bytes of length, big-endian, and a msgpack message. Nothing else travels: no open file and no memory of another
process, so that a channel works over every stream socket, also between machines. Reading never stops, so no cycle of full
sockets can block. Credit, which the boxes keep, bounds memory.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import tempfile
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

__all__ = ["Channel", "Listener", "connect", "first_message", "send_message", "socket_pair"]

_FIRST_INBOX = 1 << 14
_READ_SIZE = 1 << 20
_LARGEST_KEPT = 1 << 22
_SOCKET_BUFFER = 1 << 20
_MOST_PARTS_AT_ONCE = 64
_ENOUGH_TO_WRITE = 1 << 17
"""Bytes that are written without waiting for more: the other side can begin with them."""

Message = TypeVar("Message")


def socket_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected stream sockets with generous buffers."""
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    return _with_large_buffers(first), _with_large_buffers(second)


def connect(address: str) -> socket.socket:
    """A socket that is connected to a Listener."""
    end = _with_large_buffers(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    end.connect(address)
    return end


def _with_large_buffers(end: socket.socket) -> socket.socket:
    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BUFFER)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SOCKET_BUFFER)
    return end


def first_message(end: socket.socket, kind: type[Message]) -> Message:
    """Waits for a message where there is no loop, or not yet. ConnectionError: the other end is gone, and nothing came."""
    return msgspec.msgpack.decode(_exactly(end, int.from_bytes(_exactly(end, 4), "big")), type=kind)


def send_message(end: socket.socket, message: object) -> None:
    """Sends a message where there is no loop. ConnectionError: the other end is gone."""
    frame = msgspec.msgpack.encode(message)
    end.sendall(len(frame).to_bytes(4, "big") + frame)


def _exactly(end: socket.socket, size: int) -> bytes:
    found = end.recv(size, socket.MSG_WAITALL)
    if len(found) < size:
        raise ConnectionError("the other end of the channel was closed")
    return found


class Listener:
    """A Unix socket in a folder that only this user can enter; `accepted` gets each socket that connects."""

    def __init__(self, loop: asyncio.AbstractEventLoop, accepted: Callable[[socket.socket], None]) -> None:
        self._loop = loop
        self._accepted = accepted
        self._folder = tempfile.mkdtemp(prefix="parcahyd-")
        self.address = os.path.join(self._folder, "socket")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self._socket.bind(self.address)
        self._socket.listen()
        loop.add_reader(self._socket.fileno(), self._accept)

    def _accept(self) -> None:
        try:
            end, _ = self._socket.accept()
        except (BlockingIOError, ConnectionAbortedError, InterruptedError):
            return  # The peer ended before it was accepted.
        self._accepted(_with_large_buffers(end))

    def close(self) -> None:
        self._loop.remove_reader(self._socket.fileno())
        self._socket.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class Channel:
    """Sends messages, and hands each message that arrives to the handlers of its kind.

    `messages` is the union of the kinds that may arrive. `on` adds a handler for a kind. `rested` is called after the messages
    that came together, and `closed` once, when the other end is gone and everything that it had sent was handed over.
    """

    def __init__(
        self,
        end: socket.socket,
        loop: asyncio.AbstractEventLoop,
        messages: Any,
        closed: Callable[[], None],
        rested: Callable[[], None] | None = None,
    ) -> None:
        end.setblocking(False)
        self._end = end
        self._loop = loop
        self._decode = msgspec.msgpack.Decoder(messages).decode
        self._handlers: dict[type, list[Callable[[Any], None]]] = {}
        self._closed = closed
        self._rested = rested
        self._encode = msgspec.msgpack.Encoder().encode
        # One piece of memory for everything that arrives. It grows while readings fill it, and for a frame that is larger.
        self._inbox = bytearray(_FIRST_INBOX)
        self._filled = 0
        self._outbox: deque[bytes | memoryview] = deque()
        self._is_open = True
        self._can_send = True
        self._is_writing = False
        self._is_gathering = False
        self._unwritten = 0
        self.frame_size = 0
        """The size of the message that is being handed over."""
        loop.add_reader(end.fileno(), self._readable)

    def on(self, kind: type[Message], handler: Callable[[Message], None]) -> None:
        """From now on `handler` gets every message of this kind; handlers run in the order in which they were added."""
        self._handlers.setdefault(kind, []).append(handler)

    def send(self, message: Any) -> None:
        """Send a message, together with those that follow it at once, as soon as the socket takes it."""
        self.send_counted(message)

    def send_counted(self, message: Any) -> int:
        """The same; returns the size of the message, for which credit is charged."""
        payload = self._encode(message)
        size = len(payload)
        if self._can_send:
            self._outbox.append(size.to_bytes(4, "big"))
            self._outbox.append(payload)
            self._unwritten += size
            if not self._is_writing:
                if self._unwritten > _ENOUGH_TO_WRITE:
                    self._write()
                elif not self._is_gathering:
                    self._is_gathering = True
                    self._loop.call_soon(self._write_gathered)
        return size

    def flush(self) -> None:
        """Write what was gathered; what the socket does not take follows later."""
        if self._is_open and not self._is_writing:
            self._write()

    def close(self) -> None:
        """Close this end; what the socket does not take at once is dropped."""
        self.flush()
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._end.fileno())
            self._stop_sending()
            self._end.close()

    # --- out -----------------------------------------------------------------------------------------------------------

    def _write_gathered(self) -> None:
        self._is_gathering = False
        self.flush()

    def _write(self) -> None:
        self._unwritten = 0
        outbox = self._outbox
        try:
            while outbox:
                self._drop(self._end.sendmsg([outbox[at] for at in range(min(len(outbox), _MOST_PARTS_AT_ONCE))]))
        except (BlockingIOError, InterruptedError):
            if not self._is_writing:
                self._is_writing = True
                self._loop.add_writer(self._end.fileno(), self._write)
            return
        except OSError:
            self._stop_sending()  # The other end is closed, but what it sent before may still be unread.
            return
        if self._is_writing:
            self._is_writing = False
            self._loop.remove_writer(self._end.fileno())

    def _stop_sending(self) -> None:
        self._can_send = False
        self._outbox.clear()
        if self._is_writing:
            self._is_writing = False
            self._loop.remove_writer(self._end.fileno())

    def _drop(self, sent: int) -> None:
        outbox = self._outbox
        while sent:
            head = outbox[0]
            if sent < len(head):
                outbox[0] = memoryview(head)[sent:]
                return
            sent -= len(head)
            outbox.popleft()

    # --- in ------------------------------------------------------------------------------------------------------------

    def _readable(self) -> None:
        inbox = self._inbox
        with memoryview(inbox) as view, view[self._filled :] as room:
            try:
                size = self._end.recv_into(room)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                size = 0
        if not size:
            self._lost()
            return
        self._filled += size
        was_full = self._filled == len(inbox)
        self._hand_over()
        if was_full and (self._filled == len(inbox) or len(inbox) < _READ_SIZE):
            self._enlarge()
        elif not self._filled and len(inbox) > _LARGEST_KEPT:
            self._inbox = bytearray(_READ_SIZE)  # The room for one large frame is not kept for ever.

    def _enlarge(self) -> None:
        """Double the inbox; a frame that is larger than that gets all the room that it needs, at once."""
        inbox = self._inbox
        frame = 4 + int.from_bytes(inbox[:4], "big") if self._filled >= 4 else 0
        larger = bytearray(frame if frame > len(inbox) >= _READ_SIZE else 2 * len(inbox))
        larger[: self._filled] = inbox[: self._filled]
        self._inbox = larger

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
                self.frame_size = size
                for handler in self._handlers[type(message)]:
                    handler(message)
            if at:
                view[: end - at] = view[at:end]
        self._filled = end - at
        if at and self._rested is not None:
            self._rested()

    def _lost(self) -> None:
        if self._is_open:
            self._stop_sending()
            self.close()
            self._closed()
