"""Documents with volatile regions: stored in parts, read whole, and given back to who refreshes them by fragment."""

from __future__ import annotations

import gzip
import zlib
from itertools import accumulate
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.augment.skeleton import merge
from parcahyd.augment.tvi import Region
from parcahyd.config.schema import WorkConf
from parcahyd.core.records import PageRecord, SiteLease, StoredVersion, TableFact
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.storage import documents as stored_versions
from parcahyd.storage.documents import PAIR_BYTES
from parcahyd.storage.packing import (
    PackedPage,
    PackedRegion,
    StoredBytes,
    UnpackingFailure,
    compressor,
    pack,
    parts_of,
    whole_of,
)
from parcahyd.storage.schema import documents, fetches, learned, links, summaries, tvis, volatile
from tests.storage.desk import REVISIT, Desk

A = "http://a.example"
FACT = TableFact('"t1"', "Mon", 60, 2)
MODES = pytest.mark.parametrize("mode", ["lazy", "eager"])

_PIECES = st.lists(st.tuples(st.binary(max_size=9), st.binary(max_size=9)), min_size=1, max_size=5)


def _pieces(*texts: str) -> tuple[bytes, tuple[tuple[str, int, int], ...]]:
    """A document of pieces, of which every second one is a region; and the regions."""
    pieces = [text.encode() for text in texts]
    ends = list(accumulate(map(len, pieces)))
    return b"".join(pieces), tuple((f"r{n}", ends[n - 1], ends[n]) for n in range(1, len(pieces), 2))


def _page(desk: Desk, pair: SiteLease, path: str, *texts: str, mode: str = "lazy", **more: Any) -> PackedPage:
    """A page with regions, packed as the mode says."""
    body, regions = _pieces(*texts)
    bare = desk.page(pair, path).page
    record = msgspec.structs.replace(bare, body=body, regions=regions, **{"table": FACT, **more})
    return pack(record, compressor(WorkConf()), True, is_eager=mode == "eager")


def _begin(desk: Desk, mode: str = "lazy", **work: Any) -> None:
    desk.begin(MergeMode=mode, **work)


def _again(desk: Desk, mode: str = "lazy", **work: Any) -> SiteLease:
    """The site, due again in a new run."""
    desk.now += 40 * REVISIT
    _begin(desk, mode, **work)
    return desk.visit()


def _show(desk: Desk, path: str = "/", at: float | None = None) -> bytes:
    document = desk.reports.document(f"{A}{path}", at)
    assert document is not None
    return document.body


# --- packing ------------------------------------------------------------------------------------------------------------


@given(_PIECES, st.binary(max_size=9), st.booleans())
def test_a_version_comes_back_whole_and_in_parts(pieces: list[tuple[bytes, bytes]], end: bytes, is_eager: bool) -> None:
    body, spans = b"", []
    for number, (fixed, varying) in enumerate(pieces):
        spans.append((f"r{number}", len(body) + len(fixed), len(body) + len(fixed) + len(varying)))
        body += fixed + varying
    body += end
    skeleton = b"".join(fixed for fixed, _ in pieces) + end
    fields = {"visit": 1, "site": 2, "key": 3, "path": "/", "depth": 0, "hops": 0, "seed": True}
    page = PageRecord(**fields, fetched_at=4.0, status=200, address="", head=b"", body=body, regions=tuple(spans))  # type: ignore[arg-type]
    packed = pack(page, compressor(WorkConf()), True, is_eager=is_eager)
    assert packed.version == (fingerprint(body).sha256, len(body))
    assert zlib.decompress(packed.packed) == (body if is_eager else skeleton)
    assert (packed.df, packed.sha256) == fingerprint(body if is_eager else skeleton)
    assert whole_of(packed.document, packed.regions) == body
    parts = parts_of(packed.document, packed.regions, compressor(WorkConf()))
    assert (zlib.decompress(parts.packed), parts.length) == (skeleton, len(skeleton))
    assert [(name, content) for name, _, content in parts.regions] == [
        (f"r{number}", varying) for number, (_, varying) in enumerate(pieces)
    ]
    assert merge(skeleton, [Region(*region) for region in parts.regions]) == body


@pytest.mark.parametrize(
    "region",
    [
        PackedRegion("a", 7, 2, zlib.compress(b"++")),
        PackedRegion("a", -1, 2, zlib.compress(b"++")),
        PackedRegion("a", 3, 3, zlib.compress(b"++")),
        PackedRegion("a", 3, 2, b"nonsense"),
        PackedRegion("a", 3, 4, b""),
        PackedRegion("a", -1, 2, b""),
    ],
)
def test_regions_that_do_not_fit_are_damage(region: PackedRegion) -> None:
    with pytest.raises(UnpackingFailure):
        whole_of(StoredBytes(zlib.compress(b"stable"), 6), [region])


