"""Checks whether a partition strategy keeps the contract of `Partitioner`, with hostile names, and machines that come and go.

What has to be the same everywhere is compared with the answers of a new Python process that hashes texts differently:
`partitioner_process` asks the same questions there.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import (
    MAX_SHARED,
    ClusterNode,
    ClusterView,
    JudgedPage,
    Neighbours,
    Observation,
    Observed,
    Partitioner,
    Plan,
    Routing,
    Seen,
    Undecided,
)
from parcahyd.hookspecs import PartitionerFactory
from parcahyd.testing import partitioner_process
from parcahyd.testing.checks import expect
from parcahyd.testing.partitioner_process import Answers, Questions, answers

__all__ = ["check_partitioner"]

_PARTITIONS = 8
_ROUTING = Routing(_PARTITIONS, secret=b"drawn by chance")
_ORDINARY = [f"www.site-{number}.example" for number in range(8000)]
_ODD = [
    *("", ".", "..", "-", "a", "com", "co.uk", "github.io", "localhost", "a..b", ".a.b.", "_x._y.z", "%00", "::", "["),
    *("192.0.2.1", "[2001:db8::1]", "1", "0x7f.1", "xn--mnchen-3ya.de", "m\u00fcnchen.de", "\u043f\u0440.\u0440\u0444"),
    *("\udcff.example", "a\0b.example", "a b.example", "a" * 253, "a." * 1000 + "example", "x" * 100_000),
]
_MANY = 1_000_000
"""Hosts of one domain: whoever has a wildcard in the domain name system has them."""
_FACTS = 20_000
_TRACED = 25_000
_GROWTH = 1024 * 1024
"""Bytes by which a strategy may grow while it is asked about so many hosts more."""


def check_partitioner(
    factory: PartitionerFactory, conf: WorkConf | None = None, *, spread: float | None = 1.5, many: int = _MANY
) -> None:
    """Check a strategy by its factory, a class or a function at the top of a module, with these settings or with defaults.

    The partition with most of some thousand ordinary hosts may have `spread` times the mean; None: that is not asked of a
    strategy that goes by something else than names. `many` hosts of one domain are asked about.
    """
    conf = WorkConf() if conf is None else conf
    strategy = factory(conf, _ROUTING)
    parts = "one_home, home_may_change, observes, home, belongs, next_for, observe, share and plan"
    expect(isinstance(strategy, Partitioner), f"a partitioner has {parts}")
    expect(isinstance(strategy.one_home, bool), "one_home is true or false")
    expect(isinstance(strategy.home_may_change, bool), "home_may_change is true or false")
    kinds = strategy.observes
    is_set = isinstance(kinds, frozenset) and all(isinstance(one, Observed) for one in kinds)
    expect(is_set, "observes is a frozenset of Observed")
    _check_homes(factory, conf, spread)
    _check_many_hosts(strategy, many)
    _check_pages(strategy)
    _check_waiting(strategy)
    _check_sharing(factory, conf)
    _check_plans(factory, conf)
    _check_other_process(factory, conf)


def _is_partition(answer: object, partitions: int = _PARTITIONS) -> bool:
    return isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < partitions


def _shown(host: str) -> str:
    return repr(host if len(host) <= 40 else f"{host[:40]}...")


# --- Homes --------------------------------------------------------------------------------------------------------------


def _check_homes(factory: PartitionerFactory, conf: WorkConf, spread: float | None) -> None:
    for partitions in (1, 2, _PARTITIONS, 97):
        strategy = factory(conf, Routing(partitions))
        for host in (*_ODD, *_ORDINARY[:100]):
            _check_home(strategy, host, partitions)
    one, other = factory(conf, _ROUTING), factory(conf, _ROUTING)
    homes = [one.home(Seen(host, finder=number % _PARTITIONS)) for number, host in enumerate(_ORDINARY)]
    again = [other.home(Seen(host, finder=number % _PARTITIONS)) for number, host in reversed(list(enumerate(_ORDINARY)))]
    expect(homes == again[::-1], "home gives the same answers whatever was asked before")
    if spread is not None and None not in homes:
        most = max(Counter(homes).values()) * _PARTITIONS / len(homes)
        expect(most <= spread, f"no partition gets more than {spread:g} times the mean of ordinary hosts, not {most:.2f} times")


def _check_home(strategy: Partitioner, host: str, partitions: int) -> None:
    try:
        found = strategy.home(Seen(host, finder=partitions - 1))
        neighbours = Neighbours({partitions - 1: 3, partitions + 5: 9, -1: 9}, {0: 1000})
        mapped = strategy.home(Seen(host, "/x", 0, "192.0.2.1", neighbours))
    except Exception as error:
        raise AssertionError(f"home answers for the host {_shown(host)} and does not raise {type(error).__name__}") from error
    expect(
        found is None or _is_partition(found, partitions),
        f"home of {_shown(host)} is one of {partitions} partitions, not {found}",
    )
    if isinstance(mapped, Undecided):
        expect(all(_is_partition(one, partitions) for one in mapped.probe), f"partitions that exist probe, not {mapped.probe}")
    else:
        expect(
            mapped is None or _is_partition(mapped, partitions),
            f"home of {_shown(host)} once it is mapped is one of {partitions} partitions, not {mapped}",
        )


def _check_many_hosts(strategy: Partitioner, many: int) -> None:
    hosts = (f"{number}.wildcard.example" for number in range(many))
    traced = min(many // 4, _TRACED)
    tracemalloc.start()
    try:
        # What it remembers of a bounded number of hosts is remembered after the first part.
        sizes = [_memory_after(strategy, islice(hosts, traced)) for _ in range(2)]
    finally:
        tracemalloc.stop()
    grown = sizes[1] - sizes[0]
    expect(grown <= _GROWTH, f"a strategy does not keep every host that it is asked about: it grew by {grown:,} bytes")
    for host in hosts:
        answer = strategy.home(Seen(host))
        expect(answer is None or _is_partition(answer), f"home is a partition for any number of hosts, not {answer}")


def _memory_after(strategy: Partitioner, hosts: Iterable[str]) -> int:
    for host in hosts:
        strategy.home(Seen(host))
    return tracemalloc.get_traced_memory()[0]


# --- Pages and hosts that wait ------------------------------------------------------------------------------------------


def _check_pages(strategy: Partitioner) -> None:
    for text in ("", "kettle " * 50, "\udcff\0" * 100, "x" * 100_000):
        for here in (0, _PARTITIONS - 1):
            found = strategy.belongs(JudgedPage("http://a.example/", "text/html", "en", text[:50], text), here)
            expect(_is_partition(found), f"belongs names one of {_PARTITIONS} partitions, not {found}")


def _check_waiting(strategy: Partitioner) -> None:
    hosts = [*_ODD, *_ORDINARY[:50]]
    waiting = [Seen(host, size=None if number % 3 else number, failed=number % 7 == 0) for number, host in enumerate(hosts)]
    for room in (0, 1, 10, 1000):
        given = strategy.next_for(0, waiting, room)
        expect(isinstance(given, tuple), "next_for gives a tuple of hosts")
        expect(len(given) <= room, f"next_for gives at most {room} hosts where there is room for {room}, not {len(given)}")
        expect(len(set(given)) == len(given), "next_for names a host once")
        expect(set(given) <= set(hosts), "next_for names hosts that wait")
    expect(strategy.next_for(0, [], 5) == (), "next_for gives nothing where no host waits")


# --- Sharing ------------------------------------------------------------------------------------------------------------


def _facts(seed: int) -> Iterator[Observation]:
    chance = random.Random(seed)
    kinds = sorted(Observed, key=lambda kind: kind.value)
    for number in range(_FACTS):
        subject = f"{chance.randrange(10 ** chance.randrange(1, 7))}.example/{chance.randrange(5)}/"
        yield Observation(chance.choice(kinds), subject, float(chance.randrange(100)), f"{number % 50}.example")


def _check_sharing(factory: PartitionerFactory, conf: WorkConf) -> None:
    idle, *busy = (factory(conf, _ROUTING) for _ in range(4))
    for seed, strategy in enumerate(busy):
        strategy.observe(_facts(seed))
    nothing, (a, b, c) = idle.share(), (strategy.share() for strategy in busy)
    expect(all(isinstance(one, bytes) for one in (nothing, a, b, c)), "share gives bytes")
    merged = busy[0].share([b, c])
    for one in (nothing, a, merged):
        expect(len(one) <= MAX_SHARED, f"share gives at most {MAX_SHARED:,} bytes, not {len(one):,}")
    expect(busy[0].share() == a, "share changes nothing: asked again, it gives the same")
    expect(busy[0].share([c, b]) == merged, "share does not depend on the order of the others")
    expect(busy[1].share([a, c]) == merged, "share does not depend on who merges")
    expect(busy[2].share([busy[0].share([b])]) == merged, "share does not depend on what was merged first")
    expect(idle.share([a]) == a == busy[0].share([nothing]), "share gives back what it gave, where nothing is added")
    for damaged in (b"\xff" * 9, a[: len(a) // 2] + b"\0", b"x" * 100_000):
        try:
            result = idle.share([damaged])
        except ValueError:
            continue
        except Exception as error:
            raise AssertionError(f"share refuses damaged bytes with ValueError, not {type(error).__name__}") from error
        expect(isinstance(result, bytes) and len(result) <= MAX_SHARED, "share gives bytes, or ValueError for damaged ones")


# --- Plans --------------------------------------------------------------------------------------------------------------


def _views(shared: tuple[bytes, ...] = ()) -> list[ClusterView]:
    """Clusters that grow, shrink, lose every machine and get odd ones."""
    four = tuple(ClusterNode(name, cores) for name, cores in (("north", 2), ("east", 4), ("south", 8), ("west", 2)))
    odd = (ClusterNode("", -1), ClusterNode("é" * 300, float("nan")), ClusterNode("large", float("inf"), load=float("nan")))
    full = (ClusterNode("empty", 0, 0, 0, 0), ClusterNode("full", 4, disk=0))
    placed: tuple[str | None, ...] = ("north", "gone", None) * _PARTITIONS
    return [
        ClusterView(_ROUTING, nodes, before, shared, {0: 5, 99: 7})
        for nodes in ((), four[:1], four, four[1:], odd, full, (*four, *odd))
        for before in ((), (None,) * _PARTITIONS, placed[:_PARTITIONS], placed, ("south",) * _PARTITIONS)
    ]


def _check_plans(factory: PartitionerFactory, conf: WorkConf) -> None:
    one, other = factory(conf, _ROUTING), factory(conf, _ROUTING)
    one.observe(_facts(1))
    shared = (one.share(), other.share())
    for view in _views(shared):
        plan = one.plan(view)
        _check_plan(plan, view)
        turned = msgspec.structs.replace(view, nodes=view.nodes[::-1], shared=view.shared[::-1])
        expect(factory(conf, _ROUTING).plan(turned) == plan, "plan goes by the view alone, and not by the order of its nodes")
        if plan.state is None and not plan.moves:
            again = one.plan(msgspec.structs.replace(view, placed=plan.wanted))
            expect(again.wanted == plan.wanted, "plan moves no partition where nothing has changed")


def _check_plan(plan: Plan, view: ClusterView) -> None:
    expect(isinstance(plan, Plan), f"plan gives a Plan, not {type(plan).__name__}")
    expect(len(plan.wanted) == _PARTITIONS, f"plan names every one of {_PARTITIONS} partitions, not {len(plan.wanted)}")
    names = {node.name for node in view.nodes}
    for node in plan.wanted:
        expect(node in names or node is None, f"plan names nodes of the view, not {node!r}")
    expect(not names or None not in plan.wanted, "plan names a node for every partition where there is one")
    expect(all(_is_partition(move.partition) for move in plan.moves), f"sites move to one of {_PARTITIONS} partitions")
    expect(plan.state is None or len(plan.state) <= MAX_SHARED, f"the state of a routing has at most {MAX_SHARED:,} bytes")


# --- Another process ----------------------------------------------------------------------------------------------------


def _check_other_process(factory: PartitionerFactory, conf: WorkConf) -> None:
    hosts = [host for host in (*_ODD, *_ORDINARY[:500]) if host.isprintable()]
    views = [view for view in _views() if all(node.cores >= 0 for node in view.nodes)]
    questions = Questions(conf, _ROUTING, tuple(hosts), tuple(views))
    expect(
        _elsewhere(factory, questions) == answers(factory, questions),
        "home and plan give the same answers in another process: nothing depends on hash() of a text or on the order of a set",
    )


def _elsewhere(factory: PartitionerFactory, questions: Questions) -> Answers:
    name, module = getattr(factory, "__qualname__", ""), getattr(factory, "__module__", "")
    file = str(getattr(sys.modules[module], "__file__", None) or "") if module in sys.modules else ""
    expect(name.isidentifier() and file != "", "the factory is a class or a function at the top of a module")
    # A file of PluginDir is known by another name than that of its file, under which it can be imported from its folder.
    folder, stem = os.path.dirname(file), os.path.basename(file).partition(".")[0]
    command = [sys.executable, "-m", partitioner_process.__name__, f"{module}:{name}", f"{stem}:{name}"]
    search = os.pathsep.join([*filter(None, sys.path), folder])
    # Another seed than that of this process, whichever it has: texts hash differently there.
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONPATH": search, "PYTHONHASHSEED": seed}
    asked = msgspec.msgpack.encode(questions)
    done = subprocess.run(command, input=asked, capture_output=True, check=False, env=environment)
    said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    expect(done.returncode == 0, f"the strategy can be made in another process, which said: {said}")
    return msgspec.msgpack.decode(done.stdout, type=Answers)
