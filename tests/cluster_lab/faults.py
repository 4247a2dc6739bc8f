"""The faults that strike a cluster in mid-crawl. Each blocks until what it did is over, where it ends by itself.

The first node is struck. A fault that lasts does so for a number of leases; that is its definition, and no synchronisation.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import msgspec
import psutil

from tests.cluster_lab.hub_proxy import Direction
from tests.cluster_lab.lab import HUB_NETWORK, WEB_NETWORK, Lab, Place, as_namespace
from tests.cluster_lab.node import Role
from tests.cluster_lab.open_transactions import stop_in_transaction
from tests.cluster_lab.wall_clock import WallClock, why_no_wall_clock
from tests.support.processes import TEST_TIMEOUT, wait_until

__all__ = ["FAULTS", "Fault"]

_BOTH: frozenset[Place] = frozenset({"loopback", "namespaces"})
_NAMESPACES: frozenset[Place] = frozenset({"namespaces"})
_LOOPBACK: frozenset[Place] = frozenset({"loopback"})

_SHORT, _LONG = 0.4, 1.6
"""Leases that a fault lasts, within which its node keeps its partitions or loses them."""
_PROXIES = frozenset({"with_proxies"})
_LOST_COMMITS = 5
_HOUR = 3600.0
_LEARNING = 900.0

_HELD = "SELECT id FROM parcahyd_hub.partitions WHERE node = %s AND id >= 0"
_CLAIMING = "^UPDATE"


class Fault(msgspec.Struct, frozen=True):
    """One fault."""

    name: str
    strike: Callable[[Lab], None]
    places: frozenset[Place] = _BOTH
    needs: frozenset[str] = frozenset()
    """What the lab's plan has besides: `with_proxies`, `with_hub_clock`."""
    prepare: Callable[[Lab], None] | None = None
    """Called before the agents start."""
    why_not: Callable[[], str] | None = None
    """Why it cannot be tried here; empty where it can."""


def _nothing(lab: Lab) -> None:
    """To compare with."""


# --- what dies ---------------------------------------------------------------------------------------------------------


def _kill_machine(lab: Lab) -> None:
    node = lab.nodes[0]
    if lab.plan.place == "namespaces":
        as_namespace(node.machine).unplug()  # A machine without power says no goodbye to its peers.
    node.kill()


def _kill_and_rejoin(lab: Lab) -> None:
    _kill_machine(lab)
    time.sleep(_LONG * lab.plan.lease)
    if lab.plan.place == "namespaces":
        as_namespace(lab.nodes[0].machine).plug_in()
    lab.nodes[0].start()


def _kill(role: Role) -> Callable[[Lab], None]:
    def strike(lab: Lab) -> None:
        lab.nodes[0].one_of(role).kill()

    return strike


# --- what moves --------------------------------------------------------------------------------------------------------


_PLACED = "INSERT INTO parcahyd_hub.moves SELECT host, {0}, {1}, 'a test' FROM parcahyd_p{0}.sites ON CONFLICT DO NOTHING"


def _move_sites(lab: Lab) -> None:
    """Every host that was found is to live in the next partition, as `cluster place` says of one."""
    count = lab.plan.partitions
    for number in range(count):
        lab.hub.execute(_PLACED.format(number, (number + 1) % count))


def _move_and_kill(lab: Lab) -> None:
    _move_sites(lab)
    _kill_machine(lab)


