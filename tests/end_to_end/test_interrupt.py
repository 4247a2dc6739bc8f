"""Stopping a crawl, going on with it, and two runs on one database."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections import Counter

import pytest

from tests.support.crawl import ROOT, CrawlFactory, assert_user_error
from tests.support.generated_site import generated_site
from tests.support.processes import TEST_TIMEOUT, end_all, marked_processes, wait_until
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, html

_TELLING = ["--interval", "0"]
"""Options of a run whose output shows soon that it is stopping."""


def test_an_interrupted_crawl_goes_on_and_asks_for_nothing_twice(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", generated_site(120))
    crawl = crawl_on({"Work.HostConnections": 4, "Work.StopTimeout": TEST_TIMEOUT})
    with (
        server.holding(lambda _: len(server.targets()) > 20) as release,
        crawl.start(listener.url(), options=_TELLING) as running,
    ):
        assert wait_until(lambda: len(server.targets()) > 20), running.said()
        running.interrupt()
        assert wait_until(lambda: "stopping" in running.phases()), running.said()
        release()
        assert running.wait() == 130, running.said()
        assert "Traceback" not in running.said()
        assert wait_until(lambda: not marked_processes(crawl.mark))
    asked = len(server.targets())
    assert 20 < asked < 120
    assert len(crawl.stored()) == asked
    crawl.verify()
    crawl.run()
    assert Counter(server.targets()) == dict.fromkeys(server.site().bodies(), 1)
    assert len(crawl.stored()) == 120
    crawl.verify()


def test_an_interrupted_refresh_goes_on_and_confirms_nothing_twice(server: SiteServer, crawl_on: CrawlFactory) -> None:
    """Every page is due again at once. The run that goes on has visited some of them, and visits only the others."""
    listener = server.listen()
    server.put("", generated_site(40))
    crawl = crawl_on({"Work.HostConnections": 1, "Work.StopTimeout": TEST_TIMEOUT})
    crawl.run(listener.url())
    again = {"Work.RevisitAfter": 0.001, "Work.RevisitMax": 0.001}
    with (
        server.holding(lambda _: len(server.targets()) > 55) as release,
        crawl.start(sets=again, options=_TELLING) as running,
    ):
        assert wait_until(lambda: len(server.targets()) > 55), running.said()
        running.interrupt()
        assert wait_until(lambda: "stopping" in running.phases()), running.said()
        release()
        assert running.wait() == 130, running.said()
    assert 55 < len(server.targets()) < 80
    crawl.run(sets=again)
    assert Counter(server.targets()) == dict.fromkeys(server.site().bodies(), 2)
    crawl.verify()
    crawl.run(sets=again)
    assert Counter(server.targets()) == dict.fromkeys(server.site().bodies(), 3)


def test_a_second_interrupt_does_not_wait(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.site().pages = {"/": html("Root", ["/silent"]), "/silent": Answer(silent=True)}
    running_crawl = crawl({"Work.StopTimeout": 600, "Work.TimeoutIdle": 600, "Work.TimeoutTotal": 600})
    with running_crawl.start(listener.url(), options=_TELLING) as running:
        assert wait_until(lambda: "/silent" in server.targets()), running.said()
        running.interrupt()
        # Two signals that arrive together are one.
        assert wait_until(lambda: "stopping" in running.phases()), running.said()
        assert not wait_until(lambda: running.process.poll() is not None, timeout=1), running.said()
        running.interrupt()
        assert running.wait() == 130
        assert wait_until(lambda: not marked_processes(running_crawl.mark))
    running_crawl.verify()


def test_a_stop_waits_no_longer_than_it_may(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.site().pages = {"/": html("Root", ["/silent"]), "/silent": Answer(silent=True)}
    running_crawl = crawl({"Work.StopTimeout": 1, "Work.TimeoutIdle": 600, "Work.TimeoutTotal": 600})
    with running_crawl.start(listener.url()) as running:
        assert wait_until(lambda: "/silent" in server.targets()), running.said()
        running.terminate()
        assert running.wait() == 130
    assert running_crawl.stored() == {listener.url()}
    running_crawl.verify()
    # What was cut short is no failure of the page: it waits for its turn.
    assert running_crawl.states()[listener.url("/silent")] == ("known", "")


def test_a_second_run_on_the_same_database_is_a_user_error(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    server.site().pages = {"/": html("Root", ["/silent"]), "/silent": Answer(silent=True)}
    crawl = crawl_on({"Work.TimeoutIdle": 600, "Work.TimeoutTotal": 600})
    with crawl.start(listener.url()) as running:
        assert wait_until(lambda: "/silent" in server.targets()), running.said()
        assert_user_error(crawl.run(listener.url(), code=None), "run")
        assert running.process.poll() is None
        assert crawl.status()  # reading is free while a run is under way
        assert wait_until(lambda: listener.url() in crawl.stored(), pause=0.2)


def test_a_crawl_that_keeps_its_documents_fresh(server: SiteServer, crawl: CrawlFactory) -> None:
    """--forever: pages are asked for again whenever they fall due, until the run is stopped."""
    listener = server.listen()
    server.put("", generated_site(3))
    running_crawl = crawl({"Work.RevisitAfter": 0.5})
    with running_crawl.start(listener.url(), options=["--forever"]) as running:
        assert wait_until(lambda: min(Counter(server.targets()).values(), default=0) >= 3), running.said()
        running.interrupt()
        assert running.wait() == 130
    statuses = {target: [entry.status for entry in server.requests() if entry.target == target] for target in server.targets()}
    assert len(statuses) == 3
    assert all(first == 200 and set(others) == {304} for first, *others in statuses.values()), statuses
    running_crawl.verify()


# --- signals that reach every process of a run --------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_whole_group_stops_as_ctrl_c_does(
    server: SiteServer, crawl_on: CrawlFactory, number: signal.Signals
) -> None:
    listener = server.listen()
    server.put("", generated_site(120))
    crawl = crawl_on({"Work.HostConnections": 4, "Work.MaxInstances": 2, "Work.StopTimeout": TEST_TIMEOUT})
    with (
        server.holding(lambda _: len(server.targets()) > 20) as release,
        crawl.start(listener.url(), options=_TELLING) as running,
    ):
        assert wait_until(lambda: len(server.targets()) > 20), running.said()
        running.signal_group(number)
        assert wait_until(lambda: "stopping" in running.phases()), running.said()
        release()
        assert running.wait() == 130, running.said()
        assert "Traceback" not in running.said()
        assert wait_until(lambda: not marked_processes(crawl.mark))
        summary = running.summary()
    asked = len(server.targets())
    assert len(crawl.stored()) == asked == summary["stored"]
    assert (summary["outcome"], summary["notes"]) == ("interrupted", [])
    crawl.verify()
    crawl.run()
    assert Counter(server.targets()) == dict.fromkeys(server.site().bodies(), 1)
    crawl.verify()


@pytest.mark.parametrize("processes", [2, 3])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_whole_group_right_after_the_start(
    server: SiteServer, crawl: CrawlFactory, number: signal.Signals, processes: int
) -> None:
    """Children that have just been started load their modules; the database may not be there yet."""
    listener = server.listen()
    server.put("", generated_site(10))
    running_crawl = crawl({"Work.MaxInstances": 2})
    with running_crawl.start(listener.url()) as running:
        assert wait_until(lambda: len(marked_processes(running_crawl.mark)) >= processes, pause=0.0), running.said()
        running.signal_group(number)
        assert running.wait() == 130, running.said()
        assert "Traceback" not in running.said()
        assert running.summary()["outcome"] == "interrupted"
        assert wait_until(lambda: not marked_processes(running_crawl.mark))
    running_crawl.run(listener.url())
    assert len(running_crawl.stored()) == 10
    running_crawl.verify()


def test_a_signal_to_a_process_and_its_group_is_one_request_to_stop(server: SiteServer, crawl: CrawlFactory) -> None:
    """GNU `timeout` signals the process that it started, and then its group."""
    listener = server.listen()
    server.put("", generated_site(60))
    running_crawl = crawl({"Work.HostConnections": 4, "Work.StopTimeout": TEST_TIMEOUT})
    with (
        server.holding(lambda _: len(server.targets()) > 20) as release,
        running_crawl.start(listener.url(), options=_TELLING) as running,
    ):
        assert wait_until(lambda: len(server.targets()) > 20), running.said()
        running.terminate()
        # The first signal has been answered, so the second cannot be merged with it.
        assert wait_until(lambda: _is_answered(running.process.pid), pause=0.0)
        running.signal_group(signal.SIGTERM)
        assert wait_until(lambda: "stopping" in running.phases()), running.said()
        release()
        assert running.wait() == 130, running.said()
        assert running.summary()["notes"] == []
    assert len(running_crawl.stored()) == len(server.targets())


def _is_answered(pid: int) -> bool:
    """Whether no SIGTERM waits for its delivery (proc(5): SigPnd and ShdPnd are masks of pending signals)."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        masks = [int(line.split()[1], 16) for line in file if line.startswith(("SigPnd:", "ShdPnd:"))]
    return not any(mask & 1 << (signal.SIGTERM - 1) for mask in masks)


