"""Tries what may happen to Ray during a crawl on three of its nodes, and prints what the web and the partitions say as a table.

    python -m tests.cluster_lab.ray_scenarios [--pages 1600 --strike-at 400 --lease 20] [--only TEXT...] [--logs FOLDER]

It exits with 1 if a crawl is not as it must be. Ray has to be installed.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from bench.report_page import table
from tests.cluster_lab.faults import Fault
from tests.cluster_lab.lab import Lab, Plan, open_lab
from tests.cluster_lab.ray_cluster import RayCluster, why_no_ray
from tests.cluster_lab.scenarios import HEADING, Outcome, judge
from tests.support.crawl import Crawl, Running, Setting
from tests.support.processes import wait_until

__all__ = ["RAY_FAULTS", "RayFault", "RayLab", "play_with_ray"]

_LIMIT = 1200.0
_LOST_AFTER = 90.0
"""Seconds after which nodes that have lost Ray's head have ended, and a good while more."""


class RayLab:
    """A lab whose agents are Ray's actors, all with one configuration folder, as on machines that have it at one path."""

    def __init__(self, lab: Lab, ray: RayCluster, crawl: Crawl) -> None:
        self.lab = lab
        self.ray = ray
        self.crawl = crawl
        self.commands: list[Running] = []
        self.memory: dict[str, dict[str, int]] = {}

    def run(self) -> None:
        """`parcahyd run`, once more if it was there before."""
        self.commands.append(self.crawl.launch("run", "--conf", str(self.crawl.conf), "--interval", "5"))

    def has_ended(self) -> bool:
        """Whether the command that was started last has."""
        return self.commands[-1].process.poll() is not None

    def close(self) -> None:
        for command in self.commands:
            command.kill()

    def said(self) -> str:
        return "".join(f"== {command.log.name}\n{command.said()}" for command in self.commands)


class RayFault(msgspec.Struct, frozen=True):
    """What happens to Ray."""

    name: str
    strike: Callable[[RayLab], None]


def _nothing(there: RayLab) -> None:
    """To compare with."""


def _kill_raylet(there: RayLab) -> None:
    """The last node's, which is started again two leases later."""
    node = there.ray.nodes[-1]
    node.kill_raylet()
    time.sleep(2 * there.lab.plan.lease)
    node.end()
    node.start()


def _kill_head(there: RayLab) -> None:
    """The head of Ray. Everything is started again when the other nodes have noticed it: Ray, and the same command."""
    there.ray.nodes[0].kill_head()
    time.sleep(_LOST_AFTER)
    for node in there.ray.nodes:
        node.end()
    there.ray.start()
    there.commands[-1].kill()
    there.run()


RAY_FAULTS = (RayFault("nothing", _nothing), RayFault("raylet killed", _kill_raylet), RayFault("Ray's head killed", _kill_head))


def play_with_ray(plan: Plan, fault: RayFault, folder: Path, strike_at: int) -> tuple[Outcome, RayLab]:
    """One crawl, struck when the web has answered so many requests."""
    with contextlib.ExitStack() as stack:
        lab = stack.enter_context(open_lab(plan, folder))
        addresses = [node.machine.address for node in lab.nodes]
        ray = stack.enter_context(RayCluster(addresses, folder))
        first = lab.nodes[0]
        cluster: dict[str, Setting] = {"Work.LocalInstance": False, "Map.ListIP": addresses}
        first.settle("", **cluster, **{"Work.Seeds": [lab.served.web.url(0, 0)]})
        there = RayLab(lab, ray, first._crawl)
        there.crawl.environment.update(ray.environment, RAY_ADDRESS=ray.address, PARCAHYD_LAB_NODE="0")
        stack.callback(there.close)
        lab.make()
        began = time.monotonic()
        there.run()
        struck = wait_until(lambda: lab.asked() >= strike_at or there.has_ended(), _LIMIT, pause=0.05)
        assert struck, there.said()
        assert lab.asked() >= strike_at, there.said()
        there.memory.update({node.address: node.memory() for node in ray.nodes})
        fault.strike(there)
        is_over = wait_until(lab.is_over, _LIMIT, pause=0.2) and wait_until(there.has_ended, _LIMIT, pause=0.2)
        seconds = time.monotonic() - began
        (folder / "commands.log").write_text(there.said())
        assert is_over, there.said()
        assert there.commands[-1].process.returncode == 0, there.said()
        return judge(lab, Fault(fault.name, lambda _: None), seconds, is_over=is_over), there


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="faults whose names have one of these texts")
    parser.add_argument("--pages", type=int, default=Plan().pages)
    parser.add_argument("--strike-at", type=int, default=400)
    parser.add_argument("--lease", type=float, default=Plan().lease)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    given = _arguments(arguments)
    if reason := why_no_ray():
        sys.exit(reason)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # What was started is ended on the way out.
    outcomes = []
    for fault in RAY_FAULTS:
        if given.only and not any(text in fault.name for text in given.only):
            continue
        plan = Plan(nodes=3, partitions=6, lease=given.lease, pages=given.pages)
        with tempfile.TemporaryDirectory(prefix="parcahyd-ray-", ignore_cleanup_errors=True) as name:
            outcome, there = play_with_ray(plan, fault, Path(name), given.strike_at)
            print((Path(name) / "commands.log").read_text()[-3000:], file=sys.stderr)
        outcomes.append(outcome)
        print(" | ".join(outcome.cells()), file=sys.stderr, flush=True)
        for address, kinds in there.memory.items():
            amounts = ", ".join(f"{kind} {size / 1e6:.0f} MB" for kind, size in sorted(kinds.items()))
            print(f"memory at {address}: {amounts}", file=sys.stderr, flush=True)
    print("\n".join(table(HEADING, (outcome.cells() for outcome in outcomes))))
    return 0 if all(not outcome.wrong() for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
