"""`parcahyd lab`: the strategies of a cluster on recorded data, beside the papers' figures and their rivals.

Tested in tests/cli/test_lab.py.
"""

from __future__ import annotations

import click

from parcahyd.cli import (
    lab_balance,
    lab_crawl,
    lab_graph,
    lab_growth,
    lab_locate,
    lab_progress,
    lab_record,
    lab_rir,
    lab_topic,
)

__all__ = ["command"]


@click.group(invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Try the strategies of a cluster on recorded data.

    Each experiment prints a table that has the paper's figure and the best rival beside ours, with the command, the seed and
    the checksums of the data. The same command gives the same table. docs/lab/README.md shows them all and says what they mean.

    \b
    Examples:
      parcahyd lab balance
      parcahyd lab progress graph-uci --hosts 6
      parcahyd lab record recorded
      parcahyd lab graph --orders 1
      parcahyd lab crawl --runs 1
      parcahyd lab topic topic-webkb/ --train misc --without other
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


_EXPERIMENTS: tuple[click.Command, ...] = (
    *(lab_balance.command, lab_graph.command, lab_crawl.command, lab_growth.command),
    *(lab_locate.command, lab_topic.topic, lab_progress.command),
)
_TOOLS: tuple[click.Command, ...] = (lab_record.command, lab_rir.command)
"""They make what experiments and crawls read; they print no table."""
for _command in (*_EXPERIMENTS, *_TOOLS):
    command.add_command(_command)
