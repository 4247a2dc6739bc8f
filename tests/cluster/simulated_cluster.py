"""A cluster of two or three nodes that crawls a small web, with faults, and what must hold whatever happens.

The model is simple: when which tree sent a request to which host and address, and what the web has. Everything that is
asserted is asserted against these, not against the hub's own tables.
"""

from __future__ import annotations

from itertools import count
from random import Random
from typing import NamedTuple

from parcahyd.cluster.records import Want
from parcahyd.cluster.runs import PAUSED, RUNNING, Runs
from parcahyd.cluster.scope import change_scope
from parcahyd.cluster.seeds import sow
from parcahyd.core.errors import StoreFailure, UserError
from tests.cluster.simulated_database import SimulatedDatabase
from tests.cluster.simulated_tree import LEASE, Rules, SimulatedAgent, SimulatedTree
from tests.cluster.simulated_world import Actor, Violation, World

__all__ = ["FAULTS", "PARTITIONS", "Fault", "Plan", "SimulatedCluster"]

PARTITIONS = 3
HOST_DELAY, ADDRESS_DELAY = 6.0, 2.5
_EPSILON = 1e-6
_MOST_STEPS = 25_000
_PATIENCE = 18 * LEASE
"""For so long a crawl may go on after the last fault."""

FAULTS = (
    "stand still",
    "tree stands still",
    "tree stands still in a transaction",
    "renewer stands still",
    "renewal is answered late",
    "node stands still",
    "kill",
    "vanish",
    "commit answer lost",
    "commit lost",
    "commit late",
    "answer lost",
    "restart hub",
    "fail over",
    "set hub clock",
    "pause and resume",
    "seed",
    "scope",
    "new agent",
    "wish",
)


class Fault(NamedTuple):
    """What goes wrong, at which step, and for whom: any number."""

    step: int
    kind: str
    whom: int
    seconds: float


class Plan(NamedTuple):
    """All that decides what happens in a simulated cluster."""

    seed: int
    nodes: int
    max_pages: int | None
    faults: tuple[Fault, ...]


class _Request:
    """The last request to a subject."""

    def __init__(self, tree: SimulatedTree, sent_at: float) -> None:
        self.tree, self.sent_at = tree, sent_at
        self.answered_at: float | None = None
        self.is_released = False


