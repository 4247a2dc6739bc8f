"""Leases, results, deaths of workers, crashes and refused statements in any order, compared with a small model."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from parcahyd.core.errors import StoreFailure
from parcahyd.core.records import SiteLease
from parcahyd.core.states import Reason, State
from parcahyd.storage.schema import sites, urls
from tests.storage.desk import Desk

_ORIGINS = ("http://a.example", "http://b.example", "http://c.example")
_PATHS = ("/", "/1", "/2", "/3", "/4")
_ALL = tuple((origin, path) for origin in _ORIGINS for path in _PATHS)
_DELAY = 2.0
_EXAMPLES = 300 if os.environ.get("PARCAHYD_TORTURE") else 10
_choices = st.integers(0, 1_000_000)
_links = st.lists(st.sampled_from(_ALL), max_size=4, unique=True)


@dataclass
class _Url:
    """A URL as the model has it."""

    state: State
    due_at: float | None
    is_suspect: bool = False
    is_visited: bool = True
    """In this run. One that was killed goes on, and visits no page a second time."""


def _is_time(url: _Url, due_at: float, now: float, begun: float) -> bool:
    return due_at <= now if url.state is State.FAILED else due_at < begun and not url.is_visited


class _Leases(RuleBasedStateMachine):
    """The store beside the model. Whatever is done, both agree on every state, and on what is leased."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        desk.clear()
        self._urls: dict[tuple[str, str], _Url] = {}
        self._not_before = dict.fromkeys(_ORIGINS, 0.0)
        self._open: dict[str, SiteLease] = {}
        self._closed: list[SiteLease] = []
        self._watched: set[str] = set()

    @initialize()
    def begin(self) -> None:
        self._begin()
        self._desk.seed(*(f"{origin}/" for origin in _ORIGINS))
        for origin in _ORIGINS:
            self._urls[origin, "/"] = self._new_url()

    def _begin(self) -> None:
        self._desk.begin(HostDelay=_DELAY)

    # --- what happens ---------------------------------------------------------------------------------------------------

    @rule(count=st.integers(1, 4))
    def lease(self, count: int) -> None:
        due = {origin: found for origin in _ORIGINS if (found := self._due(origin))}
        pairs = self._desk.lease(count)
        assert len(pairs) == min(count, len(due)), due
        for pair in pairs:
            assert {url.path for url in pair.urls} == due[pair.origin], pair.origin
            suspects = {url.path for url in pair.urls if url.is_suspect}
            assert suspects == {path for path in due[pair.origin] if self._urls[pair.origin, path].is_suspect}
            assert pair.is_watched == (pair.origin in self._watched or bool(suspects))
            self._open[pair.origin] = pair

    def _due(self, origin: str) -> set[str]:
        now, begun = self._desk.now, self._desk.run_started
        if origin in self._open or self._not_before[origin] > now:
            return set()
        return {
            path
            for (its_origin, path), url in self._urls.items()
            if its_origin == origin
            and (url.state is State.KNOWN or (url.due_at is not None and _is_time(url, url.due_at, now, begun)))
        }

    @precondition(lambda self: self._open)
    @rule(which=_choices, links=_links, body=st.sampled_from((b"one", b"two", b"three")))
    def page(self, which: int, links: list[tuple[str, str]], body: bytes) -> None:
        pair, path = self._chosen(which)
        assert self._desk.write(self._page(pair, path, links, body)).late == 0
        self._stored(pair, path, links)

    @precondition(lambda self: self._open)
    @rule(which=_choices, links=_links, statement=st.integers(1, 12))
    def page_that_the_database_refuses(self, which: int, links: list[tuple[str, str]], statement: int) -> None:
        pair, path = self._chosen(which)
        if self._is_refused(statement, lambda: self._desk.write(self._page(pair, path, links, b"refused"))):
            return
        self._stored(pair, path, links)

    @precondition(lambda self: self._open)
    @rule(
        which=_choices,
        outcome=st.sampled_from(
            [(State.FAILED, Reason.RESET), (State.FAILED, Reason.WORKER_DIED), (State.GONE, Reason.MISSING)]
        ),
    )
    def bad(self, which: int, outcome: tuple[State, Reason]) -> None:
        pair, path = self._chosen(which)
        record = self._desk.bad(pair, path, *outcome)
        assert self._desk.store.store_bad([record], self._desk.now).late == 0
        is_suspect = outcome[1] is Reason.WORKER_DIED
        self._urls[pair.origin, path] = _Url(outcome[0], record.due_at, is_suspect)

    @precondition(lambda self: self._open)
    @rule(which=_choices, pause=st.sampled_from((0.0, 5.0, 90.0)))
    def over(self, which: int, pause: float) -> None:
        pair = self._visit(which)
        self._desk.over(pair, not_before=self._desk.now + pause)
        self._close(pair, self._desk.now + pause)

    @precondition(lambda self: self._open)
    @rule(which=_choices, statement=st.integers(1, 6))
    def end_that_the_database_refuses(self, which: int, statement: int) -> None:
        pair = self._visit(which)
        if not self._is_refused(statement, lambda: self._desk.over(pair)):
            self._close(pair, self._desk.now)

    @precondition(lambda self: self._open)
    @rule(dead=st.sets(st.sampled_from(_ORIGINS), min_size=1), guilty=st.sets(st.sampled_from(_ORIGINS)))
    def worker_dies(self, dead: set[str], guilty: set[str]) -> None:
        lost = {origin: pair for origin, pair in self._open.items() if origin in dead}
        found = {origin for origin in lost if origin in guilty}
        innocent = set(lost) - found if found else set()
        self._desk.store.judge([lost[origin].visit for origin in found], [lost[origin].visit for origin in innocent])
        self._desk.store.abandon([pair.visit for pair in lost.values()], self._desk.now)
        paused = {row["host"]: row["not_before"] for row in self._desk.rows(sites)}
        for origin, pair in lost.items():
            until = paused[pair.host]
            # Whoever had no part in it waits for one delay, others may wait for longer.
            assert until == max(self._not_before[origin], self._desk.now + _DELAY) or origin not in innocent
            assert until >= self._desk.now + _DELAY
            self._close(pair, until)
        self._watched = (self._watched | set(lost)) - innocent

    @rule()
    def crash(self) -> None:
        self._desk.killed()
        self._begin()
        for pair in list(self._open.values()):
            self._close(pair, max(self._not_before[pair.origin], self._desk.now + _DELAY))
        self._watched.clear()

    @precondition(lambda self: not self._open)
    @rule()
    def next_run(self) -> None:
        self._begin()
        self._watched.clear()
        for url in self._urls.values():
            url.is_visited = False

    @precondition(lambda self: self._closed)
    @rule(which=_choices)
    def late_records(self, which: int) -> None:
        pair = self._closed[which % len(self._closed)]
        before = self._desk.everything()
        assert self._desk.write(self._page(pair, "/1", [], b"late"), self._desk.unchanged(pair)).late == 2
        assert self._desk.store.store_bad([self._desk.bad(pair)], self._desk.now).late == 1
        self._desk.over(pair, not_before=self._desk.now + 999)
        self._desk.store.abandon([pair.visit], self._desk.now)
        assert self._desk.everything() == before

    @rule(seconds=st.sampled_from((0.5, 3.0, 70.0, 5000.0)))
    def time_passes(self, seconds: float) -> None:
        self._desk.now += seconds

    # --- what always holds ----------------------------------------------------------------------------------------------

    @invariant()
    def states_agree(self) -> None:
        if self._urls:
            held = {url: state.split()[0] for url, state in self._desk.states().items()}
            assert held == {f"{origin}{path}": url.state.word for (origin, path), url in self._urls.items()}

    @invariant()
    def nothing_is_damaged(self) -> None:
        if self._urls:
            assert self._desk.findings() == []

    # --- inside ---------------------------------------------------------------------------------------------------------

    def _visit(self, which: int) -> SiteLease:
        return sorted(self._open.items())[which % len(self._open)][1]

    def _chosen(self, which: int) -> tuple[SiteLease, str]:
        """An open visit, and a path of its site that is known."""
        pair = self._visit(which)
        paths = sorted(path for origin, path in self._urls if origin == pair.origin)
        return pair, paths[which // 7 % len(paths)]

    def _page(self, pair: SiteLease, path: str, links: list[tuple[str, str]], body: bytes) -> Any:
        internal = tuple(target for origin, target in links if origin == pair.origin)
        external = tuple(f"{origin}{target}" for origin, target in links if origin != pair.origin)
        return self._desk.page(pair, path, body, internal=internal, external=external)

    def _stored(self, pair: SiteLease, path: str, links: list[tuple[str, str]]) -> None:
        (due_at,) = [row["due_at"] for row in self._desk.rows(urls) if row["path"] == path and row["site_id"] == pair.site]
        self._urls[pair.origin, path] = _Url(State.STORED, due_at)
        for link in links:
            self._urls.setdefault(link, self._new_url())

    def _new_url(self) -> _Url:
        return _Url(State.KNOWN, self._desk.now, is_visited=False)

    def _is_refused(self, statement: int, write: Callable[[], object]) -> bool:
        """Whether the database refused the statement with that number; then nothing has changed."""
        before = self._desk.everything()
        heal = self._desk.fail_at(statement)
        try:
            write()
        except StoreFailure:
            assert self._desk.everything() == before
            return True
        finally:
            heal()
        return False

    def _close(self, pair: SiteLease, not_before: float) -> None:
        del self._open[pair.origin]
        self._closed.append(pair)
        self._not_before[pair.origin] = not_before


def test_any_order_of_leases_results_deaths_and_crashes(desk: Desk) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    plan = settings(
        max_examples=_EXAMPLES, stateful_step_count=30, deadline=None, suppress_health_check=checks, print_blob=True
    )
    run_state_machine_as_test(lambda: _Leases(desk), settings=plan)  # type: ignore[arg-type]  # a function that makes one will do
