"""Random documents through a Crawl Worker and back by fragment, and damaged tables that it must not take.

    python bench/fragments.py [--documents 10000] [--damages 10000] [--seed 1]

The first count: a document with random regions is visited with its table, stored in parts, changed in its regions, and
refreshed by the new table alone; what is stored must be the document of the site both times, byte for byte. The second: a
stored document is refreshed by a damaged table (see `augment_formats`) while the document cannot be had; nothing may be stored.
"""

from __future__ import annotations

import argparse
import random
import sys
import zlib
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # `bench` is found when this file is run by its name

from bench.augment_formats import damage, random_document
from parcahyd.augment.document_tables import tvi_of
from parcahyd.augment.skeleton import merge, part
from parcahyd.config.schema import WorkConf
from parcahyd.core.messages import FromWorkerToUpdate
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import (
    Assignment,
    DueUrl,
    PageRecord,
    RobotsFact,
    RobotsStatus,
    SiteLease,
    StoredVersion,
    TableFact,
    UnchangedRecord,
)
from parcahyd.core.states import State
from parcahyd.formats.format_plugins import Expanders, Summarizers
from parcahyd.pipeline.crawl_worker import CrawlWorker
from parcahyd.rules.media_types.media_type import recognise
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.rules.urls.host_rules import HostRules
from parcahyd.testing import FakeClock, FakeDownloader

__all__ = ["main", "survive_damaged_table", "survive_refresh"]

_ADDRESS = "192.0.2.1"
_SITE = "http://site.example"
_PATH = "/page.html"
_KEY = key_of(_PATH)
_ROBOTS = RobotsFact(RobotsStatus.FOUND, b"# Augment: 1; tvi={stem}.TVI\n", 0.0, 1e12)
_WORK = WorkConf(HostDelay=0.0)
_UNAVAILABLE = DownloadResult(500)
_LARGE = 6_000
"""Bytes that no packing makes smaller: tables of small documents are not worth their while."""


class _Tools:
    """The built-in recognizer, and no plugins."""

    summarizers = Summarizers((), lambda _: None)
    expanders = Expanders((), _WORK, lambda _: None)
    topics = None

    def recognise(self, content_type: str, body: bytes) -> tuple[str, str]:
        return recognise(content_type, body)


class _Seen(NamedTuple):
    """What one visit asked for and gave."""

    requests: tuple[tuple[str, bool], ...]
    """Path, and whether validators went with it."""
    pages: list[PageRecord]
    unchanged: list[UnchangedRecord]
    complaints: list[str]


def _visit(url: DueUrl, document: DownloadResult, table: bytes | None) -> _Seen:
    pages = {_SITE + _PATH: document}
    if table is not None:
        pages[f"{_SITE}/page.TVI"] = DownloadResult(200, (("ETag", '"table"'),), table)
    network, records, complaints = FakeDownloader(pages), list[FromWorkerToUpdate](), list[str]()

    def emit(record: FromWorkerToUpdate) -> int:
        records.append(record)
        return 0

    worker = CrawlWorker(
        *(0, _WORK, HostRules(_WORK, {}), network, FakeClock(), _Tools()),
        credit=1 << 30,
        emit=emit,
        processed=lambda _: None,
        slowed=lambda _: None,
        report_plugin_error=complaints.append,
        wake=lambda _: None,
        in_thread=lambda read, done: done(read(), None),
    )
    pair = SiteLease(1, 1, "http", "site.example", 80, (url,), robots=_ROBOTS)
    worker.accept([Assignment(pair, _ADDRESS, (_ADDRESS,), 1e12, 1)])
    while worker.open_visits:
        network.deliver()
    return _Seen(
        tuple((request.url[len(_SITE) :], "If-None-Match" in dict(request.headers)) for request in network.requests),
        [record for record in records if isinstance(record, PageRecord) and record.path == _PATH],
        [record for record in records if isinstance(record, UnchangedRecord)],
        complaints,
    )


class _Made(NamedTuple):
    document: bytes
    newer: bytes
    """The same document with other contents in its regions."""
    is_xml: bool

    @property
    def answer(self) -> DownloadResult:
        media_type = "application/xml" if self.is_xml else "text/html; charset=utf-8"
        return DownloadResult(200, (("Content-Type", media_type), ("ETag", '"document"')), self.document)

    def table_of(self, document: bytes, name: str = "page.html") -> bytes | None:
        table = tvi_of(document, name, is_xml=self.is_xml)
        return table if isinstance(table, bytes) else None


