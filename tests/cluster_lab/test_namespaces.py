"""Machines in namespaces reach each other and nothing else, and can be cut off."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cluster_lab.namespaces import Namespace, Switch, switch, why_unavailable
from tests.support.crawl import ROOT

_PATIENCE = 60.0
_NO_ANSWER = 0.3


@pytest.fixture(scope="module")
def made() -> Iterator[Switch]:
    if reason := why_unavailable():
        pytest.skip(reason)
    with switch() as running:
        yield running


@pytest.fixture(scope="module")
def machines(made: Switch) -> tuple[Namespace, Namespace]:
    return made.machine("one", "10.9.0.1", "10.9.0.2"), made.machine("two", "10.9.0.3")


@contextmanager
def _conversation(one: Namespace, two: Namespace) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a connection from `one` to `two`."""
    with two.inside():
        listener = socket.create_server((two.address, 0))
    with listener, one.inside():
        here = socket.create_connection(listener.getsockname(), _PATIENCE)
        there, _ = listener.accept()
    with here, there:
        there.settimeout(_PATIENCE)
        yield here, there


def _says_nothing(end: socket.socket) -> bool:
    end.settimeout(_NO_ANSWER)
    try:
        end.recv(1)
    except TimeoutError:
        return True
    finally:
        end.settimeout(_PATIENCE)
    return False


def test_machines_reach_each_other_by_all_their_addresses(machines: tuple[Namespace, Namespace]) -> None:
    one, two = machines
    for address in one.addresses:
        with one.inside():
            listener = socket.create_server((address, 0))
        with listener, two.inside(), socket.create_connection(listener.getsockname(), _PATIENCE) as connection:
            assert connection.getsockname()[0] == two.address


def test_nothing_leads_out_of_the_switch(machines: tuple[Namespace, Namespace]) -> None:
    with machines[0].inside(), pytest.raises(OSError, match="unreachable"):
        socket.create_connection(("192.0.2.1", 80), _PATIENCE)


def test_the_thread_comes_home(machines: tuple[Namespace, Namespace]) -> None:
    def cards() -> set[str]:
        return {name for _, name in socket.if_nameindex()}

    before = cards()
    with machines[0].inside():
        assert cards() == {"lo", "eth0"}
        shown = subprocess.run(["ip", "-brief", "link"], capture_output=True, text=True, check=True).stdout
        assert "eth0@" in shown
    assert cards() == before


def test_a_cut_holds_one_way_and_what_was_sent_arrives_after_healing(machines: tuple[Namespace, Namespace]) -> None:
    one, two = machines
    with _conversation(one, two) as (here, there):
        one.cut("10.9.0.3/32")
        try:
            here.send(b"a")
            assert _says_nothing(there)
            there.send(b"b")
            assert here.recv(1) == b"b"
        finally:
            one.heal("10.9.0.3/32")
        assert there.recv(1) == b"a"


def test_an_unplugged_machine_is_not_heard_to_end(machines: tuple[Namespace, Namespace]) -> None:
    one, two = machines
    with _conversation(one, two) as (here, there):
        one.unplug()
        here.close()
        assert _says_nothing(there)
        one.plug_in()
        assert there.recv(1) == b""


def test_each_machine_has_its_own_boot_clock(machines: tuple[Namespace, Namespace]) -> None:
    if not machines[0].own_clock():
        pytest.skip("this kernel has no time namespaces")
    read = [sys.executable, "-c", "import time; print(time.clock_gettime(time.CLOCK_BOOTTIME))"]
    one, two = (
        float(subprocess.run([*machine.own_clock(), *read], capture_output=True, text=True, check=True).stdout)
        for machine in machines
    )
    assert two - one > 50_000


def test_what_a_killed_process_left_is_removed(made: Switch) -> None:
    """By the next one that looks whether machines can be made. Those of living processes stay."""
    program = (
        "import os; from tests.cluster_lab.namespaces import Switch; made = Switch(); "
        "print(made.name, made.machine('lost', '10.9.0.9').name, flush=True); os.kill(os.getpid(), 9)"
    )
    child = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    look = "from tests.cluster_lab.namespaces import why_unavailable; assert why_unavailable() == ''"
    assert len(child.stdout.split()) == 2, child.stderr
    subprocess.run([sys.executable, "-c", look], cwd=ROOT, check=True)
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout.split()
    assert not set(child.stdout.split()) & set(listed)
    assert made.name in listed