# --- storing ------------------------------------------------------------------------------------------------------------


def test_a_page_in_parts(desk: Desk) -> None:
    _begin(desk)
    desk.seed(f"{A}/")
    pair = desk.visit()
    page = _page(desk, pair, "/", "<b>", "12:00", "</b>", "news", ".")
    written = desk.write(page)
    assert (written.stored, written.received, page.version[1]) == (1, page.page.received, 17)
    (document,) = desk.rows(documents)
    mark = fingerprint(b"<b></b>.")
    assert (document["df"], document["sha256"], document["length"]) == (mark.df, mark.sha256, 8)
    assert zlib.decompress(document["body"]) == b"<b></b>."
    (fetch,) = desk.rows(fetches)
    whole = b"<b>12:00</b>news."
    assert (fetch["sha256"], fetch["length"], fetch["document_id"]) == (fingerprint(whole).sha256, 17, document["id"])
    assert [
        (row["region"], row["id"], row["offset"], row["length"], zlib.decompress(row["content"])) for row in desk.rows(volatile)
    ] == [(1, "r1", 3, 5, b"12:00"), (2, "r3", 7, 4, b"news")]
    assert _show(desk) == whole
    (report,) = desk.reports.urls()
    assert (report.length, report.sha256) == (17, fingerprint(whole).sha256.hex())


@MODES
def test_versions_that_differ_in_regions_only(desk: Desk, mode: str) -> None:
    _begin(desk, mode)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(_page(desk, pair, "/", "<b>", "1", "</b>", mode=mode))
    desk.over(pair)
    times = [desk.now]
    for text in ("two", "", "four"):
        pair = _again(desk, mode, KeepVersions=3)
        times.append(desk.now)
        assert desk.write(_page(desk, pair, "/", "<b>", text, "</b>", mode=mode)).stored == 1
        desk.over(pair)
    assert len(desk.rows(documents)) == (1 if mode == "lazy" else 3)
    assert len(desk.rows(fetches)) == len(desk.rows(volatile)) == 3
    assert [_show(desk, at=time) for time in times[1:]] == [b"<b>two</b>", b"<b></b>", b"<b>four</b>"]
    assert desk.reports.document(f"{A}/", times[0]) is None  # no longer kept
    details = desk.reports.url_details(f"{A}/")
    assert details is not None
    assert [version.only_regions for version in details.fetches] == [True, True, False]
    assert [version.regions for version in details.fetches] == [1, 1, 1]
    assert details.changes == 3


@MODES
def test_the_same_skeleton_and_regions_add_nothing(desk: Desk, mode: str) -> None:
    _begin(desk, mode)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(_page(desk, pair, "/", "<b>", "1", "</b>", mode=mode))
    desk.over(pair)
    before = {name: desk.rows(table) for name, table in (("d", documents), ("f", fetches), ("v", volatile))}
    pair = _again(desk, mode)
    written = desk.write(_page(desk, pair, "/", "<b>", "1", "</b>", mode=mode, table=TableFact(merges=3)))
    assert (written.stored, written.unchanged) == (0, 1)
    assert {name: desk.rows(table) for name, table in (("d", documents), ("f", fetches), ("v", volatile))} == before
    assert [row["merges"] for row in desk.rows(tvis)] == [3]
    assert desk.row("/")["changes"] == 0


def test_urls_that_differ_in_regions_only_share_a_skeleton(desk: Desk) -> None:
    _begin(desk, KeepVersions=1)
    desk.seed(f"{A}/", f"{A}/2")
    pair = desk.visit()
    desk.write(_page(desk, pair, "/", "<b>", "one", "</b>"), _page(desk, pair, "/2", "<b>", "two", "</b>"))
    desk.over(pair)
    assert len(desk.rows(documents)) == 1
    assert (_show(desk), _show(desk, "/2")) == (b"<b>one</b>", b"<b>two</b>")
    details = desk.reports.url_details(f"{A}/")
    assert details is not None
    assert details.twins == (f"{A}/2",)
    pair = _again(desk, KeepVersions=1)
    desk.write(desk.page(pair, "/", b"another page altogether, and no regions"))
    assert _show(desk, "/2") == b"<b>two</b>"
    assert len(desk.rows(documents)) == 2


@MODES
def test_regions_of_a_page_that_was_stored_without_them(desk: Desk, mode: str) -> None:
    _begin(desk, mode)
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), body=b"<b>1</b>")
    pair = _again(desk, mode)
    written = desk.write(_page(desk, pair, "/", "<b>", "1", "</b>", mode=mode))
    desk.over(pair)
    assert (written.stored, written.unchanged) == (0, 1)
    (document,) = desk.rows(documents)
    assert zlib.decompress(document["body"]) == (b"<b></b>" if mode == "lazy" else b"<b>1</b>")
    assert _show(desk) == b"<b>1</b>"
    (url,) = _again(desk, mode).urls
    assert url.stored_version is not None
    assert url.stored_version.regions == (("r1", 3, b"1"),)


