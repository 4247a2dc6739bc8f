"""Versions of pages: a clock makes none, and each one that is stored can be had again."""

from __future__ import annotations

import re
from itertools import count

from tests.support.crawl import CrawlFactory, assert_user_error
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Request, html

_FILLING = " ".join(f"word{number}" for number in range(200))


def test_a_clock_makes_no_versions(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    ticks = count()
    sent: list[bytes] = []
    heading = "Kettles"

    def clock(_: Request) -> Answer:
        answer = html(heading, ["/still"], extra=f"<p>{_FILLING}</p><p>It is <b>12:{next(ticks):02}:00</b>.</p>")
        sent.append(answer.body)
        return answer

    server.site().pages = {"/": clock, "/still": html("Still")}
    crawl = crawl_on({"Work.RevisitAfter": 0})
    crawl.run(listener.url())
    for _ in range(4):
        crawl.run()
    assert len(sent) == 5
    # The second visit could not know that it is a clock; from then on there is nothing new.
    assert crawl.show(listener.url()) == sent[1]
    report = crawl.explain(listener.url())
    assert "1 of 5 checks found a change" in report
    assert "volatile   1 place changes on most visits" in report
    assert len(re.findall("^fetched ", report, re.MULTILINE)) == 2
    crawl.verify()

    heading = "Pots"
    crawl.run()
    crawl.run()
    assert crawl.show(listener.url()) == sent[5]
    versions = crawl.command("show", "--versions", listener.url()).text.splitlines()
    assert len(versions) == 3
    times = [line.split("  ")[0] for line in versions]
    # Versions of one second stand for each other; the runs are further apart than that where it matters.
    shown = [crawl.command("show", "--at", time, listener.url()).out for time in times]
    assert shown[0] == sent[5]
    assert set(shown) <= {sent[0], sent[1], sent[5]}
    failed = crawl.command("show", "--at", "2001-02-03", listener.url())
    assert_user_error(failed, "the oldest stored version is of")
    assert times[-1] in failed.err
    crawl.verify()


def test_without_learning_every_tick_is_a_version(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    ticks = count()
    server.site().pages = {"/": lambda _: html("Kettles", extra=f"<p>{_FILLING}</p><p>12:{next(ticks):02}:00</p>")}
    running = crawl({"Work.RevisitAfter": 0, "Work.LearnRegions": False, "Work.KeepVersions": 9})
    running.run(listener.url())
    for _ in range(3):
        running.run()
    assert len(running.command("show", "--versions", listener.url()).text.splitlines()) == 4
    running.verify()
