"""Takes in the letters of a partition, in the transactions that store what they say.

A letter with a URL that the database refuses must not hold up all others for ever. So fewer letters are taken at a time until
one is alone, and one with many URLs is divided. What is refused in the end is one URL: it is given up, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from parcahyd.cluster.letters import halves, read_letters
from parcahyd.cluster.mail import Mailbox, ReceivedLetter
from parcahyd.cluster.partition_writer import PartitionWriter
from parcahyd.core.errors import RecordRefusal
from parcahyd.storage.store import TakenMail

__all__ = ["Incoming", "Letters"]

_MOST = 200
_MOST_BYTES = 1024 * 1024
"""Letters of one transaction have about so many bytes at most: one letter may have half of that."""


class Letters(msgspec.Struct, frozen=True):
    """What became of the mail that was looked at."""

    taken: int
    has_new_work: bool
    kept: int
    """Letters that wait in the outbox, because their readers' boxes are full."""
    given_up: int = 0
    """Letters that cannot be read, and those with a single URL that the database refuses."""
    has_more: bool = False
    """There may be more letters: look again at once."""


class Incoming:
    """The box of a partition as its own writer sees it."""

    def __init__(
        self,
        writer: PartitionWriter,
        mailbox: Mailbox,
        before: Callable[[TakenMail, int, float], bool],
        store: Callable[[TakenMail, float], bool],
    ) -> None:
        """`before` gets what letters say, with the newest routing that they were posted by; `store` stores it.

        Both return whether a site became due.
        """
        self._writer = writer
        self._mailbox = mailbox
        self._before = before
        self._store = store
        self._most = _MOST
        self._refused = 0
        """The letter that was refused when it was alone; 0: none."""

    def exchange(self, now: float) -> Letters:
        """Takes in letters, and posts what waits in the outbox. It writes nothing where there is neither."""
        with self._writer.looking():
            if not self._mailbox.has_news():
                return Letters(0, False, 0)
        read: list[ReceivedLetter] = []
        try:
            with self._writer.transaction():
                kept = self._mailbox.relay()
                read += self._mailbox.read(self._most, _MOST_BYTES)
                found, given_up, has_new_work = self._take_in(read, now)
        except RecordRefusal:
            if not read:
                raise
            return self._isolate(read)
        self._most = min(_MOST, self._most * 2)
        return Letters(found, has_new_work, kept, given_up, has_more=found > 0)

    def _take_in(self, letters: Sequence[ReceivedLetter], now: float) -> tuple[int, int, bool]:
        if not letters:
            return 0, 0, False
        self._mailbox.take_in(letters)
        mail, unreadable = read_letters(letters)
        is_due = self._before(mail, max(letter.routing for letter in letters), now)
        return len(letters), unreadable, self._store(mail, now) or is_due

    def _isolate(self, letters: Sequence[ReceivedLetter]) -> Letters:
        """The database refused these: fewer are tried next, or half of one, or one a second time. Else it is given up."""
        if len(letters) > 1:
            self._most = len(letters) // 2
            return Letters(0, False, 0, has_more=True)
        (letter,) = letters
        if parts := halves(letter):
            with self._writer.transaction():
                self._mailbox.divide(letter, parts)
            return Letters(0, False, 0, has_more=True)
        if self._refused != letter.id:
            self._refused = letter.id
            return Letters(0, False, 0, has_more=True)
        with self._writer.transaction():
            self._mailbox.take_in(letters)
        return Letters(1, False, 0, given_up=1, has_more=True)
