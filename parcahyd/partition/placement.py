"""Which partition is wanted on which node: by capacity, and with as few moves as possible.

A node's share of the partitions is its share of all capacity. It gets that share rounded down or up. What is within these
bounds stays where it is, so a load that goes up and down moves a partition once and not back. What has to move goes where
rendezvous hashing draws it, among the nodes that have room. A partition that is idle counts for nothing and stays: so a machine
whose partitions have all come to their end gets some of those that others still work on (statement C31). Everything is computed
in integers from the view alone, so every machine finds the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from parcahyd.core.partitions import ClusterView
from parcahyd.partition.capacity import capacity
from parcahyd.partition.consistent_hash import attraction

__all__ = ["placement", "quotas"]


def placement(view: ClusterView) -> tuple[str | None, ...]:
    """For each partition the node that should run it; None for all where there is no node."""
    weights = _weights(view)
    count = view.routing.partitions
    before = [node if node in weights else None for node in (*view.placed, *[None] * count)[:count]]
    if not weights:
        return (None,) * count
    busy = [number for number in range(count) if number not in view.idle]
    after = [before[number] if number in view.idle else None for number in range(count)]
    room = quotas(weights, Counter(node for number in busy if (node := before[number]) is not None), len(busy))
    staying = [(number, node) for number in busy if (node := before[number]) is not None]
    _fill(after, room, _by_attraction(staying, weights))
    moving = [(number, node) for number in busy if after[number] is None for node in weights]
    _fill(after, room, _by_attraction(moving, weights))
    # An idle partition whose machine is gone may come to any other.
    homeless = [(number, node) for number in range(count) if after[number] is None for node in weights]
    _fill(after, dict.fromkeys(weights, count), _by_attraction(homeless, weights))
    return tuple(after)


def quotas(weights: Mapping[str, int], before: Mapping[str, int], count: int) -> dict[str, int]:
    """How many of `count` partitions each node gets: its share rounded down or up, as near as possible to `before`."""
    total = sum(weights.values())
    low = {node: count * weight // total for node, weight in weights.items()}
    high = {node: -(-count * weight // total) for node, weight in weights.items()}
    found = {node: min(max(before.get(node, 0), low[node]), high[node]) for node in weights}
    # A node that is nearer to its upper bound is the first to get one more, and the last to give one away.
    by_rest = sorted(weights, key=lambda node: (-(count * weights[node] % total), node))
    missing = count - sum(found.values())
    while missing:
        bound, step, order = (high, 1, by_rest) if missing > 0 else (low, -1, by_rest[::-1])
        node = next(node for node in order if found[node] != bound[node])
        found[node] += step
        missing -= step
    return found


def _weights(view: ClusterView) -> dict[str, int]:
    """The nodes with their capacity. Where none has any, all count alike."""
    found = {node.name: capacity(node) for node in view.nodes}
    return found if any(found.values()) else dict.fromkeys(found, 1)


def _by_attraction(pairs: Sequence[tuple[int, str]], weights: Mapping[str, int]) -> list[tuple[int, str]]:
    """Partitions with nodes, the strongest attraction first."""
    return sorted(pairs, key=lambda pair: (-attraction(pair[1], str(pair[0]), weights[pair[1]]), pair))


def _fill(after: list[str | None], room: dict[str, int], pairs: Sequence[tuple[int, str]]) -> None:
    for number, node in pairs:
        if after[number] is None and room[node] > 0:
            after[number] = node
            room[node] -= 1
