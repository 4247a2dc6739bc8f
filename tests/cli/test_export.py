from __future__ import annotations

import os
import random
import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from parcahyd.cli import main
from parcahyd.export.archive_parts import ArchiveParts
from tests.storage.desk import Desk
from tests.support.warc import by_fastwarc

from .conftest import ROOT, Crawl


def test_warc_files_in_a_folder(crawl: Crawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(crawl.arguments("export", "warc", str(tmp_path / "out"))) == 0
    said = capsys.readouterr()
    (file,) = (tmp_path / "out").glob("*.warc.gz")
    urls = [record.url for record in by_fastwarc(file) if record.kind in ("response", "revisit")]
    assert f"{crawl.site}index.html" in urls or crawl.site in urls
    assert said.out.startswith(f"{len(urls)} exchanges")
    assert said.err == ""


def test_choices(crawl: Crawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--site", "127.0.0.1", "--type", "text/html", "--state", "stored", "--match", "*/kettles/*"]
    times = ["--since", "2000-01-01", "--until", "2999-12-31"]
    assert main(crawl.arguments("export", "wacz", str(tmp_path / "x.wacz"), *options, *times, "--split", "1")) == 0
    assert "x.wacz" in capsys.readouterr().out
    assert main(crawl.arguments("export", "files", str(tmp_path / "out"), *options)) == 0
    assert all("/kettles/" in path.as_posix() for path in (tmp_path / "out").rglob("*.html"))
    assert list((tmp_path / "out").rglob("*.html"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--site", "nowhere.example"], "nowhere.example is not in this crawl (parcahyd status lists the sites)"),
        (["--since", "2999-01-01"], "nothing is stored that fits"),
        (["--until", "2000-01-01"], "nothing is stored that fits"),
        (["--type", "html"], '"html" is not a media type (write text/html, or image/* for all images)'),
        (["--since", "never"], '"never" is not a time'),
        (["--match", "re:("], "cannot be read"),
    ],
)
def test_a_users_error_is_one_line_and_nothing_is_written(
    crawl: Crawl, options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(crawl.arguments("export", "warc", str(tmp_path / "out"), *options)) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written(crawl: Crawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    for place in ("file", "file/below"):
        assert main(crawl.arguments("export", "files", str(tmp_path / place))) == 2
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    assert main(crawl.arguments("export", "warc", str(tmp_path / "full"))) == 2
    assert "is not empty (name one that is, or that does not exist yet)" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]


def test_where_there_is_no_room_the_export_goes_on_later(tmp_path: Path) -> None:
    """A limit for the size of files stands for a full disk; SQLite needs some room beside the database, too."""
    desk = Desk(f"sqlite:///{tmp_path / 'crawl.db'}")
    desk.begin()
    desk.seed("http://a.example/")
    desk.crawl(desk.visit(), body=random.Random(1).randbytes(300_000))
    desk.close()
    out = tmp_path / "out"
    arguments = ["export", "warc", str(out), "--db", str(tmp_path / "crawl.db")]
    command = [sys.executable, "-m", "parcahyd", *arguments]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120, preexec_fn=limit)
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("\n") == 1
    assert "could not be written: File too large (make room, and give the same command again)" in done.stderr
    assert list(out.glob("*.gz")) == []
    assert main(arguments) == 0
    assert len(list(out.glob("*.gz"))) == 1


def test_ctrl_c_says_how_to_go_on(
    crawl: Crawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    arguments = crawl.arguments("export", "warc", str(tmp_path / "out"))
    with monkeypatch.context() as patched:
        patched.setattr(ArchiveParts, "write", interrupted)
        assert main(arguments) == 130
    assert capsys.readouterr().err == "parcahyd: hint: interrupted: the same command takes the export up again\n"
    assert main(arguments) == 0
    assert capsys.readouterr().err == "parcahyd: hint: an interrupted export begins anew\n"


def test_a_damaged_document_is_named_and_the_rest_is_written(
    crawl: Crawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy.db"
    with sqlite3.connect(Path(crawl.conf) / "crawl.db") as source, sqlite3.connect(copy) as target:
        source.backup(target)
        target.execute("UPDATE documents SET body = x'00' WHERE id = 1")
    assert main(["export", "files", str(tmp_path / "out"), "--db", str(copy)]) == 1
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert "is left out: its stored document is damaged" in said.err
    assert os.listdir(tmp_path / "out")
