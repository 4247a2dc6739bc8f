"""Whole crawls of a small web whose process is killed again and again (architecture, section 9, invariant 1)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from parcahyd.core.records import ExternRecord, SiteLease
from parcahyd.core.states import Reason, State
from parcahyd.storage.schema import fetches, sites, urls
from tests.storage.desk import REVISIT, Desk

A = "http://a.example"
B = "http://b.example"


class _Killed(Exception):
    """Nothing of the process is left."""


class _Web:
    """Two sites of some pages, with dead links, redirects and twins."""

    def __init__(self, dice: random.Random) -> None:
        self.pages: dict[str, tuple[bytes, list[str]]] = {}
        names = [f"{site}/{number}" for site in (A, B) for number in range(12)]
        for name in names:
            links = dice.sample(names, 3) + [f"{name}/dead"] * (dice.random() < 0.2)
            self.pages[name] = (f"body {dice.randrange(15)}".encode(), links)
        self.pages[f"{A}/"] = (b"start", [f"{A}/0", f"{B}/0"])
        self.redirects = {f"{A}/3": f"{B}/3", f"{B}/5": f"{A}/5"}


class _Crawler:
    """Visits until nothing is due. Every write may be the last one of its process."""

    def __init__(self, desk: Desk, web: _Web, dice: random.Random, danger: float) -> None:
        self._desk = desk
        self._web = web
        self._dice = dice
        self._danger = danger

    def run(self) -> None:
        while pairs := self._desk.lease(self._dice.randint(1, 2), pages=self._dice.randint(1, 6)):
            self._risk()
            for pair in pairs:
                self._visit(pair)
                self._desk.over(pair)
                self._risk()

    def _risk(self) -> None:
        if self._dice.random() < self._danger:
            raise _Killed

    def _visit(self, pair: SiteLease) -> None:
        waiting = [due.path for due in pair.urls]
        done: set[str] = set()
        batch: list[Any] = []
        while waiting:
            path = waiting.pop(0)
            if path not in done:
                done.add(path)
                batch += self._fetch(pair, path, waiting)
            if len(batch) > 3 or not waiting:
                self._desk.write(*batch)
                batch = []
                self._risk()

    def _fetch(self, pair: SiteLease, path: str, waiting: list[str]) -> list[Any]:
        url = f"{pair.origin}{path}"
        if target := self._web.redirects.get(url):
            return [self._desk.redirect(pair, path, target)]
        if url not in self._web.pages:
            record = self._desk.bad(pair, path, State.GONE, Reason.MISSING, due_at=self._desk.now + 10 * REVISIT)
            self._desk.store.store_bad([record], self._desk.now)
            self._risk()
            return []
        body, links = self._web.pages[url]
        inside = tuple(link.removeprefix(pair.origin) for link in links if link.startswith(pair.origin))
        outside = tuple(link for link in links if not link.startswith(pair.origin))
        if self._dice.random() < 0.5:
            self._desk.store.store_extern([ExternRecord(pair.visit, 1, outside)], self._desk.now)
            self._risk()
        waiting += [link for link in inside if self._dice.random() < 0.5]
        return [self._desk.page(pair, path, body, internal=inside, external=outside)]


def _begin(desk: Desk) -> None:
    desk.begin(HostDelay=0)
    desk.seed(f"{A}/", f"{B}/0")


@pytest.mark.parametrize("number", range(2))
def test_a_crawl_that_is_killed_ends_like_one_that_is_not(desk: Desk, tmp_path: Path, number: int) -> None:
    web = _Web(random.Random(number))
    calm = Desk(f"sqlite:///{tmp_path / 'calm.db'}")
    _begin(calm)
    _Crawler(calm, web, random.Random(number), danger=0.0).run()
    assert len(_documents(calm)) > 10

    crawler = _Crawler(desk, web, random.Random(number), danger=0.15)
    kills = 0
    while True:
        _begin(desk)
        assert desk.findings(running=False) == []
        try:
            crawler.run()
            break
        except _Killed:
            kills += 1
            desk.killed()
            desk.now += 1
    assert kills > 2
    assert desk.states() == calm.states()
    assert _documents(desk) == _documents(calm)
    assert desk.findings(running=False) == calm.findings(running=False) == []
    calm.close()


def _documents(desk: Desk) -> dict[tuple[str, str], bytes]:
    shas = {row["id"]: row["sha256"] for row in desk.rows(fetches)}
    hosts = {row["id"]: row["host"] for row in desk.rows(sites)}
    return {(hosts[row["site_id"]], row["path"]): shas[row["fetch_id"]] for row in desk.rows(urls) if row["document_id"]}