def test_a_run_that_is_to_survive_its_terminal_does(server: SiteServer, crawl: CrawlFactory) -> None:
    """`nohup` starts a program with SIGHUP ignored."""
    listener = server.listen()
    server.put("", generated_site(40))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        running_crawl = crawl({"Work.HostConnections": 4})
        with (
            server.holding(lambda _: len(server.targets()) > 20) as release,
            running_crawl.start(listener.url()) as running,
        ):
            assert wait_until(lambda: len(server.targets()) > 20), running.said()
            running.signal_group(signal.SIGHUP)
            release()
            assert running.wait() == 0, running.said()
    finally:
        signal.signal(signal.SIGHUP, before)
    assert len(running_crawl.stored()) == 40


def test_a_terminal_that_is_closed_stops_the_run(server: SiteServer, crawl: CrawlFactory) -> None:
    """The system sends SIGHUP to the processes of the terminal, and everything that they write to it fails."""
    listener = server.listen()
    server.put("", generated_site(60))
    running_crawl = crawl({"Work.HostConnections": 4, "Work.StopTimeout": TEST_TIMEOUT})
    terminal, theirs = pty.openpty()
    with server.holding(lambda _: len(server.targets()) > 20) as release:
        process = subprocess.Popen(
            [sys.executable, "-c", _ON_TERMINAL, "run", "--conf", str(running_crawl.conf), "--seed", listener.url()],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, running_crawl.mark: "1", "PYTHONPATH": str(ROOT), "TERM": "xterm"},
            start_new_session=True,
        )
        os.close(theirs)
        try:
            assert wait_until(lambda: len(server.targets()) > 20)
            os.close(terminal)
            release()
            assert process.wait(TEST_TIMEOUT) == 130
        finally:
            process.kill()
            process.wait()
            end_all(marked_processes(running_crawl.mark))
    assert len(running_crawl.stored()) == len(server.targets())
    running_crawl.verify()


_ON_TERMINAL = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # Standard input becomes the terminal of this session.
from parcahyd.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_second_interrupt_still_gives_a_summary(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.site().pages = {"/": html("Root", ["/silent"]), "/silent": Answer(silent=True)}
    running_crawl = crawl({"Work.StopTimeout": 600, "Work.TimeoutIdle": 600, "Work.TimeoutTotal": 600})
    with running_crawl.start(listener.url(), options=_TELLING) as running:
        assert wait_until(lambda: "/silent" in server.targets()), running.said()
        running.interrupt()
        assert wait_until(lambda: "stopping" in running.phases()), running.said()
        # Several signals within a second are one request, so this one comes later.
        assert not wait_until(lambda: running.process.poll() is not None, timeout=1.5), running.said()
        running.interrupt()
        assert running.wait() == 130
        summary = running.summary()
    assert summary["outcome"] == "interrupted"
    assert "ended before the database could close it" in summary["notes"][-1]
