"""`parcahyd cluster drain`, `move` and `leave`: which machine does what.

Tested in tests/cli/test_cluster.py.
"""

from __future__ import annotations

import time
from pathlib import Path

import click

from parcahyd.cli.cluster_connection import open_hub
from parcahyd.cli.options import crawl_options
from parcahyd.cli.progress_line import progress_line
from parcahyd.cli.wording import plural
from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import boot_time
from parcahyd.cluster.obeying import Obeying
from parcahyd.cluster.planning import drain as drain_node
from parcahyd.cluster.planning import find_node, pin, remove_node
from parcahyd.core.errors import UserError

__all__ = ["drain", "leave", "move"]

_LOOK_EVERY = 0.5


@click.command("drain")
@click.argument("node", metavar="NODE")
@click.option("--undo", is_flag=True, help="Let the node take part again.")
@crawl_options
def drain(folder: Path | None, overrides: tuple[str, ...], database: str | None, node: str, undo: bool) -> None:
    """Take the work from a machine.

    It gives its partitions back, others take them, and it gets none. Its agent goes on and waits. `status` shows when it
    has no partition any more; then it may be switched off, and `leave` takes it off the list.

    \b
    Examples:
      parcahyd cluster drain n2 --conf conf/
      parcahyd cluster drain n2 --undo --conf conf/
    """
    with open_hub(folder, overrides, database) as (hub, _):
        drain_node(hub, node, is_draining=not undo)
    click.echo(f"Node {node} takes part again." if undo else f"Node {node} gives its partitions back and gets none.")


@click.command("move")
@click.argument("partition", metavar="PARTITION", type=click.IntRange(0))
@click.argument("node", metavar="NODE")
@crawl_options
def move(folder: Path | None, overrides: tuple[str, ...], database: str | None, partition: int, node: str) -> None:
    """Have a partition run on a certain machine.

    Its present holder finishes what is on the wire and gives it back. It stays on that machine until the machine falls silent,
    is drained, or leaves.

    \b
    Example:
      parcahyd cluster move 3 n2 --conf conf/
    """
    with open_hub(folder, overrides, database) as (hub, _):
        pin(hub, partition, node)
    click.echo(f"Partition {partition} is to run on node {node}.")


@click.command("leave")
@click.argument("node", metavar="NODE")
@crawl_options
def leave(folder: Path | None, overrides: tuple[str, ...], database: str | None, node: str) -> None:
    """Take a machine off the list.

    For one that was drained, or that is gone for good. The partitions of a machine that is silent are taken from it first,
    which lasts one lease. One that works is refused.

    \b
    Example:
      parcahyd cluster leave n2 --conf conf/
    """
    with open_hub(folder, overrides, database) as (hub, _):
        find_node(hub, node)
        _wait_until_free(hub, node)
        remove_node(hub, node)
    click.echo(f"Node {node} has left.")


def _wait_until_free(hub: HubConnection, node: str) -> None:
    obeying = Obeying(hub, boot_time)
    with progress_line("silent partitions ended") as progress:
        most = len(held := obeying.held_by(node))
        while held:
            if alive := set(obeying.alive()).intersection(held):
                raise UserError(
                    f"node {node} is at work on {plural(len(alive), 'partition')}", f"first: parcahyd cluster drain {node}"
                )
            if progress is not None:
                progress(most - len(held), most)
            time.sleep(_LOOK_EVERY)
            held = obeying.held_by(node)
