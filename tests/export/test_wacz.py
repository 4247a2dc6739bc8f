from __future__ import annotations

import hashlib
import json
import subprocess
import zlib
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import pytest

from tests.export.exported import wacz
from tests.storage.desk import Desk
from tests.support.archive_tools import archive_tool
from tests.support.processes import TEST_TIMEOUT
from tests.support.warc import by_fastwarc

A = "http://a.example"


@pytest.fixture
def package(desk: Desk, tmp_path: Path) -> Path:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    page = b"<title>Tea</title><p>Green tea"
    desk.write(
        desk.page(pair, "/", page), desk.page(pair, "/x", b"text", media_type="text/plain"), desk.page(pair, "/twin", page)
    )
    desk.over(pair)
    wacz(desk, tmp_path / "x.wacz", size=1)
    return tmp_path / "x.wacz"


def test_every_file_is_described_with_its_hash(package: Path) -> None:
    with ZipFile(package) as opened:
        assert opened.testzip() is None
        described = json.loads(opened.read("datapackage.json"))
        listed = {resource["path"]: resource for resource in described["resources"]}
        assert set(listed) | {"datapackage.json", "datapackage-digest.json"} == set(opened.namelist())
        for path, resource in listed.items():
            data = opened.read(path)
            assert resource["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
            assert resource["bytes"] == len(data)
            assert path.endswith(resource["name"])
        digest = json.loads(opened.read("datapackage-digest.json"))
        assert digest["hash"] == f"sha256:{hashlib.sha256(opened.read('datapackage.json')).hexdigest()}"
        # A browser reads records where they lie.
        assert {opened.getinfo(path).compress_type for path in listed if path.endswith(".gz")} == {ZIP_STORED}
    assert (described["profile"], described["wacz_version"]) == ("data-package", "1.1.1")
    assert len([path for path in listed if path.startswith("archive/")]) == 3


def test_the_pages_with_title_and_text(package: Path) -> None:
    with ZipFile(package) as opened:
        head, *pages = map(json.loads, opened.read("pages/pages.jsonl").splitlines())
    assert (head["format"], head["hasText"]) == ("json-pages-1.0", True)
    assert [(page["url"], page["title"], page["text"]) for page in pages] == [
        (f"{A}/", "Tea", "Green tea"),
        (f"{A}/twin", "Tea", "Green tea"),
    ]


def test_every_line_of_the_index_leads_to_its_record(package: Path, tmp_path: Path) -> None:
    with ZipFile(package) as opened:
        lines = zlib.decompress(opened.read("indexes/index.cdx.gz"), 31).splitlines()
        opened.extractall(tmp_path / "unpacked")
    assert lines == sorted(lines)
    for line in lines:
        where = json.loads(line.split(b" ", 2)[2])
        data = (tmp_path / "unpacked" / "archive" / where["filename"]).read_bytes()
        piece = tmp_path / "piece.warc.gz"
        piece.write_bytes(data[int(where["offset"]) : int(where["offset"]) + int(where["length"])])
        (record,) = by_fastwarc(piece)
        assert record.url == where["url"]
    assert len(lines) == 3


def test_the_official_tool_finds_it_valid(package: Path) -> None:
    command = [str(archive_tool("wacz")), "validate", "-f", str(package)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TEST_TIMEOUT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validation succeeded" in done.stdout


def test_files_begin_where_readers_look_for_them(package: Path) -> None:
    """Some take the lengths of name and extra field from the central directory: the file's own header must have the same."""
    data = package.read_bytes()
    with ZipFile(package) as opened:
        for info in opened.infolist():
            lengths = data[info.header_offset + 26 : info.header_offset + 30]
            assert int.from_bytes(lengths[:2], "little") == len(info.filename)
            assert int.from_bytes(lengths[2:], "little") == len(info.extra) == 0, info.filename
