"""Crates: what arrives together is packed together, and everything is found again in its order."""

from __future__ import annotations

import zlib

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import PageRecord, UnchangedRecord
from parcahyd.processes.crates import Packers
from parcahyd.runtime.shelf import Window
from parcahyd.storage.packed import PackedPage
from parcahyd.testing import FakeClock

UNCHANGED = UnchangedRecord(1, 2, 3, "/", 4.0, 304)


def _page(path: str, body: bytes = b"") -> PageRecord:
    return PageRecord(1, 2, 3, path, 0, 0, False, 4.0, 200, "192.0.2.1", b"", body=body, media_type="text/html")


def test_pages_are_packed_and_other_records_stay_as_they_are() -> None:
    packers = Packers(FakeClock())
    first, other = packers.prepare(_page("/a", b"one")), packers.prepare(UNCHANGED)
    second = packers.prepare(_page("/b", b"two"))
    packers.pack(Window(), WorkConf())
    later = packers.prepare(_page("/c", b"three"))
    packers.pack(Window(), WorkConf())
    packed = [prepared.document() for prepared in (first, second, later)]
    assert [(page.page.path, zlib.decompress(page.packed)) for page in packed if isinstance(page, PackedPage)] == [
        ("/a", b"one"),
        ("/b", b"two"),
        ("/c", b"three"),
    ]
    assert (other.record, other.document()) == (UNCHANGED, UNCHANGED)


def test_the_record_of_a_page_has_no_bytes() -> None:
    packers = Packers(FakeClock())
    prepared = packers.prepare(_page("/a", b"one"))
    packers.pack(Window(), WorkConf())
    assert prepared.record == _page("/a")


def test_in_haste_texts_get_no_fingerprint() -> None:
    packers = Packers(FakeClock())
    calm = packers.prepare(_page("/", b"<p>a text of some words</p>"))
    packers.pack(Window(), WorkConf())
    hasty = [packers.prepare(_page("/", b"<p>a text of some words</p>")) for _ in range(60)]
    packers.pack(Window(), WorkConf())
    documents = calm.document(), hasty[0].document()
    assert [document.similarity is None for document in documents if isinstance(document, PackedPage)] == [False, True]