def test_a_page_without_a_table_forgets_it_and_keeps_its_bytes(desk: Desk) -> None:
    _begin(desk)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(_page(desk, pair, "/", "<b>", "1", "</b>"))
    desk.over(pair)
    pair = _again(desk)
    assert desk.write(desk.page(pair, "/", b"<b>1</b>")).stored == 0
    desk.over(pair)
    assert desk.rows(tvis) == []
    assert _show(desk) == b"<b>1</b>"
    assert [url.stored_version for url in _again(desk).urls] == [None]


def test_nothing_is_left_of_a_page_that_does_not_want_to_be_kept(desk: Desk) -> None:
    _begin(desk)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(_page(desk, pair, "/", "<b>", "1", "</b>"))
    desk.over(pair)
    pair = _again(desk)
    desk.write(desk.page(pair, "/", b"", reason="noindex"))
    assert [desk.rows(table) for table in (documents, fetches, volatile, tvis, learned)] == [[], [], [], [], []]


_TEXTS = st.lists(st.text("ab<é", max_size=4), min_size=3, max_size=3)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_whatever_the_regions_are_every_kept_version_is_exact(sqlite_desk: Desk, data: st.DataObject) -> None:
    desk = sqlite_desk
    desk.clear()
    keep = data.draw(st.integers(1, 3))
    mode = data.draw(st.sampled_from(["lazy", "eager"]))
    _begin(desk, mode, KeepVersions=keep)
    desk.seed(f"{A}/", f"{A}/2")
    pair = desk.visit()
    brought: dict[str, list[tuple[float, bytes]]] = {"/": [], "/2": []}
    for number in range(data.draw(st.integers(1, 5))):
        if number:
            mode = data.draw(st.sampled_from(["lazy", "eager"]))
            pair = _again(desk, mode, KeepVersions=keep)
        for path, versions in brought.items():
            mark = data.draw(st.sampled_from(["<b>", "<i>"]))
            first, second, third = data.draw(_TEXTS)
            page = _page(desk, pair, path, mark, first, "", second, "|", third, mode=mode)
            body = _pieces(mark, first, "", second, "|", third)[0]
            desk.write(page)
            if not versions or versions[-1][1] != body:
                versions.append((desk.now, body))
        desk.over(pair)
    for path, versions in brought.items():
        kept = versions[-keep:]
        assert [_show(desk, path, at) for at, _ in kept] == [body for _, body in kept]
    assert len(desk.rows(fetches)) == sum(min(keep, len(versions)) for versions in brought.values())
    assert desk.findings() == []


# --- what is held -------------------------------------------------------------------------------------------------------


def test_a_document_that_came_coded_is_held_as_a_skeleton(desk: Desk) -> None:
    """Its table comes with a later visit, which finds the same bytes."""
    body, _ = _pieces("<b>", "12:00", "</b>")
    _begin(desk, "eager")
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, "/", gzip.compress(body), coding="gzip", decoded_length=len(body)))
    desk.over(pair)
    pair = _again(desk, "eager")
    desk.write(_page(desk, pair, "/", "<b>", "12:00", "</b>", mode="eager"))
    desk.over(pair)
    assert [row["coding"] for row in desk.rows(documents)] == ["gzip"]
    (due,) = _again(desk, "eager").urls
    assert due.stored_version is not None
    assert zlib.decompress(due.stored_version.skeleton) == b"<b></b>"
    assert due.stored_version.regions == (("r1", 3, b"12:00"),)


