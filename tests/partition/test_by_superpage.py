from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.partitions import (
    MAX_SHARED,
    ClusterNode,
    ClusterView,
    Observation,
    Observed,
    Partitioner,
    Plan,
    Routing,
    Seen,
)
from parcahyd.partition.by_hash import ByHash
from parcahyd.partition.by_superpage import BySuperpage
from parcahyd.partition.placement import placement
from parcahyd.testing import check_partitioner

CONF = WorkConf()
SECRET = b"drawn by chance"
NODES = tuple(ClusterNode(name, 1.0) for name in "abcd")


def _host(number: int) -> str:
    return "www.large.example" if number % 10 < 6 else f"host-{number % 37}.example"


def _facts(pages: int = 6000) -> list[Observation]:
    """One host has six pages of ten, in 24 folders; links stay in their folder, mostly."""
    found: list[Observation] = []
    for number in range(pages):
        url = f"{_host(number)}/{number % 24}/{number}.html"
        found.append(Observation(Observed.VISITS, url))
        if number % 3 == 0:
            found.append(Observation(Observed.FETCHED, url))
    for number in range(0, pages, 5):
        folder = f"{_host(number)}/{number % 24}/"
        found.append(Observation(Observed.LINKS, folder, 20, folder))
        found.append(Observation(Observed.LINKS, folder, 1, f"{_host(number + 5)}/{number % 7}/"))
    return found


def _planned(routing: Routing, shared: Sequence[bytes]) -> Plan:
    return BySuperpage(CONF, routing).plan(ClusterView(routing, NODES, ("a", "b", "c", "d"), tuple(shared)))


def _following(routing: Routing, plan: Plan) -> Routing:
    assert plan.state is not None
    return Routing(routing.partitions, routing.version + 1, plan.state, routing.secret)


@pytest.fixture(scope="module")
def learnt() -> tuple[Routing, bytes, Plan]:
    """A routing that knows nothing, what was observed, and what was planned from it."""
    routing = Routing(4, secret=SECRET)
    strategy = BySuperpage(CONF, routing)
    strategy.observe(_facts())
    shared = strategy.share()
    return routing, shared, _planned(routing, [shared])


def test_it_conforms() -> None:
    check_partitioner(BySuperpage, many=5_000)


def test_it_is_the_hash_until_something_was_learnt() -> None:
    routing = Routing(4, secret=SECRET)
    superpage, by_hash = BySuperpage(CONF, routing), ByHash(CONF, routing)
    assert isinstance(superpage, Partitioner)
    for number in range(100):
        seen = Seen(f"{number}.example", "/a/b")
        assert superpage.home(seen) == by_hash.home(seen)
    view = ClusterView(routing, NODES, ())
    assert superpage.plan(view) == Plan(placement(view))


def test_a_host_larger_than_a_share_is_divided_and_all_parts_get_work(learnt: tuple[Routing, bytes, Plan]) -> None:
    routing, _, plan = learnt
    strategy = BySuperpage(CONF, _following(routing, plan))
    homes = Counter(strategy.home(Seen(_host(number), f"/{number % 24}/{number}.html")) for number in range(6000) if number % 3)
    assert set(homes) == {0, 1, 2, 3}
    assert min(homes.values()) > 100
    by_hash = Counter(ByHash(CONF, routing).home(Seen(_host(number))) for number in range(6000))
    assert max(by_hash.values()) >= 0.6 * 6000
    assert max(homes.values()) < 0.55 * 4000


def test_folders_that_link_much_within_stay_together(learnt: tuple[Routing, bytes, Plan]) -> None:
    routing, _, plan = learnt
    strategy = BySuperpage(CONF, _following(routing, plan))
    whole = sum(
        len({strategy.home(Seen("www.large.example", f"/{folder}/{number}.html")) for number in range(200)}) == 1
        for folder in range(24)
    )
    assert whole >= 16


