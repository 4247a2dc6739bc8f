"""Third-party plugins: found by entry point, by file and by dotted path; reported when they break their contract."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.crawl import Crawl, CrawlFactory, assert_user_error
from tests.support.generated_site import generated_site
from tests.support.site_server import SiteServer, can_bind

_SOURCE = Path(__file__).parent / "third_party" / "third_party.py"


def _install(crawl: Crawl, folder: Path) -> None:
    """What `pip install` leaves behind: the module and its metadata with an entry point."""
    metadata = folder / "third_party-1.0.dist-info"
    metadata.mkdir(parents=True)
    shutil.copy(_SOURCE, folder)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: third_party\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[parcahyd]\nthird_party = third_party\n")
    (metadata / "RECORD").write_text("third_party.py,,\nthird_party-1.0.dist-info/METADATA,,\n")
    crawl.python_path.append(folder)


def _drop(crawl: Crawl) -> None:
    folder = crawl.folder / "plugins"
    folder.mkdir()
    shutil.copy(_SOURCE, folder)


@pytest.mark.parametrize("way", ["entry point", "file"])
def test_a_resolver_and_a_downloader_by_name(server: SiteServer, crawl: CrawlFactory, tmp_path: Path, way: str) -> None:
    listener = server.listen()
    server.put("", generated_site(8))
    running = crawl({"Map.DnsResolverClass": "table", "Work.DownloaderClass": "plain"})
    if way == "entry point":
        _install(running, tmp_path / "installed")
    else:
        _drop(running)
    running.run(listener.url(host="a.third-party.test"))
    assert len(running.stored()) == 8
    assert {entry.headers.get("x-plugin") for entry in server.log} == {"plain"}
    listed = running.command("plugins", "--conf", str(running.conf)).text
    assert "table" in listed
    assert "plain" in listed
    assert "third_party" in listed


def test_a_downloader_by_dotted_path(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(4))
    running = crawl({"Work.DownloaderClass": "third_party.PlainDownloader"})
    running.python_path.append(_SOURCE.parent)
    running.run(listener.url())
    assert len(running.stored()) == 4
    assert {entry.headers.get("x-plugin") for entry in server.log} == {"plain"}


def test_a_downloader_that_goes_elsewhere_is_found_out(server: SiteServer, crawl: CrawlFactory) -> None:
    if not can_bind("127.0.0.2"):
        pytest.skip("this machine has no 127.0.0.2")
    site = server.listen("127.0.0.2")
    server.listen("127.0.0.1", site.port)
    server.put("", generated_site(4))
    running = crawl({"Work.DownloaderClass": "careless"})
    _drop(running)
    finished = running.run(site.url())
    assert running.stored() == set()
    assert running.states()[site.url()][0] == "failed"
    assert "careless" in finished.text + finished.err


def test_a_downloader_that_raises_is_named_and_stops_nothing(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(4))
    running = crawl({"Work.DownloaderClass": "raising"})
    _drop(running)
    finished = running.run(listener.url())
    assert listener.connections == 0
    assert running.states()[listener.url()][0] == "failed"
    assert "raising" in finished.text + finished.err
    running.verify()


def test_the_requests_downloader(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(20))
    running = crawl({"Work.DownloaderClass": "requests"})
    running.run(listener.url())
    assert running.show_all(running.stored()) == {listener.url(target): body for target, body in server.site().bodies().items()}
    server.forget()
    running.run(sets={"Work.RevisitAfter": 0})
    assert {entry.status for entry in server.requests()} == {304}


def test_a_plugin_file_that_does_not_load_is_a_user_error(server: SiteServer, crawl: CrawlFactory) -> None:
    running = crawl()
    (running.folder / "plugins").mkdir()
    (running.folder / "plugins" / "broken.py").write_text("import nothing_of_the_kind\n")
    finished = running.run("http://127.0.0.1:9/", code=2)
    assert "broken.py" in finished.err


_PLUGIN = """
import pycurl
from parcahyd.hookspecs import hookimpl

def summarizer(conf):
    raise OSError("no dictionary")

@hookimpl
def parcahyd_summarizers():
    return {"thesaurus": summarizer}

pycurl.version_info = lambda: (0, "7.88.1", 0x075801)
"""


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("Work.DownloaderClass=os.path.join", ('downloader "os.path.join"', "choose another DownloaderClass")),
        ("Work.DownloaderClass=curl", ("libcurl 7.88.1 is too old", 'DownloaderClass = "requests"')),
        ("Work.Summaries=full", ('summarizer "thesaurus"', "no dictionary", "remove it")),
    ],
)
def test_a_user_error_that_a_worker_finds_is_one_line(
    server: SiteServer, crawl: CrawlFactory, setting: str, words: tuple[str, ...]
) -> None:
    listener = server.listen()
    server.put("", generated_site(4))
    running = crawl({"Work.DownloaderClass": "requests"})
    (running.folder / "plugins").mkdir()
    (running.folder / "plugins" / "mistaken.py").write_text(_PLUGIN)
    finished = running.command("run", "--conf", str(running.conf), "--seed", listener.url(), "--set", setting)
    assert_user_error(finished, *words)
    assert server.log == []
    # The database may have begun the run before the worker found the mistake. Then its settings are those of the last run.
    repaired = ("--as-configured", "--set", "Work.Summaries=brief")
    finished = running.command("run", "--conf", str(running.conf), "--seed", listener.url(), *repaired)
    assert finished.code == 0, finished.err
    assert len(running.stored()) == 4
