"""Random interleavings of two and three holders, with pauses, losses, lost answers and fail-overs, against a simple model.

`make torture` tries a hundred times as many. A hub with a broken rule has to be found out, too: `broken_hubs`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.postgres import fresh_database

pytest.importorskip("psycopg", reason="PostgreSQL needs the package psycopg")

from tests.cluster.broken_hubs import BROKEN, BrokenHub
from tests.cluster.simulated_cluster import FAULTS, PARTITIONS, Fault, Plan, SimulatedCluster
from tests.cluster.simulated_database import SimulatedDatabase
from tests.cluster.simulated_tree import LEASE
from tests.cluster.simulated_world import Violation

_EXAMPLES = 2000 if os.environ.get("PARCAHYD_TORTURE") else 16
_TRIES = 40
_SECONDS = (1.0, 6.0, 15.0, 19.0, 25.0, 45.0)

_faults = st.builds(
    Fault, step=st.integers(0, 1500), kind=st.sampled_from(FAULTS), whom=st.integers(0, 30), seconds=st.sampled_from(_SECONDS)
)
_plans = st.builds(
    Plan,
    seed=st.integers(0, 2**32),
    nodes=st.integers(2, 3),
    max_pages=st.sampled_from((None, None, 3, 5, 50)),
    faults=st.lists(_faults, max_size=6).map(tuple),
)


@pytest.fixture(scope="module")
def simulated(postgres: str) -> Iterator[SimulatedDatabase]:
    with fresh_database(postgres) as url:
        database = SimulatedDatabase(url, PARTITIONS, LEASE)
        yield database
        database.close()


def test_whatever_happens_the_rules_hold_and_the_run_ends(simulated: SimulatedDatabase) -> None:
    @settings(max_examples=_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
    @given(plan=_plans)
    def try_plan(plan: Plan) -> None:
        SimulatedCluster(simulated, plan).run()

    try_plan()


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name.replace(" ", "-"))
def test_a_hub_without_one_of_its_rules_is_found_out(
    simulated: SimulatedDatabase, monkeypatch: pytest.MonkeyPatch, broken: BrokenHub
) -> None:
    rules = broken.break_it(monkeypatch)
    for seed in range(broken.seed, broken.seed + _TRIES):
        try:
            SimulatedCluster(simulated, _plan_against(broken, seed), rules).run()
        except Violation:
            return
    pytest.fail(f"{_TRIES} crawls did not show that {broken.name}")


def _plan_against(broken: BrokenHub, seed: int) -> Plan:
    """Faults of the kinds that such a hub does not bear."""
    chance = Random(seed)
    number = chance.randrange(2, 7) if broken.faults else 0
    faults = [
        Fault(chance.randrange(900), chance.choice(broken.faults), chance.randrange(30), chance.choice(_SECONDS[1:]))
        for _ in range(number)
    ]
    return Plan(seed, chance.choice((2, 3)), chance.choice(broken.pages), tuple(faults))