def _make(chance: random.Random) -> _Made:
    made = random_document(chance)
    document = b"<!-- %b -->" % chance.randbytes(_LARGE // 2).hex().encode() + made.document
    parted = part(document, is_xml=made.is_xml)
    contents = chance.choices((b"", b"!", b"<a href='/new'>n</a>", b"\\\t\xff"), k=len(parted.regions))
    changed = [region._replace(content=region.content + more) for region, more in zip(parted.regions, contents, strict=True)]
    return _Made(document, merge(parted.skeleton, changed), made.is_xml)


def _held(record: PageRecord) -> StoredVersion:
    """What storage gives to the next visit."""
    skeleton, regions, position = b"", [], 0
    for name, begin, end in record.regions:
        skeleton += record.body[position:begin]
        regions.append((name, len(skeleton), record.body[begin:end]))
        position = end
    skeleton += record.body[position:]
    digest = sha256(record.body).digest()
    table = record.table or TableFact()
    return StoredVersion(
        zlib.compress(skeleton), len(skeleton), digest, tuple(regions), table, record.media_type, record.charset
    )


def _stored(record: PageRecord) -> DueUrl:
    return DueUrl(_KEY, _PATH, state=State.STORED, etag='"document"', stored_version=_held(record))


def survive_refresh(chance: random.Random) -> tuple[str, int]:
    """What went wrong with one document, empty where nothing did; and how many regions it has."""
    made = _make(chance)
    table, newer_table = made.table_of(made.document), made.table_of(made.newer)
    first = _visit(DueUrl(_KEY, _PATH), made.answer, table)
    if first.complaints or [record.body for record in first.pages] != [made.document]:
        return "first visit", 0
    record = first.pages[0]
    if table is None or newer_table is None:
        return ("" if record.table is None and not record.regions else "parts of nothing"), 0
    if record.table is None:
        return "no parts", 0
    second = _visit(_stored(record), _UNAVAILABLE, newer_table)
    if second.complaints or second.requests != (("/page.TVI", True),):
        return "asked for more than the table", 0
    if made.newer == made.document:
        return ("" if second.unchanged and not second.pages else "changed"), len(record.regions)
    if [page.body for page in second.pages] != [made.newer]:
        return "merged", 0
    again = _held(second.pages[0])
    is_whole = again.sha256 == sha256(made.newer).digest() and again.skeleton == _held(record).skeleton
    return ("" if is_whole else "regions"), len(record.regions)


def survive_damaged_table(chance: random.Random) -> tuple[str, str]:
    """The kind of one damage, and what the worker did about it; an empty word where something was stored."""
    while (made := _make(chance)).document == made.newer:
        pass
    while (other := _make(chance)).document == other.newer:
        pass
    table, foreign = made.table_of(made.newer), other.table_of(other.newer)
    astray = made.table_of(made.newer, "pages.html")
    first = _visit(DueUrl(_KEY, _PATH), made.answer, made.table_of(made.document))
    if table is None or foreign is None or astray is None or first.pages[0].table is None:
        return "made", ""
    kind, damaged = damage(chance, table, [foreign, astray])
    seen = _visit(_stored(first.pages[0]), _UNAVAILABLE, damaged)
    if seen.complaints or seen.pages or seen.unchanged or len(seen.requests) != 2:
        return kind, ""
    return kind, "counted as absent" if seen.requests[1][1] else "discarded"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--damages", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    chance = random.Random(chosen.seed)
    documents = [survive_refresh(chance) for _ in range(chosen.documents)]
    wrong = Counter(word for word, _ in documents if word)
    right, regions = len(documents) - wrong.total(), sum(number for _, number in documents)
    print(
        f"{right:,} of {len(documents):,} documents ({regions:,} regions) byte-identical after both visits {dict(wrong) or ''}"
    )
    outcomes = Counter(survive_damaged_table(chance) for _ in range(chosen.damages))
    refused = sum(number for (_, word), number in outcomes.items() if word)
    print(f"{refused:,} of {chosen.damages:,} damaged tables refused, nothing stored")
    for kind in sorted({kind for kind, _ in outcomes}):
        words = Counter({word or "STORED": number for (name, word), number in outcomes.items() if name == kind})
        print(f"  {kind}: " + ", ".join(f"{word} {number:,}" for word, number in words.most_common()))
    sys.exit(bool(wrong) or refused != chosen.damages)


if __name__ == "__main__":
    main()
