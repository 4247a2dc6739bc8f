"""What a lab's machines have in common, and the simplest kind: addresses of the loopback network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

__all__ = ["LoopbackMachine", "Machine"]


class Machine(Protocol):
    """Where processes run."""

    @property
    def address(self) -> str:
        """By which the other machines reach it."""

    def inside(self) -> AbstractContextManager[None]:
        """The calling thread's sockets and children are on this machine."""

    def own_clock(self) -> list[str]:
        """What a command begins with that runs by this machine's boot clock."""


class LoopbackMachine:
    """An address of this machine. It has no network, clock or fault of its own."""

    def __init__(self, address: str) -> None:
        self.address = address

    @contextmanager
    def inside(self) -> Iterator[None]:
        yield

    def own_clock(self) -> list[str]:
        return []
