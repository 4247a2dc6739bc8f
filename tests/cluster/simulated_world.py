"""Actors that work on a real hub one statement at a time, on simulated clocks, in an order that chance decides.

Each actor is a thread, and one of them runs at any time. Before and after each statement, and before each COMMIT, an actor
hands over to the world, which lets time pass and chooses who goes on. So a holder can stand still in the middle of a
transaction while others take what it had.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from random import Random
from typing import Any

import psycopg
from sqlalchemy import Connection, event

from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.records import Identity
from tests.cluster.simulated_database import SimulatedDatabase

__all__ = ["Actor", "Killed", "SimulatedConnection", "Violation", "World"]

_LOCK_SECONDS = 0.03
"""Of real time: who waits for a lock of an actor that stands still finds out soon."""
_LATENCIES = (0.0,) * 12 + (0.01, 0.1, 0.4)
_HOUR = 3600.0
_compiled: dict[Any, Any] = {}
"""Statements are compiled once for all connections."""


class Violation(AssertionError):
    """The hub let something happen that must never happen."""


class Killed(BaseException):
    """The process of an actor is gone."""


class Actor:
    """A process that goes on when the world lets it."""

    def __init__(self, world: World, name: str, node: str, work: Callable[[Actor], None]) -> None:
        self.world, self.name, self.node = world, name, node
        self.wake_at = world.now
        self.is_over = False
        self.fault = ""
        """What happens at the next COMMIT or statement: see `SimulatedConnection`."""
        self.answer_delay = 0.0
        """For how long the answer to the next statement that is alone is on its way."""
        self.connections: list[SimulatedConnection] = []
        self._go = threading.Semaphore(0)
        self.is_doomed = False
        self._work = work
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        world.actors.append(self)

    def _run(self) -> None:
        self._go.acquire()
        try:
            if not self.is_doomed:
                self._work(self)
        except Killed:
            pass
        except BaseException as error:
            self.world.errors.append(error)
        finally:
            self.is_over = True
            for connection in self.connections:
                connection.vanish()
            self.world.back.release()

    def pause(self, seconds: float = 0.0) -> None:
        """Hands over to the world; goes on after so much simulated time at the earliest."""
        self.wake_at = self.world.now + seconds
        self.world.back.release()
        self._go.acquire()
        if self.is_doomed:
            raise Killed

    def resume(self) -> None:
        """Called by the world: lets the actor run to its next pause."""
        self._go.release()
        self.world.back.acquire()

    def doom(self) -> None:
        """Another actor kills it: it is gone when the world next looks at it, even if it stands still."""
        self.is_doomed = True

    def kill(self) -> None:
        if not self.is_over:
            self.is_doomed = True
            self.resume()

    @property
    def is_in_transaction(self) -> bool:
        return any(connection.is_in_transaction() for connection in self.connections)

    def connect(self, name: str, expected: Identity | None = None) -> SimulatedConnection:
        self.connections.append(SimulatedConnection(self, name, expected))
        return self.connections[-1]


class SimulatedConnection(HubConnection):
    """A connection of an actor. Its faults: an answer that is lost, a COMMIT that never arrives, or that arrives late."""

    def __init__(self, actor: Actor, name: str, expected: Identity | None) -> None:
        self._actor = actor
        super().__init__(actor.world.database.url, name, _LOCK_SECONDS, expected)
        self._compiled = _compiled
        event.listen(self._database.engine, "commit", self._committing)

    def _execute(self, text: str, parameters: Any) -> Any:
        actor, world = self._actor, self._actor.world
        actor.pause(world.chance.choice(_LATENCIES))
        if "clock_timestamp" in text:
            world.database.set_clock(world.hub_now())
        world.statements += 1
        cursor = super()._execute(text, parameters)
        if self._is_alone():
            if actor.fault == "answer lost":
                self._lose("answer lost")
            actor.pause(world.chance.choice(_LATENCIES) + actor.answer_delay)
            actor.answer_delay = 0.0
        return cursor

    def _is_alone(self) -> bool:
        session: Any = self._session_now()
        return bool(session.autocommit)

    def _session_now(self) -> Any:
        assert self._connection is not None
        return self._connection.connection.driver_connection

    def _committing(self, connection: Connection) -> None:
        """Runs just before the driver's COMMIT."""
        session: Any = connection.connection.driver_connection
        if session.autocommit or session.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
            return
        self._actor.pause(self._actor.world.chance.choice(_LATENCIES))
        fault = self._actor.fault
        if fault == "commit answer lost":
            session.commit()
            self._lose(fault)
        elif fault == "commit lost":
            session.rollback()
            self._lose(fault)
        elif fault == "commit late":
            self._actor.world.late.append(session.commit)
            session.close = session.commit = session.rollback = lambda: None
            self._lose(fault)

    def _lose(self, fault: str) -> None:
        self._actor.fault = ""
        self._actor.world.note(f"{self._actor.name}: {fault}")
        assert self._connection is not None
        self._connection.invalidate()
        raise psycopg.OperationalError(fault)

    def is_in_transaction(self) -> bool:
        if self._connection is None or self._connection.invalidated:
            return False
        return bool(self._session_now().info.transaction_status == psycopg.pq.TransactionStatus.INTRANS)

    def vanish(self) -> None:
        """The process is gone: its kernel closes the connection."""
        if self._connection is not None:
            self._connection.invalidate()
            self._connection = None