class SimulatedCluster:
    """One crawl from its first seed to its end."""

    def __init__(self, database: SimulatedDatabase, plan: Plan, rules: Rules | None = None) -> None:
        self.plan = plan
        self.rules = rules or Rules()
        self.chance = Random(plan.seed)
        self.world = World(database, self.chance)
        self.max_pages = plan.max_pages
        self.letters = count(1)
        self.trees: list[SimulatedTree] = []
        self.outcome: str | None = None
        self._last: dict[str, _Request] = {}
        self._struck_at = 0.0
        self._make_web()
        self.nodes = [f"n{number}" for number in range(plan.nodes)]
        self.agents: list[SimulatedAgent] = []

    # --- the web --------------------------------------------------------------------------------------------------------

    def _make_web(self) -> None:
        """Every page can be reached from page 0. Host 0 is divided among partitions; hosts 0 and 1 have one address."""
        self.pages = self.chance.randint(6, 12)
        self.links: dict[int, list[int]] = {url: [] for url in range(self.pages)}
        for url in range(1, self.pages):
            self.links[self.chance.randrange(url)].append(url)
        for _ in range(self.pages):
            self.links[self.chance.randrange(self.pages)].append(self.chance.randrange(self.pages))

    def want(self, url: int) -> Want:
        host = url % 4
        return Want(f"h{host}", HOST_DELAY, f"a{host // 2}", ADDRESS_DELAY)

    def home(self, url: int) -> int:
        return url // 4 % PARTITIONS if url % 4 == 0 else url % 4 % PARTITIONS

    # --- what must hold -------------------------------------------------------------------------------------------------

    def send(self, tree: SimulatedTree, url: int) -> None:
        """A request leaves. Nobody else may send to its host or address now, and the delay has passed."""
        now = self.world.now
        self.world.note(f"{tree.name} sends {url}")
        for subject, delay in self.want(url).delays.items():
            for other in self.trees:
                if other is not tree and other.claims is not None and not other.is_gone() and not other.deadline.passed():
                    held = other.claims.held.get(subject)
                    if held is not None and not held.is_being_released:
                        raise Violation(f"{subject}: {other.name} and {tree.name} may both send")
            last = self._last.get(subject)
            if last is not None:
                self._check_gap(tree, subject, delay, last)
            self._last[subject] = _Request(tree, now)

    def _check_gap(self, tree: SimulatedTree, subject: str, delay: float, last: _Request) -> None:
        now = self.world.now
        gap = now - (last.sent_at if last.answered_at is None else last.answered_at)
        least = delay
        if last.tree is not tree and not last.is_released:
            gap, least = now - last.sent_at, delay + LEASE / 10  # what a dead kernel may still deliver
        if gap < least - _EPSILON:
            raise Violation(f"{subject}: {tree.name} sends {gap:.2f} after {last.tree.name}, and not {least:.2f}")

    def answered(self, tree: SimulatedTree, url: int) -> None:
        for subject in self.want(url).delays:
            last = self._last[subject]
            if last.tree is tree:
                last.answered_at = self.world.now

    def releasing(self, tree: SimulatedTree, subjects: set[str]) -> None:
        for subject in subjects:
            last = self._last.get(subject)
            if last is not None and last.tree is tree:
                last.is_released = True

    def check(self) -> None:
        """After each step: a partition has one tree that may send, and no deadline that passed came back."""
        living: dict[int, SimulatedTree] = {}
        for tree in self.trees:
            if tree.is_gone() or tree.passed():
                continue
            other = living.setdefault(tree.holding.partition, tree)
            if other is not tree:
                raise Violation(f"{other.name} and {tree.name} both have partition {tree.holding.partition}")

    def ended(self, outcome: str) -> None:
        """The hub says that the run is over. Is it?"""
        self.world.note(f"the run is over: {outcome}")
        rows = self.world.database.rows
        ((stored,),) = rows("SELECT count(*) FROM web.stored")
        if outcome == "max-pages":
            if stored != self.max_pages:
                raise Violation(f"{stored} pages are stored of {self.max_pages}")
        else:
            self._check_nothing_left(outcome)
        self.outcome = outcome

    def _check_nothing_left(self, outcome: str) -> None:
        left = "SELECT (SELECT count(*) FROM web.known WHERE NOT stored), (SELECT count(*) FROM parcahyd_hub.mail), "
        left += "(SELECT count(*) FROM parcahyd_hub.outbox)"
        if (found := self.world.database.rows(left)) != [(0, 0, 0)]:
            raise Violation(f"{outcome} although there are URLs, letters and letters in outboxes: {found}")

    @property
    def is_over(self) -> bool:
        return self.outcome is not None

    # --- a whole crawl --------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Crawls to the end, with the faults of the plan, then without any."""
        world = self.world
        try:
            self._start()
            faults = sorted(self.plan.faults)
            kept_at = self.chance.randrange(-300, 300)  # Before the start: a fail-over loses everything.
            for step in range(_MOST_STEPS):
                if step == kept_at:
                    world.database.keep()
                while faults and (faults[0].step <= step or self.is_over):
                    self._strike(faults.pop(0))
                if step % 50 == 0:
                    world.deliver_late()
                world.step()
                self.check()
                if self._is_done():
                    return self._check_end()
                if not faults and world.now - self._struck_at > _PATIENCE:
                    break
            raise Violation(f"the run does not end: {self._left()}")
        except AssertionError as error:
            raise type(error)("\n".join([str(error), repr(self.plan), *world.story[-60:]])) from error
        finally:
            world.close()

    def _start(self) -> None:
        database = self.world.database

        def begin(actor: Actor) -> None:
            hub = actor.connect("parcahyd command")
            Runs(hub).begin("{}", {} if self.max_pages is None else {"MaxPages": self.max_pages})
            sow(hub, {"0": self.home(0)})

        for partition in range(PARTITIONS):
            database.change(
                "INSERT INTO parcahyd_hub.wishes VALUES (%s, %s)", partition, self.nodes[partition % len(self.nodes)]
            )
        actor = Actor(self.world, "command", "n0", begin)
        while not actor.is_over:
            self.world.step()
        # Nobody waits for a wish any more: partitions move because their holders are gone.
        self.agents = [SimulatedAgent(self, node) for node in self.nodes]
        database.keep()

    def _is_done(self) -> bool:
        return self.is_over and all(tree.is_gone() or tree.has_passed for tree in self.trees)

    def _left(self) -> list[tuple[object, ...]]:
        return self.world.database.rows(
            "SELECT p.id, p.token IS NULL, p.beat, s.idle_since, s.wanting, s.pages FROM parcahyd_hub.partitions p "
            "JOIN parcahyd_hub.states s ON s.partition = p.id"
        )

    def _check_end(self) -> None:
        rows = self.world.database.rows
        if found := rows("SELECT url, count(*) FROM web.stored GROUP BY url HAVING count(*) > 1"):
            raise Violation(f"pages were stored twice: {found}")
        if found := rows("SELECT letter, count(*) FROM web.taken GROUP BY letter HAVING count(*) > 1"):
            raise Violation(f"letters were taken in twice: {found}")
        ((stored,),) = rows("SELECT count(*) FROM web.stored")
        if self.outcome == "done":
            if stored != self.pages:
                raise Violation(f"{stored} pages are stored of {self.pages}")
            if found := rows("SELECT letter FROM web.posted EXCEPT SELECT letter FROM web.taken"):
                raise Violation(f"letters were lost: {found}")
        if self.max_pages is not None:
            ((total,),) = rows(
                "SELECT q.left + (SELECT coalesce(sum(c.left), 0) FROM parcahyd_hub.chunks c) FROM parcahyd_hub.quotas q"
            )
            if total + stored != self.max_pages or (self.outcome == "done" and stored > self.max_pages):
                raise Violation(f"{total} pages are left and {stored} stored of {self.max_pages}")

    # --- faults ---------------------------------------------------------------------------------------------------------

    def _strike(self, fault: Fault) -> None:
        """What has nobody to strike does nothing."""
        world = self.world
        self._struck_at = world.now
        living = [actor for actor in world.actors if not actor.is_over]
        trees = [tree for tree in self.trees if not tree.is_gone()]
        match fault.kind:
            case "stand still":
                world.suspend(living[fault.whom % len(living)].name, fault.seconds)
            case "node stands still":
                world.suspend(self.nodes[fault.whom % len(self.nodes)], fault.seconds)
            case "tree stands still in a transaction" if trees:
                busy = [tree for tree in trees if any(actor.is_in_transaction for actor in tree.actors)] or trees
                self._strike_tree(busy[fault.whom % len(busy)], fault)
            case "renewal is answered late" if trees:
                trees[fault.whom % len(trees)].actors[0].answer_delay = fault.seconds
            case "tree stands still" | "renewer stands still" | "kill" | "vanish" if trees:
                self._strike_tree(trees[fault.whom % len(trees)], fault)
            case "commit answer lost" | "commit lost" | "commit late" | "answer lost":
                living[fault.whom % len(living)].fault = fault.kind
            case "pause and resume" | "seed" | "scope":
                self._command(fault)
            case "new agent" | "wish":
                self._change_agents(fault)
            case _:
                self._strike_hub(fault)

    def _strike_hub(self, fault: Fault) -> None:
        world = self.world
        match fault.kind:
            case "restart hub":
                world.note("the hub is restarted")
                world.database.end_sessions()
            case "fail over" if not self.is_over:
                world.note("the hub goes back")
                world.late.clear()
                world.database.fail_over()
            case "set hub clock":
                world.step_hub_clock(fault.whom % 2 == 0)

    def _change_agents(self, fault: Fault) -> None:
        if fault.kind == "wish":
            partition, node = fault.whom % PARTITIONS, self.nodes[fault.whom // PARTITIONS % len(self.nodes)]
            self.world.note(f"{partition} is wanted on {node}")
            self.world.database.change("UPDATE parcahyd_hub.wishes SET node = %s WHERE partition = %s", node, partition)
            return
        agent = self.agents[fault.whom % len(self.agents)]
        self.world.note(f"{agent.node} starts anew")
        for actor in (agent.actor, *(actor for tree in agent.trees for actor in tree.actors)):
            actor.doom()
        self.agents[self.agents.index(agent)] = SimulatedAgent(self, agent.node)

    def _strike_tree(self, tree: SimulatedTree, fault: Fault) -> None:
        """Killed: its sessions end. Vanished: they stay open, in the middle of whatever they did."""
        self.world.note(f"{tree.name}: {fault.kind}")
        struck = tree.actors[:1] if fault.kind == "renewer stands still" else tree.actors
        for actor in struck:
            if fault.kind == "kill":
                actor.doom()
            else:
                self.world.suspend(actor.name, float("inf") if fault.kind == "vanish" else fault.seconds)

    def _command(self, fault: Fault) -> None:
        """A user's command, which tries again until it is through."""

        def work(actor: Actor) -> None:
            self.world.note(f"command: {fault.kind}")
            while True:
                try:
                    hub = actor.connect("parcahyd command")
                    if fault.kind == "seed":
                        url = fault.whom % self.pages
                        sow(hub, {str(url): self.home(url)})
                    elif fault.kind == "scope":
                        change_scope(hub, [("http", f"more{fault.whom}.example", 80)])
                    else:
                        Runs(hub).want(PAUSED)
                        actor.pause(fault.seconds)
                        Runs(hub).want(RUNNING)
                except UserError:
                    return
                except StoreFailure:
                    actor.pause(0.5)
                else:
                    return

        Actor(self.world, f"command {fault.step}", "n0", work)
