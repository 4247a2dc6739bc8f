"""Four faults on a small cluster, as continuous integration tries them; `make cluster-test` tries all, on a larger web.

Nothing is said about how long anything takes, and a lease may be lost on a slow machine. What logs and stores show must hold.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.cluster_lab.faults import FAULTS
from tests.cluster_lab.lab import Plan
from tests.cluster_lab.scenarios import play

_SMALL = Plan(nodes=3, partitions=3, pages=240, hosts=12, addresses=6)
_STRIKE_AT = 80


@pytest.mark.parametrize(
    "name", ["machine killed", "writer killed", "answers to COMMIT lost", "all sites move, machine killed"]
)
def test_nothing_is_lost_and_every_delay_is_kept(name: str, tmp_path: Path) -> None:
    fault = next(fault for fault in FAULTS if fault.name == name)
    outcome = play(_SMALL, fault, tmp_path, _STRIKE_AT)
    assert outcome.wrong() == [], (tmp_path / "agents.log").read_text()
    assert outcome.stores.counted == outcome.stores.stored


def test_max_pages_is_exact_although_a_machine_is_killed(tmp_path: Path) -> None:
    fault = next(fault for fault in FAULTS if fault.name == "machine killed")
    outcome = play(replace(_SMALL, settings={"Work.MaxPages": 150}), fault, tmp_path, _STRIKE_AT)
    assert outcome.wrong() == [], (tmp_path / "agents.log").read_text()
    assert outcome.stores.stored == 150