class World:
    """Time, chance and the order in which actors go on."""

    def __init__(self, database: SimulatedDatabase, chance: Random) -> None:
        self.database = database
        self.chance = chance
        self.now = 0.0
        self.hub_ahead = 1_000_000.0
        self.actors: list[Actor] = []
        self.late: list[Callable[[], None]] = []
        """COMMITs that are still on their way."""
        self.errors: list[BaseException] = []
        self.statements = 0
        self.story: list[str] = []
        self.back = threading.Semaphore(0)
        self._suspended: dict[str, float] = {}
        self._ahead = {name: chance.uniform(0, 1e6) for name in ("n0", "n1", "n2")}
        database.reset()

    def boot_clock(self, node: str) -> Callable[[], float]:
        """The boot clock of a node. Those of two nodes have nothing to do with each other."""
        ahead = self._ahead[node]
        return lambda: self.now + ahead

    def hub_now(self) -> float:
        return self.now + self.hub_ahead

    def note(self, what: str) -> None:
        self.story.append(f"{self.now:8.2f} {what}")

    # --- going on -------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Lets one actor go on to its next pause; time passes where nobody can."""
        able = [actor for actor in self.actors if not actor.is_over and self._able_at(actor) <= self.now]
        if not able:
            waiting = [self._able_at(actor) for actor in self.actors if not actor.is_over]
            self.now = max(self.now, min(waiting, default=self.now))
            return
        self.chance.choice(able).resume()
        if self.errors:
            raise self.errors[0]

    def _able_at(self, actor: Actor) -> float:
        if actor.is_doomed:
            return 0.0
        return max(actor.wake_at, self._suspended.get(actor.name, 0.0), self._suspended.get(actor.node, 0.0))

    # --- what goes wrong ------------------------------------------------------------------------------------------------

    def suspend(self, name: str, seconds: float) -> None:
        """An actor or a whole node stands still."""
        self.note(f"{name} stands still for {seconds:.1f}")
        self._suspended[name] = max(self.now + seconds, self._suspended.get(name, 0.0))  # What has vanished stays away.

    def wake_all(self) -> None:
        self._suspended.clear()

    def step_hub_clock(self, up: bool) -> None:
        self.note("the hub's clock is set")
        self.hub_ahead += _HOUR if up else -_HOUR

    def deliver_late(self) -> None:
        """COMMITs that were on their way arrive, unless their sessions were ended."""
        for commit in self.late:
            try:
                commit()
                self.note("a late COMMIT arrived")
            except psycopg.Error:
                self.note("a late COMMIT found its session ended")
        self.late.clear()

    def close(self) -> None:
        for actor in list(self.actors):
            actor.kill()
        self.late.clear()
        self.database.end_sessions()
