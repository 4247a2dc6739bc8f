"""Agents and trees of a simulated cluster: what a pipeline will do with the hub, on a web without network.

A tree is a renewer and a crawler, each an actor with connections of its own. The crawler takes in mail, claims host and
address, sends a request, stores the page with its links, and releases. `Rules` has the order of steps that a pipeline must
keep; a test breaks one of them and sees that it is found.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, TypeVar

import msgspec
from sqlalchemy import text

from parcahyd.cluster.deadline import Deadline, HubTime
from parcahyd.cluster.ending import end_if_done, set_idle
from parcahyd.cluster.fence import Batches, Fence
from parcahyd.cluster.identity import ClusterIdentity, Settling
from parcahyd.cluster.mail import Letter, Mailbox, ReceivedLetter
from parcahyd.cluster.quotas import Chunk
from parcahyd.cluster.records import Renewal
from parcahyd.cluster.runs import RUNNING, confirm
from parcahyd.cluster.subjects import Claims
from parcahyd.cluster.tables import PLANNING
from parcahyd.cluster.taking import Renewer, Taker, Taking, Watch
from parcahyd.core.errors import DatabaseUnusable, LeaseLost, RecordRefusal, StoreFailure
from tests.cluster.simulated_world import Actor, Violation

if TYPE_CHECKING:
    from tests.cluster.simulated_cluster import SimulatedCluster

__all__ = ["Rules", "SimulatedAgent", "SimulatedTree"]

LEASE, TURN, RENEW_EVERY, BOX_LIMIT = 20.0, 5.0, 5.0, 2
Answer = TypeVar("Answer")
_LONG = 20
"""Steps between two transactions that should be one."""
_names = count(1)

_DUE = text("SELECT url FROM web.known WHERE partition = :partition AND NOT stored ORDER BY url")
_KNOW = text("INSERT INTO web.known VALUES (:partition, :url) ON CONFLICT DO NOTHING")
_STORED = text("INSERT INTO web.stored VALUES (:url, :partition, :epoch, :token)")
_DONE = text("UPDATE web.known SET stored = true WHERE partition = :partition AND url = :url")
_POSTED = text("INSERT INTO web.posted VALUES (:letter)")
_TAKEN = text("INSERT INTO web.taken VALUES (:letter)")


class Rules(msgspec.Struct):
    """What a pipeline owes the hub."""

    releases_after_answer: bool = True
    asks_whether_committed: bool = True
    stores_mail_with_its_deletion: bool = True
    is_idle_only_without_work: bool = True


class SimulatedTree:
    """A tree that holds a partition."""

    def __init__(self, cluster: SimulatedCluster, taking: Taking, node: str) -> None:
        self.cluster, self.world, self.node = cluster, cluster.world, node
        self.holding = taking.holding
        self.name = f"t{next(_names)}"
        self.clock = self.world.boot_clock(node)
        self.deadline = Deadline(self.clock, LEASE)
        self.deadline.start(taking.noted)
        self.hub_time = HubTime(self.clock)
        self.renewal: Renewal | None = None
        self.claims: Claims | None = None
        self.has_passed = False
        """Somebody has seen that the deadline passed."""
        self.blockers: set[int] = set()
        self._usable: dict[str, float] = {}
        self._left = self._stored = 0
        self.world.note(f"{self.name} holds {self.holding.partition} on {node}")
        actors = [
            Actor(self.world, f"{self.name} renewer", node, self._renew),
            Actor(self.world, f"{self.name} crawler", node, self._crawl),
        ]
        self.actors = actors

    def is_gone(self) -> bool:
        return all(actor.is_over for actor in self.actors)

    def passed(self) -> bool:
        """Looks at the deadline, as every loop of a tree does after each wake-up."""
        if self.deadline.passed():
            self.has_passed = True
        elif self.has_passed:
            raise Violation(f"{self.name}: a deadline that had passed was moved")
        return self.has_passed

    def _until_it_passes(self, actor: Actor, call: Callable[[], Answer]) -> Answer | None:
        """Repeats a call that fails for reasons of the database; None: the deadline has passed."""
        while not self.passed():
            try:
                return call()
            except RecordRefusal as error:
                raise Violation(str(error)) from error
            except (StoreFailure, DatabaseUnusable):
                actor.pause(0.3)
        return None

    def _end(self, why: str) -> None:
        self.world.note(f"{self.name} ends: {why}")
        self.deadline.end()
        self.has_passed = True

    # --- renewing -------------------------------------------------------------------------------------------------------

    def _renew(self, actor: Actor) -> None:
        hub = self._until_it_passes(actor, lambda: actor.connect(self.holding.session_name, self.holding.identity))
        if hub is None:
            return
        renewer = Renewer(hub, self.holding, self.deadline)
        try:
            while not self.passed():
                try:
                    renewal = renewer.renew()
                except StoreFailure:
                    actor.pause(0.5)
                else:
                    self.hub_time.note(renewal.hub_time)
                    self.renewal = renewal
                    actor.pause(RENEW_EVERY)
        except LeaseLost as lost:
            self._end(str(lost))

    # --- crawling -------------------------------------------------------------------------------------------------------

    def _crawl(self, actor: Actor) -> None:
        try:
            while self.renewal is None and not self.passed():
                actor.pause(0.1)
            self._begin(actor)
            while not self.passed():
                if self._obeys(actor):
                    self._work(actor)
        except LeaseLost as lost:
            self._end(str(lost))
        except (StoreFailure, DatabaseUnusable):
            self._end("its database was away when it began")

    def _begin(self, actor: Actor) -> None:
        claiming = actor.connect(self.holding.session_name, self.holding.identity)
        writing = actor.connect(self.holding.session_name, self.holding.identity)
        self.claiming, self.writing = Fence(claiming, self.holding), Fence(writing, self.holding)
        self.claims = Claims(self.claiming, self.clock, self.hub_time, LEASE, TURN)
        self.batches = Batches(self.writing, self.clock)
        self.mailbox = Mailbox(self.writing, BOX_LIMIT)
        limited = self.cluster.max_pages is not None
        self.drawing = Chunk(self.claiming) if limited else None
        self.storing = Chunk(self.writing) if limited else None

    def _obeys(self, actor: Actor) -> bool:
        """Does what the last renewal wants; true where that is to crawl."""
        renewal, claims = self.renewal, self.claims
        assert renewal is not None
        assert claims is not None
        if renewal.run is None or (renewal.wish is not None and renewal.wish != self.node):
            if self.world.chance.random() < 0.5:  # What is not released is stale, and rests.
                self._release(actor, set(claims.held))
            self._end("it gives its partition back")
            with suppress(StoreFailure, DatabaseUnusable):  # Else others take it after a lease.
                Renewer(self.claiming.writer, self.holding, self.deadline).give_back()
            return False
        if renewal.wanted != RUNNING:
            self._release(actor, set(claims.held))
            self._until_it_passes(actor, lambda: confirm(self.claiming, renewal.version or 0))
            actor.pause(2.0)
            return False
        return True

    def _work(self, actor: Actor) -> None:
        self._take_in(actor)
        due = self._until_it_passes(actor, lambda: self._rows(_DUE, partition=self.holding.partition))
        if due is None:
            return
        urls = [row[0] for row in due]
        if not urls or not self.cluster.rules.is_idle_only_without_work:
            self._rest(actor)
        if urls:
            self._visit(actor, urls)

    def _rows(self, statement: object, **parameters: object) -> list[tuple[int, ...]]:
        with self.writing.transaction():
            return self.writing.writer.rows(statement, **parameters)  # type: ignore[arg-type]  # a text is a statement

    def _write(self, actor: Actor, write: Callable[[], None], pages: int = 0) -> bool:
        """One numbered transaction of the writer, once."""
        while not self.passed():
            try:
                with self.batches.transaction(pages):
                    write()
            except RecordRefusal as error:
                raise Violation(str(error)) from error
            except StoreFailure:
                actor.pause(0.2)
                if self._until_it_passes(actor, self.batches.was_committed) and self.cluster.rules.asks_whether_committed:
                    return True
            else:
                return True
        return False

    def _take_in(self, actor: Actor) -> None:
        letters = self._until_it_passes(actor, self._read_mail)
        if not letters:
            return

        def store() -> None:
            writer = self.writing.writer
            for letter in letters:
                if letter.kind == "urls":
                    number, *urls = msgspec.json.decode(letter.body)
                    writer.run(_TAKEN, letter=number)
                else:
                    urls = [int(letter.body)]
                for url in urls:
                    writer.run(_KNOW, partition=self.holding.partition, url=url)

        def take_in_and_store() -> None:
            self.mailbox.take_in(letters)
            store()

        if self.cluster.rules.stores_mail_with_its_deletion:
            self._write(actor, take_in_and_store)
        else:
            self._write(actor, lambda: self.mailbox.take_in(letters))
            for _ in range(_LONG):
                actor.pause()
            self._write(actor, store)

    def _read_mail(self) -> list[ReceivedLetter]:
        with self.writing.transaction():
            return self.mailbox.read(3)

    def _rest(self, actor: Actor) -> None:
        """Nothing is due: the partition is idle, unless letters wait in its outbox."""
        assert self.claims is not None
        assert self.renewal is not None
        self._release(actor, set(self.claims.held))
        renewal, kept = self.renewal, [0]

        def idle() -> None:
            kept[0] = self.mailbox.relay()
            found = self.writing.writer.rows(_DUE, partition=self.holding.partition)
            if not kept[0] and not (found and self.cluster.rules.is_idle_only_without_work):
                set_idle(self.writing, self.storing, renewal.scope, renewal.routing)

        if self._write(actor, idle):
            self._left = 0
            self._try_to_end(actor, renewal)
        actor.pause(1.0)

    # --- a visit --------------------------------------------------------------------------------------------------------

    def _visit(self, actor: Actor, urls: list[int]) -> None:
        assert self.claims is not None
        claims, cluster = self.claims, self.cluster
        yielding = self._until_it_passes(actor, claims.to_yield)
        if yielding is None:
            return
        self._release(actor, yielding)
        wants = list({cluster.want(url).pair: cluster.want(url) for url in urls}.values())
        decision = self._until_it_passes(actor, lambda: claims.claim(wants))
        if decision is None:
            return
        self.blockers = {partition for blockers in decision.refused.values() for partition in blockers}
        self._until_it_passes(actor, claims.release_strays)
        granted = {want.pair for want in decision.granted}
        granted_urls = [url for url in urls if cluster.want(url).pair in granted]
        if not granted_urls:
            actor.pause(1.0)
        elif self._has_pages(actor):
            self._fetch_some(actor, granted_urls)

    def _has_pages(self, actor: Actor) -> bool:
        """Whether the tree has a page of MaxPages left, if need be after a draw."""
        drawing, renewal = self.drawing, self.renewal
        if drawing is None or self._left > 0:
            return True
        drawn = self._until_it_passes(actor, lambda: drawing.draw(3))
        self._left = 0 if drawn is None else drawn - self._stored
        if self._left or self.claims is None or renewal is None:
            return bool(self._left)
        self._release(actor, set(self.claims.held))
        self._try_to_end(actor, renewal)
        actor.pause(1.0)
        return False

    def _try_to_end(self, actor: Actor, renewal: Renewal) -> None:
        outcome = self._until_it_passes(actor, lambda: end_if_done(self.claiming.writer, renewal.run or 0))
        if outcome:
            self.cluster.ended(outcome)

    def _usable_in(self, url: int) -> float:
        assert self.claims is not None
        return max(
            max(self.claims.held[subject].usable_from, self._usable.get(subject, 0.0)) - self.clock()
            for subject in self.cluster.want(url).delays
        )

    def _fetch_some(self, actor: Actor, urls: list[int]) -> None:
        """Sends requests without asking the hub in between, as workers do, and stores what came in one transaction."""
        fetched: list[int] = []
        most = self.world.chance.randint(1, 4)
        while urls and len(fetched) < (most if self.drawing is None else min(most, self._left)):
            url = min(urls, key=self._usable_in)
            if (wait := self._usable_in(url)) > 0:
                if fetched and self.world.chance.random() < 0.3:
                    break
                actor.pause(wait)
            if self.passed():
                return
            if self._usable_in(url) > 0:
                continue  # Time is counted in fractions.
            self._fetch(actor, url)
            urls.remove(url)
            fetched.append(url)
        if fetched and self._write(actor, lambda: self._store_all(fetched), pages=len(fetched)):
            self._left -= len(fetched)
            self._stored += len(fetched)

    def _fetch(self, actor: Actor, url: int) -> None:
        want = self.cluster.want(url)
        self.cluster.send(self, url)
        if not self.cluster.rules.releases_after_answer:
            self._release(actor, set(want.delays))
        actor.pause(self.world.chance.choice((0.05, 0.3, 2.0)))
        self.cluster.answered(self, url)
        for subject, delay in want.delays.items():
            self._usable[subject] = self.clock() + delay

    def _store_all(self, urls: list[int]) -> None:
        if self.storing is not None:
            self.storing.store(len(urls))
        for url in urls:
            self._store(url)

    def _store(self, url: int) -> None:
        writer, holding, cluster = self.writing.writer, self.holding, self.cluster
        owner = {"partition": holding.partition, "epoch": holding.epoch, "token": holding.token}
        writer.run(_STORED, url=url, **owner)
        writer.run(_DONE, url=url, partition=holding.partition)
        foreign: dict[int, list[int]] = {}
        for link in cluster.links[url]:
            if cluster.home(link) == holding.partition:
                writer.run(_KNOW, partition=holding.partition, url=link)
            else:
                foreign.setdefault(cluster.home(link), []).append(link)
        letters = []
        for partition, links in sorted(foreign.items()):
            number = next(cluster.letters)
            writer.run(_POSTED, letter=number)
            letters.append(Letter(partition, "urls", 0, msgspec.json.encode([number, *links])))
        self.mailbox.post(letters)

    def _release(self, actor: Actor, subjects: set[str]) -> None:
        assert self.claims is not None
        claims = self.claims

        def release() -> None:
            now = self.clock()
            left = subjects & claims.held.keys()
            until = {subject: max(self._usable.get(subject, 0.0), claims.held[subject].usable_from) for subject in left}
            claims.release({subject: max(0.0, usable - now) for subject, usable in until.items()})

        if subjects & claims.held.keys():
            self.cluster.releasing(self, subjects)
            self._until_it_passes(actor, release)


class SimulatedAgent:
    """The agent of a node: takes partitions, starts trees, ends what others wait for in vain."""

    def __init__(self, cluster: SimulatedCluster, node: str) -> None:
        self.cluster, self.world, self.node = cluster, cluster.world, node
        self.clock = self.world.boot_clock(node)
        self.trees: list[SimulatedTree] = []
        self.actor = Actor(self.world, f"{node} agent", node, self._run)

    def _run(self, actor: Actor) -> None:
        hub = None
        while hub is None:
            try:
                hub = actor.connect("parcahyd agent")
            except (StoreFailure, DatabaseUnusable):
                actor.pause(0.5)
        own, settling, watch = ClusterIdentity(hub), Settling(self.clock), Watch(self.clock)
        while True:
            try:
                facts = own.read()
                for tree in self.trees:
                    if tree.holding.identity != facts.identity:
                        tree.deadline.end()
                if settling.see(facts, own):
                    self._look(Taker(hub, self.clock, facts), watch)
            except StoreFailure:
                pass
            actor.pause(self.world.chance.choice((0.5, 1.0, 3.0)))

    def _look(self, taker: Taker, watch: Watch) -> None:
        rows = taker.look()
        watch.see(taker._facts.identity, rows)
        blockers = {partition for tree in self.trees for partition in tree.blockers}
        for row in watch.silent(LEASE):
            # After the end, too: a claim that was stopped half-way may have locked what others want to release.
            if row.id in blockers or self.cluster.is_over:
                self.world.note(f"{self.node} ends {row.id}")
                taker.end(row)
        if not self.cluster.is_over:
            for row in watch.takeable(self.node, LEASE):
                if row.id != PLANNING and (taking := taker.take(row, self.node)) is not None:
                    tree = SimulatedTree(self.cluster, taking, self.node)
                    self.trees.append(tree)
                    self.cluster.trees.append(tree)
