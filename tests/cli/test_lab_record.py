"""`parcahyd lab record` (parcahyd/cli/lab_record.py and parcahyd/lab/recording.py): a crawl becomes data that the lab reads."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urljoin

import pytest

from parcahyd.cli.application import run_command
from parcahyd.core.errors import UserError
from parcahyd.lab.data import data_file, fields, lines
from parcahyd.lab.recording import Recording, record_sites
from parcahyd.lab.site_sizes import read_site_sizes
from parcahyd.sample.server import site_files

from .conftest import Crawl


@pytest.fixture
def recorded(crawl: Crawl, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert run_command(["lab", "record", str(tmp_path / "recorded"), "--conf", crawl.conf]) == 0
    return tmp_path / "recorded"


def test_a_recorded_crawl_has_its_pages_and_who_links_to_whom(crawl: Crawl, recorded: Path) -> None:
    pages = list(fields(data_file(recorded / "graph", "pages.tsv"), 5))
    links = [[int(row) for row in line.split()] for line in lines(data_file(recorded / "graph", "links.txt"))]
    urls = [url for url, *_ in pages]
    wanted = {path for path in site_files() if path not in ("/robots.txt", "/style.css", "/private/ledger.html")}
    assert urls == sorted(urljoin(crawl.site, path) for path in wanted)
    assert len(links) == len(pages)
    for number, (url, length, words, found, uncrawled) in enumerate(pages):
        assert number not in links[number], url
        assert len(links[number]) <= int(found) - int(uncrawled)
        assert int(length) > 0
        assert int(words) < int(length)
    start = urls.index(crawl.site)
    assert int(pages[start][2]) > 20
    assert {urls[row] for row in links[start]} >= {urljoin(crawl.site, "kettles/")}


def test_the_pages_of_its_sites_are_read_by_the_lab(crawl: Crawl, recorded: Path) -> None:
    sizes = read_site_sizes(recorded / "sites")
    (site,) = sizes.pages
    assert site in crawl.site
    assert sizes.pages[site] == (len(list(fields(data_file(recorded / "graph", "pages.tsv"), 5))),)


def test_to_record_again_on_that_day_changes_nothing(crawl: Crawl, recorded: Path) -> None:
    before = {path: path.read_bytes() for path in recorded.rglob("*") if path.is_file()}
    assert run_command(["lab", "record", str(recorded), "--conf", crawl.conf]) == 0
    assert {path: path.read_bytes() for path in recorded.rglob("*") if path.is_file()} == before
    assert len(before) == 3


def test_a_later_day_is_a_further_month(tmp_path: Path) -> None:
    record_sites(Recording({"http://a.example/": 1, "http://b.example/": 1, "http://b.example/2": 1}, "2026-01-31"), tmp_path)
    record_sites(Recording({"http://b.example/": 1, "http://c.example/": 1}, "2026-02-28"), tmp_path)
    assert read_site_sizes(tmp_path).pages == {"a.example": (1, None), "b.example": (2, 1), "c.example": (None, 1)}
    assert (tmp_path / "pages.tsv").read_text().startswith("#site\t2026-01-31\t2026-02-28\n")


@pytest.mark.parametrize("text", ["", "not a list\n", "#site\t2026-01-31\na\t1\t2\n"])
def test_a_file_of_another_form_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / "pages.tsv").write_text(text)
    with pytest.raises(UserError, match=r"pages\.tsv is not a list of pages by site"):
        record_sites(Recording({}, "2026-01-31"), tmp_path)
    assert (tmp_path / "pages.tsv").read_text() == text
