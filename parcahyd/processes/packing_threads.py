"""Packing threads: they fingerprint and compress pages while these wait in the Document and URL Buffer."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.messages import BufferRecord
from parcahyd.core.records import LinksRecord, PageRecord, RobotsRedirectRecord, SiteRecord, UnchangedRecord
from parcahyd.storage.packing import PackedPage, compressor, pack_all

__all__ = ["BufferedItem", "PackingThreads"]

_THREADS = 2


class _Batch:
    """Pages that arrived together. One thread packs them together, once."""

    __slots__ = ("packed", "pages")

    def __init__(self) -> None:
        self.pages: list[PageRecord] = []
        self.packed: Future[list[PackedPage]] | None = None

    def page(self, number: int) -> PackedPage:
        """A page of the batch, packed; waits for the thread if it is still packing."""
        assert self.packed is not None  # noqa: S101 - a batch goes to its thread before anything reads it
        return self.packed.result()[number]


class BufferedItem(msgspec.Struct, frozen=True, gc=False):
    """A record in the buffer. A page stands in the batch that it came with."""

    _record: BufferRecord | None
    _batch: _Batch | None = None
    _number: int = 0

    @property
    def record(self) -> BufferRecord:
        """The record; of a page, without its bytes."""
        if self._batch is not None:
            return self._batch.page(self._number).page
        assert self._record is not None  # noqa: S101 - what is in no batch is here
        return self._record

    def document(self) -> PackedPage | LinksRecord | UnchangedRecord | SiteRecord | RobotsRedirectRecord:
        """A record of DocURLQ as the store takes it; waits for the packing if it is still under way."""
        if self._batch is not None:
            return self._batch.page(self._number)
        record = self._record
        assert isinstance(record, LinksRecord | UnchangedRecord | SiteRecord | RobotsRedirectRecord)  # noqa: S101 - nothing else is in DocURLQ
        return record


class PackingThreads:
    """Collects the pages that arrive together, and gives them to a thread."""

    def __init__(self, work: WorkConf) -> None:
        self._work = work
        self._threads = ThreadPoolExecutor(_THREADS, "packing")
        self._batch = _Batch()

    def prepare(self, record: BufferRecord) -> BufferedItem:
        """A record as the buffer keeps it; a page joins the batch that is open."""
        if not isinstance(record, PageRecord):
            return BufferedItem(record)
        pages = self._batch.pages
        pages.append(record)
        return BufferedItem(None, self._batch, len(pages) - 1)

    def pack(self) -> None:
        """Everything that came together is in the batch: a thread packs it."""
        batch, work = self._batch, self._work
        if not batch.pages:
            return
        self._batch = _Batch()
        batch.packed = self._threads.submit(
            pack_all,
            batch.pages,
            compressor(work),
            work.KeepLinks,
            work.Summaries != "none",
            work.Similarity,
            work.MergeMode == "eager",
        )