def _divide_anew(strategy: str) -> Callable[[Lab], None]:
    def strike(lab: Lab) -> None:
        lab.until(lab.plan.pages // 2, _LEARNING)  # Before much is known, a plan leaves everything where it is.
        (lab.folder / "plan.log").write_text(lab.cluster("partition", strategy).text)

    return strike


def _drain_and_rejoin(lab: Lab) -> None:
    """The node gives back what it has, is switched off and taken off the list, and comes again."""
    node = lab.nodes[0]
    lab.cluster("drain", node.name)
    assert wait_until(lambda: not lab.hub.rows(_HELD, node.name), TEST_TIMEOUT), lab.said()
    node.kill()
    lab.cluster("leave", node.name)
    time.sleep(lab.plan.lease / 2)
    node.start()


def _divide_and_kill(lab: Lab) -> None:
    _divide_anew("superpage")(lab)
    _kill_machine(lab)


# --- what stands still -------------------------------------------------------------------------------------------------


@contextmanager
def _stopped(processes: Iterable[psutil.Process]) -> Iterator[None]:
    found = list(processes)
    for process in found:
        _send(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in found:
            _send(process, signal.SIGCONT)


def _send(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return


def _stop_machine(leases: float) -> Callable[[Lab], None]:
    def strike(lab: Lab) -> None:
        with _stopped(lab.nodes[0].processes()):
            time.sleep(leases * lab.plan.lease)

    return strike


def _stop_tree(lab: Lab) -> None:
    with _stopped(lab.nodes[0].tree()):
        time.sleep(_LONG * lab.plan.lease)


def _stop(role: Role) -> Callable[[Lab], None]:
    def strike(lab: Lab) -> None:
        with _stopped([lab.nodes[0].one_of(role)]):
            time.sleep(_LONG * lab.plan.lease)

    return strike


def _stop_writer(lab: Lab) -> None:
    node = lab.nodes[0]
    partitions = [row[0] for row in lab.hub.rows(_HELD, node.name)]
    process = stop_in_transaction(lab.hub, node, [f"parcahyd_p{number}.urls" for number in partitions])
    with _stopped([process]):
        time.sleep(_LONG * lab.plan.lease)


def _stop_claimer(lab: Lab) -> None:
    process = stop_in_transaction(lab.hub, lab.nodes[0], ["parcahyd_hub.subjects"], _CLAIMING)
    with _stopped([process]):
        time.sleep(_LONG * lab.plan.lease)


# --- what is cut -------------------------------------------------------------------------------------------------------


def _cut_by_routes(leases: float, *, from_node: bool, from_hub: bool) -> Callable[[Lab], None]:
    def strike(lab: Lab) -> None:
        node, hub = as_namespace(lab.nodes[0].machine), as_namespace(lab.hub.machine)
        cuts = [(node, HUB_NETWORK)] * from_node + [(hub, f"{node.address}/32")] * from_hub
        for machine, network in cuts:
            machine.cut(network)
        time.sleep(leases * lab.plan.lease)
        for machine, network in cuts:
            machine.heal(network)

    return strike


def _cut_by_proxy(leases: float, *directions: Direction) -> Callable[[Lab], None]:
    def strike(lab: Lab) -> None:
        proxy = lab.nodes[0].proxy
        assert proxy is not None
        proxy.cut(*directions)
        time.sleep(leases * lab.plan.lease)
        proxy.heal()

    return strike


def _cut_from_web(lab: Lab) -> None:
    node = as_namespace(lab.nodes[0].machine)
    node.cut(WEB_NETWORK)
    time.sleep(lab.plan.lease)
    node.heal(WEB_NETWORK)


# --- the hub -----------------------------------------------------------------------------------------------------------


def _restart_hub(leases: float) -> Callable[[Lab], None]:
    def strike(lab: Lab) -> None:
        lab.hub.stop()
        time.sleep(leases * lab.plan.lease)
        lab.hub.start_again()

    return strike


def _lose_commits(*, silently: bool) -> Callable[[Lab], None]:
    def strike(lab: Lab) -> None:
        proxy = lab.nodes[0].proxy
        assert proxy is not None
        proxy.lose_commits(_LOST_COMMITS, silently=silently)
        assert wait_until(lambda: proxy.lost_commits >= _LOST_COMMITS or lab.is_over(), TEST_TIMEOUT), "nothing was committed"

    return strike


def _restore_backup(lab: Lab) -> None:
    """A backup is made, the crawl goes on, and then the database is as it was at the backup."""
    file = lab.folder / "backup"
    lab.hub.back_up(file)
    lab.until(lab.asked() + lab.plan.pages // 8, TEST_TIMEOUT)
    lab.hub.restore(file)
    lab.say_that_it_was_restored()
    lab.hub.replace_by_restored()


# --- clocks ------------------------------------------------------------------------------------------------------------


def _set_node_clock(lab: Lab) -> None:
    lab.nodes[0].environment.update(WallClock(lab.folder / "wall-clock", _HOUR).environment)


def _step_hub_clock(lab: Lab) -> None:
    """An hour forward, and half a lease later two hours back."""
    assert lab.hub_clock is not None
    for offset in (_HOUR, -_HOUR):
        lab.hub_clock.step_to(offset)
        time.sleep(_SHORT * lab.plan.lease)


FAULTS: tuple[Fault, ...] = (
    Fault("none", _nothing),
    Fault("machine killed", _kill_machine),
    Fault("machine killed, rejoins", _kill_and_rejoin),
    Fault("coordinator killed", _kill("pipeline")),
    Fault("worker killed", _kill("worker")),
    Fault("writer killed", _kill("writer")),
    Fault("agent killed", _kill("agent")),
    Fault("machine drained, leaves and joins", _drain_and_rejoin),
    Fault("all sites move", _move_sites),
    Fault("all sites move, machine killed", _move_and_kill),
    Fault("divided anew by superpages", _divide_anew("superpage")),
    Fault("divided anew by superpages, machine killed", _divide_and_kill),
    Fault("divided anew by size", _divide_anew("dynamic_size")),
    Fault("machine stands still, within the lease", _stop_machine(_SHORT)),
    Fault("machine stands still, beyond the lease", _stop_machine(_LONG)),
    Fault("tree stands still", _stop_tree),
    Fault("worker stands still", _stop("worker")),
    Fault("writer stands still in a transaction", _stop_writer),
    Fault("claimer stands still in a claim", _stop_claimer),
    Fault("cut from the hub, within the lease", _cut_by_routes(_SHORT, from_node=True, from_hub=True), _NAMESPACES),
    Fault("cut from the hub, beyond the lease", _cut_by_routes(_LONG, from_node=True, from_hub=True), _NAMESPACES),
    Fault("questions to the hub cut, within the lease", _cut_by_routes(_SHORT, from_node=True, from_hub=False), _NAMESPACES),
    Fault("questions to the hub cut, beyond the lease", _cut_by_routes(_LONG, from_node=True, from_hub=False), _NAMESPACES),
    Fault("answers of the hub cut, within the lease", _cut_by_routes(_SHORT, from_node=False, from_hub=True), _NAMESPACES),
    Fault("answers of the hub cut, beyond the lease", _cut_by_routes(_LONG, from_node=False, from_hub=True), _NAMESPACES),
    Fault("cut from the hub, within the lease", _cut_by_proxy(_SHORT, "questions", "answers"), _LOOPBACK, _PROXIES),
    Fault("cut from the hub, beyond the lease", _cut_by_proxy(_LONG, "questions", "answers"), _LOOPBACK, _PROXIES),
    Fault("answers of the hub cut, beyond the lease", _cut_by_proxy(_LONG, "answers"), _LOOPBACK, _PROXIES),
    Fault("cut from the web", _cut_from_web, _NAMESPACES),
    Fault("hub restarted, within the lease", _restart_hub(_SHORT)),
    Fault("hub restarted, beyond the lease", _restart_hub(_LONG)),
    Fault("answers to COMMIT lost", _lose_commits(silently=False), needs=_PROXIES),
    Fault("answers to COMMIT never come", _lose_commits(silently=True), needs=_PROXIES),
    Fault("backup restored", _restore_backup),
    Fault("wall clock an hour fast", _nothing, prepare=_set_node_clock, why_not=why_no_wall_clock),
    Fault("hub's clock stepped", _step_hub_clock, needs=frozenset({"with_hub_clock"}), why_not=why_no_wall_clock),
)
