"""Packing threads: what arrives together is packed together, and everything is found again in its order."""

from __future__ import annotations

import zlib

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import PageRecord, UnchangedRecord
from parcahyd.processes.packing_threads import PackingThreads
from parcahyd.storage.packing import PackedPage

UNCHANGED = UnchangedRecord(1, 2, 3, "/", 4.0, 304)


def _page(path: str, body: bytes = b"") -> PageRecord:
    return PageRecord(1, 2, 3, path, 0, 0, False, 4.0, 200, "192.0.2.1", b"", body=body, media_type="text/html")


def test_pages_are_packed_and_other_records_stay_as_they_are() -> None:
    threads = PackingThreads(WorkConf())
    first, other = threads.prepare(_page("/a", b"one")), threads.prepare(UNCHANGED)
    second = threads.prepare(_page("/b", b"two"))
    threads.pack()
    later = threads.prepare(_page("/c", b"three"))
    threads.pack()
    packed = [item.document() for item in (first, second, later)]
    assert [(page.page.path, zlib.decompress(page.packed)) for page in packed if isinstance(page, PackedPage)] == [
        ("/a", b"one"),
        ("/b", b"two"),
        ("/c", b"three"),
    ]
    assert (other.record, other.document()) == (UNCHANGED, UNCHANGED)


def test_the_record_of_a_page_has_no_bytes() -> None:
    threads = PackingThreads(WorkConf())
    item = threads.prepare(_page("/a", b"one"))
    threads.pack()
    assert item.record == _page("/a")


@pytest.mark.parametrize("is_wanted", [True, False])
def test_texts_get_a_similarity_fingerprint_where_it_is_asked_for_however_many_arrive(is_wanted: bool) -> None:
    threads = PackingThreads(WorkConf(Similarity=is_wanted))
    items = [threads.prepare(_page(f"/{number}", b"<p>a text of some words</p>")) for number in range(100)]
    threads.pack()
    documents = [item.document() for item in items]
    assert {isinstance(page, PackedPage) and page.similarity is not None for page in documents} == {is_wanted}
