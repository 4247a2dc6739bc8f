"""Answers that have arrived and wait, as they were transferred, until there is credit for what they become.

They are decoded, read and sent one after the other. So however many bodies arrive together, and however much they unpack to,
one of them at a time is in memory whole.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from parcahyd.core.ports import DownloadRequest, DownloadResult
from parcahyd.pipeline.crawl_worker.planned_request import PlannedRequest
from parcahyd.pipeline.crawl_worker.visit import Visit
from parcahyd.rules.media_types.content_codings import undo

__all__ = ["Answer", "WaitingAnswers"]


class Answer(NamedTuple):
    """A result, and the visit and the request that it answers."""

    visit: Visit
    request: PlannedRequest
    sent: DownloadRequest
    result: DownloadResult


class WaitingAnswers:
    """The answers in the order in which they arrived. `credit` is all the credit that the worker has at its start."""

    __slots__ = ("_all", "_first_is_decoded", "_queue", "being_read", "size")

    def __init__(self, credit: int) -> None:
        self._all = credit
        self._queue: deque[Answer] = deque()
        self._first_is_decoded = False
        self.size = 0
        """Bytes of the bodies that wait."""
        self.being_read = 0
        """Bytes of the documents that were taken, and that a thread is reading."""

    def __bool__(self) -> bool:
        return bool(self._queue)

    def put(self, answer: Answer) -> None:
        self._queue.append(answer)
        self.size += len(answer.result.body)

    def take(self, credit: int) -> Answer | None:
        """The next answer, its codings undone, if there is credit for its body.

        A body that is larger than all the credit waits until all of it is back, and then goes alone.
        """
        if not self._queue:
            return None
        first = self._queue[0]
        result = first.result
        if result.codings and not self._first_is_decoded and result.failure is None:
            self.size -= len(result.body)
            undo(result, first.sent.max_bytes, first.sent.cut)
            self.size += len(result.body)
            self._first_is_decoded = True
        if len(result.body) > credit - self.being_read and (credit < self._all or self.being_read):
            return None
        self._queue.popleft()
        self._first_is_decoded = False
        self.size -= len(result.body)
        return first

    @property
    def room(self) -> int:
        """How many bytes of bodies may be on the wire beside those that wait."""
        return max(0, self._all - self.size)
