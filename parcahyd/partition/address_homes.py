"""Whether a host should live with the other hosts of its address.

Requests to one address are made by one pipeline at a time (rule 4 of a cluster). Where a thousand hosts share the address of a
content delivery network and live in all partitions, these partitions wait for one another. So a host may live where most
of its neighbours do, as long as that partition does not become much larger than the others.
"""

from __future__ import annotations

from parcahyd.core.partitions import Neighbours

__all__ = ["LEAST", "MORE", "home_at_address"]

LEAST = 64
"""So many hosts may live in a partition whatever the others have: with few hosts, there is nothing to balance."""
MORE = 0.25
"""By this share, and by LEAST hosts, a partition may become larger than the mean by taking in hosts from elsewhere."""


def home_at_address(own: int, neighbours: Neighbours, partitions: int) -> int:
    """The home of a host that is about to be visited for the first time: `own`, its home by name, or that of its address.

    The home of an address is the partition in which most of its hosts live and that still takes hosts in; of equals, the one
    with the lowest number. A partition that has (1 + MORE) times the mean number of hosts, and LEAST more, takes in none: the
    next host of that address stays at home, and those after it follow there. So one address can fill a partition up to that
    bound, whoever sends the crawl a million names of it. Beyond it come only hosts whose own name leads there, which are
    spread evenly.
    """
    mean = sum(neighbours.hosts.values()) / partitions
    bound = LEAST + (1 + MORE) * mean
    known = [partition for partition in neighbours.at_address if 0 <= partition < partitions]
    for partition in sorted(known, key=lambda partition: (-neighbours.at_address[partition], partition)):
        if partition == own or neighbours.hosts.get(partition, 0) < bound:
            return partition
    return own
