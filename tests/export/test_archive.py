"""Whole exports of a small database: WARC files with their index, one WACZ file, interruptions, and refusals."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from parcahyd.core.errors import UserError
from parcahyd.export import archive_parts, captures, exchanges
from parcahyd.export.archive import UNFINISHED
from parcahyd.storage.schema import documents, fetches, urls
from tests.export.exported import Told, wacz, warc
from tests.export.samples import AT
from tests.storage.desk import Desk
from tests.support.warc import Seen, by_fastwarc, by_warcio

A = "http://a.example"
PATHS = [f"/{number}" for number in range(9)]


@pytest.fixture
def pages(desk: Desk) -> Desk:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(*(desk.page(pair, path, b"<p>page %s" % path.encode()) for path in PATHS))
    desk.over(pair)
    return desk


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captures, "_PAGE", 3)
    monkeypatch.setattr(exchanges, "_BATCH", 1)
    monkeypatch.setattr(archive_parts, "MOST_EXCHANGES", 2)


def _responses(folder: Path) -> list[Seen]:
    files = sorted(folder.glob("*.warc.gz"))
    return [record for file in files for record in by_fastwarc(file) if record.kind in ("response", "revisit")]


def _index(folder: Path) -> list[dict[str, str]]:
    lines = (folder / "index.cdxj").read_text().splitlines()
    assert lines == sorted(lines)
    return [json.loads(line.split(" ", 2)[2]) for line in lines]


def test_one_file_and_its_index(pages: Desk, tmp_path: Path) -> None:
    told = Told()
    report = warc(pages, tmp_path / "out", told)
    (file,) = (tmp_path / "out").glob("*.warc.gz")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"parcahyd-20260304050607-00001.warc.gz", "index.cdxj"}
    assert (report.files, report.counts.exchanges, report.counts.records) == (1, 9, 19)
    assert report.size == file.stat().st_size
    assert {record.url: record.body for record in _responses(tmp_path / "out")} == {
        f"{A}{path}": b"<p>page %s" % path.encode() for path in PATHS
    }
    assert len(by_warcio(file)) == 19
    assert told.progress == [(9, 9)]
    assert (told.resumed, told.damaged) == ([], [])
    data = file.read_bytes()
    for line in _index(tmp_path / "out"):
        begin, length = int(line["offset"]), int(line["length"])
        record = gzip.decompress(data[begin : begin + length])
        assert f"WARC-Target-URI: {line['url']}\r\n".encode() in record
        assert record.startswith(b"WARC/1.1\r\nWARC-Type: response\r\n")


def test_files_are_split_by_size(pages: Desk, tmp_path: Path) -> None:
    report = warc(pages, tmp_path / "out", size=1)
    assert report.files == 9
    assert len(_responses(tmp_path / "out")) == 9
    assert {line["filename"] for line in _index(tmp_path / "out")} == {
        path.name for path in (tmp_path / "out").glob("*.warc.gz")
    }
    for file in (tmp_path / "out").glob("*.warc.gz"):
        assert [record.kind for record in by_fastwarc(file)] == ["warcinfo", "response", "metadata"]


@pytest.mark.usefixtures("small_parts")
def test_an_interrupted_export_goes_on(pages: Desk, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        warc(pages, out, Told(interrupt=lambda done: done >= 6))
    assert [path.name for path in out.iterdir()] == [UNFINISHED]
    assert list((out / UNFINISHED).glob("*.warc.gz"))
    told = Told()
    report = warc(pages, out, told, now=AT + 500)
    assert told.resumed == [4]
    assert sorted(record.url for record in _responses(out)) == sorted(f"{A}{path}" for path in PATHS)
    assert len(_index(out)) == 9
    assert not (out / UNFINISHED).exists()
    assert (report.counts.exchanges, report.files) == (9, 5)
    assert {path.name[:24] for path in out.glob("*.gz")} == {"parcahyd-20260304050607-"}


@pytest.mark.usefixtures("small_parts")
def test_an_interrupted_wacz_goes_on(pages: Desk, tmp_path: Path) -> None:
    out = tmp_path / "out.wacz"
    with pytest.raises(KeyboardInterrupt):
        wacz(pages, out, Told(interrupt=lambda done: done >= 6))
    assert not out.exists()
    told = Told()
    assert wacz(pages, out, told).counts.exchanges == 9
    assert told.resumed == [4]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("out")] == ["out.wacz"]


@pytest.mark.usefixtures("small_parts")
def test_other_options_do_not_go_on_with_it(pages: Desk, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        warc(pages, tmp_path / "out", Told(interrupt=lambda done: done >= 6))
    with pytest.raises(UserError, match="an unfinished export with other options"):
        warc(pages, tmp_path / "out", match="*/1")
    (tmp_path / "out" / UNFINISHED / "state.json").write_bytes(b"{")
    with pytest.raises(UserError, match="is damaged"):
        warc(pages, tmp_path / "out")


def test_an_export_that_was_interrupted_while_it_moved_its_files(
    pages: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def interrupted(source: Path, target: Path) -> None:
        if target.name == "index.cdxj":
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            warc(pages, tmp_path / "out", size=1)
    assert not (tmp_path / "out" / "index.cdxj").exists()
    assert warc(pages, tmp_path / "out", size=1).files == 9
    assert len(_responses(tmp_path / "out")) == len(_index(tmp_path / "out")) == 9
    assert not (tmp_path / "out" / UNFINISHED).exists()


def test_an_export_without_a_complete_part_begins_anew(pages: Desk, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        warc(pages, tmp_path / "out", Told(interrupt=lambda _done: True))
    told = Told()
    assert warc(pages, tmp_path / "out", told).counts.exchanges == 9
    assert told.resumed == [0]
    assert len(_responses(tmp_path / "out")) == 9


@pytest.mark.parametrize("is_old", [True, False])
def test_hostile_values_break_no_record(doomed_desk: Desk, tmp_path: Path, is_old: bool) -> None:
    desk = doomed_desk
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(*(desk.page(pair, path, b"<p>%s" % path.encode()) for path in PATHS))
    desk.over(pair)
    hostile = "/../x\r\nWARC-Type: warcinfo\r\n\r\nWARC/1.1 é"
    headers = b"X: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 99999\r\nContent-Encoding: gzip\r\n"
    headers += b"\xff\xfe: b\nTransfer-Encoding: chunked\r\n"
    with desk.look.begin() as connection:
        for number, path in enumerate(PATHS):
            connection.execute(urls.update().where(urls.c.path == path).values(path=f"{hostile}{number}"))
        stored = {"headers": headers} if is_old else {"head": b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n"}
        connection.execute(fetches.update().values({"head": None, **stored, "head_base": None, "address": "::1\r\nX: y"}))
        connection.execute(documents.update().values(title='"\r\n\u2028</script>', media_type="text/html\r\nX: y"))
    warc(desk, tmp_path / "out")
    (file,) = (tmp_path / "out").glob("*.warc.gz")
    for records in (by_fastwarc(file), by_warcio(file)):
        assert [record.kind for record in records] == ["warcinfo", *["response", "metadata"] * 9]
        assert {record.body for record in records if record.kind == "response"} == {b"<p>%s" % path.encode() for path in PATHS}
        assert all(record.header("Content-Length") == [str(len(record.body))] for record in records[1::2])
    assert len(_index(tmp_path / "out")) == 9
    wacz(desk, tmp_path / "x.wacz")


def test_two_exports_do_not_share_a_folder(pages: Desk, tmp_path: Path) -> None:
    refusals: list[str] = []

    def start_another(_done: int) -> bool:
        with pytest.raises(UserError) as refused:
            warc(pages, tmp_path / "out")
        refusals.append(str(refused.value))
        return False

    assert warc(pages, tmp_path / "out", Told(interrupt=start_another)).counts.exchanges == 9
    assert len(refusals) == 1
    assert refusals[0].startswith("another export is writing to")


def test_a_folder_with_something_in_it_is_left_alone(pages: Desk, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(UserError, match="is not empty"):
        warc(pages, tmp_path)
    with pytest.raises(UserError, match="is not a folder"):
        warc(pages, tmp_path / "mine")
    with pytest.raises(UserError, match="is there already"):
        wacz(pages, tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("export", [warc, wacz])
def test_where_nothing_fits_nothing_is_written(pages: Desk, tmp_path: Path, export: Callable[..., object]) -> None:
    with pytest.raises(UserError, match="nothing is stored that fits"):
        export(pages, tmp_path / "out", match="*/none")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("out")] == []


def test_no_revisit_dangles_whatever_is_chosen(desk: Desk, tmp_path: Path) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    for path in ("/early", "/late", "/later"):
        desk.write(desk.page(pair, path, b"twin"))
        desk.now += 100
    desk.over(pair)
    warc(desk, tmp_path / "all")
    assert [record.kind for record in _responses(tmp_path / "all")] == ["response", "revisit", "revisit"]
    assert [line["mime"] for line in _index(tmp_path / "all")] == ["text/html", "warc/revisit", "warc/revisit"]
    warc(desk, tmp_path / "some", since=desk.now - 250)
    first, second = _responses(tmp_path / "some")
    assert (first.kind, first.url, first.body) == ("response", f"{A}/late", b"twin")
    assert (second.kind, second.fields["warc-refers-to-target-uri"]) == ("revisit", f"{A}/late")