@MODES
def test_what_is_held_goes_round(desk: Desk, mode: str) -> None:
    _begin(desk, mode)
    desk.seed(f"{A}/", f"{A}/plain")
    pair = desk.visit()
    assert [url.stored_version for url in pair.urls] == [None, None]
    desk.write(_page(desk, pair, "/", "<b>", "12:00", "</b>", mode=mode), desk.page(pair, "/plain"))
    desk.over(pair)
    pair = _again(desk, mode)
    held = {url.path: url.stored_version for url in pair.urls}
    assert held["/plain"] is None
    found = held["/"]
    assert found is not None
    whole = fingerprint(b"<b>12:00</b>").sha256
    kind = ("text/html", "", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    assert found == StoredVersion(found.skeleton, 7, whole, (("r1", 3, b"12:00"),), FACT, *kind)
    assert zlib.decompress(found.skeleton) == b"<b></b>"
    desk.write(desk.unchanged(pair, "/", table=TableFact('"t2"', "", 0, 3)), desk.unchanged(pair, "/plain"))
    desk.over(pair)
    pair = _again(desk, mode)
    assert [url.stored_version.table for url in pair.urls if url.stored_version] == [TableFact('"t2"', "", 0, 3)]
    desk.write(desk.unchanged(pair, "/"), _page(desk, pair, "/plain", "", "x", "y", mode=mode, table=None))
    desk.over(pair)
    assert [url.stored_version.table.merges for url in _again(desk, mode).urls if url.stored_version] == [3]


def test_a_new_version_has_the_table_that_came_with_it(desk: Desk) -> None:
    _begin(desk)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(_page(desk, pair, "/", "<b>", "1", "</b>"))
    desk.over(pair)
    pair = _again(desk)
    desk.write(_page(desk, pair, "/", "<b>", "2", "</b>", table=TableFact(merges=1)))
    desk.over(pair)
    assert [row["merges"] for row in desk.rows(tvis)] == [1]
    (url,) = _again(desk).urls
    assert url.stored_version is not None
    assert (url.stored_version.regions, url.stored_version.table.merges) == ((("r1", 3, b"2"),), 1)


def test_what_is_held_is_bounded(desk: Desk) -> None:
    _begin(desk)
    desk.seed(f"{A}/", f"{A}/2", f"{A}/3")
    pair = desk.visit()
    much = "x" * (PAIR_BYTES // 2 + 1)
    desk.write(
        _page(desk, pair, "/", "<b>", much, "</b>"),
        _page(desk, pair, "/2", "<i>", much, "</i>"),
        _page(desk, pair, "/3", "<u>", "few", "</u>"),
    )
    desk.over(pair)
    pair = _again(desk)
    held = [url.path for url in pair.urls if url.stored_version is not None]
    assert held == [url.path for url in pair.urls]
    assert "/3" in held
    assert len(held) == 2  # The third is left to the next visit.
    for path in held:
        desk.write(desk.unchanged(pair, path))
    desk.over(pair)
    pair = desk.visit()
    assert [url.path for url in pair.urls] == [path for path in ("/", "/2", "/3") if path not in held]
    assert pair.urls[0].stored_version is not None


def test_a_document_that_is_too_large_to_be_held_is_asked_for_without(desk: Desk) -> None:
    _begin(desk)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(_page(desk, pair, "/", "<b>", "x" * (PAIR_BYTES + 1), "</b>"))
    desk.over(pair)
    assert [url.stored_version for url in _again(desk).urls] == [None]


def test_what_is_held_is_bounded_for_sites_that_are_leased_together(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_versions, "LEASE_BYTES", 120)
    _begin(desk)
    sites = [f"http://{name}.example/" for name in "abc"]
    desk.seed(*sites)
    for pair in desk.lease():
        desk.write(_page(desk, pair, "/", pair.host, "x" * 25, "."))
        desk.over(pair)
    desk.now += 40 * REVISIT
    _begin(desk)
    held = [url.stored_version for pair in desk.lease() for url in pair.urls]
    assert len(held) == 3
    assert sum(one is not None for one in held) == 1


def test_damage_is_not_held(doomed_desk: Desk) -> None:
    desk = doomed_desk
    _begin(desk)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(_page(desk, pair, "/", "<b>", "1", "</b>"))
    desk.over(pair)
    with desk.look.begin() as connection:
        connection.execute(volatile.update().values(content=b"nonsense"))
    assert [url.stored_version for url in _again(desk).urls] == [None]
    assert [finding.kind for finding in desk.findings()] == ["fetch-damaged"]


def test_links_are_those_of_the_newest_version(desk: Desk) -> None:
    _begin(desk)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(_page(desk, pair, "/", "<b>", "12:00", "</b>", links=b"a\t/old\n", summary=b"old"))
    desk.over(pair)
    pair = _again(desk)
    desk.write(_page(desk, pair, "/", "<b>", "13:00", "</b>", links=b"a\t/new\n", summary=b""))
    desk.over(pair)
    assert [zlib.decompress(row["content"]) for row in desk.rows(links)] == [b"a\t/new\n"]
    assert desk.rows(summaries) == []


def test_a_table_that_is_gone_is_not_held(desk: Desk) -> None:
    _begin(desk)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(_page(desk, pair, "/", "<b>", "12:00", "</b>"))
    desk.over(pair)
    pair = _again(desk)
    desk.write(desk.unchanged(pair))
    desk.over(pair)
    pair = _again(desk)
    assert pair.urls[0].stored_version is not None
    desk.write(desk.unchanged(pair, is_table_gone=True))
    desk.over(pair)
    assert _again(desk).urls[0].stored_version is None
