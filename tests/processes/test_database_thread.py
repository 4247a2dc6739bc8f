"""The database thread: answers come back on the loop, failures of the store as answers, and what cannot be stored is noted."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import StoreFailure
from parcahyd.core.messages import BufferQueue, Written
from parcahyd.core.records import ExternRecord, PageRecord
from parcahyd.core.states import Reason, State
from parcahyd.processes.database_thread import DatabaseThread
from parcahyd.processes.packing_threads import BufferedItem, PackingThreads
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.storage.store import Store
from parcahyd.testing import FakeClock


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


class Answers:
    """Takes answers on the loop, and stops it when as many have come as were waited for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._missing = 0
        self._taken: list[Any] = []

    def take(self, *answer: Any) -> None:
        self._taken.append(answer if len(answer) > 1 else answer[0])
        self._missing -= 1
        if not self._missing:
            self._loop.stop()

    def wait(self, count: int) -> list[Any]:
        self._missing = count
        self._loop.run_forever()
        return self._taken


def test_results_and_mistakes_come_back_on_the_loop_in_order(loop: asyncio.AbstractEventLoop) -> None:
    thread, answers = DatabaseThread(loop, FakeClock()), Answers(loop)
    mistake = ValueError("a mistake")

    def fail() -> None:
        raise mistake

    thread.call(lambda: 7, answers.take)
    thread.call(fail, answers.take)
    assert answers.wait(2) == [(7, None), (None, mistake)]


def test_a_database_that_is_not_open_is_an_answer(loop: asyncio.AbstractEventLoop) -> None:
    thread, answers = DatabaseThread(loop, FakeClock()), Answers(loop)
    thread.write(BufferQueue.EXTERN, [BufferedItem(ExternRecord(1, 1, ("http://b.example/",)))], answers.take)
    thread.release([], [1], answers.take)
    assert [type(answer) for answer in answers.wait(2)] == [StoreFailure, StoreFailure]


def test_a_page_that_cannot_be_stored_has_failed_and_other_poison_is_given_up(
    loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    clock = FakeClock()
    thread, packers, answers = DatabaseThread(loop, clock), PackingThreads(WorkConf()), Answers(loop)

    def open_store() -> tuple[int, int]:
        thread.store = store = Store.open(f"sqlite:///{tmp_path / 'crawl.db'}")
        store.claim()
        store.begin_run(Configuration(MapConf(), WorkConf()), clock.now())
        store.add_seeds(["http://a.example/"], clock.now())
        (lease,), _ = store.lease(1, clock.now(), clock.now(), 10, 10)
        return lease.visit, lease.site

    thread.call(open_store, answers.take)
    ((visit, site), _) = answers.wait(1)[0]
    page = PageRecord(visit, site, key_of("/"), "/", 0, 0, True, clock.now(), 200, "192.0.2.1", b"", body=b"<p>")
    poison = packers.prepare(page)
    packers.pack()
    thread.write_as_failed(BufferQueue.DOC, poison, answers.take)
    thread.write_as_failed(BufferQueue.EXTERN, BufferedItem(ExternRecord(visit, 1, ("http://b.example/",))), answers.take)
    thread.call(lambda: thread.opened().close(), answers.take)
    failed, given_up, _ = answers.wait(3)[1:]
    assert (failed, given_up) == (Written(), Written())
    with closing(sqlite3.connect(tmp_path / "crawl.db")) as connection:
        assert connection.execute("SELECT path, state, reason FROM urls").fetchall() == [("/", State.FAILED, Reason.STORE.word)]
