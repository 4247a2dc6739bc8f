"""Estimates whether a table of links saves time: its request must not keep a page waiting.

Early links save time only where a connection would be idle until the document arrives. So answers are timed, and the visit
counts how often LocalQ was empty after the request of a page. Latency is the time of a small answer, whose bytes take no time.
"""

from __future__ import annotations

from math import inf

__all__ = ["TableWorth"]

_SMALL = 4 * 1024
"""Bytes of an answer whose time is the latency, and does not depend on its length."""
_LARGE = 4 * _SMALL
"""Bytes of a page that is large compared with its lines in a bundle, which are some hundred bytes."""
_LONGER = 2.0
_CLEARLY_LONGER = 1.25
_FEWEST_EMPTY = 3
_SHARE_EMPTY = 4
"""One page in so many left LocalQ empty; of small pages, all but one in so many."""
_SHARE_OF_BYTES = 50
"""A page is large compared with its table if it is so many times as long."""
_FEWEST_PAGES = 10
"""So many pages must have come before the length of those that wait is estimated."""
_SHARE_FOR_OTHERS = 100
"""For links to other sites, one request and one byte in so many are spent."""


class TableWorth:
    """The times and lengths of one visit's answers, and how often its LocalQ was empty."""

    __slots__ = (
        *("_best_rate", "_empty", "_empty_at", "_length", "_length_alone", "_longest_table", "_pages", "_pages_alone"),
        *("_quickest", "_requested", "_seconds_alone", "_shared", "_shares"),
    )

    def __init__(self) -> None:
        self._quickest = inf
        self._best_rate = 0.0
        self._pages = 0
        self._length = 0.0
        # Pages that arrive at the same time share the bandwidth, so their times are not used.
        self._pages_alone = 0
        self._seconds_alone = 0.0
        self._length_alone = 0.0
        self._longest_table = _SMALL
        self._requested = 0
        self._empty = 0
        self._empty_at = 0
        self._shares = 0
        self._shared = 0

    def page_requested(self) -> None:
        self._requested += 1

    def local_q_ran_empty(self) -> None:
        """LocalQ is empty while a page is on the wire, and most connections are idle; counted once for each page."""
        if self._empty_at != self._requested:
            self._empty_at = self._requested
            self._empty += 1

    def answered(self, seconds: float, length: int) -> None:
        """An answer of any kind took so many seconds, with a body of so many bytes."""
        if length <= _SMALL:
            self._quickest = min(self._quickest, seconds)
        if seconds > 0.0:
            self._best_rate = max(self._best_rate, length / seconds)

    def page_received(self, seconds: float, length: int, was_alone: bool) -> None:
        """An answer was a page; `was_alone`: no other was requested while it was on the wire."""
        self._pages += 1
        self._length += (length - self._length) / self._pages
        if was_alone:
            self._pages_alone += 1
            self._seconds_alone += (seconds - self._seconds_alone) / self._pages_alone
            self._length_alone += (length - self._length_alone) / self._pages_alone

    def table_received(self, length: int) -> None:
        """An answer was the table of a page."""
        self._longest_table = max(self._longest_table, length)

    @property
    def was_empty(self) -> bool:
        """Whether LocalQ was empty more often than at the beginning and at the end of every crawl."""
        return self._empty >= _FEWEST_EMPTY

    @property
    def is_often_empty(self) -> bool:
        """Whether pages are found a few at a time, each few by the ones before; small pages: one by one."""
        if self._length >= _LARGE:
            return self._empty >= _FEWEST_EMPTY - 1 and self._empty * _SHARE_EMPTY >= self._requested
        return self.was_empty and self._empty * _SHARE_EMPTY >= self._requested * (_SHARE_EMPTY - 1)

    @property
    def is_latency_high(self) -> bool:
        """Whether the bytes of a table take less time than the latency: it saves one latency for each step of links.

        That holds where connections share the bandwidth as well as where each has its own.
        """
        return self._pages > 0 and self._quickest < inf and self._quickest * self._best_rate >= self._longest_table

    @property
    def has_spare_bandwidth(self) -> bool:
        """Whether latency or the server takes the time of an answer, and not its bytes: then more bytes cost no time."""
        if not self._pages_alone or self._quickest == inf:
            return False
        is_mostly_latency = self._seconds_alone < _LONGER * self._quickest
        return is_mostly_latency or self._length_alone * _LONGER <= self._best_rate * self._seconds_alone

    @property
    def is_page_slow(self) -> bool:
        """Whether a page takes much longer than a small answer."""
        return self._pages_alone > 0 and self._seconds_alone >= _LONGER * self._quickest

    @property
    def is_table_quicker(self) -> bool:
        """Whether a table arrives clearly before its page: pages are not small, and take longer than a small answer."""
        is_longer = self._seconds_alone >= _CLEARLY_LONGER * self._quickest
        return self._pages_alone > 0 and self._length >= _LARGE and is_longer

    @property
    def is_page_large(self) -> bool:
        """Whether a page is large compared with its table."""
        return self._pages > 0 and self._length >= _SHARE_OF_BYTES * self._longest_table

    def bytes_for_other_sites(self, waiting: int) -> int:
        """The bytes that may be spent for links to other sites while so many pages wait; 0: no request at all."""
        if waiting < _SHARE_FOR_OTHERS * (self._shares + 1) or self._pages < _FEWEST_PAGES:
            return 0
        return max(0, int(waiting * self._length / _SHARE_FOR_OTHERS) - self._shared)

    def spend_for_other_sites(self, length: int) -> None:
        """One request for so many bytes is made for links to other sites."""
        self._shares += 1
        self._shared += length
