"""Machines of one kernel: network namespaces on a switch that nothing else is connected to.

Only root can make them. A machine has its own addresses, its own routes and, for the processes that are started on it, its own
boot clock. The machines' boot clocks are far apart, as those of real machines are.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Namespace", "Switch", "switch", "why_unavailable"]

_PREFIX = "parcahyd-lab"
_BRIDGE = "br0"
_CARD = "eth0"
_NETWORK_BITS = 8
_CLONE_NEWNET = 0x40000000
_BOOT_CLOCK_STEP = 100_000
"""Seconds between the boot clocks of two machines."""


class Namespace:
    """One machine on the switch."""

    def __init__(self, switch: Switch, name: str, number: int, addresses: Iterable[str]) -> None:
        self.name = f"{switch.name}-{name}"
        self.addresses = tuple(addresses)
        self._switch = switch
        self._port = f"p{number}"
        self._boot_offset = number * _BOOT_CLOCK_STEP
        _ip("netns", "add", self.name)
        _ip("-n", switch.name, "link", "add", self._port, "type", "veth", "peer", "name", _CARD, "netns", self.name)
        _ip("-n", switch.name, "link", "set", self._port, "master", _BRIDGE, "up")
        for card in ("lo", _CARD):
            _ip("-n", self.name, "link", "set", card, "up")
        lines = "".join(f"addr add {address}/{_NETWORK_BITS} dev {_CARD}\n" for address in self.addresses)
        _ip("-n", self.name, "-batch", "-", text=lines)

    @property
    def address(self) -> str:
        return self.addresses[0]

    @contextmanager
    def inside(self) -> Iterator[None]:
        """The calling thread's sockets and children are on this machine; a socket stays there afterwards."""
        with open("/proc/thread-self/ns/net", "rb") as home, open(f"/run/netns/{self.name}", "rb") as there:
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(home.fileno())

    def own_clock(self) -> list[str]:
        """What a command begins with that runs by this machine's boot clock; empty where the kernel has no such clocks."""
        if not Path("/proc/self/ns/time").exists():
            return []
        return ["unshare", "--time", "--boottime", str(self._boot_offset), "--monotonic", str(self._boot_offset)]

    def cut(self, network: str) -> None:
        """From now on nothing is sent from here to a network; what comes from there still arrives."""
        _ip("-n", self.name, "route", "add", "blackhole", network)

    def heal(self, network: str) -> None:
        """Ends `cut`."""
        _ip("-n", self.name, "route", "del", "blackhole", network)

    def unplug(self) -> None:
        """Nothing goes either way any more. What the processes send is lost, even the end of their connections."""
        _ip("-n", self._switch.name, "link", "set", self._port, "down")

    def plug_in(self) -> None:
        _ip("-n", self._switch.name, "link", "set", self._port, "up")


class Switch:
    """A switch, itself a namespace, so that nothing is connected to the network of this machine."""

    def __init__(self) -> None:
        self.name = f"{_PREFIX}-{os.getpid()}"
        self._machines: list[Namespace] = []
        _ip("netns", "add", self.name)
        _ip("-n", self.name, "link", "add", _BRIDGE, "type", "bridge")
        _ip("-n", self.name, "link", "set", _BRIDGE, "up")

    def machine(self, name: str, *addresses: str) -> Namespace:
        """A new machine; `name` is its own on this switch."""
        self._machines.append(Namespace(self, name, len(self._machines) + 1, addresses))
        return self._machines[-1]

    def close(self) -> None:
        """Removes the machines. Their processes have to be ended before."""
        for machine in self._machines:
            _ip("netns", "delete", machine.name)
        _ip("netns", "delete", self.name)


@contextmanager
def switch() -> Iterator[Switch]:
    """One switch for each process that runs tests; those that killed processes left are removed."""
    _remove_leftovers()
    made = Switch()
    try:
        yield made
    finally:
        made.close()


def why_unavailable() -> str:
    """Why no machine can be made here; empty where it can."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    try:
        with switch() as made:
            made.machine("trial", "10.9.255.1")
    except FileNotFoundError:
        return "the command ip (package iproute2) is not installed"
    except subprocess.CalledProcessError as error:
        return f"network namespaces cannot be made: {error.stderr.strip()}"
    return ""


def _remove_leftovers() -> None:
    for file in Path("/run/netns").glob(f"{_PREFIX}-*"):
        found = re.fullmatch(rf"{_PREFIX}-(\d+)(-.*)?", file.name)
        if found and not Path(f"/proc/{found[1]}").exists():
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", file.name)


def _enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, _CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _ip(*arguments: str, text: str | None = None) -> None:
    subprocess.run(["ip", *arguments], input=text, check=True, capture_output=True, text=True)
