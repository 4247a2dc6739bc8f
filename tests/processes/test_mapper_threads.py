"""Mapper threads: each pair is delivered as soon as it is resolved, on the loop, and a slow name holds back no other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from parcahyd.core.ports import Resolution
from parcahyd.core.records import ResolvedLease, SiteLease
from parcahyd.pipeline.url_mapper import UrlMapper
from parcahyd.processes.mapper_threads import MapperThreads
from parcahyd.rules.urls.address_policy import AddressPolicy
from parcahyd.testing import FakeClock


class Names:
    """A resolver whose name `slow.example` is answered when the test says so, and whose `broken.example` is a bug."""

    def __init__(self) -> None:
        self.answer_slow = threading.Event()

    def resolve(self, host: str) -> Resolution:
        if host == "slow.example":
            self.answer_slow.wait()
        if host == "broken.example":
            raise ZeroDivisionError
        return Resolution(("8.8.8.8",), 60.0)

    def close(self) -> None:
        """Nothing is open."""


class Mapped:
    """A loop, its mappers, and what they delivered."""

    def __init__(self, count: int) -> None:
        self.loop = asyncio.new_event_loop()
        self.names = Names()
        self.delivered: list[str] = []
        self.hungry = 0
        self._wanted = 0
        mapper = UrlMapper(self.names, AddressPolicy(()), FakeClock())
        self.threads = MapperThreads(mapper, count, self.loop, delivered=self._deliver, hungry=self._is_hungry)

    def _deliver(self, resolved: ResolvedLease) -> None:
        self.delivered.append(resolved.lease.host)
        self._check()

    def _is_hungry(self) -> None:
        self.hungry += 1
        self._check()

    def _check(self) -> None:
        if len(self.delivered) + self.hungry >= self._wanted:
            self.loop.stop()

    def wait_for(self, count: int) -> None:
        """Until so many pairs and ends of sets have come."""
        self._wanted = count
        self.loop.run_forever()


def _set(*names: str) -> tuple[SiteLease, ...]:
    return tuple([SiteLease(1, 1, "http", f"{name}.example", 80, ()) for name in names])


@pytest.fixture
def mapped() -> Iterator[Mapped]:
    made = Mapped(2)
    yield made
    made.names.answer_slow.set()
    made.loop.close()


def test_a_slow_name_holds_back_no_other_name_of_its_set(mapped: Mapped) -> None:
    mapped.threads.map(_set("a", "slow", "b", "c"))
    mapped.wait_for(3)
    assert (sorted(mapped.delivered), mapped.hungry) == (["a.example", "b.example", "c.example"], 0)
    mapped.threads.map(_set("d"))
    mapped.wait_for(5)
    assert (mapped.delivered[3:], mapped.hungry) == (["d.example"], 1)
    mapped.names.answer_slow.set()
    mapped.wait_for(7)
    assert (mapped.delivered[4:], mapped.hungry) == (["slow.example"], 2)


def test_a_bug_in_a_mapper_reaches_the_loop(mapped: Mapped) -> None:
    raised: list[object] = []

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        raised.append(context["exception"])
        loop.stop()

    mapped.loop.set_exception_handler(handle)
    mapped.threads.map(_set("broken"))
    mapped.wait_for(1)
    assert isinstance(raised[0], ZeroDivisionError)
