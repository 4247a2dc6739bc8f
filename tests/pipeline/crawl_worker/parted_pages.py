"""Documents with volatile regions, their tables of variable information, and visits to them."""

from __future__ import annotations

import random
import zlib
from array import array
from hashlib import sha256

import msgspec

from parcahyd.augment.document_tables import tvi_of
from parcahyd.augment.skeleton import part
from parcahyd.augment.tvi import Tvi, read_tvi, write_tvi
from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadRequest, DownloadResult
from parcahyd.core.records import DueUrl, PageRecord, StoredVersion, TableFact, UnchangedRecord, VisitOver
from parcahyd.core.states import State
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.world import Answer, World

__all__ = ["FACT", "ROBOTS", "WORDS", "document", "html", "parts_of", "refreshed", "stored", "table", "tvi", "world"]

ROBOTS = DownloadResult(200, (), b"User-agent: *\nDisallow: /private/\n# Augment: 1; tvi={stem}.TVI\n")
FACT = TableFact('"t1"', "Mon, 01 Jan 2024 00:00:00 GMT")
# Tables of small documents are larger than half of them: this one has a page's size, and does not shrink much.
WORDS = " ".join(random.Random(1).choices([f"{number:x}" for number in range(10_000)], k=2_000))


def document(price: str = "11.00", news: str = '<a href="/news/1">First</a>', head: str = "") -> bytes:
    text = f"""<!doctype html><head>{head}<meta charset=utf-8></head><p>{WORDS}</p><a href="/about">About</a>
<span data-vol="price">{price}</span> <div data-vol=news>{news}</div><a href="http://other.example/">Other</a>"""
    return text.encode()


def table(body: bytes, name: str = "page.html", **changes: object) -> bytes:
    written = tvi_of(body, name)
    assert isinstance(written, bytes)
    if changes:
        read = read_tvi(written)
        assert isinstance(read, Tvi)
        again = write_tvi(msgspec.structs.replace(read, **changes))
        assert isinstance(again, bytes)
        return again
    return written


def html(body: bytes, *headers: tuple[str, str]) -> DownloadResult:
    return DownloadResult(200, (("Content-Type", "text/html"), ("ETag", '"d1"'), *headers), body)


def tvi(body: bytes, etag: str = '"t2"') -> DownloadResult:
    return DownloadResult(200, (("ETag", etag), ("Content-Type", "application/octet-stream")), body)


def stored(body: bytes, table: TableFact = FACT, path: str = "/page.html", **facts: object) -> DueUrl:
    parted = part(body)
    held = StoredVersion(
        zlib.compress(parted.skeleton),
        len(parted.skeleton),
        sha256(body).digest(),
        tuple([(region.id, region.offset, region.content) for region in parted.regions]),
        table,
        "text/html",
        "utf-8",
        b"X-Old: 1\r\n",
    )
    url = DueUrl(key_of(path), path, state=State.STORED, etag='"d1"', stored_version=held)
    return msgspec.structs.replace(url, **facts)


def world(site: dict[str, Answer], **settings: object) -> World:
    return World({"/robots.txt": ROBOTS, **site}, WorkConf(HostDelay=0.0, **settings))  # type: ignore[arg-type]


def refreshed(body: bytes, answer: Answer, due: DueUrl | None = None, **settings: object) -> World:
    """A visit to a stored page whose table is answered like this, and which itself is this now."""

    def whole(request: DownloadRequest) -> DownloadResult:
        validators = dict(request.headers)
        return DownloadResult(304) if validators.get("If-None-Match") == '"d1"' and body == document() else html(body)

    one = world({"/page.html": whole, "/page.TVI": answer}, **settings)
    url = due or stored(document())
    one.visit(urls=(url,), known=array("q", sorted(map(key_of, ("/page.html", "/about", "/news/1")))).tobytes())
    assert one.plugin_errors == []
    assert one.of(VisitOver)[0].pages == len(one.of(UnchangedRecord)) + len(one.of(PageRecord))
    return one


def parts_of(record: PageRecord) -> dict[str, bytes]:
    return {name: record.body[begin:end] for name, begin, end in record.regions}
