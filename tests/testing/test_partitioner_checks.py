"""The check of partition strategies finds what it claims to find: it is run on strategies with one flaw each.

Each is asked in another process too, by `partitioner_process`.
"""

# ruff: noqa: ARG002, ARG005 - the port's signatures

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count

import msgspec
import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import (
    ClusterView,
    JudgedPage,
    Observation,
    Observed,
    Plan,
    Routing,
    Seen,
    SiteMove,
    Undecided,
)
from parcahyd.hookspecs import PartitionerFactory
from parcahyd.partition.by_hash import ByHash
from parcahyd.testing import check_partitioner

Home = int | Undecided | None


class Counting(ByHash):
    """One that has something to share: visits by top-level domain."""

    observes = frozenset({Observed.VISITS})

    def __init__(self, conf: WorkConf, routing: Routing) -> None:
        super().__init__(conf, routing)
        self._visits: Counter[str] = Counter()

    def observe(self, facts: Iterable[Observation]) -> None:
        for fact in facts:
            if fact.what is Observed.VISITS:
                self._visits[fact.subject.partition("/")[0].rpartition(".")[2][:20]] += int(fact.value)

    def share(self, others: Sequence[bytes] = ()) -> bytes:
        merged = Counter(self._visits)
        for other in filter(None, others):
            merged.update(msgspec.msgpack.decode(other, type=dict[str, int]))
        return msgspec.msgpack.encode(dict(sorted(merged.items()))) if merged else b""


class Waiting(ByHash):
    """One whose hosts wait, as with dynamic assignment by size."""

    def home(self, seen: Seen) -> Home:
        return None

    def next_for(self, partition: int, waiting: Sequence[Seen], room: int) -> tuple[str, ...]:
        ordered = sorted(waiting, key=lambda seen: (not seen.failed, -(seen.size or 0), seen.host))
        return tuple(seen.host for seen in ordered[:room])


class Finder(ByHash):
    """One in which the finder keeps a host, and that probes mapped hosts."""

    one_home = False
    home_may_change = False

    def home(self, seen: Seen) -> Home:
        return Undecided((0,)) if seen.address else seen.finder


@pytest.mark.parametrize("factory", [Counting, Waiting, Finder], ids=lambda factory: factory.__name__)
def test_strategies_of_every_kind_conform(factory: PartitionerFactory) -> None:
    check_partitioner(factory, many=2000)


def test_the_built_in_strategy_conforms_also_with_a_million_hosts_of_one_domain() -> None:
    check_partitioner(ByHash)


def test_the_built_in_strategy_conforms_by_domain() -> None:
    check_partitioner(ByHash, WorkConf(PartitionBy="domain"), many=100_000)


# --- One flaw each ------------------------------------------------------------------------------------------------------


class Salted(ByHash):
    def place(self, host: str) -> int:
        return hash(host) % self.routing.partitions


class OutOfRange(ByHash):
    def place(self, host: str) -> int:
        return len(host) % (self.routing.partitions + 1)


class Uneven(ByHash):
    def place(self, host: str) -> int:
        return len(host) % self.routing.partitions


class Choking(ByHash):
    def place(self, host: str) -> int:
        return len(host.encode("idna")) and super().place(host)


class InTurns(ByHash):
    def __init__(self, conf: WorkConf, routing: Routing) -> None:
        super().__init__(conf, routing)
        self._turns = count()

    def home(self, seen: Seen) -> Home:
        return next(self._turns) % self.routing.partitions


class Hoarding(ByHash):
    def __init__(self, conf: WorkConf, routing: Routing) -> None:
        super().__init__(conf, routing)
        self._known: dict[str, int] = {}

    def home(self, seen: Seen) -> Home:
        return self._known.setdefault(seen.host, self.place(seen.host))


class WrongProbe(ByHash):
    def home(self, seen: Seen) -> Home:
        return Undecided((99,)) if seen.address else super().home(seen)


class WrongPage(ByHash):
    def belongs(self, page: JudgedPage, here: int) -> int:
        return here + 1


class TooMany(Waiting):
    def next_for(self, partition: int, waiting: Sequence[Seen], room: int) -> tuple[str, ...]:
        return tuple(seen.host for seen in waiting[: room + 1])


class Inventing(Waiting):
    def next_for(self, partition: int, waiting: Sequence[Seen], room: int) -> tuple[str, ...]:
        return ("invented.example",)[:room]


