"""Finds the answers that `revisit` records refer to, in the same import or in the database.

An answer is found by URL and time, by the number of its record, or by the digest that it stated. Its bytes have to have the
digest that the revisit states, or the record that it refers to has stated the same: a version of another time must not be taken
for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.importing.captures import Capture
from parcahyd.importing.http_answers import UnusableAnswer, answer_of
from parcahyd.importing.records import states_its_digest
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.records import StoredDocument

__all__ = ["Revisits"]

_REMEMBERED = 100_000
_SHORT_TIME = 0.002
"""Seconds: archives write times as text."""

_Place = tuple[str, float]
"""URL and time."""


class Revisits:
    """Remembers the last answers of an import, and reads the others from the database."""

    def __init__(self, reports: Reports, max_bytes: int) -> None:
        """`max_bytes` bounds what a body unpacks to."""
        self._reports = reports
        self._max_bytes = max_bytes
        self._places: dict[str, _Place] = {}
        """By number of a record, and by digest."""

    def note(self, capture: Capture, url: str) -> None:
        """An answer that later ones may refer to, with its canonical URL."""
        for name in (capture.record, capture.digest):
            if name and name not in self._places:
                if len(self._places) >= _REMEMBERED:
                    del self._places[next(iter(self._places))]
                self._places[name] = (url, capture.at)

    def resolve(self, capture: Capture, canonical: Callable[[str], str | None]) -> bool:
        """Gives a capture the body of the answer that it refers to; returns whether that is there."""
        for place in dict.fromkeys(self._candidates(capture, canonical)):
            document = self._reports.document(place[0], place[1] + _SHORT_TIME)
            if document is not None and self._is_meant(document, place, capture):
                _take_body(capture, document)
                return True
            if self._take_answer(capture, place):
                return True
        return False

    def _take_answer(self, capture: Capture, place: _Place) -> bool:
        """The same for an answer without a document: a redirect, or an error, whose body was kept."""
        revisited, answer = capture.revisited, self._reports.exchange(place[0], place[1] + _SHORT_TIME)
        if revisited is None or answer is None or not states_its_digest(revisited.digest, answer.body):
            return False
        try:
            capture.result = answer_of((capture.result.head or answer.head) + answer.body, "", self._max_bytes)
        except UnusableAnswer:
            return False
        return True

    def _candidates(self, capture: Capture, canonical: Callable[[str], str | None]) -> Iterator[_Place]:
        revisited = capture.revisited
        if revisited is None:
            return
        for name in (revisited.record, revisited.digest):
            if name in self._places:
                yield self._places[name]
        url = canonical(revisited.url)
        if url is not None:
            yield url, capture.at if revisited.at is None else revisited.at

    def _is_meant(self, document: StoredDocument, place: _Place, capture: Capture) -> bool:
        revisited = capture.revisited
        if revisited is None:
            return False
        if self._places.get(revisited.digest) == place:
            return True
        bodies = (document.body, document.coded) if document.coded else (document.body,)
        same = [states_its_digest(revisited.digest, body) for body in bodies]
        if any(same):
            return True
        is_of_then = revisited.at is not None and abs(document.fetched_at - revisited.at) < 1.0
        return is_of_then and (not revisited.digest or same[0] is None)


def _take_body(capture: Capture, document: StoredDocument) -> None:
    """The body comes without its coding. Where the head names one, that leads to the coded bytes, which are stored already."""
    result = capture.result
    if not result.status:
        try:
            result = answer_of(document.head, "", 0)
        except UnusableAnswer:
            result.status = document.status
        result.marks &= ~ExchangeMark.BODY_CUT
        capture.result = result
    result.marks |= ExchangeMark.IMPORTED
    result.body = document.body
