"""`parcahyd cluster pause`, `resume`, `stop`, `block` and `unblock`: what is wanted of the run under way; and `wait`.

What is wanted is written down, and holds whether this command is still there or not. It waits until every pipeline obeys.

Tested in tests/cli/test_cluster_run.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path

import click

from parcahyd.cli.cluster_connection import open_hub
from parcahyd.cli.exit_codes import print_error
from parcahyd.cli.options import crawl_options
from parcahyd.cli.progress_line import progress_line
from parcahyd.cli.wording import outcome_words
from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.deadline import boot_time
from parcahyd.cluster.ending import end_if_done
from parcahyd.cluster.obeying import Obeying
from parcahyd.cluster.runs import PAUSED, RUNNING, STOPPED, Run, Runs
from parcahyd.core.errors import UserError
from parcahyd.rules.urls.canonical_url import canonical, split
from parcahyd.runtime.stop_signals import interrupt_on_signals

__all__ = ["block", "hosts_of", "pause", "resume", "steer", "stop", "unblock", "wait"]

_LOOK_EVERY = 0.5
_INTERRUPTED = 130


@click.command("pause")
@crawl_options
def pause(folder: Path | None, overrides: tuple[str, ...], database: str | None) -> int:
    """Pause the run until it is resumed.

    What is on the wire is finished and stored, and then nothing is requested. Returns when every pipeline has done that. A
    machine that is silent for a lease is not waited for any longer.

    \b
    Example:
      parcahyd cluster pause --conf conf/
    """
    with open_hub(folder, overrides, database) as (hub, _):
        return steer(hub, lambda runs: runs.change(PAUSED), "is paused", "It stays paused until parcahyd cluster resume.")


@click.command("resume")
@crawl_options
def resume(folder: Path | None, overrides: tuple[str, ...], database: str | None) -> int:
    """Let a paused run go on.

    \b
    Example:
      parcahyd cluster resume --conf conf/
    """
    with open_hub(folder, overrides, database) as (hub, _):
        return steer(hub, lambda runs: runs.change(RUNNING), "goes on")


@click.command("stop")
@crawl_options
def stop(folder: Path | None, overrides: tuple[str, ...], database: str | None) -> int:
    """End the run; `start` goes on with it.

    What is on the wire is finished and stored first, and nothing is lost. Returns when the run is over. The agents stay and
    wait for the next one.

    \b
    Example:
      parcahyd cluster stop --conf conf/
    """
    with open_hub(folder, overrides, database) as (hub, _):
        return steer(hub, lambda runs: runs.change(STOPPED), "is stopped")


@click.command("wait")
@crawl_options
def wait(folder: Path | None, overrides: tuple[str, ...], database: str | None) -> int:
    """Wait until the run is over.

    It returns at once where the run is over already. The line says how it ended. Ctrl-C ends the waiting and not the run.

    \b
    Example:
      parcahyd cluster wait --conf conf/ && parcahyd export wacz crawl.wacz --conf conf/
    """
    with open_hub(folder, overrides, database) as (hub, _), interrupt_on_signals():
        runs = Runs(hub)
        run = runs.current()
        if run is None:
            _require_a_run(runs)
            click.echo("No run is under way.")
            return 0
        try:
            while (outcome := runs.outcome(run.id)) is None:
                time.sleep(_LOOK_EVERY)
        except KeyboardInterrupt:
            return print_error(f"not waited for: run {run.id} goes on", _INTERRUPTED)
    click.echo(f"Run {run.id} is over: {outcome_words(outcome)}.")
    return 0


@click.command("block")
@click.argument("hosts", nargs=-1, required=True, metavar="HOST...")
@crawl_options
def block(folder: Path | None, overrides: tuple[str, ...], database: str | None, hosts: tuple[str, ...]) -> int:
    """Send nothing to these hosts in this run.

    Returns when every pipeline obeys.

    \b
    Example:
      parcahyd cluster block --conf conf/ www.example.org
    """
    names = hosts_of(hosts)
    with open_hub(folder, overrides, database) as (hub, _):
        return steer(hub, lambda runs: runs.change(block=names), f"sends nothing to {', '.join(sorted(names))}")


@click.command("unblock")
@click.argument("hosts", nargs=-1, required=True, metavar="HOST...")
@crawl_options
def unblock(folder: Path | None, overrides: tuple[str, ...], database: str | None, hosts: tuple[str, ...]) -> int:
    """Let the run send to these hosts again.

    \b
    Example:
      parcahyd cluster unblock --conf conf/ www.example.org
    """
    names = hosts_of(hosts)
    with open_hub(folder, overrides, database) as (hub, _):
        current = _under_way(Runs(hub))
        if unknown := sorted(names - current.blocked):
            blocked = f"blocked are {', '.join(sorted(current.blocked))}" if current.blocked else "no host is"
            raise UserError(f"{unknown[0]} is not blocked", blocked)
        return steer(hub, lambda runs: runs.change(unblock=names), f"may send to {', '.join(sorted(names))} again")


def hosts_of(given: Collection[str]) -> frozenset[str]:
    """Hosts in the spelling of the crawl; what is a whole URL stands for its host."""
    found = set()
    for text in given:
        url = canonical(text if "://" in text else f"http://{text}/")
        if url is None or ("://" not in text and split(url)[3] != "/"):
            raise UserError(f'"{text}" is not a host', "give its name, such as www.example.org")
        found.add(split(url)[1])
    return frozenset(found)


def _under_way(runs: Runs) -> Run:
    current = runs.current()
    if current is None:
        _require_a_run(runs)
        raise UserError("the run is over", "begin another with: parcahyd cluster start")
    return current


def _require_a_run(runs: Runs) -> None:
    if runs.last_settings() is None:
        raise UserError("no run has begun yet", "parcahyd cluster start URL")


def steer(hub: HubConnection, change: Callable[[Runs], Run], words: str, more: str = "") -> int:
    """Writes down what is wanted, and waits until it is so. Ctrl-C ends the waiting only."""
    runs = Runs(hub)
    _under_way(runs)
    with interrupt_on_signals():
        run = change(runs)
        try:
            outcome = _wait(hub, runs, run)
        except KeyboardInterrupt:
            return print_error(
                f"not waited for: it is noted that run {run.id} {words}, and the agents will obey "
                "(parcahyd cluster status shows how far they are)",
                _INTERRUPTED,
            )
    if outcome is not None:
        click.echo(f"Run {run.id} is over: {outcome_words(outcome)}.")
    else:
        click.echo(f"Run {run.id} {words}.{more and ' ' + more}")
    return 0


def _wait(hub: HubConnection, runs: Runs, run: Run) -> str | None:
    """Until all partitions obey, or the run is over; returns how it ended. A stopped run is over when all obey."""
    obeying = Obeying(hub, boot_time)
    most = 0
    with progress_line("partitions obey") as progress:
        while True:
            missing = obeying.missing(run.version)
            most = max(most, len(missing))
            if progress is not None and most:
                progress(most - len(missing), most)
            if run.wanted == STOPPED and not missing:
                end_if_done(hub, run.id)
            outcome = runs.outcome(run.id)
            if outcome is not None or (run.wanted != STOPPED and not missing):
                return outcome
            _require_still_wanted(runs, run)
            time.sleep(_LOOK_EVERY)


def _require_still_wanted(runs: Runs, run: Run) -> None:
    current = runs.current()
    if current is not None and current.id == run.id and current.wanted != run.wanted:
        raise UserError(f"somebody else wants the run to be {current.wanted} now", "see parcahyd cluster status")