class Absorbing(Counting):
    def share(self, others: Sequence[bytes] = ()) -> bytes:
        for other in filter(None, others):
            self._visits.update(msgspec.msgpack.decode(other, type=dict[str, int]))
        return super().share()


class LastWins(Counting):
    def share(self, others: Sequence[bytes] = ()) -> bytes:
        return others[-1] if others else super().share()


class Unbounded(ByHash):
    def __init__(self, conf: WorkConf, routing: Routing) -> None:
        super().__init__(conf, routing)
        self._facts: list[bytes] = []

    def observe(self, facts: Iterable[Observation]) -> None:
        self._facts += [msgspec.msgpack.encode(fact) for fact in facts]

    def share(self, others: Sequence[bytes] = ()) -> bytes:
        return b"".join([*self._facts, *others])


class Trusting(Counting):
    def share(self, others: Sequence[bytes] = ()) -> bytes:
        if any(other[:1] == b"\xff" for other in others):
            raise KeyError(0)
        return super().share(others)


class Forgetful(ByHash):
    def plan(self, view: ClusterView) -> Plan:
        return Plan(super().plan(view).wanted[1:])


class UnknownNode(ByHash):
    def plan(self, view: ClusterView) -> Plan:
        return Plan(tuple(before or "nowhere" for before in (*view.placed, *[None] * 8)[:8]))


class Idle(ByHash):
    def plan(self, view: ClusterView) -> Plan:
        return Plan((None,) * 8)


class ByPosition(ByHash):
    def plan(self, view: ClusterView) -> Plan:
        return Plan(tuple(view.nodes[0].name if view.nodes else None for _ in range(8)))


class Restless(ByHash):
    def plan(self, view: ClusterView) -> Plan:
        names = sorted(node.name for node in view.nodes)
        turned = 1 + (names.index(view.placed[0]) if view.placed and view.placed[0] in names else 0)
        return Plan(tuple(names[turned % len(names)] if names else None for _ in range(8)))


class WrongMove(ByHash):
    def plan(self, view: ClusterView) -> Plan:
        return Plan(super().plan(view).wanted, (SiteMove("a.example", 8),))


@pytest.mark.parametrize(
    ("factory", "text"),
    [
        (Salted, "another process"),
        (OutOfRange, "is one of 2 partitions, not 2|is one of 1 partitions, not 1"),
        (Uneven, "times the mean"),
        (Choking, "does not raise Unicode"),
        (InTurns, "whatever was asked before"),
        (Hoarding, "does not keep every host"),
        (WrongProbe, "partitions that exist probe"),
        (WrongPage, "belongs names one of"),
        (TooMany, "at most 0 hosts"),
        (Inventing, "hosts that wait"),
        (Absorbing, "share changes nothing"),
        (LastWins, "the order of the others"),
        (Unbounded, "at most 1,048,576 bytes"),
        (Trusting, "ValueError, not KeyError"),
        (Forgetful, "every one of 8 partitions, not 7"),
        (UnknownNode, "nodes of the view"),
        (Idle, "for every partition where there is one"),
        (ByPosition, "not by the order of its nodes"),
        (Restless, "where nothing has changed"),
        (WrongMove, "sites move to one of"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_flawed_strategy_is_found_out(factory: PartitionerFactory, text: str) -> None:
    many = 100_000 if factory is Hoarding else 100
    with pytest.raises(AssertionError, match=text):
        check_partitioner(factory, many=many)


def test_a_strategy_that_goes_by_something_else_need_not_spread_names() -> None:
    check_partitioner(Uneven, spread=None, many=100)


def test_something_that_is_no_strategy_is_found_out() -> None:
    with pytest.raises(AssertionError, match="has one_home, home_may_change, observes, home"):
        check_partitioner(lambda conf, routing: object())  # type: ignore[arg-type,return-value]  # the flaw under test


def test_a_factory_that_no_other_process_can_find_is_named() -> None:
    def make(conf: WorkConf, routing: Routing) -> ByHash:
        return ByHash(conf, routing)

    with pytest.raises(AssertionError, match="at the top of a module"):
        check_partitioner(make, many=100)


class Renamed(ByHash):
    pass


Renamed.__qualname__ = "Missing"


def test_what_another_process_says_is_told() -> None:
    with pytest.raises(AssertionError, match=r"which said: .*Missing"):
        check_partitioner(Renamed, many=100)
