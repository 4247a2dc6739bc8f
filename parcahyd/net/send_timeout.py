"""Socket options with which the system does not go on delivering what a process sent that is gone, or is cut off.

A closed connection would otherwise deliver what is unsent, and a cut one would repeat it for minutes. On a cluster another
machine may send to the same server by then. Tested in tests/net/test_send_timeout.py.
"""

from __future__ import annotations

import socket
import struct

__all__ = ["SocketOption", "send_timeout"]

SocketOption = tuple[int, int, int | bytes]
_RESET_WHEN_CLOSED = struct.pack("ii", 1, 0)
_MILLISECONDS = 1000


def send_timeout(seconds: float) -> tuple[SocketOption, ...]:
    """The options for connections that are given up when nothing is acknowledged for so long; 0: none, as the system does."""
    if not seconds:
        return ()
    reset = (socket.SOL_SOCKET, socket.SO_LINGER, _RESET_WHEN_CLOSED)
    return reset, (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, round(seconds * _MILLISECONDS)))
