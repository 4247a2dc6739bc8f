"""Round trips between machines and sites, recorded or made up: the world of `parcahyd lab locate`.

A site is a network in a city, and a machine reaches it in the time that was measured between the two cities.

Tested in tests/lab/test_locate.py.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from ipaddress import IPv4Address
from pathlib import Path

import msgspec

from parcahyd.core.errors import UserError
from parcahyd.lab.data import DataFile, data_file, fields
from parcahyd.lab.registries import open_lines
from parcahyd.partition.locations.delegated import Delegation, read_delegations
from parcahyd.partition.locations.hierarchy import Hierarchy, build_hierarchy

__all__ = ["RoundTrip", "Site", "World", "read_world", "synthetic_world"]

_MADE_CITIES = 120
_MADE_COUNTRIES = 12
_MADE_HOLDERS = 30
_MADE_SITES = 1000


class Site(msgspec.Struct, frozen=True):
    """A web site."""

    address: str
    city: int


class RoundTrip(msgspec.Struct, frozen=True, gc=False):
    """What was measured between two cities, in seconds."""

    least: float
    mean: float


class World(msgspec.Struct, frozen=True):
    """Everything that the experiment knows, and more than a strategy is told."""

    machines: tuple[int, ...]
    """Cities in which a machine may stand."""
    sites: tuple[Site, ...]
    """In the order in which the crawl meets them."""
    round_trips: dict[tuple[int, int], RoundTrip]
    """By the cities of machine and site. Some are missing."""
    hierarchy: Hierarchy
    data: tuple[DataFile, ...] = ()


def read_world(folder: Path, registries: Path) -> World:
    """From servers.tsv, rtt.tsv and sites.tsv in a folder, and a file of ranges as `parcahyd lab rir` reads it."""
    servers, pairs, places = (data_file(folder, name) for name in ("servers.tsv", "rtt.tsv", "sites.tsv"))
    ranges = data_file(registries.parent, registries.name.removesuffix(".xz"))
    try:
        machines = tuple(int(row[0]) for row in fields(servers, 1))
        trips = {(int(row[0]), int(row[1])): RoundTrip(float(row[2]) / 1000, float(row[3]) / 1000) for row in fields(pairs, 4)}
        sites = tuple(Site(str(IPv4Address(row[0]) + 1), int(row[1])) for row in fields(places, 2))
    except ValueError as error:
        raise UserError(f"{folder}: {error}", "docs/lab/data.md says the form") from error
    return World(machines, sites, trips, build_hierarchy(_delegations(ranges)), (servers, pairs, places, ranges))


def _delegations(file: DataFile) -> Iterable[Delegation]:
    with open_lines(file.path) as lines:
        yield from read_delegations(lines, str(file.path))


def synthetic_world(seed: int) -> World:
    """Cities on a flat map in a few countries; a round trip is the distance with a detour that each pair has for itself."""
    chance = random.Random(seed)
    centres = [(chance.uniform(0, 0.15), chance.uniform(0, 0.1)) for _ in range(_MADE_COUNTRIES)]
    cities = [_near(centres[number % _MADE_COUNTRIES], chance) for number in range(_MADE_CITIES)]
    trips = {}
    for one, here in enumerate(cities):
        for other, there in enumerate(cities):
            least = 0.001 + math.dist(here, there) * chance.uniform(1.0, 1.4)
            trips[one, other] = RoundTrip(least, least + chance.uniform(0, 0.002))
    found: dict[int, int] = {}
    while len(found) < _MADE_SITES:
        found[chance.randrange(1 << 16, 200 << 16) << 8] = chance.randrange(_MADE_CITIES)
    delegations = [_made_delegation(network, city, chance) for network, city in found.items()]
    sites = tuple(Site(str(IPv4Address(network + 1)), city) for network, city in found.items())
    return World(tuple(range(0, _MADE_CITIES, 2)), sites, trips, build_hierarchy(delegations))


def _near(centre: tuple[float, float], chance: random.Random) -> tuple[float, float]:
    return centre[0] + chance.gauss(0, 0.004), centre[1] + chance.gauss(0, 0.004)


def _made_delegation(network: int, city: int, chance: random.Random) -> Delegation:
    """Organisations have networks in several cities of their country; a country's letters are those of its number."""
    country = city % _MADE_COUNTRIES
    holder = f"{country}-{chance.randrange(_MADE_HOLDERS)}"
    letters = f"{chr(65 + country // 5)}{chr(65 + country % 5)}"
    return Delegation(4, network, network + 255, ("north", "south")[country % 2], letters, holder)
