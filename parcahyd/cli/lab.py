"""`parcahyd lab`: the strategies of a cluster on recorded data, beside the papers' figures and their rivals.

Tested in tests/cli/test_lab.py.
"""

from __future__ import annotations

import click

__all__ = ["command"]


@click.group(invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Try the strategies of a cluster on recorded data.

    Each experiment prints a table that has the paper's figure and the best rival beside ours, with the command, the seed and
    the checksums of the data. The same command gives the same table. docs/lab/README.md shows them all and says what they mean.

    \b
    Examples:
      parcahyd lab --help
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


_EXPERIMENTS: tuple[click.Command, ...] = ()
for _experiment in _EXPERIMENTS:
    command.add_command(_experiment)
