"""A strategy that somebody else wrote divides the crawl of a real cluster, by a file in the plugin folder and nothing else."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from tests.cluster_lab.faults import FAULTS
from tests.cluster_lab.lab import Plan
from tests.cluster_lab.scenarios import play

_STRATEGY = '''
"""Hosts go by the last digit of their number, whatever anybody else would say."""

from parcahyd.plugins import ByHash, hookimpl


class ByDigit(ByHash):
    def place(self, host):
        digits = "".join(filter(str.isdigit, host.partition(".")[0]))
        return int(digits or 0) % self.routing.partitions

    def home(self, seen):
        return self.place(seen.host)


@hookimpl
def parcahyd_partitioners():
    return {"by-digit": ByDigit}
'''
_PLAN = Plan(nodes=3, partitions=3, pages=180, hosts=9, addresses=9)


def test_it_says_where_every_host_lives(tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (tmp_path / "lab").mkdir()
    (plugins / "by_digit.py").write_text(_STRATEGY)
    settings = {"Work.Partition": "by-digit", "Map.PluginDir": str(plugins)}
    outcome = play(
        replace(_PLAN, settings=settings), next(fault for fault in FAULTS if fault.name == "none"), tmp_path / "lab", 60
    )
    assert outcome.wrong() == []
    assert outcome.stores.homes == {host: int(host.partition(".")[0][1:]) % 3 for host in outcome.stores.homes}
    assert len(outcome.stores.homes) == 9
