"""What the benchmark of versions counts, and by what truth."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import pytest

from bench.marking import mark_both
from bench.versions import read_pairs, really_changed, stored_bytes, verdicts
from bench.wire import Compressing, Wire
from parcahyd.augment.skeleton import part
from parcahyd.config.schema import WorkConf
from parcahyd.storage.packing import compressor

_PAGE = b'<html><head><script src="a.11.js"></script><title>T</title></head><p>Text <a href="/x#11">11</a></p>%b</html>'
_OLD = _PAGE % (b"<p>Many words of text.</p>" * 20)
_NEW = _OLD.replace(b"a.11.js", b"a.22.js")


def test_markers_stand_where_they_can() -> None:
    old, new = mark_both(_OLD, _NEW)
    assert b'<!--vol 1--><script src="a.22.js"></script><!--/vol 1-->' in new
    assert part(old).skeleton == part(new).skeleton
    assert [region.content for region in part(old).regions] == [b'<script src="a.11.js"></script>']
    assert mark_both(_OLD, _OLD) == (_OLD, _OLD)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"<p>a</p><p>b</p>", b"<p>a</p><p>new</p><p>b</p>"),
        (b"<b title='x'>t</b> and <i>11</i>", b"<b title='y'>t</b> and <i>12</i>"),
        (b"<title>one</title>text", b"<title>two</title>text"),
        (b"<!-- 11 --><p>", b"<!-- 12 --><p>"),
        (b"text", b""),
    ],
)
def test_both_versions_have_one_skeleton(old: bytes, new: bytes) -> None:
    first, second = (part(page) for page in mark_both(old, new))
    assert (first.skeleton, first.places, first.errors) == (second.skeleton, second.places, ())
    assert first.regions != second.regions


def test_a_change_is_what_a_reader_sees() -> None:
    assert not really_changed(_OLD, _NEW)
    assert not really_changed(_OLD, _OLD.replace(b"#11", b"#12"))
    assert really_changed(_OLD, _OLD.replace(b"/x", b"/y"))
    assert really_changed(_OLD, _OLD.replace(b">11<", b">12<"))


def test_verdicts_and_bytes() -> None:
    third = _OLD.replace(b"a.11.js", b"a.33.js")
    versions = [(_OLD, _NEW, third), (_OLD, _NEW, third.replace(b"Text", b"Other"))]
    assert verdicts(versions, 0) == {(False, True): 1, (True, True): 1}
    assert verdicts(versions, 1) == {(False, False): 1, (True, True): 1}
    assert set(map(type, stored_bytes(versions, compressor(WorkConf())).values())) == {int}


def test_pairs_come_in_the_order_of_their_dates(tmp_path: Path) -> None:
    archive = tmp_path / "pairs.tar.xz"
    with tarfile.open(archive, "w:xz") as files:
        for name, date in (("pair1", "2024-10-17T18:00:19+02:00"), ("pair2", "2024-10-16T14:39:47+08:00")):
            for path, content in (("INFO.txt", f"old 0 {date}\n"), ("old/a/index.html", "old"), ("new/a/index.html", "new")):
                entry = tarfile.TarInfo(f"{name}/{path}")
                entry.size = len(content)
                files.addfile(entry, io.BytesIO(content.encode()))
    pairs = read_pairs(archive)
    assert [pair.dated[:10] for pair in pairs] == ["2024-10-16", "2024-10-17"]
    assert pairs[0].new == {"a/index.html": b"new"}


def test_every_byte_is_counted(tmp_path: Path) -> None:
    if shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin") is None:
        pytest.skip("needs nginx (Debian: apt install nginx-light)")
    root = tmp_path / "root"
    root.mkdir()
    (root / "index.html").write_bytes(_OLD)
    with Compressing(root, tmp_path / "nginx") as nginx, Wire(nginx.port, "www.example.org", "test/1") as wire:
        answer = wire.get("/index.html")
        assert (answer.status, answer.content, answer.headers["content-encoding"]) == (200, _OLD, "gzip")
        assert 0 < answer.body_bytes < len(_OLD)
        again = wire.get("/index.html", answer)
        assert (again.status, again.body_bytes, again.content) == (304, 0, b"")
        assert answer.request_bytes < wire.get("/index.html", answer, with_date=False).request_bytes < again.request_bytes
        assert wire.get("/absent.html").status == 404
