"""How much a machine can do for a crawl (statements G3, G10): as many pipelines as its scarcest resource feeds.

capacity = min((cores - load) / 1, memory / 512 MiB, disk / 8 GiB, bandwidth / 1 MB/s)

A pipeline that is busy keeps about one core busy, most of it with the writer's work; with its buffers it takes some hundred
megabytes; a hundred pages a second are about one megabyte a second. Only the proportions between machines matter, so the
figures need not be exact. A minimum is taken because a machine with many cores and a slow line is a slow machine.
"""

from __future__ import annotations

from parcahyd.core.partitions import ClusterNode

__all__ = ["MOST", "capacity"]

_CORES = 1.0
_MEMORY = 512 * 1024 * 1024
_DISK = 8 * 1024 * 1024 * 1024
_BANDWIDTH = 1_000_000
_LEAST_SHARE = 0.1
"""Of its cores, a machine counts with so much however busy others keep it: the kernel divides the cores among all."""
MOST = 1_000_000
"""A machine counts for so much at most, whatever it says of itself."""


def capacity(node: ClusterNode) -> int:
    """Pipelines in hundredths, from 0 to MOST. A figure that is negative or not a number counts as 0."""
    # A comparison with what is not a number is false.
    load = node.load if node.load > 0 else 0.0
    cores = max(node.cores - load, node.cores * _LEAST_SHARE)
    needs = ((cores, _CORES), (node.memory, _MEMORY), (node.disk, _DISK), (node.bandwidth, _BANDWIDTH))
    return min(_hundredths(has, needed) for has, needed in needs if has is not None)


def _hundredths(has: float, needed: float) -> int:
    return int(min(100 * has / needed, MOST)) if has > 0 else 0
