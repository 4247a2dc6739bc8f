"""Asks a partition strategy in a process of its own, for `check_partitioner`.

`python -m parcahyd.testing.partitioner_process MODULE:NAME...` makes the first of these that it finds, reads Questions from
standard input and writes Answers.

Tested in tests/testing/test_partitioner_checks.py.
"""

import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import PluginNotFound
from parcahyd.core.partitions import ClusterView, Plan, Routing, Seen
from parcahyd.hookspecs import PartitionerFactory
from parcahyd.third_party import target_of

__all__ = ["Answers", "Questions", "answers", "main"]


class Questions(msgspec.Struct, frozen=True):
    """What a strategy is asked in two processes."""

    conf: WorkConf
    routing: Routing
    hosts: tuple[str, ...]
    views: tuple[ClusterView, ...]


class Answers(msgspec.Struct, frozen=True):
    """What has to be the same in both."""

    homes: tuple[int | None, ...]
    plans: tuple[Plan, ...]


def answers(factory: PartitionerFactory, questions: Questions) -> Answers:
    """What the strategy says here."""
    strategy = factory(questions.conf, questions.routing)
    homes = [strategy.home(Seen(host)) for host in questions.hosts]
    known = tuple(home if isinstance(home, int) else None for home in homes)
    return Answers(known, tuple(strategy.plan(view) for view in questions.views))


def _factory(path: str, *others: str) -> Any:
    try:
        return target_of(path, "factory")
    except PluginNotFound:
        if not others:
            raise
        return _factory(*others)


def main(arguments: Sequence[str]) -> int:
    """Reads the questions and writes the answers, both as msgpack."""
    questions = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Questions)
    sys.stdout.buffer.write(msgspec.msgpack.encode(answers(_factory(*arguments), questions)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
