"""`parcahyd node`: this machine takes part in a cluster."""

from __future__ import annotations

import os
import socket
import stat
import sys
from contextlib import suppress
from pathlib import Path

import click

from parcahyd.cli.options import crawl_options, read_configuration
from parcahyd.cli.wording import one_line
from parcahyd.config.schema import Configuration
from parcahyd.core.errors import UserError

__all__ = ["command"]


@click.command()
@click.option("--name", metavar="NAME", help="What this machine is called in the cluster; its host name without it.")
@click.option("--address", metavar="ADDRESS", help="Which of ListIP this machine is; found out without it.")
@click.option("--once", is_flag=True, help="End with the run; without it, wait for the next one.")
@click.option("--forever", is_flag=True, help="Keep the documents fresh: the run does not end when everything is stored.")
@click.option(
    "--end-with-input",
    is_flag=True,
    help="End, as after Ctrl-C, when standard input, a pipe, is closed: for who starts agents.",
)
@click.option("-q", "--quiet", is_flag=True, help="Only errors are written.")
@crawl_options
def command(
    folder: Path | None,
    overrides: tuple[str, ...],
    database: str | None,
    name: str | None,
    address: str | None,
    once: bool,
    forever: bool,
    end_with_input: bool,
    quiet: bool,
) -> int:
    """Take part in a cluster: run pipelines on this machine.

    The cluster is the one in the PostgreSQL database of DbUrl (`parcahyd cluster init` makes it). This machine takes
    partitions and crawls them as soon as a run is begun with `parcahyd cluster start`. It may be stopped, killed or cut off
    at any time: other machines go on with its partitions, and nothing is lost.

    Ctrl-C or SIGTERM gives the partitions back first (exit code 130); a second one ends at once.

    \b
    Examples:
      parcahyd node --conf conf/
      parcahyd node --conf conf/ --name crawler-2 --address 192.168.7.2
      parcahyd node --conf conf/ --once
    """
    configuration = read_configuration(folder, overrides, database)
    found = _own_address(configuration, address)
    from parcahyd.processes.agent import Agent  # With it comes most of the program.

    def say(sentence: str) -> None:
        if not quiet:
            with suppress(OSError):  # Who read it is gone. The work goes on.
                sys.stderr.write(f"parcahyd node: {one_line(sentence)}\n")
                sys.stderr.flush()

    tied_to = _pipe() if end_with_input else None
    called = name or socket.gethostname()
    return Agent(configuration, called, found, once=once, forever=forever, say=say, tied_to=tied_to).run()


def _pipe() -> int:
    """Standard input, where its end can be noticed."""
    number = sys.stdin.fileno()
    kind = os.fstat(number).st_mode
    if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
        raise UserError("--end-with-input: standard input is no pipe", "leave it out, or start the agent with a pipe")
    return number


def _own_address(configuration: Configuration, given: str | None) -> str:
    """The address under which this machine takes part. ListIP, where there is one, says which may."""
    listed = configuration.machines
    if given is not None:
        if listed and given not in listed:
            raise UserError(f"{given} is not in ListIP", "add it there in every machine's configuration, or leave ListIP empty")
        return given
    own = [address for address in listed if _is_own(address)]
    if listed and not own:
        raise UserError(
            f"no address of this machine is in ListIP ({', '.join(listed)})", "add it there, or name one with --address"
        )
    return own[0] if own else socket.gethostname()


def _is_own(address: str) -> bool:
    """Whether a socket can be bound to it; nothing is sent."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
