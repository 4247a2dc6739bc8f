"""Crates: pages are packed by threads of their own while they wait in the buffer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.messages import BufferRecord
from parcahyd.core.ports import Clock
from parcahyd.core.records import ErrandRecord, PageRecord, SiteRecord, UnchangedRecord
from parcahyd.processes.haste import Haste
from parcahyd.runtime.shelf import Window
from parcahyd.runtime.thread_crew import Outcome, ThreadCrew

if TYPE_CHECKING:
    from parcahyd.storage.packed import PackedPage

__all__ = ["Crate", "Packers", "Prepared"]

_PACKERS = 2


class Crate:
    """Pages that arrived together and are compressed together, once, in a thread of their own."""

    __slots__ = ("packed", "pages")

    def __init__(self) -> None:
        self.pages: list[PageRecord] = []
        self.packed: Outcome[list[PackedPage]] | None = None

    def page(self, number: int) -> PackedPage:
        """A page of the crate, packed; waits for that if it is still under way."""
        assert self.packed is not None  # noqa: S101 - a crate is on its way before anything else happens
        return self.packed.result()[number]


class Prepared(msgspec.Struct, frozen=True, gc=False):
    """A record in the buffer; a page has its place in a crate."""

    _record: BufferRecord | None
    _crate: Crate | None = None
    _number: int = 0

    @property
    def record(self) -> BufferRecord:
        """The record; of a page, without its bytes."""
        if self._crate is not None:
            return self._crate.page(self._number).page
        assert self._record is not None  # noqa: S101 - what is in no crate is here
        return self._record

    def document(self) -> PackedPage | UnchangedRecord | SiteRecord | ErrandRecord:
        """A record of DocURLQ as the store takes it; waits for the compression if it is still under way."""
        if self._crate is not None:
            return self._crate.page(self._number)
        assert isinstance(self._record, UnchangedRecord | SiteRecord | ErrandRecord)  # noqa: S101 - nothing else is in DocURLQ
        return self._record


class Packers:
    """Puts what arrives together into a crate, and has it packed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._threads = ThreadCrew(_PACKERS, "packer")
        self._crate = Crate()
        self._haste = Haste()

    def prepare(self, record: BufferRecord) -> Prepared:
        """A record as the buffer keeps it; a page goes into the crate that is open."""
        if not isinstance(record, PageRecord):
            return Prepared(record)
        pages = self._crate.pages
        pages.append(record)
        return Prepared(None, self._crate, len(pages) - 1)

    def pack(self, window: Window, work: WorkConf) -> None:
        """Everything that came together is in the crate: its pages are packed, some where they lie behind the window."""
        crate = self._crate
        if not crate.pages:
            return
        self._crate = Crate()
        crate.packed = self._threads.submit(
            partial(
                _packed,
                crate.pages,
                window,
                work.CompressionLevel,
                work.KeepLinks,
                work.Summaries != "none",
                work.Similarity and not self._haste.is_in(len(crate.pages), self._clock.monotonic()),
                work.MergeMode == "eager",
            )
        )


def _packed(pages: list[PageRecord], *how: Any) -> list[PackedPage]:
    from parcahyd.storage.packing import pack_all  # The first page needs it, the first request does not.

    return pack_all(pages, *how)
