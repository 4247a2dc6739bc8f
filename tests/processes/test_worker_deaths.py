"""What is put down to which request when a worker's process ends."""

from __future__ import annotations

from parcahyd.config.schema import WorkConf
from parcahyd.core.messages import Watched, WatchStep, WorkerGone
from parcahyd.core.records import DueUrl
from parcahyd.core.states import Reason, State
from parcahyd.processes.watched_requests import WatchedRequests
from parcahyd.processes.worker_deaths import judge
from parcahyd.processes.worker_pool import Loss
from parcahyd.refresh.schedule import Schedule

_NOW = 1000.0
_A, _B, _C = 1, 2, 3
"""Visits; their sites have ten times that number. The first two are watched."""


def _url(path: str, *, tries: int = 0, is_suspect: bool = False) -> DueUrl:
    return DueUrl(len(path), path, tries=tries, is_suspect=is_suspect)


def _died(*steps: tuple[int, int, WatchStep, DueUrl | None]) -> WorkerGone:
    requests = WatchedRequests()
    for visit, number, step, url in steps:
        requests.note(Watched(visit, 10 * visit, number, step, url))
    loss = Loss(0, 7, -11, (_A, _B, _C), 0, (_A, _B), requests.under_way())
    return judge(loss, Schedule(WorkConf(MaxTries=3, RetryDelay=60.0)), _NOW)


def _failed(gone: WorkerGone) -> dict[str, tuple[int, str, int]]:
    return {record.path: (record.visit, record.reason, record.tries) for record in gone.failed}


def test_the_first_death_is_put_down_to_nobody() -> None:
    assert _died() == WorkerGone(7, (_A, _B, _C))


def test_everything_that_was_under_way_failed_once_when_no_answer_was_handled() -> None:
    gone = _died(
        (_A, 1, WatchStep.SENT, _url("/over")),
        (_A, 1, WatchStep.HANDLED, None),
        (_A, 1, WatchStep.OVER, None),
        (_A, 2, WatchStep.SENT, _url("/sent")),
        (_B, 1, WatchStep.SENT, None),  # robots.txt
        (_B, 2, WatchStep.SENT, _url("/thread")),
        (_B, 2, WatchStep.HANDLED, None),
        (_B, 2, WatchStep.IN_THREAD, None),
    )
    assert _failed(gone) == {"/sent": (_A, "worker-died", 1), "/thread": (_B, "worker-died", 1)}
    assert (gone.guilty, gone.innocent) == ((), ())


def test_while_an_answer_is_handled_what_is_on_the_wire_is_innocent() -> None:
    gone = _died(
        (_A, 1, WatchStep.SENT, _url("/sent")),
        (_B, 1, WatchStep.SENT, _url("/handled")),
        (_B, 1, WatchStep.HANDLED, None),
    )
    assert _failed(gone) == {"/handled": (_B, "worker-died", 1)}
    assert (gone.guilty, gone.innocent) == ((_B,), (_A,))  # The third visit was not watched: nothing is known of it.
    (record,) = gone.failed
    assert record.detail == "the process of the Crawl Worker ended (exit code -11) while its document was read"
    assert _NOW + 60 <= record.due_at <= _NOW + 75
    assert record.state == State.FAILED


def test_a_suspect_under_way_is_the_only_cause() -> None:
    gone = _died(
        (_A, 1, WatchStep.SENT, _url("/sent")),
        (_B, 1, WatchStep.SENT, _url("/suspect", tries=1, is_suspect=True)),
    )
    assert _failed(gone) == {"/suspect": (_B, "worker-died", 2)}
    assert (gone.guilty, gone.innocent) == ((_B,), (_A,))


def test_after_its_last_try_a_url_is_gone() -> None:
    gone = _died((_B, 1, WatchStep.SENT, _url("/suspect", tries=2, is_suspect=True)))
    (record,) = gone.failed
    assert (record.state, record.reason, record.tries) == (State.GONE, Reason.OUT_OF_TRIES.word, 3)
    assert record.detail.startswith("worker-died: ")


def test_the_guilty_request_may_be_no_page() -> None:
    gone = _died((_A, 1, WatchStep.SENT, None), (_A, 1, WatchStep.HANDLED, None), (_B, 1, WatchStep.SENT, _url("/sent")))
    assert (gone.failed, gone.guilty, gone.innocent) == ((), (_A,), (_B,))
