"""The permits of a pipeline: which hosts and addresses it has claimed at the hub, for the Crawl Manager.

Everything here runs on the event loop, but for `_Exchange.run`, which talks to the hub in its thread. One exchange is under way
at a time. It releases what no visit uses, writes what was learned, and claims what visits wait for. A subject that is to be
released is used no more from the moment at which that is decided.

Tested in tests/cluster/test_claims_desk.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Protocol, TypeVar

import msgspec

from parcahyd.cluster.deadline import BootClock, HubTime
from parcahyd.cluster.records import Want
from parcahyd.cluster.subjects import Claimed, Claims, Learned
from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import StoreFailure
from parcahyd.core.ports import Clock
from parcahyd.core.records import LOCAL_ADDRESS, Pause, SiteLease
from parcahyd.pipeline.crawl_manager import Permit
from parcahyd.rules.urls.host_rules import host_delays

__all__ = ["ClaimsDesk", "HomesByAddress", "Hub"]

Answer = TypeVar("Answer")

_MOST_WANTS = 256
_SOON = 0.001
"""Seconds for which an exchange waits for more to do together."""
_SETTLED = 65536
_ALWAYS = Permit()


class Hub(Protocol):
    """The thread of a pipeline that talks to the hub."""

    def call(self, work: Callable[[], Answer], done: Callable[[Answer], None]) -> None:
        """Runs `work` in the thread, and `done` on the loop with what it returned."""
        ...

    def until_answered(self, step: Callable[[], Answer]) -> Answer:
        """In the thread: repeats a step as long as the hub does not answer. The process ends when its lease is over."""
        ...


class HomesByAddress(Protocol):
    """Says where hosts are to live, once their addresses are known."""

    def settle(self, found: Mapping[str, str]) -> set[str]:
        """Gets hosts with their addresses, and returns those that are to live elsewhere."""
        ...


class Exchanged(msgspec.Struct):
    """What the hub answered."""

    granted: Mapping[str, Claimed]
    """By subject."""
    refused: Collection[str]
    """Pairs that wait."""
    yielding: Collection[str]
    """Subjects whose turn is over, because others wait."""
    settled: Mapping[str, bool] = {}
    """Whether a host that was never visited is to live here."""


class _News(msgspec.Struct):
    """What visits learned of a subject, in times of the boot clock."""

    rests_until: float = 0.0
    pause_until: float = 0.0
    """Beyond the usual delay."""
    delay: float = 0.0
    """Asked for by robots.txt."""
    reason: str = ""
    failures: int = 0

    @property
    def is_to_be_written(self) -> bool:
        return self.delay > 0.0 or self.pause_until > 0.0


class _Exchange:
    """One exchange with the hub, in its thread. A step that failed is repeated, those before it are not."""

    def __init__(
        self,
        claims: Claims,
        clock: BootClock,
        hub_time: HubTime,
        hub: Hub,
        *,
        wants: list[Want],
        given_up: list[str],
        releases: Mapping[str, float],
        news: Mapping[str, _News],
        yielding: Collection[str],
        looks_for_turns: bool,
        unsettled: Mapping[str, str],
        homes: HomesByAddress | None,
    ) -> None:
        self._claims = claims
        self._clock = clock
        self._hub_time = hub_time
        self._hub = hub
        self._wants = wants
        self._given_up = given_up
        self._releases = releases
        self._news = news
        self._refused: Collection[str] = ()
        self._granted: list[str] = []
        self._yielding = set(yielding)
        self._looks_for_turns = looks_for_turns
        self._unsettled = unsettled
        self._homes = homes
        self._leaving: set[str] = set()
        self._was_in_doubt = False

    def run(self) -> Exchanged:
        for step in (self._learn, self._release, self._leave, self._yield, self._settle, self._claim, self._free_strays):
            self._hub.until_answered(step)
        held = self._claims.held
        return Exchanged(
            {subject: msgspec.structs.replace(held[subject]) for subject in self._granted},
            self._refused,
            self._yielding,
            dict.fromkeys(self._unsettled, True) | dict.fromkeys(self._leaving, False),
        )

    def _learn(self) -> None:
        held, now, hub_now = self._claims.held, self._clock(), self._hub_time.now()
        learned = [
            Learned(
                subject,
                not_before=max(held[subject].not_before, hub_now + news.pause_until - now if news.pause_until > now else 0.0),
                delay=max(held[subject].delay, news.delay),
                reason=news.reason,
                failures=news.failures,
                facts=held[subject].facts,
            )
            for subject, news in self._news.items()
            if subject in held
        ]
        if learned:
            self._claims.learn(learned)

    def _release(self) -> None:
        now, held = self._clock(), self._claims.held
        rests = {subject: max(0.0, until - now) for subject, until in self._releases.items() if subject in held}
        if rests:
            self._claims.release(rests)

    def _leave(self) -> None:
        if self._given_up:
            self._claims.leave(self._given_up)

    def _yield(self) -> None:
        if self._looks_for_turns and self._claims.held:
            self._yielding |= self._claims.to_yield()

    def _settle(self) -> None:
        if self._unsettled and self._homes is not None:
            self._leaving = self._homes.settle(self._unsettled)

    def _claim(self) -> None:
        if not self._wants:
            return
        try:
            decision = self._claims.claim(self._wants, self._yielding)
        except StoreFailure:
            self._was_in_doubt = True
            raise
        self._refused = decision.refused
        self._granted = sorted({subject for want in decision.granted for subject in want.delays})

    def _free_strays(self) -> None:
        if self._was_in_doubt:
            self._claims.release_strays()


class ClaimsDesk:
    """The port `Permits` of the Crawl Manager, where the crawl is divided.

    `granted` is called when visits may begin; `hand_back` gets the subjects whose open visits are to end, because others wait
    for them.
    """

    def __init__(
        self,
        work: WorkConf,
        claims: Claims,
        hub_time: HubTime,
        clock: Clock,
        boot_clock: BootClock,
        loop: asyncio.AbstractEventLoop,
        hub: Hub,
        *,
        granted: Callable[[], None],
        hand_back: Callable[[set[str]], None],
        want_pages: Callable[[], None],
        homes: HomesByAddress | None = None,
        leaving: Callable[[set[str]], None] = lambda _: None,
    ) -> None:
        """`leaving` gets hosts that are to live elsewhere, now that their addresses are known. Without `homes`, none is."""
        self._claims = claims
        self._hub_time = hub_time
        self._clock = clock
        self._boot_clock = boot_clock
        self._loop = loop
        self._hub = hub
        self._granted = granted
        self._hand_back = hand_back
        self.want_pages = want_pages
        self._homes = homes
        self._leaving = leaving
        self._unsettled: dict[str, str] = {}
        """Hosts that were never visited, with their addresses."""
        self._settled: set[str] = set()
        """Hosts that are to live here, of those that were asked about lately."""
        self._host_delay = host_delays(work)
        self._address_delay = work.address_delay
        self._held: dict[str, Claimed] = {}
        self._in_use: set[str] = set()
        self._wants: dict[str, Want] = {}
        self._waiting_since: dict[str, float] = {}
        """By pair, on the boot clock: when it was refused first."""
        self._given_up: list[str] = []
        self._news: dict[str, _News] = {}
        self._yielding: set[str] = set()
        self._is_exchanging = False
        self._is_planned = False
        self._is_closed = False
        self._looks_for_turns = False

    # --- the port of the Crawl Manager ----------------------------------------------------------------------------------

    def ask(self, lease: SiteLease, address: str) -> Permit | None:
        """A permit, if host and address are claimed; else they are wanted from now on."""
        if address == LOCAL_ADDRESS:
            return _ALWAYS
        if self._homes is not None and lease.robots is None and lease.host not in self._settled:
            if not self._is_closed:
                self._unsettled[lease.host] = address
                self._plan()
            return None
        crawl_delay = 0.0 if lease.robots is None else lease.robots.delay
        want = Want(lease.host, self._host_delay(lease.host, lease.port, crawl_delay), address, self._address_delay)
        host, of_address = (self._usable(subject) for subject in want.delays)
        if host is not None and of_address is not None:
            self._wants.pop(want.pair, None)
            self._waiting_since.pop(want.pair, None)
            ahead = self._clock.now() - self._boot_clock()
            return Permit(host.usable_from + ahead, of_address.usable_from + ahead, of_address.failures)
        if want.pair not in self._wants and not self._is_closed:
            self._wants[want.pair] = want
            self._plan()
        return None

    def _usable(self, subject: str) -> Claimed | None:
        return None if subject in self._yielding else self._held.get(subject)

    def begin(self, subject: str) -> None:
        """A visit uses the subject from now on."""
        self._in_use.add(subject)

    def end(self, subject: str) -> None:
        """No visit uses it any more."""
        self._in_use.discard(subject)
        self._plan()

    def rest(self, subject: str, seconds: float, pause: Pause | None) -> None:
        """Notes how long the subject rests."""
        news, now = self._news.setdefault(subject, _News()), self._boot_clock()
        news.rests_until = max(news.rests_until, now + seconds)
        if pause is not None:
            left = pause.not_before - self._clock.now()
            news.failures, news.reason = pause.failures, pause.reason
            if pause.failures or left > seconds + 1.0:
                news.pause_until = max(news.pause_until, now + left)

    def slow_down(self, host: str, delay: float) -> None:
        """Notes the longer delay of a host, which whoever has it next must know even if this machine dies."""
        news = self._news.setdefault(f"host {host}", _News())
        news.delay = max(news.delay, delay)
        self._plan()

    # --- the exchange ---------------------------------------------------------------------------------------------------

    def look_again(self) -> None:
        """Called about once a second: pairs that wait try again, and turns come to their end."""
        if self._wants or self._held:
            self._looks_for_turns = True
            self._exchange()

    def _plan(self) -> None:
        if not self._is_planned:
            self._is_planned = True
            self._loop.call_later(_SOON, self._exchange_now)

    def _exchange_now(self) -> None:
        self._is_planned = False
        self._exchange()

    def _exchange(self) -> None:
        if self._is_exchanging:
            return  # `_exchanged` looks again.
        wanted = {subject for want in self._wants.values() for subject in want.delays} - self._yielding
        releases = {}
        for subject in [subject for subject in self._held if subject not in self._in_use and subject not in wanted]:
            rests_until = self._news.get(subject, _News()).rests_until
            releases[subject] = max(self._held.pop(subject).usable_from, rests_until)
        news = {subject: found for subject, found in self._news.items() if found.is_to_be_written}
        self._news = {
            subject: _News(rests_until=found.rests_until) for subject, found in self._news.items() if subject in self._held
        }
        self._yielding.difference_update(releases)
        given_up, self._given_up = self._given_up, []
        wants = self._to_claim()
        unsettled, self._unsettled = self._unsettled, {}
        if not wants and not releases and not unsettled and not news and not given_up and not self._looks_for_turns:
            return
        self._is_exchanging = True
        exchange = _Exchange(
            self._claims,
            self._boot_clock,
            self._hub_time,
            self._hub,
            wants=wants,
            given_up=given_up,
            releases=releases,
            news=news,
            yielding=frozenset(self._yielding),
            looks_for_turns=self._looks_for_turns,
            unsettled=unsettled,
            homes=self._homes,
        )
        self._looks_for_turns = False
        self._hub.call(exchange.run, self._exchanged)

    def _to_claim(self) -> list[Want]:
        """What was not asked for yet, and about once a second what was refused: unused tickets are struck out."""
        open_ones = [want for want in self._wants.values() if not self._is_granted(want)]
        refused = [want for want in open_ones if want.pair in self._waiting_since] if self._looks_for_turns else []
        return refused + [want for want in open_ones if want.pair not in self._waiting_since][:_MOST_WANTS]

    def _is_granted(self, want: Want) -> bool:
        return all(self._usable(subject) is not None for subject in want.delays)

    def _exchanged(self, answer: Exchanged) -> None:
        self._is_exchanging = False
        if answer.settled:
            self._note_settled(answer.settled)
        new = answer.granted.keys() - self._held.keys()
        self._held.update({subject: answer.granted[subject] for subject in new})
        now = self._boot_clock()
        for pair in answer.refused:
            if pair in self._wants:
                self._waiting_since.setdefault(pair, now)
        self._yielding.update(answer.yielding)
        self._yielding.intersection_update(self._held)
        if self._yielding & self._in_use:
            self._hand_back(self._yielding & self._in_use)
        if new or answer.settled:
            self._granted()
        is_new = any(pair not in self._waiting_since and not self._is_granted(want) for pair, want in self._wants.items())
        if is_new or self._unsettled or self._yielding - self._in_use or self._held.keys() - self._in_use:
            self._plan()

    def _note_settled(self, settled: Mapping[str, bool]) -> None:
        if len(self._settled) > _SETTLED:
            self._settled.clear()
        self._settled.update(host for host, is_ours in settled.items() if is_ours)
        if leaving := {host for host, is_ours in settled.items() if not is_ours}:
            self._leaving(leaving)

    # --- pairs that wait, and the end -----------------------------------------------------------------------------------

    def waited_for(self, seconds: float) -> set[str]:
        """The hosts that were refused so long ago, and still wait."""
        before = self._boot_clock() - seconds
        return {
            self._wants[pair].host for pair, since in self._waiting_since.items() if since <= before and pair in self._wants
        }

    def give_up(self, hosts: Collection[str]) -> None:
        """Pairs with these hosts went back to the database: their tickets are not used any more."""
        for pair in [pair for pair, want in self._wants.items() if want.host in hosts]:
            del self._wants[pair]
            if self._waiting_since.pop(pair, None) is not None:
                self._given_up.append(pair)
                self._plan()

    def close(self) -> dict[str, float]:
        """Nothing is claimed any more. Returns the boot times until which subjects rest, where visits told them."""
        self._is_closed = True
        self._wants.clear()
        return {subject: news.rests_until for subject, news in self._news.items()}
