"""The file of a crawl: one run under all its names, and no success when it is taken away."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.crawl import Crawl, CrawlFactory, assert_user_error
from tests.support.generated_site import generated_site
from tests.support.processes import marked_processes, wait_until
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, html


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_a_second_run_under_another_name_of_the_database_is_a_user_error(
    server: SiteServer, crawl: CrawlFactory, tmp_path: Path, link: object
) -> None:
    listener = server.listen()
    server.site().pages = {"/": html("Root", ["/silent"]), "/silent": Answer(silent=True)}
    first = crawl({"Work.TimeoutIdle": 600, "Work.TimeoutTotal": 600})
    second = Crawl(tmp_path / "second", f"sqlite:///{tmp_path / 'second' / 'same.db'}", {"Work.TimeoutTotal": 1})
    with first.start(listener.url()) as running:
        assert wait_until(lambda: "/silent" in server.targets()), running.said()
        assert callable(link)
        link(tmp_path / "second" / "same.db", tmp_path / "crawl.db")
        assert_user_error(second.run(listener.url(), code=None), "another run is working on this database")
        assert running.process.poll() is None


@pytest.mark.parametrize("replaced", [False, True])
def test_a_database_that_is_taken_away_during_a_run_is_a_failure(
    server: SiteServer, crawl: CrawlFactory, tmp_path: Path, replaced: bool
) -> None:
    listener = server.listen()
    server.put("", generated_site(60))
    running_crawl = crawl({"Work.HostConnections": 4})
    with (
        server.holding(lambda _: len(server.targets()) > 20) as release,
        running_crawl.start(listener.url()) as running,
    ):
        assert wait_until(lambda: len(server.targets()) > 20), running.said()
        if replaced:
            (tmp_path / "other.db").write_bytes(b"")
            os.replace(tmp_path / "other.db", tmp_path / "crawl.db")
        else:
            (tmp_path / "crawl.db").unlink()
        release()
        assert running.wait() == 1, running.said()
        sentence = "was replaced during the run" if replaced else "was deleted or moved during the run"
        assert sentence in running.said()
        assert "Traceback" not in running.said()
        assert wait_until(lambda: not marked_processes(running_crawl.mark))
    if not replaced:
        running_crawl.run(listener.url())
        assert len(running_crawl.stored()) == 60
        running_crawl.verify()
