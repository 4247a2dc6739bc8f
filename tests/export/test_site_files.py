from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.core.errors import UserError
from parcahyd.export import captures, exchanges
from parcahyd.export.archive import UNFINISHED
from parcahyd.storage.schema import urls
from tests.export.exported import Told, files, warc
from tests.storage.desk import Desk

A = "http://a.example"


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _site(desk: Desk, pages: dict[str, tuple[str, bytes]]) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(*(desk.page(pair, path, body, media_type=kind) for path, (kind, body) in pages.items()))
    desk.over(pair)


def test_pages_lead_to_each_other(desk: Desk, tmp_path: Path) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(
        desk.page(pair, "/", b'<a href="/a">a</a><a href="/a/">b</a><a href="/old">c</a>'),
        *(desk.page(pair, "/a", b"A"), desk.page(pair, "/a/", b"folder")),
        *(desk.redirect(pair, "/old", f"{A}/old2"), desk.redirect(pair, "/old2", f"{A}/a")),
    )
    desk.over(pair)
    told = Told()
    report = files(desk, tmp_path / "out", told)
    found = _files(tmp_path / "out")
    assert set(found) == {"a.example/index.html", "a.example/a.html", "a.example/a/index.html"}
    page = found["a.example/index.html"].decode("utf-8-sig")
    assert 'href="a.html">a' in page
    assert 'href="a/index.html">b' in page
    assert 'href="a.html">c' in page
    assert (report.files, report.size) == (3, sum(map(len, found.values())))
    assert told.progress[-1] == (10, 10)


def test_a_page_that_is_too_large_for_a_tree_is_written_as_it_is(desk: Desk, tmp_path: Path) -> None:
    large = b'<a href="/">x</a>' + b"x" * 9_000_000
    _site(desk, {"/": ("text/html", large)})
    files(desk, tmp_path / "out")
    assert _files(tmp_path / "out") == {"a.example/index.html": large}


def test_names_that_collide_are_told_apart(desk: Desk, tmp_path: Path) -> None:
    pages = {
        path: ("text/plain", path.encode()) for path in ("/A", "/a", "/a.txt", "/a/b", "/a.txt/b", "/%61%2Fb", "/x?y", "/x@y")
    }
    _site(desk, pages)
    files(desk, tmp_path / "out")
    found = _files(tmp_path / "out")
    assert sorted(found.values()) == sorted(body for _, body in pages.values())
    assert len({name.casefold() for name in found}) == len(pages)


def test_the_newest_version_is_written_under_the_name_of_its_kind(desk: Desk, tmp_path: Path) -> None:
    _site(desk, {"/x": ("text/plain", b"old")})
    desk.now += 5000
    desk.begin()
    (pair,) = desk.lease(again_before=desk.now)
    desk.crawl(pair, "/x", b"new", media_type="text/css")
    files(desk, tmp_path / "out")
    assert _files(tmp_path / "out") == {"a.example/x.css": b"new"}
    files(desk, tmp_path / "before", until=desk.now - 1)
    assert _files(tmp_path / "before") == {"a.example/x.txt": b"old"}


def test_hostile_paths_stay_inside(doomed_desk: Desk, tmp_path: Path) -> None:
    desk = doomed_desk
    _site(desk, {f"/{number}": ("text/html", b"<p>%d" % number) for number in range(6)})
    hostile = ["/../../outside", "//../x\r\ny", "/..\\..\\x", "/\0", "/" + "../" * 50 + "etc/passwd", "/con/é\u202e"]
    with desk.look.begin() as connection:
        for number, path in enumerate(hostile):
            plain = path.replace("\0", "\x01")  # No database takes a NUL in a text.
            connection.execute(urls.update().where(urls.c.path == f"/{number}").values(path=plain))
    files(desk, tmp_path / "deep" / "out")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]
    assert [path.name for path in (tmp_path / "deep" / "out").iterdir()] == ["a.example"]
    assert len(_files(tmp_path / "deep" / "out")) == 6


def test_an_interrupted_export_begins_anew(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captures, "_PAGE", 2)
    monkeypatch.setattr(exchanges, "_BATCH", 1)
    _site(desk, {f"/{number}": ("text/plain", b"%d" % number) for number in range(6)})
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        files(desk, out, Told(interrupt=lambda done: done >= 10))
    assert [path.name for path in out.iterdir()] == [UNFINISHED]
    with pytest.raises(UserError, match="with other options"):
        warc(desk, out)
    told = Told()
    assert files(desk, out, told).files == 6
    assert told.resumed == [0]
    assert [path.name for path in out.iterdir()] == ["a.example"]


def test_only_an_empty_folder_is_written_to(desk: Desk, tmp_path: Path) -> None:
    _site(desk, {"/": ("text/html", b"x")})
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(UserError, match="is not empty"):
        files(desk, tmp_path)
    (tmp_path / UNFINISHED).mkdir()
    with pytest.raises(UserError, match="with other options"):
        files(desk, tmp_path)
    (tmp_path / UNFINISHED / "files").write_bytes(b"")
    with pytest.raises(UserError, match="is not empty"):
        files(desk, tmp_path)
    with pytest.raises(UserError, match="nothing is stored that fits"):
        files(desk, tmp_path / "new", match="none")
    assert {path.name for path in tmp_path.iterdir()} >= {"mine", UNFINISHED}