def test_lookups_are_the_same_everywhere_and_also_for_odd_names(learnt: tuple[Routing, bytes, Plan]) -> None:
    routing = _following(learnt[0], learnt[2])
    one, other = BySuperpage(CONF, routing), BySuperpage(CONF, routing)
    names = ["", "..", "\udcff.example", "a" * 100_000, "[::1]", "1.2.3.4", *(f"{number}.example" for number in range(500))]
    asked = [Seen(name, path) for name in names for path in ("", "/", "/a//?b", "\udcff", "/" * 5000)]
    answers = [one.home(seen) for seen in asked]
    assert answers == [other.home(seen) for seen in reversed(asked)][::-1]
    assert all(isinstance(home, int) and 0 <= home < 4 for home in answers)


def test_moves_say_what_the_new_routing_says(learnt: tuple[Routing, bytes, Plan]) -> None:
    routing, _, plan = learnt
    before, after = BySuperpage(CONF, routing), BySuperpage(CONF, _following(routing, plan))
    assert plan.moves
    for number in range(6000):
        host, path = _host(number), f"/{number % 24}/{number}.html"
        places = [f"{host}{path}"[:length] for length, letter in enumerate(f"{host}{path}") if letter == "/"]
        told = {move.site: move.partition for move in plan.moves if move.site in places}
        told_home = told[max(told, key=len)] if told else before.home(Seen(host, path))
        assert told_home == after.home(Seen(host, path)) or host != "www.large.example"


def test_planned_again_nothing_moves(learnt: tuple[Routing, bytes, Plan]) -> None:
    routing, shared, plan = learnt
    moved = []
    for _ in range(4):
        routing = _following(routing, plan)
        # What is told again when a routing begins: URLs that wait.
        strategy = BySuperpage(CONF, routing)
        strategy.observe(
            Observation(Observed.VISITS, f"{_host(number)}/{number % 24}/{number}.html") for number in range(6000) if number % 3
        )
        plan = _planned(routing, [shared, strategy.share()])
        moved.append(len(plan.moves))
        if plan.state is None:
            break
    # The first plan could look some tokens ahead only; after it, all is known.
    assert moved[-1] == 0
    assert sum(moved) < len(learnt[2].moves) / 2


def test_who_shares_first_does_not_matter() -> None:
    facts = _facts(3000)
    pipelines = [BySuperpage(CONF, Routing(4, secret=SECRET)) for _ in range(3)]
    for number, strategy in enumerate(pipelines):
        strategy.observe(facts[number::3])
    a, b, c = (strategy.share() for strategy in pipelines)
    assert pipelines[0].share([b, c]) == pipelines[1].share([c, a]) == pipelines[2].share([pipelines[0].share([b])])
    routing = Routing(4, secret=SECRET)
    assert _planned(routing, [a, b, c]) == _planned(routing, [c, a, b])


def test_what_another_strategy_shared_says_nothing(learnt: tuple[Routing, bytes, Plan]) -> None:
    routing, shared, plan = learnt
    assert _planned(routing, [shared, b"of another strategy"]) == plan


def test_a_state_of_another_strategy_says_nothing() -> None:
    for state in (b"\xff\xfe", b"\x90", b"x" * 100):
        routing = Routing(4, 7, state, SECRET)
        assert BySuperpage(CONF, routing).home(Seen("a.example")) == ByHash(CONF, routing).home(Seen("a.example"))


def test_a_plan_is_bounded_however_many_names_there_are() -> None:
    routing = Routing(8, secret=SECRET)
    shared = []
    for pipeline in range(3):
        strategy = BySuperpage(CONF, routing)
        strategy.observe(
            Observation(
                Observed.VISITS, f"{pipeline}-{number}.{'x' * (number % 60)}.example/{'y' * (number % 90)}/{number}/", 9.0
            )
            for number in range(15_000)
        )
        shared.append(strategy.share())
    plan = _planned(routing, shared)
    assert plan.state is not None
    assert len(plan.state) <= MAX_SHARED
