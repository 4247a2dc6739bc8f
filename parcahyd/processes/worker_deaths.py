"""What the death of a worker's process is put down to.

The first death at a site says nothing: any of the requests under way, an operator or the machine may be the cause. From then on
the site's visits are watched. The next death counts as a try of every URL that may be its cause. These are suspects from then
on: a worker requests one suspect at a time, so the third death is put down to the right one.
"""

from __future__ import annotations

from functools import partial

from parcahyd.core.messages import WatchStep, WorkerGone
from parcahyd.core.records import BadRecord, DueUrl
from parcahyd.core.states import Event, Reason
from parcahyd.processes.watched_requests import WatchedRequest
from parcahyd.processes.worker_pool import Loss
from parcahyd.refresh.schedule import Schedule

__all__ = ["judge"]


def judge(loss: Loss, schedule: Schedule, now: float) -> WorkerGone:
    """The message that releases the visits of the worker, with the URLs that failed with it."""
    # While the event loop handles an answer, the downloader does nothing: only a thread may be the cause instead.
    is_handling = any(request.step is WatchStep.HANDLED for request in loss.under_way)
    possible = [request for request in loss.under_way if not is_handling or request.step is not WatchStep.SENT]
    suspects = [request for request in possible if request.url is not None and request.url.is_suspect]
    causes = suspects or possible
    guilty = {request.visit for request in causes} if is_handling or suspects else set()
    innocent = set(loss.watched) - guilty if guilty else set()
    failed = [_failed(request, request.url, loss.code, schedule, now) for request in causes if request.url is not None]
    return WorkerGone(loss.serial, loss.visits, tuple(failed), tuple(guilty), tuple(innocent))


def _failed(request: WatchedRequest, url: DueUrl, code: int | None, schedule: Schedule, now: float) -> BadRecord:
    tries = url.tries + 1
    doing = "it was requested" if request.step is WatchStep.SENT else "its document was read"
    detail = f"the process of the Crawl Worker ended (exit code {code}) while {doing}"
    of = partial(BadRecord.of, request.visit, request.site, url, at=now, tries=tries)
    if schedule.is_last_try(tries):
        detail = f"{Reason.WORKER_DIED.word}: {detail}"
        return of(event=Event.LAST_FAILURE, reason=Reason.OUT_OF_TRIES, due_at=schedule.gone(now), detail=detail)
    due_at = schedule.retry(now, Reason.WORKER_DIED, tries, url.key)
    return of(event=Event.FAILURE, reason=Reason.WORKER_DIED, due_at=due_at, detail=detail)
