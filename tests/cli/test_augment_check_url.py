"""`parcahyd augment check URL`: a page and its tables as they are published, looked at as a crawler looks at them."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.build import build
from parcahyd.authoring.site_folder import FolderServer
from parcahyd.cli import main
from parcahyd.cli.published_tables import WRONG
from parcahyd.cli.site_requests import SiteRequests
from parcahyd.config.schema import Configuration, MapConf, WorkConf
from parcahyd.core.ports import DownloadFailure
from parcahyd.sample.server import SampleServer
from tests.support.site_server import SiteServer, refusing_port
from tests.support.sites import Answer, Site

PROSE = " ".join(f"word{number}" for number in range(400))
PAGE = f'<p>{PROSE}<p>Price: <b data-vol="price">11.00 EUR</b>. <a href="other.html">Other</a>'


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A site folder with its tables, and where it is served."""
    (tmp_path / "kettle.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "other.html").write_text("<p>Other", encoding="utf-8")
    build(make_plan(tmp_path))
    with FolderServer(tmp_path) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield tmp_path, server.url
        server.shutdown()


def _check(url: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    code = main(["augment", "check", url])
    output = capsys.readouterr()
    assert output.err == ""
    return code, output.out.splitlines()


def test_a_site_with_tables_that_fit(folder: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = _check(folder[1] + "kettle.html", capsys)
    assert (code, lines[-1]) == (0, "Nothing is wrong.")
    assert "found    /site.TOL, with the links of 2 pages, fits the page: 1 link" in lines
    assert "found    /kettle.TOL fits the page: 1 link" in lines
    assert "found    /kettle.TVI fits the page: 1 part that changes" in lines
    assert any(line.startswith("crawler  to refresh the page it asks for /kettle.TVI: ") for line in lines)
    assert "crawler  it connects to this address only where AllowAddresses names it: it is not public" in lines


def test_a_page_that_was_changed_without_its_tables(folder: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    (folder[0] / "kettle.html").write_text(PAGE.replace("11.00", "12.00") + "<a href=new.html>New</a>", encoding="utf-8")
    code, lines = _check(folder[1] + "kettle.html", capsys)
    assert (code, lines[-1]) == (1, "3 things are wrong.")
    assert "wrong    /kettle.TOL has 0 links that the page has not, and lacks 1 that it has" in lines
    assert "wrong    /kettle.TVI does not fit the page: The skeleton is another one." in lines
    assert "crawler  to refresh the page it asks for the whole page, until the .TVI is right" in lines


def test_a_new_price_without_a_new_table(folder: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    (folder[0] / "kettle.html").write_text(PAGE.replace("11.00", "12.00"), encoding="utf-8")
    code, lines = _check(folder[1] + "kettle.html", capsys)
    assert code == 1
    assert sum("describes another version of the page: it is older or newer" in line for line in lines) == 3


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("kettle.TVI", None, "/kettle.TVI is declared and answers 404"),
        ("kettle.TVI", "<p>Sorry", "/kettle.TVI is not read: The first line is not that of a table."),
        ("kettle.TOL", "TOL/2\n", "/kettle.TOL is not read: It is of a version that is not known here."),
        ("site.TOL", "", "/site.TOL has 0 tables, and none for this page"),
        (
            "robots.txt",
            "User-agent: *\nDisallow: /k\n",
            "robots.txt forbids this page by Disallow: /k (line 2): a crawler does not",
        ),
        (
            "robots.txt",
            "Augment: 1\nUser-agent: *\nDisallow: /*.TVI\n",
            "robots.txt forbids /kettle.TVI by Disallow: /*.TVI (line 3)",
        ),
        ("robots.txt", "Augment: 1; tol={stem}.TOL", "the page marks parts that change, and no .TVI is declared for it"),
        ("robots.txt", None, "neither robots.txt nor the page declares tables for this page"),
        (
            "kettle.html",
            "<b data-vol=a><b data-vol=a></b></b>",
            "the page's markers, line 1, column 15: region 'a' is there a second",
        ),
        ("kettle.html", None, "the page answers 404"),
    ],
)
def test_what_can_be_wrong(
    folder: tuple[Path, str], capsys: pytest.CaptureFixture[str], name: str, text: str | None, sentence: str
) -> None:
    if text is None:
        (folder[0] / name).unlink()
    else:
        (folder[0] / name).write_text(text, encoding="utf-8")
    code, lines = _check(folder[1] + "kettle.html", capsys)
    assert code == 1
    assert any(line.startswith(f"{WRONG:8} {sentence}") for line in lines), lines


def test_tables_that_the_page_names_are_found(folder: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    path, url = folder
    head = '<link rel="tol" href="kettle.TOL"><link rel="tvi" href="kettle.TVI">'
    (path / "kettle.html").write_text(head + PAGE, encoding="utf-8")
    build(make_plan(path))
    (path / "robots.txt").unlink()
    code, lines = _check(url + "kettle.html", capsys)
    assert (code, lines[-1]) == (0, "Nothing is wrong.")
    assert "found    /kettle.TVI fits the page: 1 part that changes" in lines
    (path / "kettle.html").write_text('<link rel="augment" href="augment.txt">' + PAGE, encoding="utf-8")
    (path / "augment.txt").write_text("Augment: 1; tvi={stem}.TVI", encoding="utf-8")
    build(make_plan(path))
    (path / "robots.txt").unlink()
    assert _check(url + "kettle.html", capsys)[0] == 0


def test_the_sample_site(capsys: pytest.CaptureFixture[str]) -> None:
    with SampleServer() as server:
        assert _check(server.url, capsys)[0] == 0
        code, lines = _check(f"{server.url}opening-times", capsys)
        assert (code, lines[0]) == (
            1,
            f"wrong    the page answers 301 and leads to {server.url}visit/hours.html: check that one",
        )
        assert _check(f"{server.url}img/kettle.png", capsys)[1][0].startswith(
            "wrong    this is no page of HTML or XML but image/png"
        )


def test_what_a_server_sends_is_bounded_and_unpacked(server: SiteServer, capsys: pytest.CaptureFixture[str]) -> None:
    listener = server.listen()
    packed = Answer(
        body=gzip.compress(b"<p>" + b"x" * 100), headers=(("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
    )
    bomb = Answer(body=gzip.compress(b" " * 2**25), headers=packed.headers)
    server.put("", Site({"/": packed, "/bomb": bomb, "/robots.txt": Answer(body=b"Augment: 1\n" + b"#\n" * 2**19)}))
    assert _check(listener.url(), capsys)[1][0] == "found    the page has 103 B and marks no part that changes"
    code, lines = _check(listener.url("/bomb"), capsys)
    assert code == 1
    assert lines[0].startswith("wrong    the page does not come: ")


def test_a_server_that_does_not_answer_in_time_is_given_up(server: SiteServer) -> None:
    listener = server.listen()
    configuration = Configuration(MapConf(PluginDir=""), WorkConf())
    with server.holding(lambda _: True), SiteRequests(listener.url(), configuration, most_seconds=0.2) as requests:
        result = requests.get(listener.url(), 1000)
        assert (result.failure, result.detail) == (DownloadFailure.TIMEOUT, "no whole answer within 0.2 s")


def test_where_nothing_answers_one_line_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with refusing_port() as port:
        assert main(["augment", "check", f"http://127.0.0.1:{port}/"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"parcahyd: nothing answers at http://127.0.0.1:{port}/: ")
    assert "is the server running" in output.err


@pytest.mark.parametrize(
    "arguments", [["http://"], ["http://127.0.0.1:1/", "--form", "path"], ["http://127.0.0.1:1/", "--jobs", "1"]]
)
def test_a_users_error_has_a_remedy(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["augment", "check", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
