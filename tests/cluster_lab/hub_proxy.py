"""A proxy in front of PostgreSQL that cuts one machine off, or loses the server's answers to COMMIT.

It reads the server's messages as far as it must: each is a letter, a length, and its content (PostgreSQL's manual, section
"Frontend/Backend Protocol"). Encryption is refused, so that there is something to read.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from typing import Literal

from tests.support.loop_thread import LoopThread

__all__ = ["Direction", "HubProxy"]

Direction = Literal["questions", "answers"]

_FIRST = struct.Struct(">II")
_ENCRYPTION = (80877103, 80877104)
"""What a client's first packet says that asks for TLS or GSSAPI."""
_COMMITTED = b"COMMIT\0"
_RESET = struct.pack("ii", 1, 0)


class HubProxy:
    """Listens on `address`, and connects to the server from there.

    Its thread works in the network namespace of the thread that makes it.
    """

    def __init__(self, address: str, server: tuple[str, int]) -> None:
        self._server = server
        self.lost_commits = 0
        """Answers to COMMIT that were not delivered."""
        self._to_lose = 0
        self._stays_silent = False
        self._passes: dict[Direction, asyncio.Event] = {}
        self._thread = LoopThread("hub proxy")
        self._listener = socket.create_server((address, 0), backlog=100)
        self.port: int = self._listener.getsockname()[1]
        self._thread.call(self._listen())

    def cut(self, *directions: Direction) -> None:
        """What goes these ways waits, as on a wire that was cut: nothing is lost, and no connection ends."""
        self._thread.call(self._set(directions, passes=False))

    def heal(self) -> None:
        self._thread.call(self._set(("questions", "answers"), passes=True))

    def lose_commits(self, count: int, *, silently: bool = False) -> None:
        """The next so many answers to COMMIT are lost, and with each the connection, at once or after an endless silence."""
        self._to_lose, self._stays_silent = count, silently

    def close(self) -> None:
        self._thread.close()
        self._listener.close()

    async def _listen(self) -> None:
        self._passes = {"questions": asyncio.Event(), "answers": asyncio.Event()}
        await self._set(("questions", "answers"), passes=True)
        self._accepting = await asyncio.start_server(self._serve, sock=self._listener)

    async def _set(self, directions: tuple[Direction, ...], *, passes: bool) -> None:
        for direction in directions:
            if passes:
                self._passes[direction].set()
            else:
                self._passes[direction].clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A connection that ends, on either side, ends the other; how it ended is of no interest."""
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                first = await self._first_packet(reader, writer)
                await self._passes["questions"].wait()
                await self._converse(first, reader, writer)
        finally:
            writer.transport.abort()

    async def _converse(self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection(*self._server)
        server_writer.write(first)
        pumps = [
            asyncio.create_task(self._pass_questions(reader, server_writer)),
            asyncio.create_task(self._pass_answers(server_reader, writer)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            server_writer.transport.abort()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _first_packet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        while True:
            await self._passes["questions"].wait()
            head = await reader.readexactly(_FIRST.size)
            length, code = _FIRST.unpack(head)
            if code not in _ENCRYPTION:
                return head + await reader.readexactly(length - _FIRST.size)
            writer.write(b"N")

    async def _pass_questions(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            await self._passes["questions"].wait()
            writer.write(data)
            await writer.drain()

    async def _pass_answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readexactly(5)
            content = await reader.readexactly(int.from_bytes(head[1:], "big") - 4)
            await self._passes["answers"].wait()
            if head[:1] == b"C" and content == _COMMITTED and self._to_lose:
                self._to_lose -= 1
                self.lost_commits += 1
                if self._stays_silent:
                    await asyncio.Event().wait()
                raw = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                return
            writer.write(head + content)
            await writer.drain()
