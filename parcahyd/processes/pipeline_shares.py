"""What one pipeline gets of a machine: limits of the whole crawl and of the machine are divided among the pipelines (rule 12).

Tested in tests/processes/test_pipeline_shares.py.
"""

from __future__ import annotations

import msgspec

from parcahyd.cluster.identity import ClusterFacts
from parcahyd.config.schema import Configuration
from parcahyd.runtime.children import usable_cores

__all__ = ["share_of_one"]

_LEAST_BUFFER = 4 * 1024 * 1024
_KERNEL_SHARE = 0.1
"""Of a lease: for so long the kernel goes on with what a process sent."""


def share_of_one(configuration: Configuration, facts: ClusterFacts, *, wanted_here: int, nodes: int) -> Configuration:
    """The configuration of one pipeline, on a machine on which so many are wanted, one of so many machines.

    MaxInstances, MaxRate and RevisitsPerDay are of the whole crawl, BufferBytes is of a machine.
    """
    work = configuration.work
    here = max(1, wanted_here or -(-facts.partitions // max(1, nodes)))
    workers = work.MaxInstances // facts.partitions if work.MaxInstances else usable_cores() // here
    shared = msgspec.structs.replace(
        work,
        MaxInstances=max(1, workers),
        MaxRate=max(1, work.MaxRate // facts.partitions) if work.MaxRate else 0,
        RevisitsPerDay=-(-work.RevisitsPerDay // facts.partitions) if work.RevisitsPerDay else work.RevisitsPerDay,
        BufferBytes=max(_LEAST_BUFFER, work.BufferBytes // here),
        SendTimeout=_KERNEL_SHARE * facts.lease,
    )
    return msgspec.structs.replace(configuration, work=shared)
