"""`parcahyd cluster plan`, `partition` and `place`: which sites live in which partition.

Tested in tests/cli/test_cluster_partition.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec

from parcahyd.cli.cluster_beginning import agreed_settings, check_probes
from parcahyd.cli.cluster_connection import connected
from parcahyd.cli.cluster_run import hosts_of, steer
from parcahyd.cli.options import crawl_options, read_configuration
from parcahyd.cli.wording import plural
from parcahyd.cli.wording import size as size_text
from parcahyd.cluster.connection import HubConnection
from parcahyd.cluster.identity import ClusterIdentity
from parcahyd.cluster.planning import nodes_of, read_routing
from parcahyd.cluster.replanning import Replan, carry_out, plan_anew, want_move
from parcahyd.cluster.runs import PAUSED, RUNNING, Runs
from parcahyd.config.schema import Configuration
from parcahyd.core.errors import UserError
from parcahyd.core.partitions import Partitioner, Routing
from parcahyd.plugin_manager import PluginManager

__all__ = ["partition", "place", "plan"]

_SHOWN = 10


@click.command("plan")
@click.argument("strategy", required=False, metavar="[STRATEGY]")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
@crawl_options
def plan(folder: Path | None, overrides: tuple[str, ...], database: str | None, strategy: str | None, as_json: bool) -> None:
    """Show which sites would move, and what that costs; nothing is changed.

    Without STRATEGY, the present one plans anew. With one, it is that of `partition STRATEGY`.

    \b
    Examples:
      parcahyd cluster plan --conf conf/
      parcahyd cluster plan superpage --conf conf/
    """
    configuration = read_configuration(folder, overrides, database)
    with connected(configuration) as hub:
        found, _ = _planned(hub, configuration, strategy)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(_as_json(found)), indent=2).decode())
        return
    for line in _lines(found, "would move"):
        click.echo(line)


@click.command("partition")
@click.argument("strategy", metavar="STRATEGY")
@crawl_options
def partition(folder: Path | None, overrides: tuple[str, ...], database: str | None, strategy: str) -> int:
    """Divide the crawl by another strategy, or by the same one planned anew.

    A run under way is paused for it, and goes on when the plan is written down. Then sites move to their new partitions, with
    all that is known of them, while the crawl goes on. `plan` shows what it would do, and `status` how far it is.

    \b
    Example:
      parcahyd cluster partition superpage --conf conf/
    """
    configuration = read_configuration(folder, overrides, database)
    with connected(configuration) as hub:
        _planned(hub, configuration, strategy)  # A mistake is told before anything is paused.
        run = Runs(hub).current()
        is_running = run is not None and run.wanted == RUNNING
        if is_running and (code := steer(hub, lambda runs: runs.change(PAUSED), "is paused")):
            return code
        found, writes_homes = _planned(hub, configuration, strategy)
        carry_out(hub, found, writes_homes=writes_homes)
        for line in _lines(found, "move"):
            click.echo(line)
        return steer(hub, lambda runs: runs.change(RUNNING), "goes on") if is_running else 0


@click.command("place")
@click.argument("host", metavar="HOST")
@click.argument("number", metavar="PARTITION", type=click.IntRange(0))
@crawl_options
def place(folder: Path | None, overrides: tuple[str, ...], database: str | None, host: str, number: int) -> None:
    """Have a host live in a certain partition.

    Its URLs go there with all that is known of them, as soon as no visit of it is open; the crawl goes on meanwhile.
    `parcahyd explain URL` shows where it is.

    \b
    Example:
      parcahyd cluster place www.example.org 3 --conf conf/
    """
    (name,) = hosts_of([host])
    configuration = read_configuration(folder, overrides, database)
    with connected(configuration) as hub:
        facts = ClusterIdentity(hub).read()
        if number >= facts.partitions:
            raise UserError(f"there is no partition {number}", f"they are numbered from 0 to {facts.partitions - 1}")
        source = want_move(hub, name, number, facts.partitions)
    if source == number:
        click.echo(f"{name} lives in partition {number} already.")
    else:
        click.echo(f"{name} moves from partition {source} to partition {number}.")


def _strategy(
    hub: HubConnection, configuration: Configuration, name: str | None
) -> tuple[str, Callable[[Routing], Partitioner]]:
    """The named strategy, or the present one, with what the last run says about it."""
    agreed = agreed_settings(hub, configuration, as_configured=True).configuration
    chosen = name or read_routing(hub)[1] or agreed.work.Partition
    work = msgspec.structs.replace(agreed.work, Partition=chosen)
    return chosen, PluginManager.load(msgspec.structs.replace(agreed, work=work)).partitioner


def _planned(hub: HubConnection, configuration: Configuration, name: str | None) -> tuple[Replan, bool]:
    facts = ClusterIdentity(hub).read()
    chosen, make = _strategy(hub, configuration, name)
    routing = Routing(facts.partitions, secret=facts.secret)
    check_probes(make(routing), chosen)
    alive = [node.id for node in nodes_of(hub)]
    return plan_anew(hub, chosen, make, routing, alive), make(routing).home_may_change


def _lines(found: Replan, verb: str) -> Iterator[str]:
    pages, urls, size = (sum(getattr(move, name) for move in found.moves) for name in ("pages", "urls", "bytes"))
    if not found.moves:
        yield f'By "{found.strategy}", each of the {plural(found.hosts, "host")} stays where it is.'
        return
    yield (
        f'By "{found.strategy}", {len(found.moves):,} of {plural(found.hosts, "host")} {verb}: '
        f"{plural(urls, 'URL')} and {plural(pages, 'page')}, which were {size_text(size)} on the wire."
    )
    for move in sorted(found.moves, key=lambda move: (-move.urls, move.host))[:_SHOWN]:
        what = f"{plural(move.urls, 'URL')}, {plural(move.pages, 'page')}"
        yield f"  {move.host}: partition {move.source} -> {move.target}, {what}"
    if len(found.moves) > _SHOWN:
        yield f"  and {len(found.moves) - _SHOWN:,} more (--json of `plan` shows all)"
    yield f"Pages by partition: {_figures(found.before)} -> {_figures(found.after)}."


def _figures(numbers: tuple[int, ...]) -> str:
    return " ".join(f"{number:,}" for number in numbers)


def _as_json(found: Replan) -> dict[str, object]:
    return {
        "strategy": found.strategy,
        "hosts": found.hosts,
        "before": found.before,
        "after": found.after,
        "moves": [msgspec.structs.asdict(move) for move in found.moves],
    }
