"""The database thread: answers come back on the loop, failures of the store as answers, and what cannot be stored is noted."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event

from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.errors import StoreFailure
from parcahyd.core.messages import BufferQueue, Written
from parcahyd.core.records import ExternRecord, PageRecord
from parcahyd.core.states import Reason, State
from parcahyd.pipeline.document_buffer import DocumentBuffer
from parcahyd.pipeline.update_database import UpdateDatabase
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
    assert given_up == Written()
    assert failed.instead is not None
    assert (failed.instead.key, failed.instead.state, failed.instead.reason) == (page.key, State.FAILED, Reason.STORE.word)
    with closing(sqlite3.connect(tmp_path / "crawl.db")) as connection:
        assert connection.execute("SELECT path, state, reason FROM urls").fetchall() == [("/", State.FAILED, Reason.STORE.word)]


# --- a disk that fills up ------------------------------------------------------------------------------------------------


class Disk:
    """The pages that an SQLite database may have at most; the same error as that of a full disk beyond."""

    def __init__(self, store: Store) -> None:
        engine = store._writer._database.engine
        self.pages: int | None = None
        event.listen(engine, "begin", self._limit)

    def _limit(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {self.pages or 2**30}")


@pytest.mark.parametrize("room", range(1, 15))
def test_a_full_disk_makes_no_page_poison(loop: asyncio.AbstractEventLoop, tmp_path: Path, room: int) -> None:
    """Whatever still fits: the note that a page failed is short, and fits where no page does."""
    clock, work = FakeClock(), WorkConf()
    thread, packers, answers = DatabaseThread(loop, clock), PackingThreads(work), Answers(loop)

    def open_store() -> tuple[Disk, int, int]:
        thread.store = store = Store.open(f"sqlite:///{tmp_path / 'crawl.db'}")
        store.begin_run(Configuration(MapConf(), work), clock.now())
        store.add_seeds(["http://a.example/"], clock.now())
        (lease,), _ = store.lease(1, clock.now(), clock.now(), 10, 10)
        return Disk(store), lease.visit, lease.site

    thread.call(open_store, answers.take)
    ((disk, visit, site), _) = answers.wait(1)[0]
    with closing(sqlite3.connect(tmp_path / "crawl.db")) as connection:
        disk.pages = connection.execute("PRAGMA page_count").fetchone()[0] + room
    pauses: list[Callable[[], None]] = []
    notices: list[str] = []

    def later(seconds: float, then: Callable[[], None]) -> None:
        """The database has room again after 20 pauses; none of them takes time."""
        pauses.append(then)
        if len(pauses) == 20:
            disk.pages = None
        loop.call_soon(then)

    buffer: DocumentBuffer[BufferedItem] = DocumentBuffer(packers.prepare)
    box = UpdateDatabase(
        *(buffer, thread, 4),
        grant=lambda _: loop.stop() if buffer.is_empty else None,
        released=lambda _visits, _new, _rest: None,
        report_failure=notices.append,
        later=later,
    )
    paths = [f"/{number}" for number in range(12)]
    for number, path in enumerate(paths):
        body = random.Random(number).randbytes(30_000)  # It takes two pages of 16 kB, however it is compressed.
        page = PageRecord(visit, site, key_of(path), path, 1, 0, False, clock.now(), 200, "192.0.2.1", b"", body=body)
        buffer.put(page, 1, sender=0)
    packers.pack()
    box.run()
    loop.run_forever()
    thread.call(lambda: thread.opened().close(), answers.take)
    answers.wait(1)
    with closing(sqlite3.connect(tmp_path / "crawl.db")) as connection:
        found = dict(connection.execute("SELECT path, state FROM urls WHERE path != '/'").fetchall())
    assert found == dict.fromkeys(paths, State.STORED)
    assert any("its disk is full" in notice for notice in notices)
