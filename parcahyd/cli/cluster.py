"""`parcahyd cluster`: one crawl on several machines."""

from __future__ import annotations

import click

from parcahyd.cli.cluster_hub import init, lease, migrate, restored
from parcahyd.cli.cluster_nodes import drain, leave, move
from parcahyd.cli.cluster_partition import partition, place, plan
from parcahyd.cli.cluster_run import block, pause, resume, stop, unblock, wait
from parcahyd.cli.cluster_seeds import seed, start
from parcahyd.cli.cluster_status import status

__all__ = ["command"]


class _InOrder(click.Group):
    """Lists its commands in the order in which they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        return list(self.commands)


@click.group(cls=_InOrder, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Make, start, watch and steer a crawl on several machines.

    The machines share a PostgreSQL database. `init` makes the cluster in it, `start` begins a run, and the agent of each
    machine, parcahyd node, does the work. All of these commands may be given on any machine.
    docs/cluster.md explains how a cluster is used, and what becomes of it when something fails.

    \b
    Examples:
      parcahyd cluster init --conf conf/
      parcahyd cluster start --conf conf/ https://www.example.org/
      parcahyd cluster status --conf conf/ --watch
      parcahyd cluster stop --conf conf/
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for _part in (
    *(init, start, seed, status),
    *(wait, pause, resume, stop, block, unblock),
    *(drain, move, leave),
    *(plan, partition, place),
    *(migrate, restored, lease),
):
    command.add_command(_part)
